/**
 * @module test/support/agreement
 * What "equal to libvmaf" means here: features to the last bit, predictions to the last bits of `exp`.
 */
import type { Report } from '../../src/report/types.js';

/** Allowed relative difference of a prediction: libraries' `exp` differ in their last bit. */
const SCORE_TOLERANCE = 1e-13;

/**
 * Allowed relative difference of float_adm: libvmaf on x86 divides by a reciprocal that the processor estimates, and
 * processors differ; here it is a true division. Everything else about it is exact.
 */
const RECIPROCAL_TOLERANCE = 5e-7;

/** The same for what is predicted from float_adm. */
const FLOAT_SCORE_TOLERANCE = 1e-6;

/** Allowed relative difference of the predictions of models. */
export function scoreTolerance(models: readonly string[]): number {
  return models.some((model) => model.includes('vmaf_float_')) ? FLOAT_SCORE_TOLERANCE : SCORE_TOLERANCE;
}

/** Allowed relative difference of a feature; `undefined` for a prediction. */
function featureTolerance(metric: string): number | undefined {
  if (/^(adm|aim)/.test(metric)) return RECIPROCAL_TOLERANCE;
  const exact = /^(integer_|VMAF_integer_|a?psnr_|mse_|float_|motion|vif|ciede2000|cambi|speed_)/;
  return exact.test(metric) ? 0 : undefined;
}

/** Relative difference of two numbers; 0 when they are the same double or both are not finite in the same way. */
function relativeDifference(actual: unknown, expected: number | null): number {
  if (expected === null || !Number.isFinite(expected)) {
    const same =
      expected === null
        ? typeof actual !== 'number' || !Number.isFinite(actual)
        : Object.is(actual, expected);
    return same ? 0 : Number.POSITIVE_INFINITY;
  }
  if (typeof actual !== 'number' || Number.isNaN(actual)) return Number.POSITIVE_INFINITY;
  if (actual === expected) return 0;
  return Math.abs(actual - expected) / Math.max(Math.abs(actual), Math.abs(expected));
}

/** Whether `actual` is as close to libvmaf's value as the project promises. `null` stands for no finite value. */
export function agrees(
  metric: string,
  actual: unknown,
  expected: number | null,
  scores = SCORE_TOLERANCE,
): boolean {
  return relativeDifference(actual, expected) <= (featureTolerance(metric) ?? scores);
}

/** How values compare with libvmaf's. */
export interface Comparison {
  readonly compared: number;
  /** Values that are the same double. */
  readonly equal: number;
  /** Largest relative difference. */
  readonly worst: number;
  /** Values that break the promise, as text. */
  readonly wrong: readonly string[];
}

/** Collects a comparison. */
export class Tally implements Comparison {
  compared = 0;
  equal = 0;
  worst = 0;
  readonly wrong: string[] = [];
  readonly #scores: number;

  /** @param scores allowed relative difference of predictions */
  constructor(scores = SCORE_TOLERANCE) {
    this.#scores = scores;
  }

  /** @param where the rest of the sentence that names the value */
  check(metric: string, where: string, actual: unknown, expected: number | null): void {
    const difference = relativeDifference(actual, expected);
    this.compared++;
    if (difference === 0) this.equal++;
    this.worst = Math.max(this.worst, difference);
    if (!agrees(metric, actual, expected, this.#scores)) {
      this.wrong.push(`${metric} ${where}: ${String(actual)}, libvmaf ${expected}`);
    }
  }

  /** @param expected min, max, mean, harmonic mean */
  checkPooled(
    metric: string,
    actual: Report['pooled_metrics'][string] | undefined,
    expected: readonly (number | null)[],
  ): void {
    (['min', 'max', 'mean', 'harmonic_mean'] as const).forEach((method, i) => {
      this.check(metric, method, actual && method in actual ? actual[method] : null, expected[i] ?? null);
    });
  }
}
