/**
 * @module evaluate/calls
 * What the evaluation of tiny models asks of the parser thread in which it runs.
 */
import type { Origin } from '../core/origin.js';
import type { Comparison } from './compare.js';
import type { EvaluateOptions, Evaluation } from './evaluate.js';

/** What a thread needs to know. */
export interface EvaluationSettings {
  /** URL of the folder of the built-in models, ending in `/`; absent in browsers where the package's own are meant. */
  readonly models?: string;
  /** Of the names of models; absent in browsers. */
  readonly origin?: Origin;
  /** Browsers: what relative addresses of models start from, and where onnxruntime-web is. */
  readonly base?: string;
  readonly onnxruntime?: string | undefined;
}

/** The table that was lent to the worker. */
export interface LentTable {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

interface Asked {
  readonly table: LentTable;
  readonly options: Omit<EvaluateOptions, 'signal'>;
}

/** One thread does one evaluation. */
export interface EvaluationCalls {
  evaluate(what: Asked & { readonly model: string }): Evaluation;
  compare(what: Asked & { readonly models: readonly string[] }): Comparison;
}
