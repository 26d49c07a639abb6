/**
 * @module platform/node/encoding/folder
 * The private folder of a search, for samples and encodes; removed at the end of the process, or by the next after a kill.
 */
import type { FileHandle } from 'node:fs/promises';
import { open, readdir, realpath, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { onAbort } from '../../../core/abort.js';
import { AnyvmafError, ioError, mediaError, usageError } from '../../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../../core/frame.js';
import { allocateFrame, storedChroma, storedFrameBytes, y4mHeader } from '../../../core/frame.js';
import { BY_USER, type Origin } from '../../../core/origin.js';
import { shown } from '../../../core/printable.js';
import { localPath } from '../../../files/file-url.js';
import {
  forgetScratch,
  makeScratchFolder,
  removeScratch,
  scratchBeside,
  writeReason,
} from '../../../files/folders.js';
import type { Decoder } from '../../../media/decoder.js';
import { everyFrame } from '../../../media/delivery.js';
import type { FrameSource, VideoInput } from '../../../media/types.js';
import {
  decodedColour,
  lookup,
  muxerOf,
  pictureArguments,
  samplesOf,
  wholeArguments,
} from '../../../search/commands.js';
import type {
  EncodeRequest,
  EncodeResult,
  EncodingFolder,
  FrameRun,
  JoinRequest,
  SourceFacts,
  WholeEncode,
} from '../../../search/session.js';
import { inputArgs } from '../../ffmpeg/commands.js';
import { createFfmpegDecoder } from '../ffmpeg/decoder.js';
import { type FfmpegInput, ffmpegInput } from '../ffmpeg/input.js';
import { runOn } from '../ffmpeg/tool.js';
import { joinSegments, linesOf, QUIET, throwWriteFailure } from './join.js';
import { ownInput, readPackets } from './source.js';

const FRAME_HEADER = 'FRAME\n';
/** Milliseconds between checks of the folder's size, and bytes by which it may briefly exceed the limit. */
const CHECK = 200;
const SLACK = 1 << 20;
/** Largest share of the disk's free bytes. */
const FREE_SHARE = 0.9;

/** @param limit most bytes of its files */
export async function openFolder(decoder: Decoder, origin: Origin, limit: number): Promise<EncodingFolder> {
  const folder = await makeScratchFolder('search');
  const { bavail, bsize } = await statfs(folder);
  const most = Math.min(limit, bavail * bsize * FREE_SHARE);
  return new Folder(decoder, folder, await realpath(folder), origin, most);
}

class Folder implements EncodingFolder {
  readonly root: string;
  /** Its path before following links. */
  readonly #made: string;
  readonly #decoder: Decoder;
  readonly #origin: Origin;
  /** Bytes of files, by name. */
  readonly #held = new Map<string, number>();
  readonly #limit: number;
  #left: number;

  constructor(decoder: Decoder, made: string, root: string, origin: Origin, limit: number) {
    this.#decoder = decoder;
    this.#made = made;
    this.root = root;
    this.#origin = origin;
    this.#limit = limit;
    this.#left = limit;
  }

  path(name: string): string {
    return join(this.root, basename(name));
  }

  async cut(
    source: VideoInput,
    facts: SourceFacts,
    runs: readonly FrameRun[],
    name: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const track = decodedColour(facts);
    const format: VideoFormat = track;
    const frames = runs.reduce((sum, { count }) => sum + count, 0);
    const bytes = frames * (storedFrameBytes(format) + FRAME_HEADER.length);
    if (bytes > this.#left) throw this.#tooLarge(`the samples take ${gigabytes(bytes)}`);
    this.#hold(name, bytes);
    const file = await open(this.path(name), 'wx', 0o600);
    try {
      await file.writeFile(headerOf(facts, format));
      for (const { first, count } of runs) {
        const frames = { start: first, end: first + count };
        const decoded = await this.#decoder.open(source, track, { frames, signal });
        try {
          await writeFrames(file, decoded, format, count, track.name);
        } finally {
          await decoded.close();
        }
      }
    } catch (cause) {
      throw diskError(cause);
    } finally {
      await file.close();
    }
  }

  async encode(request: EncodeRequest): Promise<EncodeResult> {
    const { isSource, output, signal } = request;
    const origin = isSource ? this.#origin : BY_USER;
    const input = await ffmpegInput(request.input, { urls: false, origin });
    // A whole encode is the user's file, even under a bare name.
    const own = !request.whole;
    if (!own) await refuseSource(request.input, output);
    // Write the user's file atomically.
    const written = own ? this.path(output) : `${await scratchBeside(output)}`;
    if (own) this.#giveBack(output);
    const began = performance.now();
    try {
      const { code, signal: crash, stderr } = await this.#runEncoder(request, input, written);
      const seconds = (performance.now() - began) / 1000;
      // ffmpeg may exit with 0 without writing its last bytes.
      throwWriteFailure(stderr, own ? undefined : output);
      if (code !== 0) throw encodeError(request, input, crash, stderr);
      const bytes = (await stat(written)).size;
      if (own && bytes >= this.#left - 65536) throw this.#tooLarge('an encode has reached that size');
      if (own) this.#hold(output, bytes);
      const { sizes } = await readPackets(await ownInput(written), {}, signal);
      if (sizes.reduce((sum, size) => sum + size, 0) > bytes) {
        throw ioError(
          `${shown(output)} is smaller than the frames in it and was removed; the disk may be full.`,
        );
      }
      const result = { sizes, seconds };
      if (own) return result;
      if ((await request.check?.(written, result)) === false) await removeScratch(written);
      else {
        await rename(written, resolve(output));
        forgetScratch(written);
      }
      return result;
    } catch (error) {
      await (own ? rm(written, { force: true }) : removeScratch(written));
      throw error;
    }
  }

  /** An encode in the folder may use all of its remaining bytes. */
  #runEncoder(request: EncodeRequest, input: FfmpegInput, written: string): ReturnType<typeof runOn> {
    const own = !request.whole;
    const args = (source: Parameters<typeof inputArgs>[0]) => [
      ...[...QUIET, '-progress', 'pipe:1'],
      ...inputArgs(source),
      ...encodeArgs(request, own ? this.#left : undefined),
      ...['-f', own ? 'matroska' : muxerOf(request.output), `file:${written}`],
    ];
    const onLine = (line: string) => {
      const [, frames] = /^frame=\s*(\d{1,15})$/.exec(line) ?? [];
      if (frames !== undefined) request.onFrames?.(Number(frames));
    };
    return this.#watched(request.signal, (signal) =>
      runOn('ffmpeg', input, args, { signal, cwd: this.root, onLine }),
    );
  }

  async checkOutput(source: VideoInput, output: string, encode?: WholeEncode): Promise<void> {
    const muxer = muxerOf(output);
    await refuseSource(source, output);
    const trial = await scratchBeside(output);
    try {
      await writeFile(trial, '', { flag: 'wx' });
    } catch (cause) {
      throw ioError(`cannot write ${shown(output)}: ${writeReason(cause)}.`, { cause });
    } finally {
      await removeScratch(trial);
    }
    if (encode) await this.#tryContainer(source, output, muxer, encode);
  }

  /** Encodes a moment, to detect tracks that do not fit the container before hours of work. */
  async #tryContainer(source: VideoInput, output: string, muxer: string, encode: WholeEncode): Promise<void> {
    const input = await ffmpegInput(source, { urls: false, origin: this.#origin });
    const written = this.path('trial');
    const args = (from: Parameters<typeof inputArgs>[0]) => [
      ...[...QUIET, ...inputArgs(from)],
      ...[...wholeArguments(encode, output), '-t', '0.2', '-f', muxer, `file:${written}`],
    ];
    const { code, stderr } = await runOn('ffmpeg', input, args, { cwd: this.root });
    await rm(written, { force: true });
    if (code === 0 || !UNSUPPORTED.test(stderr)) return;
    const why = causesIn(stderr).find((line) => UNSUPPORTED.test(line)) ?? '';
    throw usageError(
      `${shown(output)} cannot hold one of its tracks: ${shown(why.replace(/\.$/, ''))}; ` +
        (muxer === 'matroska' ? 'remove that track first.' : 'write to a name that ends in .mkv.'),
    );
  }

  async join(request: JoinRequest): Promise<EncodeResult> {
    const { source, output } = request;
    await refuseSource(source, output);
    const input = await ffmpegInput(source, { urls: false, origin: this.#origin });
    const muxer = muxerOf(output);
    const written = await scratchBeside(output);
    try {
      const result = await joinSegments(request, { folder: this.root, input, muxer, written });
      await request.check(written);
      await rename(written, resolve(output));
      forgetScratch(written);
      return result;
    } catch (error) {
      await removeScratch(written);
      throw error;
    }
  }

  async frames(name: string, signal?: AbortSignal): Promise<FrameSource> {
    const decoder = createFfmpegDecoder({ origin: BY_USER });
    const track = await decoder.probe(this.path(name), signal);
    return decoder.open(this.path(name), track, { signal });
  }

  async remove(name: string): Promise<void> {
    await rm(this.path(name), { force: true });
    this.#giveBack(name);
  }

  /** Stops work if the folder grows too large: an encoder may write more files than its output. */
  async #watched<T>(caller: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const forget = onAbort(caller, (reason) => stop.abort(reason));
    const check = async () => {
      const sizes = (await readdir(this.root)).map((name) =>
        stat(join(this.root, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      );
      const held = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      if (held > this.#limit + SLACK) stop.abort(this.#tooLarge('the files of an encode take more'));
    };
    const timer = setInterval(() => void check().catch(() => {}), CHECK);
    try {
      return await work(stop.signal);
    } finally {
      clearInterval(timer);
      forget();
    }
  }

  #hold(name: string, bytes: number): void {
    this.#giveBack(name);
    this.#held.set(name, bytes);
    this.#left -= bytes;
  }

  #giveBack(name: string): void {
    this.#left += this.#held.get(name) ?? 0;
    this.#held.delete(name);
  }

  close(): Promise<void> {
    return removeScratch(this.#made);
  }

  #tooLarge(what: string): AnyvmafError {
    return ioError(
      `${what}, but ${gigabytes(this.#left)} of temporary files are allowed and free in ${shown(this.root)}; allow more, ` +
        'name another folder with TMPDIR, or take fewer samples.',
    );
  }
}

async function writeFrames(
  file: FileHandle,
  decoded: { readFrame(index: number, into: FramePlanes): Promise<boolean> | boolean },
  format: VideoFormat,
  count: number,
  name: string,
): Promise<void> {
  const planes = allocateFrame(format);
  for (let index = 0; index < count; index++) {
    if (!(await decoded.readFrame(index, planes)))
      throw mediaError(`${shown(name)} ends before frame ${index} of a sample; it may be damaged.`);
    // Unlike `write`, `writeFile` writes all or throws, even on a nearly full disk.
    await file.writeFile(FRAME_HEADER);
    await file.writeFile(planes.y);
    for (const plane of [planes.cb, planes.cr]) if (plane) await file.writeFile(storedChroma(plane, format));
  }
}

/** States full range, or ffmpeg would take samples for limited ones and convert them. */
function headerOf(facts: SourceFacts, format: VideoFormat): string {
  const header = y4mHeader(format, rateOf(facts));
  return samplesOf(facts) === 'full' ? header.replace('\n', ' XCOLORRANGE=FULL\n') : header;
}

function rateOf({ track, times }: SourceFacts): string {
  const { frameRate } = track;
  if (frameRate) return `${frameRate.num}:${frameRate.den}`;
  const duration = times.at(-1) ?? 0;
  return duration > 0 ? `${Math.round(((times.length - 1) / duration) * 1000)}:1000` : '25:1';
}

async function refuseSource(source: VideoInput, output: string): Promise<void> {
  if (typeof source !== 'string' && !(source instanceof URL)) return;
  const path = typeof source === 'string' ? localPath(source) : source;
  const stats = [path, output].map((file) => stat(file).catch(() => undefined));
  const [from, to] = await Promise.all(stats);
  if (!from || !to || from.ino !== to.ino || from.dev !== to.dev) return;
  throw usageError(`${shown(output)} is the source; name another file for the encode.`);
}

/** Transfer characteristics that ffmpeg prints by one name and takes as an option by another. */
const TRANSFERS: ReadonlyMap<string, string> = new Map([
  ['bt470m', 'gamma22'],
  ['bt470bg', 'gamma28'],
]);

function encodeArgs(request: EncodeRequest, limit: number | undefined): string[] {
  if (request.whole) return [...wholeArguments(request, request.output)];
  const { encoder, version, args, pixelFormat, size, samples, frames, times, keys, colour } = request;
  const out = ['-map', '0:V:0'];
  const aspect = colour?.sampleAspect;
  const filters = [
    ...(frames
      ? [`trim=start_frame=${frames.first}:end_frame=${frames.first + frames.count}`, 'setpts=PTS-STARTPTS']
      : []),
    ...(times ? ['settb=1/1000000', `setpts=${lookup(times).replaceAll(',', '\\,')}`] : []),
    // The aspect of the unscaled picture; scaling changes it.
    ...(aspect && !size ? [`setsar=${aspect.num}/${aspect.den}`] : []),
  ];
  out.push(...pictureArguments(size, samples, filters));
  out.push('-map_metadata', '-1', '-c:v', encoder, ...args, '-pix_fmt', pixelFormat, ...everyFrame(version));
  if (keys?.length) out.push('-force_key_frames', `expr:${keys.map((frame) => `eq(n,${frame})`).join('+')}`);
  if (colour?.colorRange === 'limited') out.push('-color_range', 'tv');
  if (colour?.primaries) out.push('-color_primaries', colour.primaries);
  if (colour?.transfer) out.push('-color_trc', TRANSFERS.get(colour.transfer) ?? colour.transfer);
  if (colour?.matrix) out.push('-colorspace', colour.matrix);
  if (limit !== undefined) out.push('-fs', String(Math.floor(limit)));
  return out;
}

/** ffmpeg's messages about a codec that a container does not support. */
const UNSUPPORTED =
  /not currently supported in container|is experimental|are supported (?:for|in)|not supported in/i;

/** Lines of a log without mere consequences. */
function causesIn(stderr: string): readonly string[] {
  return linesOf(stderr).filter((line) => !/^(?:Error while|Conversion failed)/.test(line));
}

function encodeError(
  { encoder, args, pixelFormat }: EncodeRequest,
  input: FfmpegInput,
  crash: string | null,
  stderr: string,
): AnyvmafError {
  const causes = causesIn(stderr);
  const why =
    crash !== null ? `ffmpeg crashed (${crash})` : causes.slice(0, 2).join('; ') || 'ffmpeg did not say why';
  return mediaError(
    `${encoder} could not encode ${shown(input.name)} as ${pixelFormat} with ${shown(args.join(' '))}: ${shown(why)}.`,
  );
}

function diskError(cause: unknown): unknown {
  if (!(cause instanceof Error && 'code' in cause) || cause instanceof AnyvmafError) return cause;
  return ioError(`The samples cannot be written: ${writeReason(cause)}.`, { cause });
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toPrecision(3)} GB`;
