/**
 * @module platform/ffmpeg-wasm/protocol
 * The platform of the ffmpeg.wasm decoder, and the messages of the thread that runs FFmpeg.
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
    /** Bytes in flight to the reading thread at which FFmpeg waits. */
    readonly most: number;
    /** Shared memory that counts them; absent if threads share no memory. */
    readonly unread?: Int32Array<SharedArrayBuffer>;
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
  /** Bytes of `chunk` messages that are read, if threads share no memory. */
  | { readonly kind: 'used'; readonly bytes: number };

export type FromWasmWorker =
  /** Samples, and the times of the frames that begin in them. */
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
export class ChunkReader implements ByteStream {
  readonly #used: (bytes: number) => void;
  readonly #chunks: Uint8Array[] = [];
  #times: number[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake = () => {};

  /** @param used called with the length of each chunk that is taken */
  constructor(used: (bytes: number) => void) {
    this.#used = used;
  }

  give(bytes: Uint8Array, times: readonly number[]): void {
    this.#chunks.push(bytes);
    for (const time of times) this.#times.push(time);
    this.#wake();
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#used(chunk.length);
        return chunk;
      }
      if (this.#end && 'error' in this.#end) throw this.#end.error;
      if (this.#end) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** New times in seconds, in order. */
  takeTimes(): number[] {
    const taken = this.#times;
    this.#times = [];
    return taken;
  }

  /** Ends the stream; received data can still be read. */
  close(): void {
    this.#end ??= {};
    this.#wake();
  }

  /** Ends the stream; reads after the received data throw the error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }
}
