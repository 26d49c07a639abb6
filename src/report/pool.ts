/**
 * @module report/pool
 * Reduces one metric's per-frame values to the statistics of the report.
 */
import { percentile } from '../core/numbers.js';
import { type MetricDistribution, PERCENTS, type PooledMetric, type Report } from './schema.js';

/** Metrics with values below 0. */
const SIGNED = /^ssimulacra2(?:_|$)/;

/** True for a metric with values below 0, which has no harmonic mean. */
export function isSigned(metric: string): boolean {
  return SIGNED.test(metric);
}

/** @returns n / sum(1 / (x + 1)) - 1; NaN for metrics with values below 0, whose harmonic mean is meaningless */
export function harmonicMean(metric: string, count: number, inverse: number): number {
  return isSigned(metric) ? Number.NaN : count / inverse - 1;
}

/**
 * libvmaf's four pooled statistics, summed in ascending frame order. Minimum and maximum
 * start from the first value given, so subsampling adds no zeros.
 * @param values one per scored frame, in ascending frame order, none missing
 * @returns `undefined` for an empty series
 */
export function pool(values: ArrayLike<number>, metric = ''): PooledMetric | undefined {
  const count = values.length;
  const first = values[0];
  if (first === undefined) return undefined;
  let min = first;
  let max = first;
  let sum = 0;
  let inverse = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i] ?? Number.NaN;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    inverse += 1 / (value + 1);
  }
  return { min, max, mean: sum / count, harmonic_mean: harmonicMean(metric, count, inverse) };
}

/**
 * @param values one per scored frame, none missing; a NaN among them makes every statistic NaN
 * @returns `undefined` for an empty series
 */
export function distribution(values: ArrayLike<number>): MetricDistribution | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const sorted = Float64Array.from(values);
  let sum = 0;
  for (const value of sorted) sum += value;
  const mean = sum / count;
  let squares = 0;
  for (const value of sorted) squares += (value - mean) ** 2;
  // Typed arrays sort numerically, NaN last.
  sorted.sort();
  const at = Number.isNaN(sorted[count - 1]) ? () => Number.NaN : (p: number) => percentile(sorted, p);
  return {
    percentiles: Object.fromEntries(
      PERCENTS.map((p) => [`p${p}`, at(p)]),
    ) as MetricDistribution['percentiles'],
    stddev: Math.sqrt(squares / count),
  };
}

/** Statistics by metric: none without `values`; `known` replaces the pooled ones. */
export function statisticsOf(
  series: Iterable<{
    readonly name: string;
    readonly values?: ArrayLike<number>;
    readonly known?: PooledMetric;
  }>,
): Pick<Report, 'pooled_metrics' | 'distribution'> {
  const pooled: [string, PooledMetric | Record<string, never>][] = [];
  const spreads: [string, MetricDistribution][] = [];
  for (const { name, values = [], known = pool(values, name) } of series) {
    const spread = distribution(values);
    pooled.push([name, known ?? {}]);
    if (spread) spreads.push([name, spread]);
  }
  // fromEntries also keeps a model named `__proto__`.
  return { pooled_metrics: Object.fromEntries(pooled), distribution: Object.fromEntries(spreads) };
}

/** Pooled values of a metric; `undefined` if a frame lacks it. */
export function pooledMetric(report: Pick<Report, 'pooled_metrics'>, name: string): PooledMetric | undefined {
  const pooled = report.pooled_metrics[name];
  return typeof pooled?.mean === 'number' ? (pooled as PooledMetric) : undefined;
}

/**
 * The worst mean over a second of consecutive frames; infinite without values.
 * @param second frames per second
 * @param parts where runs of consecutive frames begin, ascending from 0; a second lies within one
 * @param high the highest mean is the worst, not the lowest
 */
export function worstSecond(
  values: ArrayLike<number>,
  second: number,
  parts: readonly number[] = [0],
  high = false,
): number {
  const sign = high ? -1 : 1;
  let worst = Number.POSITIVE_INFINITY;
  parts.forEach((start, part) => {
    const end = parts[part + 1] ?? values.length;
    const length = Math.max(1, Math.min(Math.round(second), end - start));
    let sum = 0;
    // Values of identical frames are infinite; a sum could not lose them again.
    let infinite = 0;
    const add = (i: number, times: 1 | -1) => {
      const value = sign * at(values, i);
      if (Math.abs(value) === Number.POSITIVE_INFINITY) infinite += times * Math.sign(value);
      else sum += times * value;
    };
    for (let i = start; i < end; i++) {
      add(i, 1);
      if (i - start >= length) add(i - length, -1);
      if (i - start < length - 1) continue;
      worst = Math.min(worst, infinite === 0 ? sum / length : infinite * Number.POSITIVE_INFINITY);
    }
  });
  return sign * worst;
}

function at(values: ArrayLike<number>, index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError('a second reaches beyond the frames');
  return value;
}
