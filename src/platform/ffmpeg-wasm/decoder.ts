/**
 * @module platform/ffmpeg-wasm/decoder
 * The decoder that needs no installed program: FFmpeg in WebAssembly (`@ffmpeg/core`), each run in its own thread, decoding
 * no faster than frames are read.
 */
import { onAbort } from '../../core/abort.js';
import { jsonOf } from '../../core/arguments.js';
import { internalError, ioError, mediaError } from '../../core/errors.js';
import { type FramePlanes, storedFrameBytes } from '../../core/frame.js';
import { shown } from '../../core/printable.js';
import type {
  DecodedSource,
  DecodeRequest,
  Decoder,
  DecoderAvailability,
  TrackFacts,
  TrackTimes,
} from '../../media/decoder.js';
import { chooseTrack, decodedInfo, requireInOrder } from '../../media/decoder.js';
import { type Delivery, delivery } from '../../media/delivery.js';
import type { EarlyEnd } from '../../media/errors.js';
import { DECLARE_RAW, earlyEndError, earlyEndWarning, gapWarning } from '../../media/errors.js';
import { parseProbe, videoTracks } from '../../media/facts.js';
import { ByteQueue } from '../../media/readers.js';
import { PlaneMap } from '../../media/sources.js';
import type { VideoInfo, VideoInput } from '../../media/types.js';
import type { Part, ToolSource } from '../ffmpeg/commands.js';
import { CONTAINED, decodeArgs, decodedBy, probeArgs } from '../ffmpeg/commands.js';
import { type Plan, planPart, readTrackTimes, TimesMemory } from '../ffmpeg/times.js';
import type { Damage, FromWasmWorker, LoadedCore, OpenedInput, WasmHost, WasmJob } from './protocol.js';
import { ChunkReader, FRAMES } from './protocol.js';

/** Bytes of frames in flight from a thread, at least two frames: one is decoded while the other is read. */
const LEAST_IN_FLIGHT = 4 << 20;
const MOST_IN_FLIGHT = 1 << 30;

/** The version of FFmpeg inside `@ffmpeg/core` 0.12.10. */
const FFMPEG_VERSION = '5.1.4';

export class WasmDecoder implements Decoder {
  readonly id = 'wasm';
  readonly obtain: Decoder['obtain'];
  readonly #host: WasmHost;
  readonly #times = new TimesMemory();

  constructor(host: WasmHost) {
    this.#host = host;
    this.obtain = host.obtain;
  }

  async availability(): Promise<DecoderAvailability> {
    const found = this.#host.core();
    if (typeof found === 'string') return { id: 'wasm', usable: false, reason: found };
    return { id: 'wasm', usable: true, version: FFMPEG_VERSION };
  }

  probe(input: VideoInput, signal?: AbortSignal): Promise<TrackFacts> {
    return this.#withInput(input, async (opened) => {
      const ask = async (track?: number) => {
        const { stdout, stderr } = await this.#ffprobe(opened, (source) => probeArgs(source, track), signal);
        return parseOutput(this.#host, stdout, stderr, opened);
      };
      const json = await ask();
      const track = chooseTrack(videoTracks(json), this.#host.track, opened.name);
      return parseProbe(track ? await ask(track.index) : json, opened.name, true, track).facts;
    });
  }

  timestamps(input: VideoInput, signal?: AbortSignal, track?: number): Promise<TrackTimes | null> {
    return this.#withInput(input, (opened) => this.#readTimes(input, opened, track, signal));
  }

