/**
 * @module evaluate/calls
 * Messages between the evaluation of tiny models and the parser thread in which it runs.
 */
import type { Origin } from '../core/origin.js';
import type { Comparison } from './compare.js';
import type { EvaluateOptions, Evaluation } from './evaluate.js';

/** Settings of the thread. */
export interface EvaluationSettings {
  /** URL of the built-in models' folder, ending in `/`. Browsers may leave it out: the package's own folder. */
  readonly models?: string;
  /** Who named the models; absent in browsers. */
  readonly origin?: Origin;
  /** Browsers: base URL of relative model addresses, and the URL of onnxruntime-web. */
  readonly base?: string;
  readonly onnxruntime?: string;
}

/** The table that the main thread reads for the worker. */
export interface LentTable {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

interface EvaluationRequest {
  readonly table: LentTable;
  readonly options: Omit<EvaluateOptions, 'signal'>;
}

/** Calls of a thread; each thread runs one evaluation. */
export interface EvaluationCalls {
  evaluate(request: EvaluationRequest & { readonly model: string }): Evaluation;
  compare(request: EvaluationRequest & { readonly models: readonly string[] }): Comparison;
}
