/**
 * @module report/html/rates
 * Quality over bit rate: a point for every encode, the encodes of a codec joined.
 */
import { bitrateOf, bitrateText, rangeOf } from '../facts.js';
import { html, type Markup, raw } from './markup.js';
import type { Page } from './page.js';
import { colourOf, percentOf } from './series.js';
import { extentOf, fixed, roundStep, ticks } from './shapes.js';

/** What tells the lines of codecs apart, as SVG's `stroke-dasharray`. */
const DASHES = ['', '7 4', '2 3', '9 3 2 3'] as const;

interface Point {
  readonly index: number;
  readonly name: string;
  /** Bits per second. */
  readonly rate: number;
  readonly quality: number;
  readonly codec: string;
}

/**
 * The chart; `undefined` unless at least two encodes have both.
 * @param label what the page calls its metric
 * @param means its mean by encode
 */
export function rateCurve(
  page: Page,
  label: string,
  means: readonly (number | undefined)[],
  valueText: (value: number) => string,
): Markup | undefined {
  const points = pointsOf(page, means);
  if (points.length < 2) return undefined;
  const across = rateRange(points);
  const up = qualityRange(page, points);
  const x = (rate: number) => percentOf(rate, across.low, across.high);
  const y = (quality: number) => fixed(100 - percentOf(quality, up.low, up.high));
  const codecs = [...new Set(points.map(({ codec }) => codec))];
  const lines = codecs.map((codec, i) => {
    const path = points
      .filter((point) => point.codec === codec)
      .map(({ rate, quality }, n) => `${n === 0 ? 'M' : 'L'}${fixed(x(rate))} ${y(quality)}`)
      .join('');
    return html`<path d="${raw(path)}" fill="none" stroke="var(--faint)" stroke-width="1.5" stroke-dasharray="${dashOf(i)}" vector-effect="non-scaling-stroke"/>`;
  });
  const [unit, unitName] = across.high >= 1e7 ? [1e6, 'Mb/s'] : [1e3, 'kb/s'];
  return html`<h3 style="margin-top:18px">${label} over bit rate</h3>
${codecs.length > 1 && key(codecs)}
<div class="plot" role="img" aria-label="${label} over bit rate; the values are in the table above">
${ticks(up, 6).map((value) => html`<i class="gy" style="top:${y(value)}%"></i><span class="y" style="top:${y(value)}%">${Number(value.toFixed(6))}</span>`)}
${ticks(across, 6).map((value) => html`<i class="gx" style="left:${x(value)}%"></i><span class="x" style="left:${x(value)}%">${Number((value / unit).toPrecision(6))}</span>`)}
<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${lines}</svg>
${points.map((point) => {
  const at = `left:${x(point.rate)}%;top:${y(point.quality)}%`;
  const title = `${point.name}: ${label} ${valueText(point.quality)} at ${bitrateText(point.rate)}${point.codec && `, ${point.codec}`}`;
  return html`<span class="dot" style="${raw(colourOf(point.index))};${at}" title="${title}"></span><span class="tag${x(point.rate) > 30 && ' left'}" style="${at}">${point.name}</span>`;
})}
<span class="axis">bit rate in ${unitName}</span>
</div>`;
}

function dashOf(group: number): string {
  return DASHES[group % DASHES.length] ?? '';
}

function key(codecs: readonly string[]): Markup {
  return html`<p class="key small soft" aria-hidden="true">${codecs.map(
    (codec, i) =>
      html`<span><svg width="28" height="8"><line x2="28" y1="4" y2="4" stroke="var(--faint)" stroke-width="1.5" stroke-dasharray="${dashOf(i)}"/></svg>${codec || 'codec not known'}</span>`,
  )}</p>`;
}

/** Encodes with a bit rate and a mean, by bit rate. */
function pointsOf({ reports, names }: Page, means: readonly (number | undefined)[]): Point[] {
  return reports
    .flatMap((report, index): Point[] => {
      const [rate, quality] = [bitrateOf(report), means[index]];
      if (rate === undefined || !(rate > 0) || quality === undefined || !Number.isFinite(quality)) return [];
      return [
        { index, name: names[index] ?? '', rate, quality, codec: report.pairing?.distorted.codec ?? '' },
      ];
    })
    .sort((a, b) => a.rate - b.rate);
}

/** From nothing on, unless that would leave most of the chart empty. */
function rateRange(points: readonly Point[]): { low: number; high: number } {
  const { low, high } = extentOf([points.map(({ rate }) => rate)]) ?? { low: 0, high: 1 };
  const span = high - low || high;
  const from = low < 0.5 * high ? 0 : Math.max(0, low - 0.15 * span);
  return { low: from, high: high + 0.1 * (high - from) };
}

/** All points with some air, within what scores can be. */
function qualityRange(
  { reports: [first], metric }: Page,
  points: readonly Point[],
): { low: number; high: number } {
  const { low, high } = extentOf([points.map(({ quality }) => quality)]) ?? { low: 0, high: 1 };
  const air = Math.max((high - low) * 0.15, Math.abs(high) / 100, 1e-6);
  const step = roundStep(high - low + 2 * air, 6);
  const model = first.models.find(({ name }) => name === metric);
  const [least, most] = (model && rangeOf(model)) ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return {
    low: Math.max(least, Math.floor((low - air) / step) * step),
    high: Math.min(most, Math.ceil((high + air) / step) * step),
  };
}
