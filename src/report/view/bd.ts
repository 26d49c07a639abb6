/**
 * @module report/view/bd
 * BD-rate between the curves of several encodes as a table: how much more or less one needs than another for the same quality.
 */
import { AnyvmafError } from '../../core/errors.js';
import { type BdResult, bdRate } from '../bd-rate.js';
import { comparable, type Encode, type EncodeList } from './encodes.js';
import type { RatePoint } from './rates.js';
import type { Templates } from './template.js';

/** Points of one codec, size and settings, at least two of different quality. */
interface Curve {
  readonly name: string;
  readonly points: readonly { readonly kbps: number; readonly quality: number }[];
}

/** What came of comparing one curve with another. */
type Compared = { readonly result: BdResult } | { readonly refused: string };

/** Curves with enough encodes, in the order of the points. */
export function curvesOf(points: readonly RatePoint[]): Curve[] {
  const names = [...new Set(points.flatMap(({ curve }) => curve ?? []))];
  return names
    .map((name) => ({
      name,
      points: points
        .filter((point) => point.curve === name)
        .map(({ rate, quality }) => ({ kbps: rate / 1000, quality })),
    }))
    .filter((curve) => new Set(curve.points.map(({ quality }) => quality)).size > 1);
}

/** BD-rate of `test` against `anchor`, or why there is none. */
export function comparedWith(anchor: Curve, test: Curve): Compared {
  try {
    return { result: bdRate(anchor.points, test.points) };
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    return { refused: error.message };
  }
}

/**
 * The table of all curves against each other, made of those encodes whose numbers compare; `undefined` with fewer than two
 * curves, and where less is better.
 * @param points of some of the encodes
 */
export function bdTable<T>(
  { html }: Templates<T>,
  { list, ranking }: EncodeList<Encode>,
  points: readonly RatePoint[],
  metric: string,
): T | undefined {
  const used = list.filter(({ index }) => points.some((point) => point.index === index));
  if (ranking?.worse === 'high') return undefined;
  const { alike, others } = comparable(used);
  const curves = curvesOf(points.filter((point) => alike.some(({ index }) => index === point.index)));
  if (curves.length < 2) return undefined;
  const heading = 'BD-rate between curves';
  const rows = curves.map((test) => {
    const cells = curves.map((anchor) => {
      if (anchor === test) return html`<td class="faint" aria-hidden="true">–</td>`;
      const compared = comparedWith(anchor, test);
      if ('refused' in compared) return html`<td title="${compared.refused}">none</td>`;
      const { value, range, overlap } = compared.result;
      const title = `compared from ${range.from.toFixed(1)} to ${range.to.toFixed(1)}, ${percent(overlap)} of the shorter curve`;
      return html`<td class="${value < 0 ? 'less' : value > 0 ? 'more' : ''}" title="${title}">${signed(value)}</td>`;
    });
    return html`<tr><th scope="row">${test.name}</th>${cells}</tr>`;
  });
  const heads = curves.map(({ name }) => html`<th scope="col">against ${name}</th>`);
  const without = others.map(({ encode }) => encode.name);
  const left = without.length > 0 ? [`Without ${without.join(', ')}, whose numbers do not compare.`] : [];
  const notes = [...left, ...notesOf(curves)].map((note) => html`<p class="soft small">${note}</p>`);
  return html`<div class="bd"><h3>${heading}</h3><p class="soft small">The mean difference of bit rate at equal ${metric}: one with a value below zero needs less than the one above it.</p>
<div class="scroll" tabindex="0" role="region" aria-label="${heading}"><table class="tight"><caption class="unseen">${heading}</caption><thead><tr><th scope="col">curve</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>
${notes}</div>`;
}

/** `−24.8 %`. */
export function signed(value: number): string {
  const size = Math.abs(value).toFixed(Math.abs(value) < 100 ? 1 : 0);
  return `${Number(size) === 0 ? '' : value < 0 ? '−' : '+'}${size} %`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Why a value is missing or says little; each pair once. */
function notesOf(curves: readonly Curve[]): string[] {
  const pairs = curves.flatMap((anchor, i) => curves.slice(i + 1).map((test) => [anchor, test] as const));
  const notes = pairs.flatMap(([anchor, test]) => {
    const names = `${test.name} against ${anchor.name}`;
    const compared = comparedWith(anchor, test);
    if ('refused' in compared)
      return [`${names}: none, since the qualities of their encodes do not overlap.`];
    const { overlap } = compared.result;
    if (overlap >= 0.5) return [];
    return [`${names}: only ${percent(overlap)} of the shorter curve is compared, so the value says little.`];
  });
  const uneven = curves.filter(({ points }) => !bdRate(points, points).monotone.anchor);
  const few = curves.filter(({ points }) => points.length < 4);
  return [
    ...notes,
    ...uneven.map(({ name }) => `${name}: an encode of a higher rate is no better than one of a lower rate.`),
    ...(few.length > 0 ? [`From fewer than four encodes: ${few.map(({ name }) => name).join(', ')}.`] : []),
  ];
}
