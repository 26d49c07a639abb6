/**
 * @module bench/types
 * What is timed, how, and what comes out.
 */
import type { BackendName } from '../index.js';

/** A pair of generated videos to time. */
export interface BenchShape {
  /** `576x324`. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Pairs that are scored. */
  readonly frames: number;
  /** Pairs with `full`. */
  readonly fullFrames: number;
}

/** How to time. Everything has a default. */
export interface BenchOptions {
  /** All frames of the largest shape, which takes minutes and 5 GB of disk while it runs. Default false. */
  readonly full?: boolean;
  /** Names of shapes to time. Default: all. */
  readonly shapes?: readonly string[];
  /** Backends to time beside the portable core, asked for by name. Default: all that work here. */
  readonly backends?: readonly BenchBackend[];
  /** Worker threads of the core at most. Default: as many as there are cores. */
  readonly maxThreads?: number;
  /** A folder for one JSON report per shape and backend. Default: none are written. */
  readonly reports?: string;
  /** A folder in which the videos are made; they are deleted again. Default: the system's for temporary files. */
  readonly temporary?: string;
  /** Stops it; `runBenchmark` then rejects with its reason, and nothing is left. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BenchProgress) => void;
}

/** How far it is. */
export interface BenchProgress {
  /** Pairs made and pairs scored. */
  readonly done: number;
  /** Both in all. */
  readonly total: number;
  readonly message: string;
}

/** Backends that can be timed. `cpu` is the core with SIMD. */
export type BenchBackend = Exclude<BackendName, 'wasm'>;

/** One backend on one shape. */
export interface BenchRun {
  /** `portable` is the core without SIMD, which defines the result. */
  readonly backend: 'portable' | BenchBackend;
  /** Mean VMAF; `null` where the run failed. */
  readonly mean: number | null;
  /** Wall-clock seconds of the whole call: reading, measuring, predicting. */
  readonly seconds: number | null;
  readonly fps: number | null;
  /** Largest difference of a frame's VMAF from the portable result; 0 is the same to the last bit. */
  readonly maxDifference: number | null;
  /** The frame that has it; `null` where there is none. */
  readonly maxDifferenceFrame: number | null;
  /** Whether every metric that both have is the same to the last bit in every frame. */
  readonly identical: boolean | null;
  /** Why it failed, a sentence. */
  readonly error: string | null;
}

/** All backends on one shape. */
export interface BenchTest {
  readonly shape: Pick<BenchShape, 'name' | 'width' | 'height' | 'frames'>;
  readonly runs: readonly BenchRun[];
}

/** Everything that was measured. */
export interface BenchResult {
  readonly tests: readonly BenchTest[];
  /** Backends that were not timed, and why. */
  readonly skipped: readonly { readonly backend: BenchBackend; readonly reason: string }[];
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly platform: string;
    readonly node: string;
  };
  /** Worker threads of the core at most. */
  readonly threads: number;
  readonly model: string;
}
