/**
 * @module report/view/headline
 * The headline: an encode's score, what it means and where it lies; and how several encodes compare.
 */
import { pooledCount } from '../facts.js';
import { mainOf, runValue, valueMeaning, wholeOf } from '../quality-metrics.js';
import { type Ranking, viewerOpinion } from '../ranking.js';
import { TRUST_SIGNS, type Trust, trustOf, type Verdict } from '../trust.js';
import {
  comparable,
  type Encode,
  type EncodeList,
  type Facts,
  type Pooled,
  rateOf,
  sizeOf,
  windowOf,
} from './encodes.js';
import {
  bitrateText,
  framesText,
  grouped,
  labelOf,
  NONE,
  pairCount,
  percentOf,
  scoreText,
  sizeText,
  type Templates,
  timeText,
} from './numbers.js';
import { ticks } from './scales.js';

export { comparedText } from '../facts.js';

const TONES = { bad: 'bad', poor: 'bad', fair: 'warn', good: 'good', excellent: 'good' } as const;

/** @returns `word` is a viewer's word for the score, `text` explains the score */
export function meaningOf(encodes: EncodeList, encode: Encode) {
  const { facts, count } = encode;
  const { metric, worse } = encodes.ranking ?? {};
  const trust = trustOf(facts);
  const frames = framesText(pooledCount(facts, count));
  const model = facts.models?.find(({ name }) => name === metric);
  const { reference, pooled_metrics, pairing } = facts;
  // Viewers' opinion of a wrong pair is unknown.
  const opinion =
    model && reference && pooled_metrics && trust.verdict !== 'untrusted'
      ? viewerOpinion({ reference, pooled_metrics, pairing }, model)
      : undefined;
  const range = encodes.rangeOf(metric);
  const within = range ? `scale ${range[0]} to ${range[1]}` : 'not clipped to a range';
  const mean = `Mean over ${frames}${model === undefined ? '' : ` by ${model.source}`}, ${within}.`;
  const text =
    metric === undefined
      ? frames
      : !encodes.isScore(metric)
        ? featureText(encodes, encode, { metric, worse: worse ?? 'low' })
        : trust.verdict === 'untrusted'
          ? mean
          : `${mean} ${opinion?.means ?? (model ? NO_OPINION : NO_MODEL)}`;
  return { trust, model, word: opinion?.word, tone: opinion && TONES[opinion.word], text };
}

function featureText(encodes: EncodeList, encode: Encode, { metric, worse }: Ranking): string {
  const frames = framesText(pooledCount(encode.facts, encode.count));
  const meaning = valueMeaning(metric);
  if (wholeOf(metric, [encode.facts]) !== metric) return `Computed over ${frames}. ${meaning}`;
  const unit = isDecibels(encodes.pooled(encode, metric), metric) ? ' in dB' : '';
  const better = `Mean of ${metric}${unit} over ${frames}; ${worse === 'low' ? 'higher' : 'lower'} is better.`;
  return meaning ? `${better} ${meaning}` : better;
}

/** The number at the top: the run value that stands for the metric, or the metric's mean. */
export function headlineOf(encodes: EncodeList, encode: Encode) {
  const { metric } = encodes.ranking ?? {};
  if (metric === undefined) return undefined;
  const name = wholeOf(metric, [encode.facts]);
  const value = name === metric ? encodes.pooled(encode, metric)?.mean : runValue(encode.facts, name);
  return value === undefined ? undefined : { metric: name, value };
}

const NO_OPINION =
  'This model has no opinion scale: compare its scores only with others of the same model at the same size.';
const NO_MODEL = 'The file does not name the model, so the score has no rating.';

/** SSIM may be in decibels, which only a value above 1 reveals. */
function isDecibels(pooled: Pooled | undefined, metric: string): boolean {
  if (/^(x?psnr|float_psnr|float_anp?snr)/.test(metric)) return true;
  return /^float_(ms_)?ssim$/.test(metric) && (pooled?.max ?? 0) > 1;
}

