/**
 * @module report/limits
 * Bounds on pooled values, as gates and targets name them: `vmaf.p5>=80`. Reads them, and holds a report against them.
 */
import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { percentile } from '../core/percentile.js';
import { shown, showValue } from '../core/printable.js';
import { quotientOf, USUAL_RATE } from '../core/rational.js';
import { EXTRACTORS, findExtractor, reportedFeature } from '../metrics/extractors.js';
import { distribution, pool, pooledMetric, worstSecond } from './pool.js';
import { PERCENTILE_KEYS } from './schema.js';
import type { Report } from './types.js';

/** Statistics of a metric over the scored frames. `worst_second`: the worst mean of a second of consecutive frames. */
export const POOLED_STATISTICS = [
  'mean',
  'harmonic_mean',
  'min',
  'max',
  ...PERCENTILE_KEYS,
  'stddev',
  'worst_second',
] as const;
export type PooledStatistic = (typeof POOLED_STATISTICS)[number];

/** A pooled value of one metric, or of the score of every model. */
export interface PooledName {
  /** As in a report; absent for the scores of all models. */
  readonly metric?: string;
  /** Default `mean`. */
  readonly statistic?: PooledStatistic;
}

/** A bound on a pooled value. */
export interface Limit extends PooledName {
  /** `>=`: the smallest value that passes. `<=`: the largest. */
  readonly relation: '>=' | '<=';
  readonly bound: number;
}

/** A pooled value that was found in a report. */
export interface PooledValue {
  /** Where in the report: `vmaf.p5`, of an aggregate its name. */
  readonly name: string;
  readonly metric: string;
  /** `undefined` if a frame has no value. */
  readonly value: number | undefined;
}

/** A value held against its bound. */
export interface LimitResult extends PooledValue {
  readonly relation: '>=' | '<=';
  readonly bound: number;
  readonly passed: boolean;
}

const NUMBER = /^[-+]?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})$/;
const METRIC = /^[A-Za-z_][\w.-]{0,99}$/;

/**
 * A decimal number.
 * @returns `undefined` if the text is something else
 */
export function decimalBound(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined;
}

/**
 * Parses `METRIC.STATISTIC>=NUMBER`, such as `vmaf.p5>=80`: the grammar of gates, of targets of a search, and of tools.
 * Without a statistic it is the mean, without a metric the score of every model, and a number alone is both. A colon may
 * stand for the dot.
 * @param what the text is called in errors
 * @throws {AnyvmafError} `usage`
 */
export function parseLimit(text: string, what: 'limit' | 'target' = 'limit'): Limit {
  requireText('text', text, 'a bound such as vmaf.p5>=80');
  const trimmed = text.trim();
  const alone = decimalBound(trimmed);
  if (alone !== undefined) return { relation: '>=', bound: alone };
  const at = trimmed.search(/[<>]=/);
  const relation = trimmed.slice(at, at + 2) === '<=' ? '<=' : '>=';
  const bound = at < 0 ? undefined : decimalBound(trimmed.slice(at + 2).trim());
  const name = at < 0 ? undefined : parsePooledName(trimmed.slice(0, at).trim());
  if (bound === undefined || !name) {
    throw usageError(
      `the ${what} is ${showValue(text)}, but it must be a number such as 93, or a pooled value and its bound such as ` +
        `vmaf.p5>=80, psnr_y.mean>=38 or cambi.max<=5 (statistics: ${POOLED_STATISTICS.join(', ')})`,
    );
  }
  return { ...name, relation, bound };
}

/** Reads `vmaf.p5`, `p5` or `vmaf`; `undefined` if it is none of them. */
export function parsePooledName(text: string): PooledName | undefined {
  const statisticOf = (word: string) => POOLED_STATISTICS.find((one) => one === word.toLowerCase());
  const alone = statisticOf(text);
  if (alone) return { statistic: alone };
  const at = Math.max(text.lastIndexOf('.'), text.lastIndexOf(':'));
  const statistic = at < 0 ? undefined : statisticOf(text.slice(at + 1));
  const metric = statistic ? text.slice(0, at) : text;
  if (!METRIC.test(metric)) return undefined;
  return { metric, ...(statistic && { statistic }) };
}

/** What a limit or a drop is about, as people write it. */
export function pooledText({ metric, statistic = 'mean' }: PooledName): string {
  return metric === undefined ? statistic : `${metric}.${statistic}`;
}

/** What a report has a metric under: its own name, a model's source, or another name of its extractor. */
export function metricIn(
  {
    metrics,
    models = [],
    aggregate_metrics = {},
  }: Pick<Report, 'metrics'> & Partial<Pick<Report, 'models' | 'aggregate_metrics'>>,
  name: string,
): string | undefined {
  if (metrics.includes(name) || Object.hasOwn(aggregate_metrics, name)) return name;
  const model = models.find(({ source }) => source === name);
  if (model) return model.name;
  const features = findExtractor(name)?.features ?? [];
  // The value of the whole run is not that of its frames: cvvdp is not cvvdp_q.
  const alias = features.some((feature) => feature.alias === name) ? undefined : features[0]?.alias;
  return [alias, `integer_${name}`].find((other) => other !== undefined && metrics.includes(other));
}

/**
 * The pooled values of a report that a name stands for.
 * @throws {AnyvmafError} `usage` if the report has no such metric; it lists what there is
 */
