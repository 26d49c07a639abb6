/**
 * @module web/results/bd
 * BD-rate between the codecs of the encodes: how much more or less one needs than another for the same quality.
 */
import { AnyvmafError } from 'anyvmaf';
import { type BdResult, bdRate } from 'anyvmaf/bd-rate';
import type { RatePoint } from 'anyvmaf/view';
import { text } from '../text.js';
import { html, type TemplateResult } from './templates.js';

const words = text.results.rates.bd;

/** A codec's points, at least two of different quality. */
interface Curve {
  readonly codec: string;
  readonly points: readonly { readonly kbps: number; readonly quality: number }[];
}

/** What came of comparing one curve with another. */
export type Compared = { readonly result: BdResult } | { readonly refused: string };

/** Codecs with enough encodes for a curve, in the order of the points. */
export function curvesOf(points: readonly RatePoint[]): Curve[] {
  const codecs = [...new Set(points.flatMap(({ codec }) => codec ?? []))];
  return codecs
    .map((codec) => ({
      codec,
      points: points
        .filter((point) => point.codec === codec)
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

/** The table of all codecs against each other; empty with fewer than two. */
export function bdTable(points: readonly RatePoint[], metric: string): TemplateResult | '' {
  const curves = curvesOf(points);
  if (curves.length < 2) return '';
  const rows = curves.map((test) => {
    const cells = curves.map((anchor) => {
      if (anchor === test) return html`<td class="faint" aria-hidden="true">–</td>`;
      return cellOf(comparedWith(anchor, test));
    });
    return html`<tr><th scope="row">${test.codec}</th>${cells}</tr>`;
  });
  return html`<div class="bd"><h3 id="bd-heading">${words.heading}</h3><p class="soft small">${words.explain(metric)}</p>
<div class="scroll" tabindex="0" role="region" aria-labelledby="bd-heading"><table class="tight"><caption class="unseen">${words.heading}</caption><thead><tr><th scope="col">${words.codec}</th>${curves.map(({ codec }) => html`<th scope="col">${words.against(codec)}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
${notesOf(curves).map((note) => html`<p class="soft small">${note}</p>`)}</div>`;
}

function cellOf(compared: Compared): TemplateResult {
  if ('refused' in compared) return html`<td title="${compared.refused}">${words.none}</td>`;
  const { value, range, overlap } = compared.result;
  const tone = value < 0 ? 'less' : value > 0 ? 'more' : '';
  return html`<td class="${tone}" title="${words.from(range.from.toFixed(1), range.to.toFixed(1), percent(overlap))}">${signed(value)}</td>`;
}

/** `−24.8 %`. */
export function signed(value: number): string {
  const size = Math.abs(value).toFixed(Math.abs(value) < 100 ? 1 : 0);
  return `${Number(size) === 0 ? '' : value < 0 ? '−' : '+'}${size} %`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Why a value is missing or says little; each pair of codecs once. */
function notesOf(curves: readonly Curve[]): string[] {
  const pairs = curves.flatMap((anchor, i) => curves.slice(i + 1).map((test) => [anchor, test] as const));
  const notes = pairs.flatMap(([anchor, test]) => {
    const compared = comparedWith(anchor, test);
    const names = words.pair(test.codec, anchor.codec);
    if ('refused' in compared) return [words.apart(names)];
    const { overlap } = compared.result;
    return overlap < 0.5 ? [words.little(names, percent(overlap))] : [];
  });
  const uneven = curves.filter(({ points }) => !bdRate(points, points).monotone.anchor);
  const few = curves.filter(({ points }) => points.length < 4);
  return [
    ...notes,
    ...uneven.map(({ codec }) => words.uneven(codec)),
    ...(few.length > 0 ? [words.few(few.map(({ codec }) => codec).join(', '))] : []),
  ];
}
