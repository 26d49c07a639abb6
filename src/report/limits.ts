/**
 * @module report/limits
 * Parses bounds on pooled values, as gates and targets name them: `vmaf.p5>=80`.
 */
import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { shown, showValue } from '../core/printable.js';
import { EXTRACTORS, findExtractor, reportedFeature } from '../metrics/extractors.js';
import { PERCENTILE_KEYS, type Report } from './schema.js';

/** Statistics of a metric over the scored frames. `worst_second`: worst mean over a second of consecutive frames. */
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

export interface Limit extends PooledName {
  /** `>=`: the smallest value that passes. `<=`: the largest. */
  readonly relation: '>=' | '<=';
  readonly bound: number;
}

const NUMBER = /^[-+]?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})$/;
const METRIC = /^[A-Za-z_][\w.-]{0,99}$/;

export function decimalBound(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined;
}

/**
 * Parses `METRIC.STATISTIC>=NUMBER`, such as `vmaf.p5>=80`: the grammar of gates, search targets and tools. The
 * statistic defaults to the mean, the metric to the scores of all models; a number alone is a lower bound with
 * both defaults. A colon may replace the dot.
 * @param what noun for the text in errors
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
  if (bound === undefined || !name)
    throw usageError(
      `the ${what} is ${showValue(text)}, but it must be a number such as 93, or a pooled value and its bound such as ` +
        `vmaf.p5>=80, psnr_y.mean>=38 or cambi.max<=5 (statistics: ${POOLED_STATISTICS.join(', ')})`,
    );
  return { ...name, relation, bound };
}

/** Parses `vmaf.p5`, `p5` or `vmaf`; `undefined` for other text. */
export function parsePooledName(text: string): PooledName | undefined {
  const statisticOf = (word: string) => POOLED_STATISTICS.find((name) => name === word.toLowerCase());
  const alone = statisticOf(text);
  if (alone) return { statistic: alone };
  const at = Math.max(text.lastIndexOf('.'), text.lastIndexOf(':'));
  const statistic = at < 0 ? undefined : statisticOf(text.slice(at + 1));
  // libjxl says butteraugli.norm3.
  const metric = (statistic ? text.slice(0, at) : text).replace(/^butteraugli\.norm3$/, 'butteraugli_3norm');
  if (!METRIC.test(metric)) return undefined;
  return { metric, ...(statistic && { statistic }) };
}

/** `vmaf.p5`, or `p5` for all models. */
export function pooledText({ metric, statistic = 'mean' }: PooledName): string {
  return metric === undefined ? statistic : `${metric}.${statistic}`;
}

/** By which limits may name a model. */
export type NamedModel = Pick<Report['models'][number], 'name' | 'source'>;

/** Resolves the key of a metric in a report from that key, a model's source or the name of an extractor. */
export function metricIn(
  {
    metrics,
    models = [],
    aggregate_metrics = {},
  }: Pick<Report, 'metrics'> &
    Partial<Pick<Report, 'aggregate_metrics'>> & { readonly models?: readonly NamedModel[] },
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

/** As {@link metricIn} before anything is measured; other names stay. */
export function metricNamed(name: string, models: readonly NamedModel[]): string {
  const metrics = findExtractor(name)?.features.map(({ alias }) => alias) ?? [];
  return metricIn({ metrics, models }, name) ?? name;
}

export function notMeasured(metric: string, { metrics }: Pick<Report, 'metrics'>): Error {
  return usageError(
    `${showValue(metric)} is not measured; this run measures ${shown(metrics.join(', '), 1000)}`,
  );
}

export function scoreNames({ models, tiny = [] }: Pick<Report, 'models' | 'tiny'>): readonly string[] {
  return models.length > 0 ? models.map(({ name }) => name) : tiny.flatMap(({ metrics }) => metrics);
}

/** Extractors to add if a limit names their metric; models request the others. */
const ON_DEMAND: readonly string[] =
  'psnr psnr_hvs float_ssim float_ms_ssim ciede cambi xpsnr ssimulacra2 butteraugli cvvdp'.split(' ');

/** Extractors that metrics need beyond those of models and of `features`; unknown names are ignored. */
export function extractorsFor(metrics: readonly string[], features: readonly string[]): readonly string[] {
  const requested = features.map((text) => findExtractor(text.split('=', 1)[0] ?? '')?.name);
  const needed = metrics.map((name) => (findExtractor(name) ?? emitterOf(name))?.name ?? '');
  return [...new Set(needed)].filter((name) => ON_DEMAND.includes(name) && !requested.includes(name));
}

/** The extractor that emits a metric by default. */
function emitterOf(metric: string) {
  return EXTRACTORS.find(({ features, options }) =>
    features.some(
      ({ alias, when }) =>
        alias === metric &&
        when.every((flag) => options.some((option) => option.name === flag && option.default === true)),
    ),
  );
}

/** True for a metric with one value per run, known only at its end. */
export function isAggregate(metric: string): boolean {
  const named = reportedFeature(metric)?.alias;
  return EXTRACTORS.some(({ features }) =>
    features.some(({ alias, emitted }) => alias === named && emitted === 'sequence'),
  );
}

export function isWorseHigh({ tiny = [] }: Pick<Report, 'tiny'>, metric: string): boolean {
  const model = tiny.find(({ metrics }) => metrics.includes(metric));
  if (model) return model.better === 'lower';
  return reportedFeature(metric)?.worse === 'high';
}

/** A search target in words: `vmaf p5 of at least 90`. */
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
