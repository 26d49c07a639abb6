/**
 * @module report/build
 * Builds a report from per-metric series: frames, pooled values and distributions.
 */
import { AnyvmafError } from '../core/errors.js';
import { membersBy } from './kinds.js';
import { statisticsOf } from './pool.js';
import {
  type FrameMetrics,
  inputs,
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
  const wrong = series.find(({ values }) => values.length !== frameNumbers.length);
  if (wrong) {
    const { name, values } = wrong;
    const counts = `${values.length} values for ${frameNumbers.length} frames`;
    throw new AnyvmafError('internal', `Metric ${name} has ${counts}; please report this as a bug.`);
  }
  const statistics = statisticsOf(
    series.map((metric) => {
      const { name, values } = metric;
      const known = parts.pooled?.get(name);
      const complete = known !== null && values.every((_, i) => hasValue(metric, i));
      return complete ? { name, values, known } : { name };
    }),
  );
  return {
    version: parts.version,
    fps: parts.fps,
    frames: frames(frameNumbers, series),
    pooled_metrics: statistics.pooled_metrics,
    aggregate_metrics: { ...parts.aggregates },
    ...membersBy(inputs, parts),
    ...membersBy(preparation, parts),
    ...membersBy(models, parts),
    metrics: series.map((metric) => metric.name),
    distribution: statistics.distribution,
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
