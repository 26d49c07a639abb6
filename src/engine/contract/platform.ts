/**
 * @module engine/contract/platform
 * The engine's interface to a platform: files, the core's code, models, the number of cores, and workers with their
 * messages, for both Node's worker threads and browsers' module workers.
 */
import type { WasmBytes, WasmModule } from '../../core/compile.js';
import type { ErrorData, InputRole } from '../../core/errors.js';
import type { CoreModules, Implementation } from '../../core/module.js';
import type { Origin } from '../../core/origin.js';
import type { EvaluationSettings } from '../../evaluate/evaluation.js';
import type { Decoder, TrackRequest } from '../../media/decoder.js';
import type { FilePlatform, SourceDescriptor } from '../../media/types.js';
import type { ModelStore } from '../../models/types.js';
import type { ParserWorker } from '../../parsing/protocol.js';
import type { TinyPlatform } from '../../tiny/types.js';
import type { GpuKind, GpuState, GpuUse } from '../backends/composite.js';
import type { ExtractionPlan, HeatmapStore } from '../backends/measurer.js';
import type { NativeHost } from '../backends/native/types.js';
import type { PictureModel, TinySessionFacts } from '../backends/tiny.js';

export interface Platform {
  /** Returns a platform that checks file names by `origin`. Absent if files have no names. */
  ofOrigin?(origin: Origin): Platform;
  readonly files: FilePlatform;
  readonly models: ModelStore;
  /** Video decoders in order of preference. Loads their code only, not their libraries. */
  decoders(options: {
    readonly urls: boolean;
    /** Frame rate of picture sequences. */
    readonly rate?: string;
    /** Default: a default track, else the largest. */
    readonly track?: TrackRequest;
  }): Promise<readonly Decoder[]>;
  /** Installed programs; absent if the platform cannot run any. */
  native?(): Promise<NativeHost>;
  /** Access to a GPU that measures; absent if the platform has none. */
  readonly gpu?: GpuAccess;
  /** Writes heatmaps; absent if the platform cannot. */
  heatmaps?(): Promise<HeatmapStore>;
  /** Files, runtimes and signatures of tiny ONNX models. Loaded on the first request. */
  tiny(): Promise<TinyPlatform>;
  /** Browsers: the host's URL of onnxruntime-web, to pass to workers. */
  readonly onnxruntime?: string;
  /** Number of threads that can run at the same time. */
  readonly parallelism: number;
  /** Compiles a module once. @throws {AnyvmafError} `io` if it cannot be read, `internal` if it does not compile */
  loadCore(module?: keyof CoreModules): Promise<WasmModule>;
  /** Starts a thread for untrusted bytes; see parsing/parser. */
  startParser(): ParserWorker;
  /** Settings of a parser thread that evaluates tiny models. */
  evaluationTask(): ParserTask;
  /** Starts a thread that runs engine/workers/worker-body. */
  startWorker(): WorkerHandle;
  /** Yields to timers and I/O. */
  breathe(): Promise<void>;
}

export interface GpuAccess {
  /** Whether its requirements are installed; loads nothing. */
  readonly here: boolean;
  /** Whether a driver may be installed; without one, the package writes to the terminal when called. */
  readonly driver: boolean;
  /** How to install its requirements, as a step. */
  readonly advice: string;
  /**
   * Fetches its requirements with the user's consent. Absent if nothing can be fetched.
   * @throws {AnyvmafError} if the user declines or the download fails, with hints; the signal's reason
   */
  obtain?(signal?: AbortSignal): Promise<void>;
  /** Opens it in the calling thread; workers open their own. @throws {AnyvmafError} `backend` if there is no GPU */
  open(): Promise<GpuKind>;
}

/** Locations of the package's files, for programs whose bundler moved them. Absent members are found automatically. */
export interface Assets {
  /** The core `anyvmaf.wasm`: its location, its bytes, or the compiled module. */
  readonly wasm?: string | URL | WasmBytes | WasmModule;
  /** The colour metrics, `perceptual.wasm`, in the same forms; loaded when one of them is requested. */
  readonly perceptualWasm?: string | URL | WasmBytes | WasmModule;
  /** The module that workers run: `node-worker.js` or `browser-worker.js` of this package. */
  readonly worker?: string | URL;
  /** The folder that holds the built-in models, ending in `/`. */
  readonly models?: string | URL;
  /** Browsers: the library mediabunny (`mediabunny/dist/bundles/mediabunny.mjs`), if it is not bundled. */
  readonly mediabunny?: string | URL;
  /** Browsers: the folder of ffmpeg.wasm (`@ffmpeg/core/dist/esm/`); without it ffmpeg.wasm is not used there. */
  readonly ffmpegCore?: string | URL;
  /** This package's `node-parser-worker.js` or `browser-parser-worker.js`, which parses untrusted files. */
  readonly parserWorker?: string | URL;
  /** The module that runs ffmpeg.wasm: `node-ffmpeg-worker.js` or `browser-ffmpeg-worker.js` of this package. */
  readonly ffmpegWorker?: string | URL;
  /**
   * Browsers: the library onnxruntime-web (`onnxruntime-web/dist/ort.webgpu.bundle.min.mjs`), with its WebAssembly beside
   * it. Without it, tiny models need an import map that resolves `onnxruntime-web`; bundlers do not include it.
   */
  readonly onnxruntime?: string | URL;
}

