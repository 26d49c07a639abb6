/**
 * @module report/html/distribution
 * How the score is spread over the frames: a histogram with percentiles.
 */
import { PERCENTILE_KEYS } from '../schema.js';
import { valueText } from './headline.js';
import { html, type Markup, raw } from './markup.js';
import type { Page } from './page.js';
import { colourOf, percentOf, seriesOf } from './series.js';
import { extentOf, fixed, type Histogram, histogram, ticks } from './shapes.js';

const BINS = 42;
const HEIGHT = 100;

/** The section; `undefined` without a metric that has values. */
export function distributionSection(page: Page): Markup | undefined {
  const { reports, metric, names } = page;
  if (metric === undefined) return undefined;
  const series = reports.map((report) => seriesOf(report, metric));
  const extent = extentOf(series);
  if (!extent) return undefined;
  const bins = series.map((values) => histogram(values, extent, BINS));
  const [any] = bins;
  if (!any) return undefined;
  // Encodes may differ in length: shares are compared, not counts.
  const shares = bins.map(({ counts }, i) =>
    counts.map((count) => count / Math.max(1, series[i]?.length ?? 1)),
  );
  const tallest = Math.max(...shares.flat(), Number.MIN_VALUE);
  const drawings = shares.map((share, i) =>
    reports.length === 1 ? bars(share, tallest) : outline(share, tallest, i),
  );
  return html`<section>
<div class="bar"><h2>Distribution</h2><span class="faint small">share of the frames by ${metric}</span></div>
<div class="hist" role="img" aria-label="Histogram of ${metric}">
<svg viewBox="0 0 ${any.counts.length} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${drawings}</svg>
${axis(any)}
${reports.length === 1 && marks(page, any)}
</div>
<div class="scroll"><table class="tight"><thead><tr><th>percentile</th>${PERCENTILE_KEYS.map((key) => html`<th>${key.slice(1)} %</th>`)}</tr></thead><tbody>${reports.map(
    (report, i) => {
      const percentiles = report.distribution[metric]?.percentiles;
      return html`<tr><td>${reports.length > 1 ? html`<span class="swatch" style="${raw(colourOf(i))}"></span> ${names[i]}` : metric}</td>${PERCENTILE_KEYS.map((key) => html`<td>${percentiles ? valueText(page, percentiles[key]) : '–'}</td>`)}</tr>`;
    },
  )}</tbody></table></div>
</section>`;
}

function bars(shares: readonly number[], tallest: number): Markup {
  const path = shares
    .map((share, i) =>
      share > 0 ? `M${i + 0.06} ${HEIGHT}V${fixed(top(share, tallest))}H${i + 0.94}V${HEIGHT}Z` : '',
    )
    .join('');
  return html`<path d="${raw(path)}" fill="var(--s0)" opacity=".85"/>`;
}

function outline(shares: readonly number[], tallest: number, index: number): Markup {
  const steps = shares.map((share, i) => `V${fixed(top(share, tallest))}H${i + 1}`).join('');
  return html`<path d="${raw(`M0 ${HEIGHT}${steps}V${HEIGHT}Z`)}" fill="var(--s${index % 8})" fill-opacity=".14" stroke="var(--s${index % 8})" stroke-width="1.5" vector-effect="non-scaling-stroke"/>`;
}

/** The least bars are still to be seen. */
function top(share: number, tallest: number): number {
  return share > 0 ? Math.min(HEIGHT - 1.2, HEIGHT - (share / tallest) * HEIGHT * 0.94) : HEIGHT;
}

function axis({ low, high }: Histogram): Markup[] {
  return ticks({ low, high }, 6).map((value) => {
    const at = percentOf(value, low, high);
    return html`<span class="x${at > 96 && ' last'}" style="left:${at}%">${Number(value.toPrecision(6))}</span>`;
  });
}

/** Where the worst percent and the median lie. */
function marks({ reports: [report], metric, worse }: Page, { low, high }: Histogram): Markup[] {
  const percentiles = metric === undefined ? undefined : report.distribution[metric]?.percentiles;
  if (!percentiles) return [];
  const tail = worse === 'low' ? percentiles.p1 : percentiles.p99;
  const list = [
    {
      name: 'worst 1 %',
      value: tail,
      left: tail > percentiles.p50 ? false : percentOf(tail, low, high) > 18,
    },
    { name: 'median', value: percentiles.p50, left: percentOf(percentiles.p50, low, high) > 84 },
  ];
  return list.map(({ name, value, left }) => {
    const at = percentOf(value, low, high);
    return html`<span class="at${left && ' left'}" style="left:${at}%"><span>${name}</span></span>`;
  });
}