export function pooledValues(
  report: Report,
  { metric, statistic = 'mean' }: PooledName,
): readonly PooledValue[] {
  if (metric === undefined) {
    const scores = scoreNames(report);
    if (scores.length === 0) {
      throw usageError(
        `${statistic} is that of a model's score, but no model ran; name a metric: psnr_y.${statistic}`,
      );
    }
    return scores.map((name) => pooledValue(report, name, statistic));
  }
  const found = metricIn(report, metric);
  if (found === undefined) throw notMeasured(metric, report);
  return [pooledValue(report, found, statistic)];
}

/** The error about a metric that a run does not measure. */
export function notMeasured(metric: string, { metrics }: Pick<Report, 'metrics'>): Error {
  return usageError(
    `${showValue(metric)} is not measured in this run; measured are ${shown(metrics.join(', '), 1000)}`,
  );
}

/** Names of the scores: of models, else of tiny models. */
export function scoreNames({ models, tiny = [] }: Pick<Report, 'models' | 'tiny'>): readonly string[] {
  return models.length > 0 ? models.map(({ name }) => name) : tiny.flatMap(({ metrics }) => metrics);
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
  // A second lies within one of the runs that were scored.
  const begins = frames.flatMap(({ frameNum }, i) =>
    frameNum - (frames[i - 1]?.frameNum ?? Number.NEGATIVE_INFINITY) > subsample ? [i] : [],
  );
  const rate = quotientOf(reference.frameRate) ?? USUAL_RATE;
  return worstSecond(values, rate / subsample, begins, isWorseHigh(report, metric));
}

/**
 * One statistic of a metric's values.
 * @param values of consecutive frames
 * @param statistic a number is a percentile
 * @param second frames of a second
 * @param parts where runs of consecutive frames begin, ascending from 0; a second lies within one
 * @param isWorseHigh whether the worst second is the highest
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
 * Where the whole video's value may lie although the scored part passes; `undefined` where it passes wherever it lies, or
 * all of the video was scored.
 * @returns `null` for a statistic without an interval
 */
export function doubtOf(
  { sampling }: Pick<Report, 'sampling'>,
  { name, metric, relation, bound, passed }: LimitResult,
): { readonly low: number; readonly high: number } | null | undefined {
  if (!sampling || !passed) return undefined;
  const interval = sampling.intervals.find((one) => `${one.metric}.${one.statistic}` === name);
  if (!interval || interval.metric !== metric) return null;
  const { low, high } = interval;
  return (relation === '>=' ? low < bound : high > bound) ? { low, high } : undefined;
}

function finiteOf(value: number | null | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/**
 * Holds a report against a limit. A value that could not be pooled does not pass.
 * @throws {AnyvmafError} `usage` if the report has no such metric
 */
export function holdAgainst(report: Report, limit: Limit): readonly LimitResult[] {
  const { relation, bound } = limit;
  return pooledValues(report, limit).map((found) => {
    const { value } = found;
    const passed = value !== undefined && (relation === '>=' ? value >= bound : value <= bound);
    return { ...found, relation, bound, passed };
  });
}

/** Extractors that are measured because a limit names them; models bring the others along. */
const ON_DEMAND: readonly string[] = [
  ...['psnr', 'psnr_hvs', 'float_ssim', 'float_ms_ssim', 'ciede', 'cambi'],
  ...['xpsnr', 'ssimulacra2', 'butteraugli', 'cvvdp'],
];

/**
 * Extractors to ask for, so that metrics are measured which models do not bring along.
 * @param names of metrics; those that are not known are passed over
 * @param asked feature strings that are given already
 */
export function extractorsFor(names: readonly string[], asked: readonly string[]): readonly string[] {
  const there = asked.map((text) => findExtractor(text.split('=', 1)[0] ?? '')?.name);
  const wanted = names.map((name) => (findExtractor(name) ?? emitterOf(name))?.name ?? '');
  return [...new Set(wanted)].filter((name) => ON_DEMAND.includes(name) && !there.includes(name));
}

/** The extractor that gives a metric without being told to. */
function emitterOf(metric: string) {
  return EXTRACTORS.find(({ features, options }) =>
    features.some(
      ({ alias, when }) =>
        alias === metric &&
        when.every((flag) => options.some((one) => one.name === flag && one.default === true)),
    ),
  );
}

/** Whether a metric is one value of the whole run, which is not known before its end. */
export function isAggregate(metric: string): boolean {
  const named = reportedFeature(metric)?.alias;
  return EXTRACTORS.some(({ features }) =>
    features.some(({ alias, emitted }) => alias === named && emitted === 'sequence'),
  );
}

/** Whether high values of a metric are the worse ones. */
export function isWorseHigh({ tiny = [] }: Pick<Report, 'tiny'>, metric: string): boolean {
  const model = tiny.find(({ metrics }) => metrics.includes(metric));
  if (model) return model.better === 'lower';
  return reportedFeature(metric)?.worse === 'high';
}

/** A bound that a search aims at, as people read it: `vmaf p5 of at least 90`. */
export function targetText(target: {
  readonly metric: string;
  readonly statistic: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}): string {
  const { metric, statistic, atLeast, atMost } = target;
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  return `${metric} ${statistic.replace('_', ' ')} of ${bound}`;
}
