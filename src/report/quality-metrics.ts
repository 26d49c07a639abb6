/**
 * @module report/quality-metrics
 * Which metrics of a report measure quality by themselves, what their values mean, and how run values follow
 * from frame values. Separate from report/facts, which applications load at start.
 */
import { reportedFeature } from '../metrics/extractors.js';
import { jodOf, power } from '../metrics/jod.js';
import type { Facts } from './facts.js';
import { pooledMetric } from './pool.js';
import { ranking } from './ranking.js';
import type { Report } from './schema.js';

/** Inner features of VMAF's models: inputs of a score, not quality measures. */
const INNER =
  /^(?:VMAF_)?(?:integer_|float_)?(?:feature_)?(?:vif|adm|aim|motion|speed|moment|ansnr|anpsnr)(?:[_\d]|$)/;

/** Metrics that measure quality by themselves, without the spread of bootstrap collections. */
export function askedOf(metrics: readonly string[], facts: readonly Facts[]): string[] {
  const spreads = facts.flatMap(
    ({ models }) => models?.filter(({ collection }) => collection).map(({ name }) => `${name}_`) ?? [],
  );
  return metrics.filter((name) => !INNER.test(name) && !spreads.some((start) => name.startsWith(start)));
}

/** Components of a metric that also has a combined value. */
const PARTS = /^xpsnr_(?:[yuv]|min)(?:_|$)/;

/** Key of the run value that replaces a metric: `cvvdp`, in JOD, is computed from the `cvvdp_q` of all frames. */
export function wholeOf(metric: string, facts: readonly Facts[]): string {
  const whole = metric.replace(/^cvvdp_q(?=_|$)/, 'cvvdp');
  const known = facts.some(({ aggregate_metrics: values = {} }) => Object.hasOwn(values, whole));
  return known ? whole : metric;
}

/** Metrics for a short list: no components, and run values where there are any. */
export function mainOf(metrics: readonly string[], facts: readonly Facts[]): string[] {
  return [...new Set(metrics.filter((name) => !PARTS.test(name)).map((name) => wholeOf(name, facts)))];
}

/** The run value, or the mean of the frames; `undefined` if a frame has none. */
export function runValue(
  { aggregate_metrics = {}, pooled_metrics }: Facts,
  metric: string,
): number | undefined {
  if (Object.hasOwn(aggregate_metrics, metric)) return aggregate_metrics[metric];
  return pooled_metrics && pooledMetric({ pooled_metrics }, metric)?.mean;
}

/** Main values without film grain, scores first; empty unless they were measured. */
export function valuesWithoutGrain(report: Partial<Report>): NonNullable<Report['withoutGrain']> {
  const { withoutGrain: values = [], models = [] } = report;
  const names = values.map(({ metric }) => metric);
  const main = new Set(mainOf(askedOf(names, [report]), [report]));
  const isScore = (metric: string) => models.some(({ name }) => name === metric);
  return values
    .filter(({ metric }) => main.has(metric))
    .sort((a, b) => Number(isScore(b.metric)) - Number(isScore(a.metric)));
}

const MEANINGS: readonly (readonly [name: string, meaning: string])[] = [
  ['ssimulacra2', 'SSIMULACRA2: 90 is visually lossless, 70 high, 50 medium, 30 low quality.'],
  ['butteraugli_3norm', 'Butteraugli of the whole picture: 0 for no difference, below 1 hardly visible.'],
  ['butteraugli', 'Butteraugli of the worst place in each frame: below 1, differences are invisible.'],
  [
    'cvvdp',
    'ColorVideoVDP in JOD: 10 is no visible difference; of two videos 1 JOD apart, 75 % of viewers prefer the higher.',
  ],
  ['xpsnr', 'XPSNR in dB: compare encodes of one video, not values of different videos.'],
];

/** Meaning of a perceptual metric's values, in a sentence; `undefined` for other metrics. */
export function valueMeaning(metric: string): string | undefined {
  return MEANINGS.find(([name]) => metric === name || metric.startsWith(`${name}_`))?.[1];
}

/** Derives a run value from frames by a mean, for samples and shots. */
export interface WholeValue {
  /** Frame metric that it derives from. */
  readonly from: string;
  /** Maps a frame's value to the term that is averaged. */
  term(value: number): number;
  /** Maps the mean to the run value. */
  of(mean: number): number;
}

const WHOLE: Readonly<Record<string, WholeValue>> = {
  cvvdp: { from: 'cvvdp_q', term: (q) => power(q, 2), of: (mean) => jodOf(power(Math.max(0, mean), 0.5)) },
};

/** A metric's name without options; empty if no extractor has it. */
export function plainName(metric: string): string {
  return reportedFeature(metric)?.alias ?? '';
}

/** `undefined` unless the run value follows from frames. `metric` may end in options. */
export function wholeValue(metric: string): WholeValue | undefined {
  const alias = plainName(metric);
  const found = Object.hasOwn(WHOLE, alias) ? WHOLE[alias] : undefined;
  return found && { ...found, from: found.from + metric.slice(alias.length) };
}

export function valueOfWhole({ term, of }: WholeValue, values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += term(values[i] ?? Number.NaN);
  return of(sum / values.length);
}

/** Options with which maps show what a metric of the report measures. */
export interface MapsOfMetric {
  /** Map Butteraugli instead of VIF and ADM. */
  readonly butteraugli: boolean;
  /** Of NEG models and their features. Absent if enhancement counts as quality. */
  readonly enhnGainLimit?: number;
}

/**
 * @param report absent during a run
 * @param metric default: the one that ranks the frames
 */
export function mapsOfMetric(
  report: Pick<Report, 'metrics' | 'models' | 'tiny'> | undefined,
  metric = report && ranking(report)?.metric,
): MapsOfMetric {
  const { features = [] } = report?.models.find(({ name }) => name === metric) ?? {};
  const [, limit] = /_egl_([\d.]+)/.exec([metric, ...features].join(' ')) ?? [];
  return {
    butteraugli: metric?.startsWith('butteraugli') === true,
    ...(limit !== undefined && { enhnGainLimit: Number(limit) }),
  };
}
