/**
 * @module platform/ffmpeg-wasm/protocol
 * What the ffmpeg.wasm decoder needs of its platform, and what it and the thread that runs FFmpeg for it say to each other.
 */
import type { Origin } from '../../core/origin.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { VideoInput } from '../../media/types.js';
import type { DecodedPart } from '../ffmpeg/log.js';
import type { RingMemory } from './ring.js';

/** Where the thread reads the video; each platform has its own kinds. */
export type JobInput =
  /** Node: a path, opened by the thread and checked as its origin says. */
  | { readonly kind: 'file'; readonly path: string; readonly origin: Origin }
  /** A browser's thread reads it at once. */
  | { readonly kind: 'blob'; readonly blob: Blob }
  /** Node: what can only be read asynchronously is read by the main thread, see {@link RemoteMemory}. */
  | { readonly kind: 'remote'; readonly size: number; readonly memory: RemoteMemory };

/** Shared memory for reading through the main thread. */
export interface RemoteMemory {
  /** Member 0: 0 while the answer is awaited, then 1; member 1: bytes read, or -1 for a failure. */
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

/** One run of a tool. A thread does one and ends. */
export interface WasmJob {
  readonly tool: 'ffprobe' | 'ffmpeg';
  readonly args: readonly string[];
  /** Name of the input in the root folder of the core. */
  readonly inputName: string;
  readonly input: JobInput;
  /** How frames come back; absent where the tool writes text only. */
  readonly frames?: DecodedPart & {
    /** Absent: by messages. */
    readonly ring?: RingMemory;
  };
}

/** First message to a thread. */
export interface WasmStart {
  readonly kind: 'start';
  /** `ffmpeg-core.wasm`, compiled once for all threads. */
  readonly module: WebAssembly.Module;
  /** Where `ffmpeg-core.js` is. */
  readonly script: string;
  readonly job: WasmJob;
}

/** What FFmpeg said of a damaged video. Frames that were handed on before are whole. */
export interface Damage {
  readonly text: string;
  /** The file is cut off, and all that is there was decoded. */
  readonly atEnd: boolean;
}

export type ToWasmWorker =
  | WasmStart
  /** So many bytes that were sent in a `chunk` have been used. */
  | { readonly kind: 'used'; readonly bytes: number };

export type FromWasmWorker =
  /** There is something in the ring. */
  | { readonly kind: 'wake' }
  /** Frames' samples where there is no ring, with the times of the frames that were begun. */
  | {
      readonly kind: 'chunk';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly times: readonly number[];
    }
  /** Please read this part of the video. */
  | { readonly kind: 'read'; readonly position: number; readonly length: number }
  /** The tool ended. */
  | {
      readonly kind: 'done';
      readonly status: number;
      readonly stdout: readonly string[];
      readonly stderr: readonly string[];
      /** Set when something in the video is damaged: the first message about it. */
      readonly damage?: Damage;
      /** Set when the part could not be entered where it was sought; no frame was handed on. */
      readonly missed: boolean;
      /** Packets with or before which others are missing. */
      readonly gaps: number;
      /** Why frames before the first could not be decoded, in FFmpeg's words. */
      readonly skippedStart?: string;
    }
  /** The video could not be read, or the tool itself broke. */
  | { readonly kind: 'failed'; readonly what: 'io' | 'internal'; readonly message: string };

/** Device of the core for frames. */
export const FRAMES = '/frames';

/** A thread that runs `startJob`. */
export interface WasmThread {
  post(message: ToWasmWorker): void;
  listen(onMessage: (message: FromWasmWorker) => void, onDeath: (how: string) => void): void;
  terminate(): void;
}

/** A video that threads can read. */
export interface OpenedInput {
  /** What the user called it. */
  readonly name: string;
  /** Ending of its name without the dot, where it has one. */
  readonly extension?: string;
  /** Bytes. */
  readonly size: number;
  /** Of an input that is a name: changes when the content does. */
  readonly version?: string;
  /** Where a thread reads it; each thread gets its own. */
  jobInput(): JobInput;
  /**
   * Answers a thread's `read` request on {@link JobInput}s that are `remote`.
   * @throws {AnyvmafError} `io`
   */
  serve?(input: JobInput, position: number, length: number): Promise<void>;
  close(): void;
}

/** FFmpeg's WebAssembly, ready for threads. */
export interface LoadedCore {
  readonly module: WebAssembly.Module;
  /** Where `ffmpeg-core.js` is. */
  readonly script: string;
}

/** Node, or a browser. */
export interface WasmHost {
  /** Threads share memory with this one. */
  readonly sharedMemory: boolean;
  /** What else to do about a codec that FFmpeg in WebAssembly cannot decode, the end of a sentence. */
  readonly remedy: string;
  /** The video track to read. Default: a default track, else the largest. */
  readonly track?: TrackRequest;
  /** What loads the core, or why there is none, a sentence. */
  core(): (() => Promise<LoadedCore>) | string;
  /** Fetches the core, if the user agrees; absent where it cannot. As `obtain` of a decoder. */
  obtain?(signal?: AbortSignal): Promise<void>;
  /** @throws {AnyvmafError} `io` when it cannot be read, `usage` when it is of a kind that cannot be read at will */
  openInput(input: VideoInput): Promise<OpenedInput>;
  startThread(): WasmThread;
}
