/**
 * @module report/quality-metrics
 * Which metrics of a report say something of quality by themselves, what their values mean, and how values of a whole run
 * follow from those of its frames. Apart from the facts, which an application's start loads.
 */
import { reportedFeature } from '../metrics/extractors.js';
import { jodOf, power } from '../metrics/jod.js';
import { pooledMetric } from './pool.js';
import type { Report } from './types.js';

/** Inner features of VMAF's models: what a score is made of, not a measure of quality by itself. */
const INNER =
  /^(?:VMAF_)?(?:integer_|float_)?(?:feature_)?(?:vif|adm|aim|motion|speed|moment|ansnr|anpsnr)(?:[_\d]|$)/;

/** Of metrics those that say something of quality by themselves; not the spread of a bootstrap collection. */
export function askedOf(
  metrics: readonly string[],
  facts: readonly Pick<Partial<Report>, 'models'>[],
): string[] {
  const spreads = facts.flatMap(
    ({ models }) => models?.filter(({ collection }) => collection).map(({ name }) => `${name}_`) ?? [],
  );
  return metrics.filter((name) => !INNER.test(name) && !spreads.some((start) => name.startsWith(start)));
}

/** Parts of a metric that has a value of all of them. */
const PARTS = /^xpsnr_(?:[yuv]|min)(?:_|$)/;

/**
 * What stands for a metric: ColorVideoVDP makes its quality in JOD of the Q of all frames together.
 * @returns a key of `aggregate_metrics`, else the metric itself
 */
export function wholeOf(
  metric: string,
  facts: readonly Pick<Partial<Report>, 'aggregate_metrics'>[],
): string {
  const whole = metric.replace(/^cvvdp_q(?=_|$)/, 'cvvdp');
  const known = facts.some(({ aggregate_metrics: values = {} }) => Object.hasOwn(values, whole));
  return known ? whole : metric;
}

/** Of metrics those that a short list has. */
export function mainOf(
  metrics: readonly string[],
  facts: readonly Pick<Partial<Report>, 'aggregate_metrics'>[],
): string[] {
  return [...new Set(metrics.filter((name) => !PARTS.test(name)).map((name) => wholeOf(name, facts)))];
}

/** The value of the whole run, or the mean of the frames; `undefined` if a frame has none. */
export function runValue(
  { aggregate_metrics = {}, pooled_metrics }: Partial<Pick<Report, 'aggregate_metrics' | 'pooled_metrics'>>,
  metric: string,
): number | undefined {
  if (Object.hasOwn(aggregate_metrics, metric)) return aggregate_metrics[metric];
  return pooled_metrics && pooledMetric({ pooled_metrics }, metric)?.mean;
}

/** Values without film grain that a reader looks at, scores first; none unless they were measured. */
export function valuesWithoutGrain(report: Partial<Report>): NonNullable<Report['withoutGrain']> {
  const { withoutGrain: values = [], models = [] } = report;
  const names = values.map(({ metric }) => metric);
  const main = new Set(mainOf(askedOf(names, [report]), [report]));
  const isScore = (metric: string) => models.some(({ name }) => name === metric);
  return values
    .filter(({ metric }) => main.has(metric))
    .sort((a, b) => Number(isScore(b.metric)) - Number(isScore(a.metric)));
}

/** What values of perceptual metrics mean, by the beginnings of their names. */
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

/** What the values of a perceptual metric mean, in a sentence; `undefined` for other metrics. */
export function valueMeaning(metric: string): string | undefined {
  return MEANINGS.find(([name]) => metric === name || metric.startsWith(`${name}_`))?.[1];
}

// --- values of a whole run, so that samples and shots tell of them too ---

/** How a value of the whole follows from frames: by a mean. */
export interface WholeValue {
  /** What frames have, as reports call it. */
  readonly from: string;
  /** What is averaged, of the value of a frame. */
  term(value: number): number;
  /** The value of the whole, of the mean. */
  of(mean: number): number;
}

const WHOLE: Readonly<Record<string, WholeValue>> = {
  cvvdp: {
    from: 'cvvdp_q',
    term: (q) => power(q, 2),
    of: (mean) => jodOf(power(Math.max(0, mean), 0.5)),
  },
};

/** A metric's name without options; empty for one of no extractor. */
export function plainName(metric: string): string {
  return reportedFeature(metric)?.alias ?? '';
}

/**
 * How a metric of the whole follows from frames.
 * @param metric may end in options
 * @returns `undefined` if it does not
 */
export function wholeValue(metric: string): WholeValue | undefined {
  const alias = plainName(metric);
  const found = Object.hasOwn(WHOLE, alias) ? WHOLE[alias] : undefined;
  return found && { ...found, from: found.from + metric.slice(alias.length) };
}

/** The value of the whole. @param values of frames */
export function valueOfWhole({ term, of }: WholeValue, values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += term(values[i] ?? Number.NaN);
  return of(sum / values.length);
}
