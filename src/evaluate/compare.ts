/**
 * @module evaluate/compare
 * Ranks several models on the same rows of a table.
 */
import { usageError } from '../core/errors.js';
import type { TinyPlatform } from '../tiny/types.js';
import { type EvaluateOptions, type Evaluation, evaluateOn } from './evaluate.js';
import { selectRows } from './rows.js';
import { TARGET_COLUMN } from './table/names.js';
import type { TableColumns } from './table/read.js';

/** A model that could not be evaluated. */
export interface FailedEvaluation {
  readonly model: string;
  /** The reason, a full sentence. */
  readonly error: string;
}

/** Several models on one split. */
export interface Comparison {
  /** By descending PLCC; models without a PLCC come last. */
  readonly ranked: readonly Evaluation[];
  /** In the order of the arguments. */
  readonly errors: readonly FailedEvaluation[];
}

/**
 * Evaluates models one after the other. A model that fails does not stop the others.
 * @throws {AnyvmafError} `usage` without a model, or if the table or the split fits none of them; the signal's reason when
 * aborted
 */
export async function compare(
  platform: TinyPlatform,
  models: readonly string[],
  table: TableColumns,
  options: EvaluateOptions = {},
): Promise<Comparison> {
  if (models.length === 0) throw usageError('There is no model to compare; name at least one.');
  const rows = await selectRows(table, options.split ?? 'test', options.target ?? TARGET_COLUMN);
  const done: Evaluation[] = [];
  const errors: FailedEvaluation[] = [];
  for (const model of models) {
    try {
      done.push(await evaluateOn(platform, model, table, rows, options));
    } catch (error) {
      options.signal?.throwIfAborted();
      errors.push({ model, error: error instanceof Error ? error.message : String(error) });
    }
  }
  const place = ({ plcc }: Evaluation): number => plcc ?? Number.NEGATIVE_INFINITY;
  return { ranked: done.sort((a, b) => (place(b) === place(a) ? 0 : place(b) - place(a))), errors };
}
