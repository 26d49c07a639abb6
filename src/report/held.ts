/**
 * @module report/held
 * Looks up pooled values by name in a report, and checks them against bounds.
 */
import { usageError } from '../core/errors.js';
import { percentile } from '../core/percentile.js';
import { quotientOf, USUAL_RATE } from '../core/rational.js';
import {
  isWorseHigh,
  type Limit,
  metricIn,
  notMeasured,
  type PooledName,
  type PooledStatistic,
  scoreNames,
} from './limits.js';
import { distribution, pool, pooledMetric, worstSecond } from './pool.js';
import type { Report } from './types.js';

export interface PooledValue {
  /** `vmaf.p5`; for an aggregate, its name alone. */
  readonly name: string;
  readonly metric: string;
  /** `undefined` if a frame has no value. */
  readonly value: number | undefined;
}

export interface LimitResult extends PooledValue {
  readonly relation: '>=' | '<=';
  readonly bound: number;
  readonly passed: boolean;
}

/**
 * Pooled values that match a name: one per model if it names no metric.
 * @throws {AnyvmafError} `usage` if the report lacks the metric; lists the measured ones
 */
export function pooledValues(
  report: Report,
  { metric, statistic = 'mean' }: PooledName,
): readonly PooledValue[] {
  if (metric === undefined) {
    const scores = scoreNames(report);
    if (scores.length === 0) {
      throw usageError(
        `${statistic} needs a model or a metric, but no model ran; name a metric, such as psnr_y.${statistic}`,
      );
    }
    return scores.map((name) => pooledValue(report, name, statistic));
  }
  const found = metricIn(report, metric);
  if (found === undefined) throw notMeasured(metric, report);
  return [pooledValue(report, found, statistic)];
}

function pooledValue(report: Report, metric: string, statistic: PooledStatistic): PooledValue {
  if (Object.hasOwn(report.aggregate_metrics, metric)) {
    return { name: metric, metric, value: finiteOf(report.aggregate_metrics[metric]) };
  }
  const name = `${metric}.${statistic}`;
  const pooled = pooledMetric(report, metric);
  const spread = Object.hasOwn(report.distribution, metric) ? report.distribution[metric] : undefined;
  switch (statistic) {
    case 'mean':
    case 'harmonic_mean':
    case 'min':
    case 'max':
      return { name, metric, value: finiteOf(pooled?.[statistic]) };
    case 'stddev':
      return { name, metric, value: finiteOf(spread?.stddev) };
    case 'worst_second':
      return { name, metric, value: finiteOf(worstSecondOf(report, metric)) };
    default:
      return { name, metric, value: finiteOf(spread?.percentiles?.[statistic]) };
  }
}

/** `undefined` if a frame has no value. */
function worstSecondOf(report: Report, metric: string): number | undefined {
  const { frames, reference, subsample } = report;
  const values = frames.map(({ metrics }) => metrics[metric] ?? Number.NaN);
  if (values.some(Number.isNaN)) return undefined;
  // A second must lie within one run of scored frames.
  const begins = frames.flatMap(({ frameNum }, i) =>
    frameNum - (frames[i - 1]?.frameNum ?? Number.NEGATIVE_INFINITY) > subsample ? [i] : [],
  );
  const rate = quotientOf(reference.frameRate) ?? USUAL_RATE;
  return worstSecond(values, rate / subsample, begins, isWorseHigh(report, metric));
}

/**
 * @param statistic a number is a percentile
 * @param second frames per second
 * @param parts where runs of consecutive frames begin, ascending from 0; a second lies within one
 */
export function statisticOf(
  values: ArrayLike<number>,
  statistic: PooledStatistic | number,
  second: number,
  parts: readonly number[] = [0],
  isWorseHigh = false,
): number {
  if (typeof statistic === 'number') return percentile(Float64Array.from(values).sort(), statistic);
  if (statistic === 'worst_second') return worstSecond(values, second, parts, isWorseHigh);
  if (statistic === 'mean' || statistic === 'harmonic_mean' || statistic === 'min' || statistic === 'max')
    return pool(values)?.[statistic] ?? Number.NaN;
  const spread = distribution(values);
  return (statistic === 'stddev' ? spread?.stddev : spread?.percentiles[statistic]) ?? Number.NaN;
}

/**
 * The interval of the whole video's value if the scored part passes but the whole may not.
 * @returns `undefined` if there is no doubt, `null` for a statistic without an interval
 */
export function doubtOf(
  { sampling }: Pick<Report, 'sampling'>,
  { name, metric, relation, bound, passed }: LimitResult,
): { readonly low: number; readonly high: number } | null | undefined {
  if (!sampling || !passed) return undefined;
  // The name of an aggregate has no statistic.
  const interval = sampling.intervals.find(({ metric, statistic }) =>
    [`${metric}.${statistic}`, ...(statistic === 'mean' ? [metric] : [])].includes(name),
  );
  if (!interval || interval.metric !== metric) return null;
  const { low, high } = interval;
  return (relation === '>=' ? low < bound : high > bound) ? { low, high } : undefined;
}

function finiteOf(value: number | null | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A value that could not be pooled does not pass. Throws as {@link pooledValues}. */
export function holdAgainst(report: Report, limit: Limit): readonly LimitResult[] {
  const { relation, bound } = limit;
  return pooledValues(report, limit).map((found) => {
    const { value } = found;
    const passed = value !== undefined && (relation === '>=' ? value >= bound : value <= bound);
    return { ...found, relation, bound, passed };
  });
}
