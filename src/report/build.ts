/**
 * @module report/build
 * Builds a report from per-metric series: frames, pooled values and distributions.
 */
import { AnyvmafError } from '../core/errors.js';
import { membersBy } from './kinds.js';
import { distribution, pool } from './pool.js';
import {
  type FrameMetrics,
  inputs,
  type MetricDistribution,
  models,
  outcome,
  type PooledMetric,
  preparation,
  type Report,
  run,
} from './schema.js';

export interface MetricSeries {
  /** Log name, the key in frames and pooled values; unique within a report. */
  readonly name: string;
  /** One value per entry of {@link ReportParts.frameNumbers}. Without `present`, NaN means no value. */
  readonly values: Float64Array;
  /** Non-zero where there is a value; with it, a NaN in `values` is a value. */
  readonly present?: Uint8Array;
}

/** Inputs of {@link buildReport}, which derives the rest of {@link Report}. */
export interface ReportParts
  extends Omit<Report, 'frames' | 'pooled_metrics' | 'aggregate_metrics' | 'metrics' | 'distribution'> {
  /** Scored frames, ascending: after subsampling, only the kept ones. */
  readonly frameNumbers: ArrayLike<number>;
  /** Metrics in the order in which libvmaf first stores them. */
  readonly series: readonly MetricSeries[];
  /** Values of the whole run (`apsnr_y`, ...), in order. Default: none. */
  readonly aggregates?: Readonly<Record<string, number>>;
  /** Pooled values that replace pooling of the series, which may lack frames; `null` if a frame lacks the metric. */
  readonly pooled?: ReadonlyMap<string, PooledMetric | null>;
}

/** Leaves out frames without values. A metric without a value in some frame keeps its others, but is not pooled. */
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
    // fromEntries, here and below, also keeps a model named `__proto__`.
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
