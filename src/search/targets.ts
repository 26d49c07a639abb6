/**
 * @module search/targets
 * What a search aims at: statistics of a metric over the scored frames, and how far a result is from them.
 */
import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { showValue } from '../core/printable.js';
import { parseModelString } from '../models/grammar.js';
import { distribution, pool } from '../report/pool.js';

const DEFAULT_MODEL = 'version=vmaf_v0.6.1';

/** Percentiles that a report has, and so a target may name. */
const PERCENTILES = ['p1', 'p5', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99'] as const;

/** Statistics of a metric over frames. `worst_second`: the smallest mean of a second of consecutive frames. */
export const STATISTICS = ['mean', 'harmonic_mean', 'min', ...PERCENTILES, 'worst_second'] as const;
export type Statistic = (typeof STATISTICS)[number];

/** A bound that an encode must reach. */
export interface QualityTarget {
  /** Name of the metric in a report's frames. Default: that of the first model. */
  readonly metric?: string | undefined;
  /** Default `mean`. */
  readonly statistic?: Statistic | undefined;
  /** The smallest value that will do. */
  readonly atLeast: number;
}

/** A target with nothing left open. */
export interface CompleteTarget {
  readonly metric: string;
  readonly statistic: Statistic;
  readonly atLeast: number;
}

/**
 * Parses a target as people write it: `95`, `mean>=95`, `p5>=90`, `psnr_y:min>=38`.
 * @throws {AnyvmafError} `usage`
 */
export function parseTarget(text: string): QualityTarget {
  requireText('text', text, 'a target such as p5>=90');
  const match =
    /^(?:(?:([A-Za-z][\w.]{0,99}):)?([a-z]\w{0,19})\s{0,3}>=\s{0,3})?(-?\d{1,9}(?:\.\d{1,9})?)$/.exec(
      text.trim(),
    );
  const [, metric, name, bound] = match ?? [];
  const statistic = STATISTICS.find((one) => one === name);
  if (!match || (name !== undefined && !statistic)) {
    throw usageError(
      `the target is ${showValue(text)}, but it must be a number such as 95, or a statistic and a bound such as p5>=90 ` +
        `(${STATISTICS.join(', ')}), with a metric before it where it is not the model's score: psnr_y:min>=38.`,
    );
  }
  return { metric, statistic, atLeast: Number(bound) };
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
  return asked.map(({ metric = name, statistic = 'mean', atLeast }) => ({ metric, statistic, atLeast }));
}

/** The name of the first model's score in a report. */
export function scoreName(models: readonly string[] | undefined): string {
  const [model = DEFAULT_MODEL] = models ?? [];
  return parseModelString(model).name;
}

/**
 * One statistic of a metric's values.
 * @param values of consecutive frames
 * @param second frames of a second
 * @param parts where runs of consecutive frames begin, ascending from 0; a second lies within one
 */
export function statisticOf(
  values: ArrayLike<number>,
  statistic: Statistic,
  second: number,
  parts: readonly number[] = [0],
): number {
  if (statistic === 'worst_second') return worstSecond(values, second, parts);
  if (statistic === 'mean' || statistic === 'harmonic_mean' || statistic === 'min')
    return pool(values)?.[statistic] ?? Number.NaN;
  return distribution(values)?.percentiles[statistic] ?? Number.NaN;
}

/**
 * The largest margin that an encode can have above all targets, where their scale ends at 100 as VMAF's does.
 * @returns `undefined` where one of the metrics has no such end
 */
export function ceilingOf(targets: readonly CompleteTarget[]): number | undefined {
  if (!targets.every(({ metric }) => metric.startsWith('vmaf'))) return undefined;
  return Math.min(...targets.map(({ atLeast }) => 100 - atLeast));
}

function worstSecond(values: ArrayLike<number>, second: number, parts: readonly number[]): number {
  let worst = Number.POSITIVE_INFINITY;
  parts.forEach((start, part) => {
    const end = parts[part + 1] ?? values.length;
    const length = Math.max(1, Math.min(Math.round(second), end - start));
    let sum = 0;
    for (let i = start; i < end; i++) {
      sum += at(values, i);
      if (i - start >= length) sum -= at(values, i - length);
      if (i - start >= length - 1) worst = Math.min(worst, sum / length);
    }
  });
  return worst;
}

function at(values: ArrayLike<number>, index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError('a second reaches beyond the frames');
  return value;
}
