/**
 * @module engine/contract/platform
 * What the engine needs from the world around it: files, the core's code, models, workers and cores.
 */

import type { Origin } from '../../core/origin.js';
import type { WasmBytes, WasmModule } from '../../core/wasm-types.js';
import type { Decoder } from '../../media/decoder.js';
import type { FilePlatform } from '../../media/platform.js';
import type { ModelStore } from '../../models/types.js';
import type { ParserWorker } from '../../parsing/protocol.js';
import type { TinyPlatform } from '../../tiny/types.js';
import type { GpuKind } from '../backends/gpu.js';
import type { NativeHost } from '../backends/native/host.js';
import type { HeatmapStore } from '../results/heatmaps.js';
import type { WorkerHandle } from '../workers/protocol.js';
import type { ParserTask } from './parser-task.js';

/** One runtime: Node, or a browser. */
export interface Platform {
  /** This platform for file names of `origin`: it checks each as `origin` says. Absent where no file has a name. */
  ofOrigin?(origin: Origin): Platform;
  readonly files: FilePlatform;
  readonly models: ModelStore;
  /** Ways to decode video, the preferred first. Loads their code, not what they need to run. */
  decoders(options: { readonly allowUrl: boolean }): Promise<readonly Decoder[]>;
  /** Installed programs; absent where there cannot be any. */
  native?(): Promise<NativeHost>;
  /** How a GPU is got that measures; absent where there cannot be any. */
  readonly gpu?: GpuAccess;
  /** Where heatmaps can be written; absent where they cannot. */
  heatmaps?(): Promise<HeatmapStore>;
  /** Tiny ONNX models: their files, what runs them, their signatures. Loaded when one is asked for. */
  tiny(): Promise<TinyPlatform>;
  /** Browsers: where onnxruntime-web is, when the host says so; workers have to be told. */
  readonly onnxruntime?: string | undefined;
  /** Threads that can run at the same time. */
  readonly parallelism: number;
  /**
   * The core, compiled; compiled once only.
   * @throws {AnyvmafError} `io` when its file cannot be had, `internal` when it does not compile here
   */
  loadCore(): Promise<WasmModule>;
  /** Starts a thread for foreign bytes, see parsing/parser. */
  startParser(): ParserWorker;
  /** What such a thread is told to evaluate tiny models. */
  evaluationTask(): ParserTask;
  /** Starts a thread that runs engine/workers/worker-body. */
  startWorker(): WorkerHandle;
  /** Lets timers, input and output have their turn; resolves soon after. */
  breathe(): Promise<void>;
}

/** A GPU that measures, by WebGPU. */
export interface GpuAccess {
  /** Whether what it needs is here; nothing is loaded for the answer. */
  readonly here: boolean;
  /** Whether a driver may be here as well; without one the package writes to the terminal when it is asked. */
  readonly driver: boolean;
  /** How to get what it needs, as a step. */
  readonly advice: string;
  /**
   * Opens it in the calling thread; workers open theirs by themselves.
   * @throws {AnyvmafError} `backend` where there is none, with what to do
   */
  open(): Promise<GpuKind>;
}

/** Where the package's own files are, for programs whose bundler moved them; what is absent is found by itself. */
export interface Assets {
  /** The core `anyvmaf.wasm`: where it is, its bytes, or the compiled module. */
  readonly wasm?: string | URL | WasmBytes | WasmModule;
  /** The module that workers run: `node-worker.js` or `browser-worker.js` of this package. */
  readonly worker?: string | URL;
  /** The folder that holds the built-in models, ending in `/`. */
  readonly models?: string | URL;
  /** Browsers: the library mediabunny (`mediabunny/dist/bundles/mediabunny.mjs`), where it is not bundled. */
  readonly mediabunny?: string | URL;
  /** Browsers: the folder of ffmpeg.wasm (`@ffmpeg/core/dist/esm/`); without it ffmpeg.wasm is not used there. */
  readonly ffmpegCore?: string | URL;
  /**
   * The module that parses foreign files where it can be ended: `node-parser-worker.js` or `browser-parser-worker.js` of
   * this package.
   */
  readonly parserWorker?: string | URL;
  /** The module that runs ffmpeg.wasm: `node-ffmpeg-worker.js` or `browser-ffmpeg-worker.js` of this package. */
  readonly ffmpegWorker?: string | URL;
  /**
   * Browsers: the library onnxruntime-web (`onnxruntime-web/dist/ort.webgpu.bundle.min.mjs`), with its WebAssembly beside
   * it. Without it tiny models run only where an import map knows `onnxruntime-web`; bundlers do not bring it along.
   */
  readonly onnxruntime?: string | URL;
}
