/**
 * @module platform/node/ffmpeg/decoder
 * The decoder that runs an installed ffmpeg.
 */
import { onAbort, unlessAborted } from '../../../core/abort.js';
import { jsonOf } from '../../../core/arguments.js';
import { AnyvmafError, ioError, mediaError, usageError } from '../../../core/errors.js';
import { formatProblem, storedFrameBytes, type VideoFormat } from '../../../core/frame.js';
import { FOREIGN } from '../../../core/origin.js';
import { quoted, shown } from '../../../core/printable.js';
import {
  chooseTrack,
  type DecodedSource,
  type DecodeRequest,
  type Decoder,
  type DecoderAvailability,
  type TrackFacts,
  type TrackRequest,
  type TrackTimes,
} from '../../../media/decoder.js';
import { delivery } from '../../../media/delivery.js';
import { FETCH_URL } from '../../../media/errors.js';
import { parseProbe, videoTracks } from '../../../media/facts.js';
import type { DecoderFilters, VideoInput } from '../../../media/types.js';
import type { Denial, Part, ToolSource } from '../../ffmpeg/commands.js';
import {
  decodeArgs,
  decodedBy,
  filteredArgs,
  findDenial,
  firstPacketArgs,
  isPieceEnd,
  probeArgs,
  tracksArgs,
} from '../../ffmpeg/commands.js';
import { firstError, parseFiltered } from '../../ffmpeg/log.js';
import type { ClockedTimes, KnownTimes, Plan } from '../../ffmpeg/times.js';
import {
  emptyRange,
  PacketTimes,
  planPart,
  readTrackTimes,
  SAME_TIME,
  TimesMemory,
} from '../../ffmpeg/times.js';
import { type FfmpegInput, ffmpegInput, type InputAccess } from './input.js';
import { type DecodedFrame, DecodeRun, type End, endError, FfmpegSource } from './source.js';
import { type Ending, findFfprobe, runOn, runTool, startOn, type ToolName, toolCommand } from './tool.js';

/** Milliseconds that a tool may take to print its version. */
const VERSION_TIME = 10_000;

interface FfmpegOptions extends InputAccess {
  readonly track?: TrackRequest;
  /** Read frames straight into their memory if the system can (the default), else piece by piece. */
  readonly direct: boolean;
}

/** Default: foreign files, no URLs. */
export function createFfmpegDecoder(options: Partial<FfmpegOptions> = {}): Decoder {
  return new FfmpegDecoder({ urls: false, origin: FOREIGN, direct: true, ...options });
}

/** Containers whose clock counts frames in decoding order, so that the first displayed frame has a later time. */
const COUNTS_DECODING = new Set(['avi']);

/** Most frames that filters may make of each frame, and in addition. */
const MOST_TIMES = 64;
const MOST_MORE = 1000;

/** Usable ones, and those being looked for, by commands. */
const availabilities = new Map<string, Promise<DecoderAvailability>>();

class FfmpegDecoder implements Decoder {
  readonly id = 'ffmpeg';
  readonly probesAtOnce = true;
  readonly #options: FfmpegOptions;
  /** Applied to decoded pictures first. */
  readonly #filters: DecoderFilters | undefined;
  /** By file and its state. Files of unknown state are read again for each request. */
  readonly #times = new TimesMemory();
  readonly #reading = new Map<string, Promise<ClockedTimes | null>>();

  constructor(options: FfmpegOptions, filters?: DecoderFilters) {
    this.#options = options;
    this.#filters = filters;
  }

