/**
 * @module report/view/bd
 * Compares curves of quality over bit rate: a table of Bjontegaard deltas, and the areas that they average.
 */
import { type BdResult, bdQuality, bdRate, rateCurve, unlessRefused } from '../bd-rate.js';
import { comparable, type EncodeList } from './encodes.js';
import { bitrateText, joined, labelOf, NONE, shortText, type Templates } from './numbers.js';
import type { Area, RatePoint } from './rates.js';

/** How curves are compared. */
export interface CurveChoice {
  /** Metric of the quality; default: the view's main metric. */
  readonly metric?: string | undefined;
  /** Curve that the others are compared with; default: each with each. */
  readonly anchor?: string | undefined;
  /** Range of the anchor's kilobits per second; default: all. */
  readonly rates?: { readonly min: number; readonly max: number } | undefined;
}

type Sign = 1 | -1;

/** Has at least two points of different quality. */
export interface RateCurve {
  readonly name: string;
  /** -1 if less is better in the metric. */
  readonly sign: Sign;
  /** Greater is better. */
  readonly points: readonly { readonly kbps: number; readonly quality: number }[];
}

export interface Compared extends Area, Pick<RateCurve, 'sign'> {
  /** In percent of the anchor's rate. */
  readonly rate: BdResult;
  /** In the metric's unit; greater is better. Absent if the curves share no rates. */
  readonly quality: BdResult | undefined;
}

/** Curves with at least two different qualities, in the order of the encodes. */
export function curvesOf(points: readonly RatePoint[], sign: Sign = 1): RateCurve[] {
  const listed = points.toSorted((a, b) => a.index - b.index);
  const names = new Set(listed.flatMap(({ curve }) => curve ?? []));
  return [...names].flatMap((name) => {
    const own = points.filter((point) => point.curve === name);
    if (new Set(own.map(({ quality }) => quality)).size < 2) return [];
    const signed = own.map(({ rate, quality }) => ({ kbps: rate / 1000, quality: sign * quality }));
    return { name, sign, points: signed };
  });
}

/** Curves of encodes whose numbers are comparable, and names of the other encodes. */
export function comparableCurves(
  encodes: EncodeList,
  points: readonly RatePoint[],
  metric: string,
): { readonly curves: readonly RateCurve[]; readonly without: readonly string[] } {
  const rated = encodes.list.filter(({ index }) => points.some((point) => point.index === index));
  const { alike, others } = comparable(rated);
  const used = points.filter((point) => alike.some(({ index }) => index === point.index));
  const sign = encodes.isWorseHigh(metric) ? -1 : 1;
  return { curves: curvesOf(used, sign), without: others.map(({ encode }) => encode.name) };
}

/** Steps on each side of an outline. */
const STEPS = 24;

/** Compares a curve with the anchor, or says why it cannot. */
export function comparedWith(
  anchor: RateCurve,
  test: RateCurve,
  { rates }: CurveChoice = {},
): Compared | { readonly refused: string } {
  const rate = unlessRefused(() => bdRate(anchor.points, test.points, { rates }));
  if (typeof rate === 'string') return { refused: rate };
  const quality = unlessRefused(() => bdQuality(anchor.points, test.points, { rates }));
  const { from, to } = rate.range;
  const side = ({ points }: RateCurve) => {
    const curve = rateCurve(points.map(({ kbps, quality }) => ({ rate: kbps * 1000, quality })));
    return Array.from({ length: STEPS + 1 }, (_, i) => {
      const quality = from + ((to - from) * i) / STEPS;
      return [Math.exp(curve.at(quality)), test.sign * quality] as const;
    });
  };
  return {
    test: test.name,
    sign: test.sign,
    rate,
    quality: typeof quality === 'string' ? undefined : quality,
    outline: [...side(anchor), ...side(test).reverse()],
  };
}

export function comparedCurves(curves: readonly RateCurve[], choice: CurveChoice): readonly Compared[] {
  const anchor = curves.find(({ name }) => name === choice.anchor);
  return curves.flatMap((test) => {
    const compared = anchor && test !== anchor ? comparedWith(anchor, test, choice) : undefined;
    return compared && 'test' in compared ? [compared] : [];
  });
}

/** Takes only encodes whose numbers are comparable; `undefined` with fewer than two curves. */
export function bdTable<T>(
  templates: Templates<T>,
  encodes: EncodeList,
  points: readonly RatePoint[],
  metric: string,
  choice: CurveChoice = {},
): T | undefined {
  const { html } = templates;
  const { curves, without } = comparableCurves(encodes, points, metric);
  if (curves.length < 2) return undefined;
  const choices = { ...choice, metric };
  const anchor = curves.find(({ name }) => name === choice.anchor);
  const [heads, rows] = anchor
    ? againstAnchor(templates, anchor, curves, choices)
    : againstEach(templates, curves, choices);
  const heading = 'BD-rate between curves';
  const left = without.length > 0 ? [`Without ${without.join(', ')}: not comparable.`] : [];
  const notes = [...left, ...notesOf(curves, choices)].map((note) => html`<p class="soft small">${note}</p>`);
  return html`<div class="bd"><h3>${heading}</h3><p class="soft small">Mean difference in bit rate at equal ${labelOf(metric)}; negative: needs a lower bit rate than the curve in the heading.</p>
<div class="scroll" tabindex="0" role="region" aria-label="${heading}"><table class="tight"><caption class="unseen">${heading}</caption><thead><tr><th scope="col">curve</th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
${notes}</div>`;
}

