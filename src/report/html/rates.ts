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
  const sides = nameSides(
    points.map((point) => ({ ...point, x: x(point.rate), y: Number(y(point.quality)) })),
  );
  const [unit, unitName] = across.high >= 1e7 ? [1e6, 'Mb/s'] : [1e3, 'kb/s'];
  return html`<h3 style="margin-top:18px">${label} over bit rate</h3>
${codecs.length > 1 && key(codecs)}
<div class="plot" role="img" aria-label="${label} over bit rate; the values are in the table above">
${ticks(up, 6).map((value) => html`<i class="gy" style="top:${y(value)}%"></i><span class="y" style="top:${y(value)}%">${Number(value.toFixed(6))}</span>`)}
${ticks(across, 6).map((value) => html`<i class="gx" style="left:${x(value)}%"></i><span class="x" style="left:${x(value)}%">${Number((value / unit).toPrecision(6))}</span>`)}
<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${lines}</svg>
${points.map((point, i) => {
  const at = `left:${x(point.rate)}%;top:${y(point.quality)}%`;
  const title = `${point.name}: ${label} ${valueText(point.quality)} at ${bitrateText(point.rate)}${point.codec && `, ${point.codec}`}`;
  return html`<span class="dot" style="${raw(colourOf(point.index))};${at}" title="${title}"></span>${sides[i] && html`<span class="tag${sides[i] === 'left' && ' left'}" style="${at}">${point.name}</span>`}`;
})}
<span class="axis">bit rate in ${unitName}</span>
</div>`;
}

/** Pixels of the chart on a desk, of a letter, and of a line of text: about what they are. */
const ROOM = { width: 940, height: 240, letter: 7, line: 18 } as const;

/** On which side of each point, both in per cent of the chart, its name has room; `undefined` where on neither. */
function nameSides(
  points: readonly { readonly name: string; readonly x: number; readonly y: number }[],
): ('left' | 'right' | undefined)[] {
  const { width, height, letter, line } = ROOM;
  const at = points.map(({ x, y }) => [(x / 100) * width, (y / 100) * height] as const);
  const taken = at.map(([x, y]) => [x - 8, y - 8, x + 8, y + 8] as const);
  return points.map(({ name }, i) => {
    const [x, y] = at[i] ?? [0, 0];
    const wide = Math.min(0.34 * width, name.length * letter);
    const sides = {
      // Lines go up and right, so that above and left of a point there is none, nor below and right of it.
      left: [x - 4 - wide, y - 4 - line, x - 4, y - 4],
      right: [x + 8, y + 4, x + 8 + wide, y + 4 + line],
    } as const;
    const side = (['left', 'right'] as const).find((one) => {
      const [left, top, right, bottom] = sides[one];
      const inside = left >= -30 && right <= width + 10 && bottom <= height;
      return (
        inside &&
        taken.every(([l, t, r, b], other) => other === i || left > r || right < l || top > b || bottom < t)
      );
    });
    if (side) taken.push(sides[side]);
    return side;
  });
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
