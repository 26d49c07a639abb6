/**
 * @module platform/ffmpeg-wasm/protocol
 * The platform of the ffmpeg.wasm decoder, and the messages of the thread that runs FFmpeg. Frames reach the reading thread,
 * which must not block, through a ring of shared memory, whose writer waits while it is full; or as messages if threads
 * share no memory.
 */
import type { Origin } from '../../core/origin.js';
import type { TrackRequest } from '../../media/decoder.js';
import type { ByteStream, VideoInput } from '../../media/types.js';
import type { DecodedPart } from '../ffmpeg/log.js';

/** The video, as the thread reads it. */
export type JobInput =
  /** Node: a path, which the thread opens and checks by its origin. */
  | { readonly kind: 'file'; readonly path: string; readonly origin: Origin }
  /** Browser: read synchronously. */
  | { readonly kind: 'blob'; readonly blob: Blob }
  /** Node: read asynchronously by the main thread; see {@link RemoteMemory}. */
  | { readonly kind: 'remote'; readonly size: number; readonly memory: RemoteMemory };

/** Shared memory for reading through the main thread. */
export interface RemoteMemory {
  /** [0]: 1 when the answer has arrived, else 0. [1]: bytes read, or -1 for an error. */
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

/** The only run of a thread. */
export interface WasmJob {
  readonly tool: 'ffprobe' | 'ffmpeg';
  readonly args: readonly string[];
  /** Name of the input in the core's root folder. */
  readonly inputName: string;
  readonly input: JobInput;
  /** Absent if the tool writes only text. */
  readonly frames?: DecodedPart & {
    /** Absent: frames come as messages. */
    readonly ring?: RingMemory;
  };
}

export interface WasmStart extends LoadedCore {
  readonly kind: 'start';
  readonly job: WasmJob;
}

/** FFmpeg's message about a damaged video. Earlier frames are intact. */
export interface Damage {
  readonly text: string;
  /** The file is truncated, and all of it was decoded. */
  readonly atEnd: boolean;
}

export type ToWasmWorker =
  | WasmStart
  /** Bytes of `chunk` messages that are read. */
  | { readonly kind: 'used'; readonly bytes: number };

export type FromWasmWorker =
  /** The ring has data. */
  | { readonly kind: 'wake' }
  /** Without a ring: samples, and the times of the frames that begin in them. */
  | {
      readonly kind: 'chunk';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly times: readonly number[];
    }
  | { readonly kind: 'read'; readonly position: number; readonly length: number }
  | {
      readonly kind: 'done';
      readonly status: number;
      readonly stdout: readonly string[];
      readonly stderr: readonly string[];
      readonly damage?: Damage;
      /** Seeking missed the part; no frame was passed on. */
      readonly missed: boolean;
      /** Packets at which others are missing. */
      readonly gaps: number;
      /** FFmpeg's reason why frames before the first could not be decoded. */
      readonly skippedStart?: string;
    }
  /** The video could not be read, or the tool failed. */
  | { readonly kind: 'failed'; readonly what: 'io' | 'internal'; readonly message: string };

/** The core's device for frames. */
export const FRAMES = '/frames';

export interface WasmThread {
  post(message: ToWasmWorker): void;
  listen(onMessage: (message: FromWasmWorker) => void, onDeath: (how: string) => void): void;
  terminate(): void;
}

export interface OpenedInput {
  /** The user's name of it. */
  readonly name: string;
  /** Extension without the dot. */
  readonly extension?: string;
  readonly size: number;
  /** Changes with the content, for an input by name. */
  readonly version?: string;
  /** Makes the input of one thread. */
  jobInput(): JobInput;
  /** Answers a `read` message about a `remote` {@link JobInput}. @throws {AnyvmafError} `io` */
  serve?(input: JobInput, position: number, length: number): Promise<void>;
  close(): void;
}

export interface LoadedCore {
  /** `ffmpeg-core.wasm`, compiled once for all threads. */
  readonly module: WebAssembly.Module;
  /** Address of `ffmpeg-core.js`. */
  readonly script: string;
}

export interface WasmHost {
  /** Whether threads share memory. */
  readonly sharedMemory: boolean;
  /** Advice for a codec that FFmpeg in WebAssembly cannot decode, as the end of a sentence. */
  readonly remedy: string;
  readonly track?: TrackRequest;
  /** Loads the core; or a sentence why there is none. */
  core(): (() => Promise<LoadedCore>) | string;
  /** As `obtain` of a decoder: fetches the core with the user's consent; absent if that is impossible. */
  obtain?(signal?: AbortSignal): Promise<void>;
  /** @throws {AnyvmafError} `io` if it cannot be read, `usage` if it can be read only once */
  openInput(input: VideoInput): Promise<OpenedInput>;
  startThread(): WasmThread;
}

/** Bytes of frames in order, and the times of frames that have begun. */
export abstract class FrameReader implements ByteStream {
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #waiting: (() => void) | undefined;

  abstract next(): Promise<Uint8Array | undefined>;

  /** New times in seconds, in order. */
  abstract takeTimes(): number[];

  wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  /** Ends the stream; received data can still be read. */
  end(): void {
    this.#ended = true;
    this.wake();
  }