const FLAW_TONES: Readonly<Record<Verdict, string>> = { fine: 'note', doubtful: 'warn', untrusted: 'bad' };

export function flawSign<T>({ html }: Templates<T>, trust: Trust | undefined): T | undefined {
  if (!trust || trust.verdict === 'fine') return undefined;
  const { verdict } = trust;
  return html`<span class="flaw" .style=${`--tone:var(--${FLAW_TONES[verdict]})`} role="img" aria-label="${verdict}" title="${verdict}">${TRUST_SIGNS[verdict]}</span>`;
}

export function verdictBadge<T>({ html }: Templates<T>, facts: Facts): T | undefined {
  const { verdict } = trustOf(facts);
  if (verdict === 'fine') return undefined;
  const words = verdict === 'doubtful' ? 'doubtful' : 'wrong pair';
  return html`<span class="badge" .style=${`--tone:var(--${FLAW_TONES[verdict]})`}>${words}</span>`;
}

/** Set if preflight ran and found nothing; shown beside the names, as it says nothing about the score. */
export function matchText(...all: readonly Facts[]): string | undefined {
  const match = all.every((facts) => facts.preflight && trustOf(facts).verdict === 'fine');
  return match ? 'Videos match' : undefined;
}

/** `note` is the verdict in words, `name` that of the encode among several. */
export function flawNote<T>(
  { html }: Templates<T>,
  { verdict }: Trust,
  note: string,
  cause: string,
  name?: string,
): T | undefined {
  if (verdict === 'fine') return undefined;
  return html`<p class="flaw-note" .style=${`--tone:var(--${FLAW_TONES[verdict]})`}>${name === undefined ? '' : `${name}: `}<b>${note}:</b> ${cause}</p>`;
}

/** Viewers' words, and how wide the range of scores of each is (report/ranking). */
const WORDS = [
  ['bad', 30],
  ['poor', 20],
  ['fair', 20],
  ['good', 20],
  ['excellent', 10],
] as const;

export function scale<T>(
  { html }: Templates<T>,
  encodes: EncodeList,
  metric: string,
  { mean, min, max, percentile }: Pooled,
  word: string | undefined,
): T {
  const [low = Number.NaN, high = Number.NaN] = [percentile(1), percentile(99)];
  const known = Number.isFinite(low) && Number.isFinite(high);
  const [only] = encodes.list;
  const kept = only && windowOf(only);
  const last = kept === undefined ? '' : `last ${grouped(kept)} `;
  const spread = known ? `; 98 % of the ${last}frames from ${scoreText(low)} to ${scoreText(high)}` : '';
  const label = `Mean ${scoreText(mean)}${spread}`;
  const [least, greatest] = encodes.rangeOf(metric) ?? [Math.min(0, min), Math.max(100, max)];
  const at = (value: number) => percentOf(value, least, greatest);
  const marks = ticks(least, greatest, 6);
  const widths =
    word === undefined
      ? marks.map((mark, i) => (marks[i + 1] ?? greatest) - mark).filter((wide) => wide > 0)
      : WORDS.map(([, wide]) => wide);
  const range = `left:${at(low)}%;width:${Math.max(0.4, at(high) - at(low)).toFixed(2)}%`;
  const names = WORDS.map(
    ([name, wide]) =>
      html`<span .style=${`flex:${wide}`}>${name === word ? html`<b>${name}</b>` : name}</span>`,
  );
  const numbers = marks.map(
    (value) =>
      html`<span class="tick${value === greatest ? ' last' : ''}" .style=${`left:${at(value)}%`}>${String(value)}</span>`,
  );
  return html`<div class="scale${word === undefined ? '' : ' worded'}" .style=${'--c:var(--s0)'} role="img" aria-label="${label}" title="${label}">
<div class="bands">${widths.map((wide) => html`<i .style=${`flex:${wide}`}></i>`)}</div>
${known ? html`<span class="range" .style=${range}></span>` : ''}
<span class="dot" .style=${`left:${at(mean)}%`}></span>
${word === undefined ? numbers : html`<div class="words">${names}</div>`}</div>`;
}

