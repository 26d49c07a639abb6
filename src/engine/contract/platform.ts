/**
 * @module engine/contract/platform
 * What the engine needs from a platform: files, the core's code, models, workers and the number of cores.
 */

import type { WasmBytes, WasmModule } from '../../core/compile.js';
import type { CoreModules } from '../../core/module.js';
import type { Origin } from '../../core/origin.js';
import type { EvaluationSettings } from '../../evaluate/evaluation.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { FilePlatform } from '../../media/platform.js';
import type { ModelStore } from '../../models/types.js';
import type { ParserWorker } from '../../parsing/protocol.js';
import type { TinyPlatform } from '../../tiny/types.js';
import type { GpuKind } from '../backends/gpu.js';
import type { HeatmapStore } from '../backends/heatmaps.js';
import type { NativeHost } from '../backends/native/host.js';
import type { WorkerHandle } from './protocol.js';

/** A runtime: Node or a browser. */
export interface Platform {
  /** Returns a platform that checks file names as `origin` demands. Absent if files have no names. */
  ofOrigin?(origin: Origin): Platform;
  readonly files: FilePlatform;
  readonly models: ModelStore;
  /** Video decoders in order of preference. Loads their code, but not what they need to run. */
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
  /** Tiny ONNX models: their files, runtimes and signatures. Loaded when the first is requested. */
  tiny(): Promise<TinyPlatform>;
  /** Browsers: the host's URL of onnxruntime-web, to pass to workers. */
  readonly onnxruntime?: string;
  /** Number of threads that can run at the same time. */
  readonly parallelism: number;
  /**
   * The compiled core, or perceptual.wasm; compiles each on the first call only.
   * @throws {AnyvmafError} `io` if its file cannot be read, `internal` if it does not compile
   */
  loadCore(module?: keyof CoreModules): Promise<WasmModule>;
  /** Starts a thread for untrusted bytes, see parsing/parser. */
  startParser(): ParserWorker;
  /** Settings of a parser thread that evaluates tiny models. */
  evaluationTask(): ParserTask;
  /** Starts a thread that runs engine/workers/worker-body. */
  startWorker(): WorkerHandle;
  /** Yields to timers, input and output; resolves soon after. */
  breathe(): Promise<void>;
}

/** A GPU that measures through WebGPU. */
export interface GpuAccess {
  /** Whether its requirements are installed; loads nothing. */
  readonly here: boolean;
  /** Whether a driver may be installed too; without one the package writes to the terminal when called. */
  readonly driver: boolean;
  /** How to install its requirements, as a step. */
  readonly advice: string;
  /**
   * Fetches its requirements if the user agrees. Absent if nothing can be fetched.
   * @throws {AnyvmafError} if the user declines or the download fails, with what to do; the signal's reason
   */
  obtain?(signal?: AbortSignal): Promise<void>;
  /**
   * Opens it in the calling thread; workers open their own.
   * @throws {AnyvmafError} `backend` if there is no GPU, with what to do
   */
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
