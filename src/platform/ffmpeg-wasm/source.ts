/**
 * @module platform/ffmpeg-wasm/source
 * Frames decoded one after another by FFmpeg in WebAssembly, no faster than they are read.
 */
import { onAbort } from '../../core/abort.js';
import { AnyvmafError } from '../../core/errors.js';
import { type FramePlanes, storedFrameBytes } from '../../core/frame.js';
import { shown } from '../../core/printable.js';
import {
  type DecodedSource,
  type DecodeRequest,
  decodedInfo,
  requireInOrder,
  type TrackFacts,
} from '../../media/decoder.js';
import type { Delivery } from '../../media/delivery.js';
import { type EarlyEnd, earlyEndError, earlyEndWarning, gapWarning } from '../../media/errors.js';
import { ByteQueue } from '../../media/readers.js';
import { PlaneMap } from '../../media/sources.js';
import type { VideoInfo } from '../../media/types.js';
import { CONTAINED, type ToolSource } from '../ffmpeg/access.js';
import { decodeArgs, type Part } from '../ffmpeg/commands.js';
import type { Plan } from '../ffmpeg/plan.js';
import { type Damage, FRAMES, type OpenedInput, type WasmHost } from './protocol.js';
import { ChunkReader, createRing, type FrameReader, type RingMemory, RingReader } from './ring.js';
import { type RunResult, startRun, type ToolRun } from './run.js';

/** The only file that FFmpeg can open. */
export function sourceOf(inputName: string): ToolSource {
  return { url: `/${inputName}`, access: CONTAINED };
}

export interface Decoding {
  readonly inputName: string;
  /** Version of FFmpeg. */
  readonly version: string;
  readonly decodedBy: string;
  readonly facts: TrackFacts;
  readonly request: DecodeRequest;
  readonly plan: Plan;
  /** Format of the frames that FFmpeg writes. */
  readonly planes: Delivery;
}

/** A video being decoded. Frame 0 is the first of the requested part. */
export class WasmSource implements DecodedSource {
  readonly seekable = false;
  readonly decoder = 'wasm';
  readonly info: VideoInfo;
  readonly facts: TrackFacts;
  readonly decodedBy: string;
  readonly #host: WasmHost;
  readonly #opened: OpenedInput;
  readonly #what: Decoding;
  readonly #ring: RingMemory | undefined;
  readonly #reader: FrameReader;
  readonly #queue: ByteQueue;
  readonly #planes: PlaneMap;
  readonly #frameBytes: number;
  readonly #warnings: string[] = [];
  #run: ToolRun | undefined;
  #forget = () => {};
  /** Time of the track's first frame on the file's clock. */
  #zero: number | undefined;
  /** Seconds from {@link #zero}, by frame number in this source. */
  readonly #times: number[] = [];
  /** Times of frames that have not begun. */
  #upcoming: number[] = [];
  #ended = false;
  #damage: string | undefined;