/** @param awaited shows unknown values as dashes, because they may come */
export function tiles<T>({ html }: Templates<T>, encodes: EncodeList, encode: Encode, awaited = false): T {
  const { facts, count } = encode;
  const { metric, worse } = encodes.ranking ?? {};
  const pooled = encodes.pooled(encode, metric);
  const low = worse !== 'high';
  const { rate } = encodes;
  const all = pairCount(facts);
  const value = (number: number | undefined) =>
    number === undefined || Number.isNaN(number) ? undefined : encodes.valueText(metric, number);
  const isPart =
    (facts.subsample ?? 1) > 1 || facts.sampling !== undefined || pooledCount(facts, count) > count;
  // The run value above may be of another metric than the per-frame values.
  const top = headlineOf(encodes, encode)?.metric ?? metric;
  const of = top === metric ? '' : ' of Q';
  const further = furtherMetrics(encodes).filter((name) => name !== top);
  const kept = windowOf(encode);
  const last = kept === undefined ? '' : `, last ${grouped(kept)}`;
  const entries = [
    [`worst 1 %${of}${last}`, value(pooled?.percentile(low ? 1 : 99))],
    [`worst frame${of}`, value(low ? pooled?.min : pooled?.max)],
    of === '' ? ['harmonic mean', value(pooled?.harmonic_mean)] : ['mean of Q', value(pooled?.mean)],
    [`deviation${of}${last}`, value(pooled?.stddev)],
    ...further.map((name) => {
      const mean = furtherValue(encodes, encode, name);
      return [labelOf(name), mean === undefined ? undefined : encodes.valueText(name, mean)] as const;
    }),
    [
      isPart && all !== undefined ? `frames of ${grouped(all)}` : 'frames',
      count > 0 ? grouped(count) : undefined,
    ],
    ['length', rate && all !== undefined ? timeText(all / rate, 1) : undefined],
    ['bit rate', bitrateText(rateOf(encode))],
    ['file size', sizeText(sizeOf(encode))],
  ] as const;
  const known = entries.flatMap(([name, text = awaited ? NONE : undefined]) =>
    text === undefined ? [] : [[name, text] as const],
  );
  // In one row, or in two of about the same length.
  const rows = `--n:${known.length};--half:${Math.ceil(known.length / 2)}`;
  return html`<dl class="tiles" .style=${rows}>${known.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`;
}

/** Columns of further metrics at most. */
const MOST_COLUMNS = 6;

/** Requested metrics besides the main one; of several planes only the first, the most telling one. */
export function furtherMetrics(encodes: EncodeList): string[] {
  const main = encodes.ranking?.metric;
  const { asked, expected } = encodes;
  const requested = (asked.length > 0 ? asked : expected).filter((name) => !/_c[br]$|^a?mse_/.test(name));
  const facts = encodes.list.map((encode) => encode.facts);
  return mainOf(requested, facts)
    .filter((name) => name !== main)
    .slice(0, MOST_COLUMNS);
}

function furtherValue(encodes: EncodeList, encode: Encode, name: string): number | undefined {
  return encodes.pooled(encode, name)?.mean ?? runValue(encode.facts, name);
}

export interface ComparedRow {
  /** Mean, worst percent, bit rate, size; `undefined` if unknown. */
  readonly texts: readonly [mean?: string, tail?: string, rate?: string, size?: string];
  /** `texts` as numbers, for sorting. */
  readonly values: readonly (number | undefined)[];
  /** Mean of each of {@link furtherMetrics}. */
  readonly further: readonly { readonly value: number | undefined; readonly text: string | undefined }[];
  /** Whether each of `texts` is the best of its column, at the printed precision. */
  readonly best: readonly boolean[];
  readonly trust: Trust;
  /** Positions of the mean and of 98 % of the frames in percent of the track; `undefined` if unknown. */
  readonly dot: number | undefined;
  readonly band: readonly [left: number, width: number] | undefined;
}

