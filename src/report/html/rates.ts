/**
 * @module report/html/rates
 * Quality over bit rate: a point for every encode, the encodes of a codec joined.
 */
import { bitrateText, colourOf, joined, labelOf, percentOf } from '../view/numbers.js';
import { codecKey, codecsOf, dashOf, rateAxes, ratePoints } from '../view/rates.js';
import { fixed, ticks } from '../view/scales.js';
import { html, type Markup, templates } from './markup.js';
import type { Page } from './page.js';

/** The chart; `undefined` unless at least two encodes have both. */
export function rateCurve(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  const points = metric === undefined ? [] : ratePoints(page, metric);
  if (metric === undefined || points.length < 2) return undefined;
  const label = labelOf(metric);
  const {
    across: [left, right],
    up: [bottom, top],
    unit: [bits, unit],
  } = rateAxes(points, page.isScore(metric) ? page.rangeOf(metric) : undefined);
  const x = (rate: number) => percentOf(rate, left, right);
  const y = (quality: number) => Number(fixed(100 - percentOf(quality, bottom, top)));
  const codecs = codecsOf(points);
  const lines = codecs.map((codec, i) => {
    const path = points
      .filter((point) => point.codec === codec)
      .map(({ rate, quality }, n) => `${n === 0 ? 'M' : 'L'}${x(rate)} ${y(quality)}`)
      .join('');
    return html`<path d="${path}" fill="none" stroke="var(--faint)" stroke-width="1.5" stroke-dasharray="${dashOf(i).join(' ')}" vector-effect="non-scaling-stroke"/>`;
  });
  const sides = nameSides(points.map(({ name, rate, quality }) => ({ name, x: x(rate), y: y(quality) })));
  const dots = points.map(({ index, name, rate, quality, codec }, i) => {
    const at = `left:${x(rate)}%;top:${y(quality)}%`;
    const value = page.valueText(metric, quality);
    const title = `${name}: ${label} ${value} at ${joined([bitrateText(rate), codec])}`;
    return html`<span class="dot" style="${colourOf(index)};${at}" title="${title}"></span>${sides[i] && html`<span class="tag${sides[i] === 'left' && ' left'}" style="${at}">${name}</span>`}`;
  });
  const gridY = ticks(bottom, top, 6).map(
    (value) =>
      html`<i class="gy" style="top:${y(value)}%"></i><span class="y" style="top:${y(value)}%">${Number(value.toFixed(6))}</span>`,
  );
  const gridX = ticks(left, right, 6).map(
    (value) =>
      html`<i class="gx" style="left:${x(value)}%"></i><span class="x" style="left:${x(value)}%">${Number((value / bits).toPrecision(6))}</span>`,
  );
  return html`<h3 style="margin-top:18px">${label} over bit rate</h3>
${codecs.length > 1 && html`<p class="key small soft" aria-hidden="true">${codecKey(templates, codecs)}</p>`}
<div class="plot" role="img" aria-label="${label} over bit rate; the values are in the table above">
${gridY}
${gridX}
<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${lines}</svg>
${dots}
<span class="axis">bit rate in ${unit}</span>
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