  /** @param opened owned by the source from now on */
  constructor(host: WasmHost, opened: OpenedInput, what: Decoding) {
    const { facts, request, plan } = what;
    this.info = decodedInfo(facts, plan.frameCount, this.#warnings);
    this.facts = facts;
    this.decodedBy = what.decodedBy;
    this.#host = host;
    this.#opened = opened;
    this.#what = what;
    this.#planes = new PlaneMap(this.info);
    this.#frameBytes = storedFrameBytes(this.info);
    this.#ring = host.sharedMemory ? createRing(this.#frameBytes) : undefined;
    this.#reader = this.#ring
      ? new RingReader(this.#ring)
      : new ChunkReader((bytes) => this.#run?.used(bytes));
    this.#queue = new ByteQueue(this.#reader);
    this.#zero = plan.trackStart;
    this.#forget = onAbort(request.signal, this.#abort);
  }

  get damage(): string | undefined {
    return this.#damage;
  }

  async start(part: Part): Promise<void> {
    const { facts, request, inputName, version, planes } = this.#what;
    const { width, height } = facts;
    // Not scaled: swscale without assembler code rounds unlike a native FFmpeg, which the scorer's resampler equals.
    const { size: _, ...unscaled } = request;
    const args = decodeArgs(sourceOf(inputName), facts, planes, unscaled, part, version);
    // Flush whole frames, so that the one before damage is not lost with it.
    const output = ['-flush_packets', '1', FRAMES];
    const run = await startRun(
      this.#host,
      this.#opened,
      {
        tool: 'ffmpeg',
        args: [...args.slice(0, -1), ...output],
        inputName,
        input: this.#opened.jobInput(),
        frames: {
          expected: { width, height, pixelFormat: planes.pixelFormat },
          part,
          container: facts.container,
          ring: this.#ring,
        },
      },
      {
        wake: () => this.#reader.wake(),
        chunk: (bytes, times) => {
          if (this.#reader instanceof ChunkReader) this.#reader.give(bytes, times);
        },
      },
    );
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

  readonly #abort = (): void => {
    const reason: unknown = this.#what.request.signal?.reason;
    this.#run?.stop(reason);
    this.#reader.fail(reason);
  };

  /** Reads the next frame: fills `parts`, skips the rest of it. */
  async #frame(parts: readonly Uint8Array[]): Promise<boolean> {
    this.#what.request.signal?.throwIfAborted();
    if (this.#ended || !(await this.#isThere())) return false;
    // A frame's time arrives before its first byte.
    for (const time of this.#reader.takeTimes()) this.#upcoming.push(time);
    const time = this.#upcoming.shift() ?? Number.NaN;
    this.#zero ??= time;
    let found = 0;
    for (const part of parts) found += await this.#queue.read(part);
    found += await this.#queue.skip(this.#frameBytes - found);
    this.#what.request.signal?.throwIfAborted();
    if (this.#ended) return false;
    if (found < this.#frameBytes) {
      throw earlyEndError(this.facts, this.#endedAt({ text: 'it ends within a frame', atEnd: true }));
    }
    this.#times.push(this.#what.plan.times?.[this.#times.length] ?? time - this.#zero);
    return true;
  }

  async #isThere(): Promise<boolean> {
    try {
      if ((await this.#queue.peek(1)).length > 0) return true;
      // Closed meanwhile.
      if (this.#ended) return false;
      this.#end();
      if (this.#times.length === 0 && !this.#what.request.signal?.aborted && this.#damage === undefined) {
        throw new AnyvmafError('media', `${shown(this.info.name)} has no frame in the range to score.`);
      }
      return false;
    } catch (error) {
      this.#end();
      if (!(error instanceof Damaged)) throw error;
      const end = this.#endedAt(error.damage);
      if (this.#what.request.damage !== 'accept') throw earlyEndError(this.facts, end);
      this.#damage = earlyEndWarning(this.facts, end);
      this.#warnings.push(this.#damage);
      return false;
    }
  }

  #end(): void {
    this.#ended = true;
    this.#forget();
    this.#opened.close();
  }

  /** The tool has ended; its output is still to be read. */
  #finish(result: RunResult, part: Part): void {
    if (this.#ended) return;
    const { status, stderr, damage, missed, skippedStart, gaps } = result;
    if (missed) {
      // Seeking failed, or met damage: start at the beginning of the file.
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
    if (damage) this.#reader.fail(new Damaged(damage));
    else if (status > 0) {
      const text = stderr.at(-1) ?? `FFmpeg ended with status ${status}`;
      this.#reader.fail(new Damaged({ text, atEnd: false }));
    } else this.#reader.end();
  }

  #endedAt({ text, atEnd }: Damage): EarlyEnd {
    const frames = this.#times.length;
    return { frames, lastTime: this.timestamp(frames - 1), cutOff: atEnd, text };
  }
}

/** Damage after the last whole frame. */
class Damaged extends Error {
  readonly damage: Damage;

  constructor(damage: Damage) {
    super(damage.text);
    this.damage = damage;
  }
}
