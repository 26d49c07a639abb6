/**
 * @module report/view/bd
 * Compares curves of quality over bit rate: a table of Bjontegaard deltas, and the areas that they average.
 */
import { AnyvmafError } from '../../core/errors.js';
import { type BdResult, bdQuality, bdRate, rateCurve } from '../bd-rate.js';
import { ranking } from '../ranking.js';
import { comparable, type EncodeList } from './encodes.js';
import { bitrateText, labelOf, shortText, type Templates } from './numbers.js';
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

/** Has at least two points of different quality. */
export interface RateCurve {
  readonly name: string;
  /** Greater is better. */
  readonly points: readonly { readonly kbps: number; readonly quality: number }[];
}

export interface Compared extends Area {
  /** In percent of the anchor's rate. */
  readonly rate: BdResult;
  /** In the metric's unit; greater is better. */
  readonly quality: BdResult;
}

export function worseOf(metric: string): 'high' | 'low' {
  return ranking({ metrics: [metric] })?.worse ?? 'low';
}

/** 1, or -1 if less is better. */
function signOf(metric: string): 1 | -1 {
  return worseOf(metric) === 'high' ? -1 : 1;
}

/** Curves with at least two different qualities, in the order of the encodes. */
export function curvesOf(points: readonly RatePoint[], metric = ''): RateCurve[] {
  const sign = signOf(metric);
  const listed = points.toSorted((a, b) => a.index - b.index);
  const names = new Set(listed.flatMap(({ curve }) => curve ?? []));
  return [...names].flatMap((name) => {
    const own = points.filter((point) => point.curve === name);
    if (new Set(own.map(({ quality }) => quality)).size < 2) return [];
    return { name, points: own.map(({ rate, quality }) => ({ kbps: rate / 1000, quality: sign * quality })) };
  });
}

/** Curves of encodes whose numbers are comparable, and names of the other encodes. */
export function comparableCurves(
  { list }: EncodeList,
  points: readonly RatePoint[],
  metric: string,
): { readonly curves: readonly RateCurve[]; readonly without: readonly string[] } {
  const rated = list.filter(({ index }) => points.some((point) => point.index === index));
  const { alike, others } = comparable(rated);
  const used = points.filter((point) => alike.some(({ index }) => index === point.index));
  return { curves: curvesOf(used, metric), without: others.map(({ encode }) => encode.name) };
}

/** Steps on each side of an outline. */
const STEPS = 24;

/** Compares a curve with the anchor, or says why it cannot. */
export function comparedWith(
  anchor: RateCurve,
  test: RateCurve,
  { metric = '', rates }: CurveChoice = {},
): Compared | { readonly refused: string } {
  try {
    const rate = bdRate(anchor.points, test.points, { rates });
    const { from, to } = rate.range;
    const side = ({ points }: RateCurve) => {
      const curve = rateCurve(points.map(({ kbps, quality }) => ({ rate: kbps * 1000, quality })));
      return Array.from({ length: STEPS + 1 }, (_, i) => {
        const quality = from + ((to - from) * i) / STEPS;
        return [Math.exp(curve.at(quality)), signOf(metric) * quality] as const;
      });
    };
    return {
      test: test.name,
      rate,
      quality: bdQuality(anchor.points, test.points, { rates }),
      outline: [...side(anchor), ...side(test).reverse()],
    };
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    return { refused: error.message };
  }
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
    const better = quality.value > 0 ? 'less' : quality.value < 0 ? 'more' : '';
    const ends = [rate.range.from, rate.range.to].map((end) => signOf(metric) * end).sort((a, b) => a - b);
    const rates = [quality.range.from, quality.range.to].map((kbps) => bitrateText(kbps * 1000) ?? '');
    return html`<tr><th scope="row">${test.name}</th>${rateCell(html, compared)}<td class="${better}">${signed(signOf(metric) * quality.value, '')}</td><td class="ranges">${ends.map(shortText).join(' to ')}, ${rates.join(' to ')}</td><td>${percent(rate.overlap)}</td></tr>`;
  });
  return [[`against ${anchor.name}`, `BD-${labelOf(metric)}`, 'compared', 'overlap'], rows];
}

function rateCell<T>(html: Templates<T>['html'], compared: ReturnType<typeof comparedWith>): T {
  if ('refused' in compared) return html`<td title="${compared.refused}">none</td>`;
  const { value, range, overlap } = compared.rate;
  const [from, to] = [range.from, range.to].map(Math.abs).sort((a, b) => a - b) as [number, number];
  const title = `compared from ${from.toFixed(1)} to ${to.toFixed(1)}, ${percent(overlap)} of the shorter curve`;
  return html`<td class="${value < 0 ? 'less' : value > 0 ? 'more' : ''}" title="${title}">${signed(value)}</td>`;
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
