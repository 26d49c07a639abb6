/**
 * @module platform/ffmpeg-wasm/host
 * What the ffmpeg.wasm decoder needs of its platform.
 */
import type { DecoderAvailability } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { VideoInput } from '../../media/types.js';
import type { FromWasmWorker, JobInput, ToWasmWorker } from './protocol.js';

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
  availability(): Promise<DecoderAvailability>;
  /** Fetches the core, if the user agrees; absent where it cannot. As `obtain` of a decoder. */
  obtain?(signal?: AbortSignal): Promise<void>;
  /** @throws {AnyvmafError} `io` when the core is not there */
  load(): Promise<LoadedCore>;
  /** @throws {AnyvmafError} `io` when it cannot be read, `usage` when it is of a kind that cannot be read at will */
  openInput(input: VideoInput): Promise<OpenedInput>;
  startThread(): WasmThread;
}
