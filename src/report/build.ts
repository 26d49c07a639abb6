/**
 * @module report/build
 * Makes the report of a run out of per-metric series: frames, pooled values and distributions.
 */
import { AnyvmafError } from '../core/errors.js';
import { membersBy } from './kinds.js';
import { distribution, pool } from './pool.js';
import { inputs, models, outcome, preparation, run } from './schema.js';
import type { FrameMetrics, MetricDistribution, PooledMetric, Report } from './types.js';

/** The values of one metric over the scored frames. */
export interface MetricSeries {
  /** Log name: the key in frames and pooled values. Distinct within a report. */
  readonly name: string;
  /** One value per entry of {@link ReportParts.frameNumbers}. Without `present`, NaN means no value. */
  readonly values: Float64Array;
  /** Non-zero where there is a value; with it, a NaN in `values` is a value. */
  readonly present?: Uint8Array;
}

/** What a run knows at its end; the rest of {@link Report} follows from it. */
export interface ReportParts
  extends Omit<Report, 'frames' | 'pooled_metrics' | 'aggregate_metrics' | 'metrics' | 'distribution'> {
  /** Scored frames, ascending: after subsampling, only the kept ones. */
  readonly frameNumbers: ArrayLike<number>;
  /** Metrics in the order in which libvmaf first stores them (specification C.2). */
  readonly series: readonly MetricSeries[];
  /** Values of the whole run (`apsnr_y`, ...), in order. Default: none. */
  readonly aggregates?: Readonly<Record<string, number>>;
  /**
   * Pooled values to take instead of pooling the series of that name: they may count frames that are missing here. `null` where
   * one of those lacks the metric.
   */
  readonly pooled?: ReadonlyMap<string, PooledMetric | null>;
}

/**
 * Builds the report. A frame without any value is left out; a metric that lacks a value in some frame keeps its other
 * values but has empty pooled values and no distribution.
 * @throws {AnyvmafError} `internal` when a series is not as long as the list of frames
 */
export function buildReport(parts: ReportParts): Report {
  const { frameNumbers, series } = parts;
  const pooled: [string, PooledMetric | Record<string, never>][] = [];
  const distributions: [string, MetricDistribution][] = [];
  for (const metric of series) {
    if (metric.values.length !== frameNumbers.length) {
      throw new AnyvmafError(
        'internal',
        `Metric ${metric.name} has ${metric.values.length} values for ${frameNumbers.length} frames; ` +
          'please report this as a bug.',
      );
    }
    const here = metric.values.every((_, i) => hasValue(metric, i));
    const known = parts.pooled?.get(metric.name);
    const complete = here && known !== null;
    const statistics = complete ? (known ?? pool(metric.values, metric.name)) : undefined;
    const spread = complete ? distribution(metric.values) : undefined;
    pooled.push([metric.name, statistics ?? {}]);
    if (spread) distributions.push([metric.name, spread]);
  }
  return {
    version: parts.version,
    fps: parts.fps,
    frames: frames(frameNumbers, series),
    // fromEntries, here and below: it also keeps a model that someone named `__proto__`.
    pooled_metrics: Object.fromEntries(pooled),
    aggregate_metrics: { ...parts.aggregates },
    ...membersBy(inputs, parts),
    ...membersBy(preparation, parts),
    ...membersBy(models, parts),
    metrics: series.map((metric) => metric.name),
    distribution: Object.fromEntries(distributions),
    ...membersBy(run, parts),
    ...membersBy(outcome, parts),
  };
}

function frames(frameNumbers: ArrayLike<number>, series: readonly MetricSeries[]): FrameMetrics[] {
  const result: FrameMetrics[] = [];
  for (let i = 0; i < frameNumbers.length; i++) {
    const entries: [string, number][] = [];
    for (const metric of series) {
      if (hasValue(metric, i)) entries.push([metric.name, metric.values[i] ?? Number.NaN]);
    }
    if (entries.length > 0)
      result.push({ frameNum: frameNumbers[i] ?? i, metrics: Object.fromEntries(entries) });
  }
  return result;
}

function hasValue(metric: MetricSeries, i: number): boolean {
  return metric.present ? metric.present[i] !== 0 : !Number.isNaN(metric.values[i]);
}