export type ParserTask =
  /** Video through mediabunny; browsers pass the library's URL if its name does not resolve. */
  | { readonly kind: 'video'; readonly library?: string }
  | { readonly kind: 'evaluation'; readonly settings: EvaluationSettings };

/** Consecutive frame pairs, numbered from the first scored pair. */
export interface Chunk {
  readonly first: number;
  readonly count: number;
}

/** Passes on chunks in the order of their pairs. */
export class InOrder<Data> {
  readonly #take: (data: Data, count: number) => void;
  readonly #early = new Map<number, readonly [count: number, data: Data]>();
  /** The pair after the last one passed on. */
  next: number;

  constructor(take: (data: Data, count: number) => void, first = 0) {
    this.#take = take;
    this.next = first;
  }

  /** Takes `count` pairs from `first`, in any order. */
  add(first: number, count: number, data: Data): void {
    if (count > 0) this.#early.set(first, [count, data]);
    for (let chunk = this.#early.get(this.next); chunk; chunk = this.#early.get(this.next)) {
      this.#early.delete(this.next);
      this.next += chunk[0];
      this.#take(chunk[1], chunk[0]);
    }
  }
}

/** Two videos that a worker opens itself. Pair n starts at reference frame `skip.reference + n` and so on. */
export interface PairDescriptor {
  readonly reference: SourceDescriptor;
  readonly distorted: SourceDescriptor;
  readonly skip: Readonly<Record<InputRole, number>>;
}

export interface WorkerSetup {
  readonly modules: CoreModules;
  readonly plan: ExtractionPlan;
  readonly implementation: Implementation;
  /** Other pairs than multiples of this get only the features that need every frame. */
  readonly subsample: number;
  /** Absent: the core measures everything. */
  readonly gpu?: GpuUse;
  readonly pictures?: readonly PictureModel[];
  /** Heatmap files to write; see `HeatmapRun`. */
  readonly heatmaps?: readonly string[];
  /** URL of onnxruntime-web for a browser's worker. */
  readonly onnxruntime?: string;
  /** Absent if the engine reads and sends the frames. */
  readonly pair?: PairDescriptor;
  /** Whether to send signatures with the records, for videos that the worker reads itself. */
  readonly signs?: boolean;
}

/** Whether each video ended. */
export type EndOfPair = Readonly<Record<InputRole, boolean>>;

/** A pair of frames in buffers laid out by engine/backends/measurer; history may lack the distorted frame. */
export interface SentPair {
  readonly index: number;
  readonly reference: ArrayBuffer;
  readonly distorted?: ArrayBuffer;
}

export type ToWorker =
  | { readonly kind: 'start'; readonly setup: WorkerSetup }
  | { readonly kind: 'measure'; readonly chunk: Chunk }
  /** A frame pair of the last chunk or of its history, unless the worker reads the videos itself. */
  | ({ readonly kind: 'pair' } & SentPair)
  /** The last chunk ends early. */
  | { readonly kind: 'end' }
  | { readonly kind: 'stop' }
  /** `stop` at any time: a GPU driver may crash if its thread is terminated. */
  | { readonly kind: 'abort' };

/** Records of a chunk; fewer than requested if a video ended. */
export interface MeasuredChunk extends Pick<Chunk, 'count'> {
  readonly records: Float64Array<ArrayBuffer>;
  readonly ended: EndOfPair | null;
  /** One per pair, as in media/align/thumbnail, if requested. */
  readonly signatures?: Uint8Array<ArrayBuffer>;
}

export type FromWorker =
  /** Its picture models are ready. Sent before the first records, and before all records if the sessions keep counts. */
  | { readonly kind: 'sessions'; readonly sessions: readonly TinySessionFacts[] }
  /** Its GPU is open, or there is none. Sent again when it is lost, and before records of a chunk. */
  | { readonly kind: 'gpu'; readonly state: GpuState }
  /**
   * `pairs` more are measured: sent now and then; the last ones of a chunk come only with its records. For sent pairs, after
   * each one, with buffers to reuse.
   */
  | { readonly kind: 'progress'; readonly pairs: number; readonly buffers: readonly ArrayBuffer[] }
  /** A chunk is done. */
  | ({ readonly kind: 'records' } & Chunk & MeasuredChunk)
  | ({ readonly kind: 'failed' } & ErrorData)
  /** The answer to `stop` and `abort`: memory and files are released. */
  | { readonly kind: 'stopped' };

export interface WorkerHandle {
  post(message: ToWorker, transfer?: ArrayBuffer[]): void;
  /** Sets the only receiver of messages and of the worker's death (a sentence). Call once, before `post`. */
  listen(onMessage: (message: FromWorker) => void, onDeath: (how: string) => void): void;
  /** Kills the worker; reports no message and no death afterwards. */
  terminate(): Promise<void>;
}