  /** Ends the stream; further reads throw the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.wake();
  }

  close(): void {
    this.end();
  }

  /** Whether the stream has ended. @throws the error of {@link fail} */
  protected isOver(): boolean {
    if (this.#failure) throw this.#failure.error;
    return this.#ended;
  }

  protected waken(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}

export class ChunkReader extends FrameReader {
  readonly #used: (bytes: number) => void;
  #chunks: Uint8Array[] = [];
  #times: number[] = [];

  constructor(used: (bytes: number) => void) {
    super();
    this.#used = used;
  }

  give(bytes: Uint8Array, times: readonly number[]): void {
    this.#chunks.push(bytes);
    for (const time of times) this.#times.push(time);
    this.wake();
  }

  override async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#used(chunk.length);
        return chunk;
      }
      if (this.isOver()) return undefined;
      await this.waken();
    }
  }

  override takeTimes(): number[] {
    const taken = this.#times;
    this.#times = [];
    return taken;
  }

  override close(): void {
    this.#chunks = [];
    super.close();
  }
}

/** Structured-cloneable. */
export interface RingMemory {
  /** See {@link Slot}. */
  readonly control: Int32Array<SharedArrayBuffer>;
  /** A power of two of bytes. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** Times of the latest {@link TIMES} frames: frame n at n modulo {@link TIMES}. */
  readonly times: Float64Array<SharedArrayBuffer>;
}

/** Indices of {@link RingMemory.control}. Byte counters wrap around at 2^32. */
const Slot = { written: 0, read: 1, hungry: 2, times: 3 } as const;

/** More than the most frames in flight. */
const TIMES = 4096;

const MIN_BYTES = 4 << 20;
const MAX_BYTES = 1 << 30;

/** @param frameBytes the ring holds two frames, to decode one while the other is read */
export function createRing(frameBytes: number): RingMemory {
  const capacity = 2 ** Math.ceil(Math.log2(Math.max(MIN_BYTES, 2 * frameBytes)));
  return {
    control: new Int32Array(new SharedArrayBuffer(4 * Object.keys(Slot).length)),
    bytes: new Uint8Array(new SharedArrayBuffer(Math.min(capacity, MAX_BYTES))),
    times: new Float64Array(new SharedArrayBuffer(8 * TIMES)),
  };
}

/** Used by the thread that may block. */
export class RingWriter {
  readonly #ring: RingMemory;
  readonly #wake: () => void;

  constructor(ring: RingMemory, wake: () => void) {
    this.#ring = ring;
    this.#wake = wake;
  }

  /** Writes all data; waits while the ring is full. */
  write(data: Uint8Array): void {
    const { control, bytes } = this.#ring;
    let rest = data;
    while (rest.length > 0) {
      const written = Atomics.load(control, Slot.written);
      const read = Atomics.load(control, Slot.read);
      const room = bytes.length - ((written - read) >>> 0);
      if (room === 0) {
        Atomics.wait(control, Slot.read, read);
        continue;
      }
      const at = (written >>> 0) % bytes.length;
      const part = rest.subarray(0, Math.min(room, bytes.length - at));
      bytes.set(part, at);
      rest = rest.subarray(part.length);
      Atomics.store(control, Slot.written, (written + part.length) | 0);
      if (Atomics.exchange(control, Slot.hungry, 0) === 1) this.#wake();
    }
  }

  /** Records the time in seconds of the next frame; call it before writing the frame's last byte. */
  time(seconds: number): void {
    const { control, times } = this.#ring;
    const count = Atomics.load(control, Slot.times);
    times[count % TIMES] = seconds;
    Atomics.store(control, Slot.times, count + 1);
  }
}

/** Used by the thread that must not block. */
export class RingReader extends FrameReader {
  readonly #ring: RingMemory;
  /** Bytes from the latest {@link next}, still in use. */
  #lent = 0;
  #timesRead = 0;

  constructor(ring: RingMemory) {
    super();
    this.#ring = ring;
  }

  override async next(): Promise<Uint8Array | undefined> {
    const { control, bytes } = this.#ring;
    this.#giveBack();
    for (;;) {
      const read = Atomics.load(control, Slot.read);
      const available = (Atomics.load(control, Slot.written) - read) >>> 0;
      if (available > 0) {
        const at = (read >>> 0) % bytes.length;
        this.#lent = Math.min(available, bytes.length - at);
        return bytes.subarray(at, at + this.#lent);
      }
      if (this.isOver()) return undefined;
      const woken = this.waken();
      Atomics.store(control, Slot.hungry, 1);
      // Bytes written since `read` was loaded wake no reader.
      if (Atomics.load(control, Slot.written) !== read) continue;
      await woken;
    }
  }

  override takeTimes(): number[] {
    const { control, times } = this.#ring;
    const count = Atomics.load(control, Slot.times);
    const taken: number[] = [];
    while (this.#timesRead < count) {
      const at = this.#timesRead % TIMES;
      taken.push(...times.subarray(at, at + count - this.#timesRead));
      this.#timesRead = Math.min(count, this.#timesRead + TIMES - at);
    }
    return taken;
  }

  override close(): void {
    this.#giveBack();
    super.close();
  }

  #giveBack(): void {
    if (this.#lent === 0) return;
    const { control } = this.#ring;
    Atomics.add(control, Slot.read, this.#lent);
    Atomics.notify(control, Slot.read);
    this.#lent = 0;
  }
}
