/**
 * @module platform/ffmpeg-wasm/protocol
 * The platform of the ffmpeg.wasm decoder, and its messages to and from the thread that runs FFmpeg.
 */
import type { Origin } from '../../core/origin.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { VideoInput } from '../../media/types.js';
import type { DecodedPart } from '../ffmpeg/log.js';
import type { RingMemory } from './ring.js';

/** Where the thread reads the video. */
export type JobInput =
  /** Node: a path that the thread opens, and checks by its origin. */
  | { readonly kind: 'file'; readonly path: string; readonly origin: Origin }
  /** Browser: read synchronously. */
  | { readonly kind: 'blob'; readonly blob: Blob }
  /** Node: read by the main thread, because it is asynchronous; see {@link RemoteMemory}. */
  | { readonly kind: 'remote'; readonly size: number; readonly memory: RemoteMemory };

/** Shared memory for reading through the main thread. */
export interface RemoteMemory {
  /** [0]: 0 until the answer is there, then 1. [1]: bytes read, or -1 for a failure. */
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

/** One run of a tool, which is all that a thread does. */
export interface WasmJob {
  readonly tool: 'ffprobe' | 'ffmpeg';
  readonly args: readonly string[];
  /** Name of the input in the root folder of the core. */
  readonly inputName: string;
  readonly input: JobInput;
  /** Absent if the tool writes text only. */
  readonly frames?: DecodedPart & {
    /** Absent: frames come as messages. */
    readonly ring?: RingMemory;
  };
}

export interface WasmStart {
  readonly kind: 'start';
  /** `ffmpeg-core.wasm`, compiled once for all threads. */
  readonly module: WebAssembly.Module;
  /** Address of `ffmpeg-core.js`. */
  readonly script: string;
  readonly job: WasmJob;
}

/** FFmpeg's message about a damaged video. Frames passed on before are whole. */
export interface Damage {
  readonly text: string;
  /** The file is truncated, and all that is there was decoded. */
  readonly atEnd: boolean;
}

export type ToWasmWorker =
  | WasmStart
  /** Bytes of `chunk` messages that were read. */
  | { readonly kind: 'used'; readonly bytes: number };

export type FromWasmWorker =
  /** The ring has data. */
  | { readonly kind: 'wake' }
  /** Samples without a ring, and the times of the frames that begin in them. */
  | {
      readonly kind: 'chunk';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly times: readonly number[];
    }
  /** Asks for a part of the video. */
  | { readonly kind: 'read'; readonly position: number; readonly length: number }
  | {
      readonly kind: 'done';
      readonly status: number;
      readonly stdout: readonly string[];
      readonly stderr: readonly string[];
      readonly damage?: Damage;
      /** Seeking failed to reach the part; no frame was passed on. */
      readonly missed: boolean;
      /** Packets with or before which others are missing. */
      readonly gaps: number;
      /** Why frames before the first could not be decoded, in FFmpeg's words. */
      readonly skippedStart?: string;
    }
  /** The video could not be read, or the tool itself failed. */
  | { readonly kind: 'failed'; readonly what: 'io' | 'internal'; readonly message: string };

/** The core's device for frames. */
export const FRAMES = '/frames';

/** A thread that runs `startJob`. */
export interface WasmThread {
  post(message: ToWasmWorker): void;
  listen(onMessage: (message: FromWasmWorker) => void, onDeath: (how: string) => void): void;
  terminate(): void;
}

export interface OpenedInput {
  /** As the user called it. */
  readonly name: string;
  /** Extension without the dot. */
  readonly extension?: string;
  /** Bytes. */
  readonly size: number;
  /** Of an input by name: changes with its content. */
  readonly version?: string;
  /** Where a thread reads it; each thread gets its own. */
  jobInput(): JobInput;
  /** Answers a `read` message about a `remote` {@link JobInput}. @throws {AnyvmafError} `io` */
  serve?(input: JobInput, position: number, length: number): Promise<void>;
  close(): void;
}

export interface LoadedCore {
  readonly module: WebAssembly.Module;
  /** Address of `ffmpeg-core.js`. */
  readonly script: string;
}

export interface WasmHost {
  /** Threads share memory with this one. */
  readonly sharedMemory: boolean;
  /** Alternatives to a codec that FFmpeg in WebAssembly cannot decode; ends a sentence. */
  readonly remedy: string;
  readonly track?: TrackRequest;
  /** Loads the core; or a sentence that says why there is none. */
  core(): (() => Promise<LoadedCore>) | string;
  /** As `obtain` of a decoder: fetches the core if the user agrees; absent if that is not possible. */
  obtain?(signal?: AbortSignal): Promise<void>;
  /** @throws {AnyvmafError} `io` if it cannot be read, `usage` if it can be read only once */
  openInput(input: VideoInput): Promise<OpenedInput>;
  startThread(): WasmThread;
}
