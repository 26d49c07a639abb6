/**
 * @module report/html/rates
 * Quality over bit rate of several encodes.
 */
import { labelOf } from '../view/numbers.js';
import { rateChart, ratePoints } from '../view/rates.js';
import { html, type Markup, templates } from './markup.js';
import type { Page } from './page.js';

/** Pixels of the chart on a desk. */
const ROOM = { width: 940, height: 240 } as const;

/** The chart; `undefined` unless at least two encodes have both. */
export function rateCurve(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  const points = metric === undefined ? [] : ratePoints(page, metric);
  if (metric === undefined || points.length < 2) return undefined;
  const label = labelOf(metric);
  const { drawing, key } = rateChart(templates, page, metric, points, ROOM);
  return html`<h3 style="margin-top:18px">${label} over bit rate</h3>
${key.length > 0 && html`<p class="key small soft" aria-hidden="true">${key}</p>`}
<div class="plot" role="img" aria-label="${label} over bit rate; the values are in the table above">${drawing}</div>`;
}
