/**
 * @module search/targets
 * What a search aims at: statistics of a metric over the scored frames, and how far a result is from them.
 */
import { usageError } from '../core/errors.js';
import { parseModelString } from '../models/grammar.js';
import { isAggregate, isWorseHigh, POOLED_STATISTICS, type PooledStatistic } from '../report/limits.js';
import { plainName, type WholeValue, wholeValue } from '../report/whole-value.js';

/** Scores of a model that people watch: below, nobody looks; above, nobody tells more from less. */
export const WATCHED = { min: 60, max: 97 } as const;

const DEFAULT_MODEL = 'version=vmaf_v0.6.1';

/** Statistics of a metric over frames, as gates name them. `worst_second`: the smallest mean of a second of consecutive frames. */
export const STATISTICS = POOLED_STATISTICS;
export type Statistic = PooledStatistic;

/** The smallest value that will do, or the largest. */
type TargetBound =
  | { readonly atLeast: number; readonly atMost?: never }
  | { readonly atMost: number; readonly atLeast?: never };

/** Whether a statistic is one moment's alone, which no samples of others tell. */
export function isExtreme(statistic: Statistic): boolean {
  return statistic === 'min' || statistic === 'worst_second';
}

/** A bound that an encode must reach. */
export type QualityTarget = TargetBound & {
  /** Name of the metric in a report's frames. Default: that of the first model. */
  readonly metric?: string;
  /** Default `mean`. */
  readonly statistic?: Statistic;
};

/** What the quality of an encode is, with nothing left open. */
export interface CompleteMeasure {
  readonly metric: string;
  readonly statistic: Statistic;
}

/** A target with nothing left open. */
export type CompleteTarget = TargetBound & CompleteMeasure;

/**
 * What of frames a measure is pooled from, and how.
 * @throws {AnyvmafError} `usage` for a value of the whole that frames do not tell, and for a statistic of one
 */
export function poolingOf({ metric, statistic }: CompleteMeasure): {
  readonly from: string;
  readonly by: Statistic | WholeValue;
} {
  const whole = wholeValue(metric);
  if (whole && statistic !== 'mean')
    throw usageError(
      `${metric} is one value of the whole video, but its ${statistic} is asked for; leave that out, or name ${whole.from}.`,
    );
  if (!whole && isAggregate(metric))
    throw usageError(
      `${metric} is one value of the whole video, which samples do not tell; name a metric that each frame has.`,
    );
  return whole ? { from: whole.from, by: whole } : { from: metric, by: statistic };
}

/** The target of a quality, from the side on which a metric is better. */
export function targetAt(measure: CompleteMeasure, quality: number): CompleteTarget {
  return isWorseHigh({}, measure.metric) ? { ...measure, atMost: quality } : { ...measure, atLeast: quality };
}

/**
 * Targets with nothing left open.
 * @throws {AnyvmafError} `usage` as {@link poolingOf}
 * @param targets default: a mean of 95
 * @param models as in the options: the first one's score is what a target without a metric is about
 */
export function completeTargets(
  targets: readonly QualityTarget[] | undefined,
  models: readonly string[] | undefined,
): readonly CompleteTarget[] {
  const name = scoreName(models);
  const asked = targets?.length ? targets : [{ atLeast: 95 }];
  const complete = asked.map(({ metric = name, statistic = 'mean', ...bound }) => ({
    metric,
    statistic,
    ...bound,
  }));
  for (const target of complete) poolingOf(target);
  return complete;
}

/** The name of the first model's score in a report. */
export function scoreName(models: readonly string[] | undefined): string {
  const [model = DEFAULT_MODEL] = models ?? [];
  return parseModelString(model).name;
}

/** How far a value is from reaching a target: negative where it misses it. */
export function marginTo({ atLeast, atMost }: CompleteTarget, value: number): number {
  return atMost === undefined ? value - atLeast : atMost - value;
}

/** Values without any loss of metrics whose distance from there grows by about the same factor with each step of an encoder. */
const LOSSLESS: Readonly<Record<string, number>> = {
  ssimulacra2: 100,
  butteraugli: 0,
  butteraugli_3norm: 0,
  cvvdp: 10,
  cvvdp_q: 0,
};
/** Points of VMAF for e times that distance, where VMAF falls as usual. */
const POINTS = 20;

/** A margin in a unit like that of VMAF, in which curves of all metrics fall about as steeply. */
export function heightTo(target: CompleteTarget, value: number): number {
  const { metric, statistic, atLeast, atMost } = target;
  const alias = plainName(metric);
  const best = Object.hasOwn(LOSSLESS, alias) ? LOSSLESS[alias] : undefined;
  const [bound, isLowBest] = atMost === undefined ? [atLeast, false] : [atMost, true];
  if (best === undefined || statistic === 'stddev' || isLowBest !== (best === 0))
    return marginTo(target, value);
  const from = (one: number) => Math.max(1e-6, Math.abs(best - one));
  return POINTS * Math.log(from(bound) / from(value));
}

/**
 * The largest margin that an encode can have above all targets, where their scale ends at 100 as VMAF's does.
 * @returns `undefined` where one of the metrics has no such end
 */
export function ceilingOf(targets: readonly CompleteTarget[]): number | undefined {
  const bounds = targets.map(({ metric, atLeast }) => (metric.startsWith('vmaf') ? atLeast : undefined));
  return bounds.every((bound) => bound !== undefined) ? 100 - Math.max(...bounds) : undefined;
}