type Table<T> = readonly [heads: readonly string[], rows: readonly T[]];

function againstEach<T>(
  { html }: Templates<T>,
  curves: readonly RateCurve[],
  choice: CurveChoice & { readonly metric: string },
): Table<T> {
  const rows = curves.map((test) => {
    const cells = curves.map((anchor) => {
      if (anchor === test) return html`<td class="faint" aria-hidden="true">–</td>`;
      return rateCell(html, comparedWith(anchor, test, choice));
    });
    return html`<tr><th scope="row">${test.name}</th>${cells}</tr>`;
  });
  return [curves.map(({ name }) => `against ${name}`), rows];
}

function againstAnchor<T>(
  { html }: Templates<T>,
  anchor: RateCurve,
  curves: readonly RateCurve[],
  choice: CurveChoice & { readonly metric: string },
): Table<T> {
  const { metric } = choice;
  const rows = curves.flatMap((test) => {
    if (test === anchor) return [];
    const compared = comparedWith(anchor, test, choice);
    if ('refused' in compared)
      return html`<tr><th scope="row">${test.name}</th>${rateCell(html, compared)}<td>–</td><td>–</td><td>–</td></tr>`;
    const { rate, quality } = compared;
    const better = !quality || quality.value === 0 ? '' : quality.value > 0 ? 'less' : 'more';
    const rates = quality && [quality.range.from, quality.range.to].map((kbps) => bitrateText(kbps * 1000));
    const ranges = joined([rangeText(compared), rates?.join(' to ')]);
    return html`<tr><th scope="row">${test.name}</th>${rateCell(html, compared)}<td class="${better}">${quality ? signed(test.sign * quality.value, '') : NONE}</td><td class="ranges">${ranges}</td><td>${percent(rate.overlap)}</td></tr>`;
  });
  return [[`against ${anchor.name}`, `BD-${labelOf(metric)}`, 'compared', 'overlap'], rows];
}

function rateCell<T>(html: Templates<T>['html'], compared: ReturnType<typeof comparedWith>): T {
  if ('refused' in compared) return html`<td title="${compared.refused}">none</td>`;
  const { value, overlap } = compared.rate;
  const title = `compared from ${rangeText(compared)}, ${percent(overlap)} of the shorter curve`;
  return html`<td class="${value < 0 ? 'less' : value > 0 ? 'more' : ''}" title="${title}">${signed(value)}</td>`;
}

/** Compared qualities: `75.00 to 86.00`. */
function rangeText({ sign, rate: { range } }: Compared): string {
  const ends = [range.from, range.to].map((end) => sign * end);
  return ends
    .sort((a, b) => a - b)
    .map(shortText)
    .join(' to ');
}

/** `−24.8 %`. */
export function signed(value: number, unit = ' %'): string {
  const size =
    unit === '' ? shortText(Math.abs(value)) : Math.abs(value).toFixed(Math.abs(value) < 100 ? 1 : 0);
  return `${Number(size) === 0 ? '' : value < 0 ? '−' : '+'}${size}${unit}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Why a value is missing or unreliable; once per pair. */
function notesOf(curves: readonly RateCurve[], choice: CurveChoice): string[] {
  const pairs = curves.flatMap((anchor, i) => curves.slice(i + 1).map((test) => [anchor, test] as const));
  const isAnchor = ({ name }: RateCurve) => name === choice.anchor;
  const shown = curves.some(isAnchor) ? pairs.filter((pair) => pair.some(isAnchor)) : pairs;
  const notes = shown.flatMap(([first, second]) => {
    const [anchor, test] = isAnchor(second) ? [second, first] : [first, second];
    const names = `${test.name} against ${anchor.name}`;
    const compared = comparedWith(anchor, test, choice);
    const where = choice.rates ? ' at these bit rates' : '';
    if ('refused' in compared) return `${names}: no value, as their quality ranges do not overlap${where}.`;
    const { overlap } = compared.rate;
    if (overlap >= 0.5) return [];
    return `${names}: only ${percent(overlap)} of the shorter curve is compared, so the value is unreliable.`;
  });
  const uneven = curves.filter(({ points }) => !bdRate(points, points).monotone.anchor);
  const few = curves.filter(({ points }) => points.length < 4);
  const fewNames = few.map(({ name }) => name).join(', ');
  return [
    ...notes,
    ...uneven.map(({ name }) => `${name}: quality does not always rise with bit rate.`),
    ...(few.length > 0 ? [`Curves with fewer than four encodes: ${fewNames}.`] : []),
  ];
}