/** Only comparable encodes can be the best of a column, and only trusted ones have the best score. */
export function compare(encodes: EncodeList): ComparedRow[] {
  const { list } = encodes;
  const { metric, worse } = encodes.ranking ?? {};
  const low = worse !== 'high';
  const pooled = list.map((encode) => encodes.pooled(encode, metric));
  const trusts = list.map(({ facts }) => trustOf(facts));
  const means = pooled.map((values) => values?.mean);
  const tails = pooled.map((values) => values?.percentile(low ? 1 : 99));
  const tops = pooled.map((values) => values?.percentile(low ? 99 : 1));
  const score = (value: number | undefined) =>
    value === undefined ? undefined : encodes.valueText(metric, value);
  const { alike } = comparable(list);
  const any = list.map((encode) => alike.includes(encode));
  const trusted = trusts.map(({ verdict }, i) => verdict !== 'untrusted' && any[i] === true);
  const better = low ? 'high' : 'low';
  const [rates, sizes] = [list.map(rateOf), list.map(sizeOf)];
  const columns = [
    columnOf(means, means.map(score), better, trusted),
    columnOf(tails, tails.map(score), better, trusted),
    columnOf(rates, rates.map(bitrateText), 'low', any),
    columnOf(sizes, sizes.map(sizeText), 'low', any),
  ];
  const known = [...means, ...tails, ...tops].filter(Number.isFinite).map(Number);
  const [from, to] = (encodes.isScore(metric) ? encodes.rangeOf(metric) : undefined) ?? [
    Math.min(...known),
    Math.max(...known),
  ];
  const at = (value: number) => percentOf(value, from, to);
  const names = furtherMetrics(encodes);
  const furtherOf = (encode: Encode) =>
    names.map((name) => {
      const value = furtherValue(encodes, encode, name);
      return { value, text: value === undefined ? undefined : encodes.valueText(name, value) };
    });
  return list.map((encode, i) => {
    const [mean, tail, top] = [means[i], tails[i], tops[i]];
    const trust = trusts[i] as Trust;
    const [left = 0, right = 0] = [tail, top].map((value) => at(value ?? 0)).sort((a, b) => a - b);
    return {
      trust,
      values: [mean, tail, rates[i], sizes[i]],
      further: furtherOf(encode),
      texts: columns.map(({ texts }) => texts[i]) as unknown as ComparedRow['texts'],
      best: columns.map(({ best }) => best.includes(i)),
      dot: mean === undefined ? undefined : at(mean),
      band: tail === undefined || top === undefined || left === right ? undefined : [left, right - left],
    };
  });
}

/** Best rows are the `counted` ones whose text equals that of the best value; none if all are. */
function columnOf(
  all: readonly (number | undefined)[],
  texts: readonly (string | undefined)[],
  better: 'low' | 'high',
  counted: readonly boolean[],
): { readonly texts: readonly (string | undefined)[]; readonly best: readonly number[] } {
  const values = all.map((value, i) => (counted[i] ? value : undefined));
  const known = values.filter(Number.isFinite).map(Number);
  const best = better === 'high' ? Math.max(...known) : Math.min(...known);
  const word = texts[values.indexOf(best)];
  const rows = texts.flatMap((own, i) => (own === word && counted[i] ? [i] : []));
  return { texts, best: known.length < 2 || rows.length === known.length ? [] : rows };
}

export function track<T>({ html }: Templates<T>, { dot, band }: ComparedRow): T {
  return html`<div class="track">${band ? html`<span class="range" .style=${`left:${band[0]}%;width:${band[1].toFixed(2)}%`}></span>` : ''}${dot === undefined ? '' : html`<span class="dot" .style=${`left:${dot}%`}></span>`}</div>`;
}