  async open(input: VideoInput, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource> {
    const { signal } = request;
    signal?.throwIfAborted();
    const opened = await this.#host.openInput(input);
    try {
      const track = facts.track?.index;
      const plan = await planPart(facts, request, {
        remembered: this.#times.get(keyOf(input, opened), track),
        read: () => this.#readTimes(input, opened, track, signal),
      });
      const planes = delivery(facts.pixelFormat, facts.rotation, facts.name, facts);
      const by = decodedBy(`ffmpeg.wasm ${FFMPEG_VERSION}`, facts, planes);
      const decoding = { host: this.#host, facts, request, opened, plan, planes };
      const source = new WasmSource({ ...decoding, decodedBy: by });
      await source.start(plan.part);
      return source;
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  async #withInput<T>(input: VideoInput, use: (opened: OpenedInput) => Promise<T>): Promise<T> {
    const opened = await this.#host.openInput(input);
    try {
      return await use(opened);
    } finally {
      opened.close();
    }
  }

  async #ffprobe(opened: OpenedInput, args: (source: ToolSource) => string[], signal?: AbortSignal) {
    signal?.throwIfAborted();
    const name = inputName(opened);
    const job = { args: args(sourceOf(name)), inputName: name, input: opened.jobInput() };
    const run = await startRun(this.#host, opened, { tool: 'ffprobe', ...job });
    return run.done.finally(onAbort(signal, run.stop));
  }

  async #readTimes(input: VideoInput, opened: OpenedInput, track: number | undefined, signal?: AbortSignal) {
    const key = keyOf(input, opened);
    const known = this.#times.get(key, track);
    if (known !== undefined) return known;
    const found = await readTrackTimes(async (args, onLine) => {
      const { stdout } = await this.#ffprobe(opened, (source) => args(source, track), signal);
      stdout.forEach(onLine);
    });
    this.#times.set(key, found, track);
    return found;
  }
}

function keyOf(input: VideoInput, { name, version }: OpenedInput): object | string | undefined {
  if (version !== undefined) return `${name}\n${version}`;
  return typeof input === 'object' && !(input instanceof URL) ? input : undefined;
}

/** FFmpeg recognises some formats only by the extension. */
function inputName({ extension }: OpenedInput): string {
  return extension === undefined ? 'input' : `input.${extension}`;
}

/** The part of ffprobe's JSON that this module reads; media/facts reads the rest. */
interface ProbeOutput {
  readonly streams?: readonly {
    readonly codec_name?: string;
    readonly pix_fmt?: string;
  }[];
  readonly format?: object;
}

/** @throws {AnyvmafError} `media` if FFmpeg does not recognise the file or has no decoder for its codec */
function parseOutput(
  host: WasmHost,
  stdout: readonly string[],
  stderr: readonly string[],
  { name }: OpenedInput,
): ProbeOutput {
  const json = (jsonOf(stdout.join('\n')) ?? {}) as ProbeOutput;
  if (!json.format) {
    const why = stderr.at(-1)?.replace(/^.*: /, '') ?? 'it gave no reason';
    throw mediaError(`${shown(name)} is not a video that ffmpeg.wasm knows: ${shown(why)}`, {
      hints: [DECLARE_RAW],
      file: name,
    });
  }
  const stream = json.streams?.[0];
  // This FFmpeg knows AV1 but has no software decoder for it.
  const undecodable =
    stream?.codec_name === 'av1' || stderr.some((line) => /unsupported codec|no decoder/i.test(line));
  if (stream && !stream.pix_fmt && undecodable) {
    const codec = stream.codec_name ?? 'of an unknown codec';
    throw mediaError(
      `the video of ${shown(name)} is ${codec}, which ffmpeg.wasm cannot decode; ${host.remedy}.`,
    );
  }
  return json;
}

/** The only file that FFmpeg can open. */
const sourceOf = (inputName: string): ToolSource => ({ url: `/${inputName}`, access: CONTAINED });

interface Decoding {
  readonly host: WasmHost;
  /** Owned by the source. */
  readonly opened: OpenedInput;
  readonly decodedBy: string;
  readonly facts: TrackFacts;
  readonly request: DecodeRequest;
  readonly plan: Plan;
  /** Format of the frames that FFmpeg writes. */
  readonly planes: Delivery;
}

/** A video being decoded. Frame 0 is the first of the requested part. */
class WasmSource implements DecodedSource {
  readonly seekable = false;
  readonly decoder = 'wasm';
  readonly info: VideoInfo;
  readonly facts: TrackFacts;
  readonly decodedBy: string;
  readonly #what: Decoding;
  /** Bytes in flight, shared with the thread that waits on them. */
  readonly #unread: Int32Array<SharedArrayBuffer> | undefined;
  readonly #reader = new ChunkReader((bytes) => this.#used(bytes));
  readonly #queue = new ByteQueue(this.#reader);
  readonly #planes: PlaneMap;
  readonly #frameBytes: number;
  readonly #warnings: string[] = [];
  #run: ToolRun | undefined;
  #result: RunResult | undefined;
  #forget = () => {};
  /** Time of the track's first frame on the file's clock, in seconds. */
  #zero: number | undefined;
  /** Seconds from {@link #zero}, by frame number in this source. */
  readonly #times: number[] = [];
  #upcoming: number[] = [];
  #ended = false;
  damage: string | undefined;

  constructor(what: Decoding) {
    const { host, facts, request, plan } = what;
    this.info = decodedInfo(facts, plan.frameCount, this.#warnings);
    this.facts = facts;
    this.decodedBy = what.decodedBy;
    this.#what = what;
    this.#planes = new PlaneMap(this.info);
    this.#frameBytes = storedFrameBytes(this.info);
    this.#unread = host.sharedMemory ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
    this.#zero = plan.trackStart;
    this.#forget = onAbort(request.signal, this.#abort);
  }

  async start(part: Part): Promise<void> {
    const { host, opened, facts, request, planes } = this.#what;
    const name = inputName(opened);
    const { width, height, container } = facts;
    // Not scaled: swscale without assembly rounds differently from native FFmpeg, which the scorer's resampler matches.
    const { size: _, ...unscaled } = request;
    const args = decodeArgs(sourceOf(name), facts, planes, unscaled, part, FFMPEG_VERSION);
    // Flush after each frame, so that damage does not lose the frame before it.
    const output = ['-flush_packets', '1', FRAMES];
    const expected = { width, height, pixelFormat: planes.pixelFormat };
    const most = Math.min(MOST_IN_FLIGHT, Math.max(LEAST_IN_FLIGHT, 2 * this.#frameBytes));
    const frames = { expected, part, container, most, unread: this.#unread };
    const job = {
      args: [...args.slice(0, -1), ...output],
      inputName: name,
      input: opened.jobInput(),
      frames,
    };
    const run = await startRun(host, opened, { tool: 'ffmpeg', ...job }, this.#reader);
    this.#run = run;
    run.done.then(
      (result) => this.#finish(result, part),
      (error: unknown) => {
        if (!this.#ended) this.#reader.fail(error);
      },
    );
    if (this.#ended) run.stop(undefined);
    else if (request.signal?.aborted) this.#abort();
  }

  async readFrame(index: number, into: FramePlanes): Promise<boolean> {
    requireInOrder(this.info.name, index, this.#times.length);
    const parts = this.#planes.parts(into);
    while (this.#times.length < index) if (!(await this.#frame([]))) return false;
    if (!(await this.#frame(parts))) return false;
    this.#planes.finish(into);
    return true;
  }

  timestamp(index: number): number | undefined {
    const time = this.#times[index];
    return time === undefined || Number.isNaN(time) ? undefined : time;
  }

  close(): void {
    this.#end();
    this.#run?.stop(undefined);
    this.#reader.close();
  }

  #used(bytes: number): void {
    if (this.#unread) {
      Atomics.sub(this.#unread, 0, bytes);
      Atomics.notify(this.#unread, 0);
    } else this.#run?.used(bytes);
  }

  readonly #abort = (): void => {
    const reason: unknown = this.#what.request.signal?.reason;
    this.#run?.stop(reason);
    this.#reader.fail(reason);
  };

  /** Reads the next frame: fills `parts` and skips the rest. */
  async #frame(parts: readonly Uint8Array[]): Promise<boolean> {
    this.#what.request.signal?.throwIfAborted();
    if (this.#ended || !(await this.#hasNext())) return false;
    // A frame's time precedes its first byte.
    for (const time of this.#reader.takeTimes()) this.#upcoming.push(time);
    const time = this.#upcoming.shift() ?? Number.NaN;
    this.#zero ??= time;
    let found = 0;
    for (const part of parts) found += await this.#queue.read(part);
    found += await this.#queue.skip(this.#frameBytes - found);
    this.#what.request.signal?.throwIfAborted();
    if (this.#ended) return false;
    if (found < this.#frameBytes)
      throw earlyEndError(this.facts, this.#endedAt({ text: 'it ends within a frame', atEnd: true }));
    this.#times.push(this.#what.plan.times?.[this.#times.length] ?? time - this.#zero);
    return true;
  }

  async #hasNext(): Promise<boolean> {
    try {
      if ((await this.#queue.peek(1)).length > 0) return true;
    } catch (error) {
      this.#end();
      throw error;
    }
    if (this.#ended) return false;
    this.#end();
    const { damage, status = 0, stderr = [] } = this.#result ?? {};
    const failed = { text: stderr.at(-1) ?? `FFmpeg ended with status ${status}`, atEnd: false };
    const harm = damage ?? (status > 0 ? failed : undefined);
    if (harm) {
      const end = this.#endedAt(harm);
      if (this.#what.request.damage !== 'accept') throw earlyEndError(this.facts, end);
      this.damage = earlyEndWarning(this.facts, end);
      this.#warnings.push(this.damage);
    } else if (this.#times.length === 0 && !this.#what.request.signal?.aborted)
      throw mediaError(`${shown(this.info.name)} has no frame in the range to score.`);
    return false;
  }

  #end(): void {
    this.#ended = true;
    this.#forget();
    this.#what.opened.close();
  }

  /** Called when the tool has ended; its output may not be read yet. */
  #finish(result: RunResult, part: Part): void {
    if (this.#ended) return;
    const { damage, missed, skippedStart, gaps } = result;
    if (missed) {
      // Seeking failed or hit damage: restart from the beginning of the file.
      const { seek: _, ...fromTheStart } = part;
      this.start(fromTheStart).catch((error: unknown) => this.#reader.fail(error));
      return;
    }
    if (skippedStart !== undefined && part.seek === undefined) {
      this.#warnings.push(
        `the beginning of ${shown(this.info.name)} cannot be decoded (${shown(skippedStart)}), as is usual if a ` +
          'recording starts between key frames; its first frame is the first one that can.',
      );
    }
    if (gaps > 0 && !damage && this.facts.container === 'mpegts')
      this.#warnings.push(gapWarning(this.info.name));
    this.#result = result;
    this.#reader.close();
  }

  #endedAt({ text, atEnd }: Damage): EarlyEnd {
    const frames = this.#times.length;
    return { frames, lastTime: this.timestamp(frames - 1), cutOff: atEnd, text };
  }
}

type RunResult = Omit<Extract<FromWasmWorker, { kind: 'done' }>, 'kind'>;

/** A running tool, in its own thread. */
interface ToolRun {
  /** @throws {AnyvmafError} `io` if the video cannot be read, `internal` if the tool failed; the reason of {@link stop} */
  readonly done: Promise<RunResult>;
  /** Reports bytes of chunks as read. */
  used(bytes: number): void;
  /** Kills the thread; passes nothing on afterwards. */
  stop(reason: unknown): void;
}

/** Compiled once per process or page. */
let core: Promise<LoadedCore> | undefined;

function loadCore(host: WasmHost): Promise<LoadedCore> {
  core ??= load(host);
  // Retry after a failure.
  core.catch(() => {
    core = undefined;
  });
  return core;
}

async function load(host: WasmHost): Promise<LoadedCore> {
  const found = host.core();
  if (typeof found !== 'string') return found();
  throw ioError(`ffmpeg.wasm cannot be used: ${found}`);
}

async function startRun(
  host: WasmHost,
  opened: OpenedInput,
  job: WasmJob,
  reader?: ChunkReader,
): Promise<ToolRun> {
  const { module, script } = await loadCore(host);
  const thread = host.startThread();
  let end: (settle: () => void) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const done = new Promise<RunResult>((resolve, reject) => {
    let ended = false;
    end = (settle) => {
      if (ended) return;
      ended = true;
      thread.terminate();
      settle();
    };
    fail = (reason) => end(() => reject(reason));
    const broken = (how: string) =>
      internalError(`ffmpeg.wasm failed on ${shown(opened.name)}: ${shown(how)}`);
    thread.listen(
      (message) => {
        if (ended) return;
        switch (message.kind) {
          case 'chunk':
            return reader?.give(message.bytes, message.times);
          case 'read':
            opened.serve?.(job.input, message.position, message.length).catch(fail);
            return;
          case 'done':
            return end(() => resolve(message));
          case 'failed':
            return fail(
              message.what === 'io'
                ? ioError(`reading ${shown(opened.name)} failed: ${shown(message.message)}.`)
                : broken(message.message),
            );
        }
      },
      (how) => fail(broken(how)),
    );
  });
  // A caller that stops a run need not handle its rejection.
  done.catch(() => {});
  thread.post({ kind: 'start', module, script, job });
  return {
    done,
    used: (bytes) => thread.post({ kind: 'used', bytes }),
    stop: fail,
  };
}
