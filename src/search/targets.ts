/**
 * @module search/targets
 * What a search aims at: statistics of a metric over the scored frames, and how far a result is from them.
 */
import { usageError } from '../core/errors.js';
import { showValue } from '../core/printable.js';
import { parseModelString } from '../models/grammar.js';
import { POOLED_STATISTICS, type PooledStatistic, parseLimit } from '../report/limits.js';

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

/** A target with nothing left open. */
export type CompleteTarget = TargetBound & {
  readonly metric: string;
  readonly statistic: Statistic;
};

/**
 * Parses a target as people write it, in the grammar of gates: `95`, `p5>=90`, `vmaf.p5>=90`, `psnr_y.min>=38`,
 * `cambi.max<=5`.
 * @throws {AnyvmafError} `usage`
 */
export function parseTarget(text: string): QualityTarget {
  const { metric, statistic, relation, bound } = parseLimit(text, 'target');
  if (statistic === 'worst_second' && relation === '<=')
    throw usageError(
      `the target is ${showValue(text)}, but a search knows worst seconds only of metrics whose low values are the worse; use max.`,
    );
  return { metric, statistic, ...(relation === '>=' ? { atLeast: bound } : { atMost: bound }) };
}

/**
 * Targets with nothing left open.
 * @param targets default: a mean of 95
 * @param models as in the options: the first one's score is what a target without a metric is about
 */
export function completeTargets(
  targets: readonly QualityTarget[] | undefined,
  models: readonly string[] | undefined,
): readonly CompleteTarget[] {
  const name = scoreName(models);
  const asked = targets?.length ? targets : [{ atLeast: 95 }];
  return asked.map(({ metric = name, statistic = 'mean', ...bound }) => ({ metric, statistic, ...bound }));
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

/**
 * The largest margin that an encode can have above all targets, where their scale ends at 100 as VMAF's does.
 * @returns `undefined` where one of the metrics has no such end
 */
export function ceilingOf(targets: readonly CompleteTarget[]): number | undefined {
  const bounds = targets.map(({ metric, atLeast }) => (metric.startsWith('vmaf') ? atLeast : undefined));
  return bounds.every((bound) => bound !== undefined) ? 100 - Math.max(...bounds) : undefined;
}