  withFilters(filters: readonly DecoderFilters[]): Decoder {
    return new FfmpegDecoder(
      this.#options,
      filters.reduce<DecoderFilters | undefined>(inOrder, this.#filters),
    );
  }

  availability(): Promise<DecoderAvailability> {
    const key = `${toolCommand('ffmpeg')}\n${toolCommand('ffprobe')}\n${process.env.PATH ?? ''}`;
    const known = availabilities.get(key);
    if (known) return known;
    const found = findTools();
    availabilities.set(key, found);
    // What is missing may be installed while this process runs.
    const forget = () => availabilities.delete(key);
    found.then(({ usable }) => usable || forget(), forget);
    return found;
  }

  async probe(input: VideoInput, signal?: AbortSignal): Promise<TrackFacts> {
    signal?.throwIfAborted();
    const file = await ffmpegInput(input, this.#options);
    if (file.content) {
      const facts = await this.#probe(file, signal);
      await this.#readIndex(file, facts);
      return this.#filtered(file, facts, signal);
    }
    // Read the times meanwhile: they are needed too, and take about as long.
    const reading = this.#readAhead(file, signal);
    try {
      const facts = await this.#probe(file, signal);
      // The read-ahead reads another track.
      if ((facts.track?.index ?? 0) !== this.#likely) await reading.stop();
      return await this.#filtered(file, facts, signal);
    } catch (error) {
      await reading.stop();
      throw error;
    }
  }

  /** The track to read ahead, right for most files. */
  get #likely(): number {
    return this.#options.track?.index ?? 0;
  }

  async #probe(file: FfmpegInput, signal: AbortSignal | undefined): Promise<TrackFacts> {
    const ask = async (track?: number) => {
      const run = (withFrame: boolean) =>
        runChecked('ffprobe', file, (source) => probeArgs(source, track, withFrame), { signal });
      const answer = await run(true);
      // Some versions fail on the whole file if its first frame cannot be decoded.
      return answer.code === 0 ? answer : run(false);
    };
    let answer = await ask();
    const tracks = videoTracks(jsonOf(answer.stdout));
    if (tracks.length === 0) throw await this.#noVideo(file, answer, signal);
    const track = chooseTrack(tracks, this.#options.track, file.name);
    if (track) answer = await ask(track.index);
    const json = jsonOf(answer.stdout);
    // Encrypted data sometimes decodes, but not without complaints.
    if (listOf(json, 'frames').length === 0 || answer.stderr !== '')
      await this.#refuseEncrypted(file, track?.index, signal);
    const { facts } = parseProbe(json, file.name, true, track);
    if (/^(ansi|bintext|xbin|idf)$/.test(facts.codec))
      throw mediaError(`${shown(file.name)} is a text file, not a video.`);
    return facts;
  }

  /** Facts of a track after the filters, if any. */
  async #filtered(file: FfmpegInput, facts: TrackFacts, signal?: AbortSignal): Promise<TrackFacts> {
    const filters = this.#filters;
    if (!filters) return facts;
    const { chain, keepsFrames } = filters;
    const args = (source: ToolSource) => filteredArgs(source, filters, facts.track?.index);
    const { stderr } = await runChecked('ffmpeg', file, args, { signal });
    const found = parseFiltered(stderr);
    if (!found) {
      const reason = firstError(stderr);
      throw usageError(
        `ffmpeg cannot filter ${shown(file.name)} by ${quoted(chain)}: ${shown(reason || 'it output no frame')}.`,
      );
    }
    const { frameRate, sampleAspect, ...shownAs } = found;
    const { width, height, pixelFormat } = shownAs;
    const { bitDepth, chroma } = delivery(pixelFormat, 0, facts.name, {});
    const problem = formatProblem({ width, height, bitDepth, chroma });
    if (problem) {
      throw mediaError(
        `the video of ${shown(facts.name)}, filtered by ${quoted(chain)}, cannot be scored: ${problem}.`,
      );
    }
    // With a chain, ffmpeg turns and mirrors by itself.
    const { crop: _, mirrored: __, sampleAspect: stored, frameRate: rate, ...kept } = facts;
    const aspect = sampleAspect ?? stored;
    return {
      ...kept,
      ...shownAs,
      ...{ bitDepth, chroma, rotation: 0 as const },
      frameCount: keepsFrames ? facts.frameCount : null,
      ...(aspect && { sampleAspect: aspect }),
      ...(keepsFrames ? rate && { frameRate: rate } : frameRate && { frameRate }),
      ...(!keepsFrames && { fieldOrder: 'unknown' as const }),
    };
  }

  async timestamps(
    input: VideoInput,
    signal?: AbortSignal,
    track = this.#likely,
  ): Promise<TrackTimes | null> {
    if (this.#filters?.keepsFrames === false) return null;
    const file = await ffmpegInput(input, this.#options);
    return this.#trackTimes(file, track, signal);
  }

  async open(input: VideoInput, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource> {
    const { signal, size } = request;
    signal?.throwIfAborted();
    const track = facts.track?.index ?? 0;
    const file = await ffmpegInput(input, this.#options);
    const { version = '' } = await this.availability();
    const planes = delivery(facts.pixelFormat, facts.rotation, facts.name, facts);
    const planned = await planPart(facts, request, this.#timesToPlan(file, track, signal));
    const { seek: _, ...fromTheStart } = planned.part;
    const seeks = !(request.frames && this.#filters?.remembers);
    const plan: Plan = seeks ? planned : { ...planned, part: fromTheStart };
    requireNotPast(facts, request, plan);
    const { width, height } = size ?? facts;
    const { bitDepth, chroma, alpha } = planes;
    const format: VideoFormat = { width, height, bitDepth, chroma, ...(alpha && { alpha }) };
    const start = async (part: Part): Promise<Started> => {
      const { width, height, container } = facts;
      const { chain, rotates } = this.#filters ?? {};
      const filtered = { ...request, ...(chain !== undefined && { chain }), ...(rotates && { rotates }) };
      const args = (source: ToolSource) => decodeArgs(source, facts, planes, filtered, part, version);
      const run = await DecodeRun.start({
        start: (channel) => startOn('ffmpeg', file, args, channel),
        frameBytes: storedFrameBytes(format),
        expected: { width, height, pixelFormat: planes.pixelFormat },
        part,
        container,
        direct: this.#options.direct,
      });
      return startRun(run, signal);
    };
    const bound = await this.#frameBound(file, facts, signal);
    let started = await start(plan.part);
    if (plan.part.seek !== undefined && !landed(started, plan)) {
      // Seeking failed or hit damage.
      await started.run.close();
      started = await start(fromTheStart);
    }
    const { run, first } = started;
    if ('kind' in first) {
      await run.close();
      if (file.content?.failure) throw file.content.failure;
      throw first.kind === 'end' ? nothing(facts, request) : endError(first, facts, 0, undefined);
    }
    return new FfmpegSource(run, first, {
      facts,
      decodedBy: decodedBy(`ffmpeg ${version}`, facts, planes),
      request,
      format,
      plan,
      bound,
      warnings:
        plan.part.fromTime === undefined && !COUNTS_DECODING.has(facts.container) ? skipped(run, facts) : [],
      fetchFailure: () => file.content?.failure,
    });
  }

  /** Known times for planning a part; none if filters change the frames. */
  #timesToPlan(file: FfmpegInput, track: number, signal: AbortSignal | undefined): KnownTimes {
    if (this.#filters?.keepsFrames === false) return { remembered: null, read: async () => null };
    return { remembered: this.#knownTimes(file, track), read: () => this.#trackTimes(file, track, signal) };
  }

  /** A limit for filters, which may make endless frames at a high rate or in a gap of the times. */
  async #frameBound(file: FfmpegInput, facts: TrackFacts, signal?: AbortSignal) {
    if (this.#filters?.keepsFrames !== false || file.content) return undefined;
    const times = await this.#trackTimes(file, facts.track?.index ?? 0, signal);
    const taken = times?.times.length ?? facts.frameCount;
    if (taken === null) return undefined;
    return { chain: this.#filters.chain, taken, most: MOST_TIMES * taken + MOST_MORE };
  }

  async #trackTimes(file: FfmpegInput, track: number, signal?: AbortSignal): Promise<ClockedTimes | null> {
    const key = memoryKey(file);
    const known = file.version === undefined ? undefined : this.#times.get(key, track);
    if (known !== undefined) return known;
    // Only this track is read ahead.
    const reading = track === this.#likely ? this.#reading.get(key) : undefined;
    // Read again if the reader was aborted.
    if (reading) return reading.catch(() => this.#readTimes(file, track, signal));
    return this.#readTimes(file, track, signal);
  }

  /** Starts reading the times of a file of known state. */
  #readAhead(file: FfmpegInput, signal: AbortSignal | undefined): { stop(): Promise<void> } {
    const key = memoryKey(file);
    const track = this.#likely;
    if (file.version === undefined || this.#times.get(key, track) !== undefined || this.#reading.has(key))
      return { async stop() {} };
    const stopping = new AbortController();
    const forget = onAbort(signal, (reason) => stopping.abort(reason));
    const reading = this.#readTimes(file, track, stopping.signal).finally(() => {
      forget();
      this.#reading.delete(key);
    });
    this.#reading.set(key, reading);
    const over = reading.then(
      () => {},
      () => {},
    );
    const stop = () => {
      stopping.abort(signal?.reason);
      return over;
    };
    return { stop };
  }

  async #readTimes(file: FfmpegInput, track: number, signal?: AbortSignal): Promise<ClockedTimes | null> {
    const found = await readTrackTimes((args, onLine) =>
      runChecked('ffprobe', file, (source) => args(source, track), { signal, onLine }),
    );
    this.#times.set(memoryKey(file), found, track);
    return found;
  }

  /** Reads times of a fetched file from its index if it agrees with ffprobe, without transferring pictures. */
  async #readIndex(file: FfmpegInput, { startTime, frameCount, track }: TrackFacts): Promise<void> {
    const key = memoryKey(file);
    if (!file.content || track || this.#times.get(key) !== undefined) return;
    const { readIndexedTimes } = await import('../../../media/mp4-times.js');
    const index = await readIndexedTimes(file.content.reader());
    if (!index || startTime === null || index.pts.length !== frameCount) return;
    const packets = new PacketTimes();
    packets.takeIndex(index);
    const found = packets.finish();
    if (found && Math.abs(found.trackStart - startTime) < SAME_TIME) this.#times.set(key, found);
  }

  /** Cached times; for a file of unknown state, only if its clock is set back. */
  #knownTimes(file: FfmpegInput, track: number): ClockedTimes | null | undefined {
    const known = this.#times.get(memoryKey(file), track);
    return file.version === undefined ? known?.setBacks && known : known;
  }

  async #noVideo(
    file: FfmpegInput,
    { code, signal: crash, stderr }: Ending & { readonly stderr: string },
    signal: AbortSignal | undefined,
  ): Promise<AnyvmafError> {
    const name = shown(file.name);
    if (crash !== null)
      return mediaError(`ffprobe crashed on ${name} (${crash}); install another version of ffmpeg.`);
    if (code !== 0) {
      const denial = findDenial(stderr);
      if (denial) return denied(file, denial);
      // The last line concludes, after the name of the file or component.
      const reason = lastLine(stderr)
        .replace(`${file.url}: `, '')
        .replaceAll(file.url, () => file.name)
        .replace(/^(?:\[[^\]]*\] )+/, '');
      // A fetched file that is not a video gets the message of local ones.
      if (file.remote && !reason.startsWith('Invalid data found')) {
        return ioError(
          `${name} could not be fetched: ${shown(reason || 'ffprobe failed without a reason')}; check the address and ` +
            'the network, or download the video and give its path.',
        );
      }
      return mediaError(
        `${name} is not a video that ffmpeg knows: ${shown(reason || 'ffprobe cannot open one of its tracks')}.`,
      );
    }
    const { stdout } = await runChecked('ffprobe', file, tracksArgs, { signal });
    const tracks = listOf(jsonOf(stdout), 'streams').map(
      (track) =>
        `${textOf(track, 'codec_type') || 'data'} (${textOf(track, 'codec_name') || textOf(track, 'codec_tag_string')})`,
    );
    const pictures = tracks.some((track) => track.startsWith('video'));
    return mediaError(
      tracks.length === 0
        ? `${name} has no video track, nor any other.`
        : `${name} has no video track, only ${shown(tracks.join(', '))}${pictures ? '; a cover picture is not a video' : ''}.`,
    );
  }

  async #refuseEncrypted(file: FfmpegInput, track: number | undefined, signal?: AbortSignal): Promise<void> {
    const args = (source: ToolSource) => firstPacketArgs(source, track);
    const { stdout } = await runChecked('ffprobe', file, args, { signal });
    const [packet] = listOf(jsonOf(stdout), 'packets');
    const types = listOf(packet, 'side_data_list').map((data) => textOf(data, 'side_data_type'));
    if (!types.includes('Encryption info')) return;
    throw mediaError(
      `${shown(file.name)} is encrypted; its frames cannot be decoded, score the video before encryption.`,
    );
  }
}

/** Runs a tool on an input; errors of fetching the input precede those of the tool. */
async function runChecked(...args: Parameters<typeof runOn>): ReturnType<typeof runOn> {
  const result = await runOn(...args);
  const [, { content }] = args;
  if (content?.failure) throw content.failure;
  if (!content) return result;
  return {
    ...result,
    stderr: result.stderr
      .split('\n')
      .filter((line) => !isPieceEnd(line))
      .join('\n'),
  };
}

const memoryKey = ({ name, version = '' }: FfmpegInput): string => `${name}\n${version}`;

interface Started {
  readonly run: DecodeRun;
  readonly first: DecodedFrame | End;
}

/** Both chains: pictures that were converted to limited range may be filtered again. */
function inOrder(first: DecoderFilters | undefined, next: DecoderFilters): DecoderFilters {
  if (!first) return next;
  return {
    ...first,
    chain: `${first.chain},${next.chain}`,
    keepsFrames: first.keepsFrames && next.keepsFrames,
    remembers: first.remembers || next.remembers,
  };
}

/** Waits for the first frame; kills the process if the signal aborts. */
async function startRun(run: DecodeRun, signal: AbortSignal | undefined): Promise<Started> {
  try {
    return { run, first: await unlessAborted(signal, run.next()) };
  } catch (error) {
    await run.close();
    throw error;
  }
}

/** Whether seeking ended before the part, and the first frame is the expected one. */
function landed({ run, first }: Started, { firstTime, part }: Plan): boolean {
  if ('kind' in first || !run.log.ledIn) return false;
  const gap = firstTime === undefined ? 0 : 2 * (firstTime - (part.fromTime ?? firstTime));
  return firstTime === undefined || Math.abs(first.time - firstTime) < Math.max(gap / 2, SAME_TIME);
}

/** Refuses times after the end, for which ffmpeg would read the whole file in vain. */
function requireNotPast(facts: TrackFacts, { time }: DecodeRequest, { trackStart }: Plan): void {
  const { duration } = facts;
  if (!time || trackStart === undefined || duration === null || time.start <= duration + 1) return;
  throw emptyRange(facts, `${time.start} s on`, `it lasts ${duration.toFixed(3)} s`);
}

/** The error if decoding ends without a frame. */
function nothing(facts: TrackFacts, { frames, time }: DecodeRequest): AnyvmafError {
  if (frames && frames.start > 0)
    return emptyRange(facts, `frames from ${frames.start} on`, 'it ends before');
  if (time && time.start > 0) return emptyRange(facts, `${time.start} s on`, 'it ends before');
  return mediaError(`${shown(facts.name)} has a video track (${facts.codec}) without a single frame.`);
}

/** Warns if the first pictures of a track could not be decoded. */
function skipped({ log }: DecodeRun, { name, startTime, frameRate }: TrackFacts): string[] {
  const missing = (log.firstTime ?? Number.NaN) - (startTime ?? Number.NaN);
  const frame = frameRate ? frameRate.den / frameRate.num : 0.1;
  if (!(missing > 1.5 * frame)) return [];
  return [
    `the first ${missing.toFixed(3)} s of ${shown(name)} cannot be decoded, as is usual if a recording starts ` +
      'between key frames; its first frame is the first one that can.',
  ];
}

async function findTools(): Promise<DecoderAvailability> {
  try {
    // Only search for ffprobe, since a start takes 0.1 s; its first use reports another program.
    const hasFfprobe = findFfprobe().some(({ key }) => key !== undefined);
    const [version] = await Promise.all([toolVersion('ffmpeg'), !hasFfprobe && toolVersion('ffprobe')]);
    return { id: 'ffmpeg', usable: true, version };
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    return { id: 'ffmpeg', usable: false, reason: error.message };
  }
}

async function toolVersion(tool: ToolName): Promise<string> {
  const signal = AbortSignal.timeout(VERSION_TIME);
  const broken = (what: string) =>
    ioError(`${shown(toolCommand(tool))} ${what}; it does not seem to be ${tool}, install ffmpeg again.`);
  const { stdout } = await runTool(tool, ['-version'], { signal }).catch((error: unknown) => {
    throw signal.aborted ? broken('did not print its version within 10 s') : error;
  });
  const match = /^\w+ version (\S+)/.exec(stdout);
  if (!match?.[1]) throw broken('did not print its version');
  // Drop the distribution's suffix.
  return /^n?(\d+(?:\.\d+)+)/.exec(match[1])?.[1] ?? match[1];
}

function listOf(value: unknown, key: string): readonly unknown[] {
  const found = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return Array.isArray(found) ? found : [];
}

function textOf(value: unknown, key: string): string {
  const found = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return typeof found === 'string' ? found : '';
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

/** The error of a refused input. A file that names others is `io`, so that no other decoder tries it. */
function denied({ name, remote }: FfmpegInput, denial: Denial): AnyvmafError {
  const what = shown(name);
  switch (denial.kind) {
    case 'playlist':
      return ioError(
        `${what} is not a video but makes ffmpeg open other files (${denial.format}), which is not allowed here; give the ` +
          'video itself, in one file.',
      );
    case 'protocol':
      return ioError(
        `${what} makes ffmpeg use a protocol that is not allowed ` + `(${shown(denial.protocol)})`,
        {
          hints: [
            remote
              ? 'what is fetched may name URLs only'
              : { ...FETCH_URL, aim: 'if it names URLs that you trust' },
          ],
        },
      );
    case 'text':
      return mediaError(`${what} is a text file, not a video.`);
    case 'format':
      if (denial.format === 'rawvideo')
        return mediaError(`${what} is raw YUV, whose size is not stated`, {
          hints: [
            'convert it first: ffmpeg -f rawvideo -video_size WxH -pix_fmt yuv420p -framerate R -i VIDEO -strict -1 OUTPUT.y4m',
          ],
        });
      return mediaError(
        `${what} is of a format that is not opened as video (${denial.format}); copy its stream into Matroska first: ffmpeg -i VIDEO -c copy OUTPUT.mkv`,
      );
  }
}
