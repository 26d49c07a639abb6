/**
 * @module report/html/charts
 * Charts over the frames: a drawing of the score that needs no script, and the places where the script draws.
 */
import { pooledMetric } from '../pool.js';
import { metricLabel } from './headline.js';
import { html, type Markup, raw } from './markup.js';
import { type Page, shiftOf } from './page.js';
import { colourOf, seriesOf, shortText } from './series.js';
import { extentOf, linePath } from './shapes.js';

/** Columns of the drawing that stands until the script runs, or where it never does. */
const STILL_COLUMNS = 900;
const STILL_HEIGHT = 240;

/** The score frame by frame. */
export function chartSection(page: Page): Markup | undefined {
  const { reports, metric } = page;
  if (metric === undefined || reports.every((report) => report.frames.length === 0)) return undefined;
  return html`<section>
<div class="bar"><h2>${metricLabel(page)}, frame by frame</h2><span class="hint faint small needs-script">drag to zoom, double-click to see all</span>
<span class="tools needs-script"><button class="tool" data-zoom="in" aria-label="Zoom in">+</button><button class="tool" data-zoom="out" aria-label="Zoom out">−</button><button class="tool" data-zoom="0" disabled>All</button></span></div>
${legend(page)}
<div class="still">${still(page, metric)}</div>
<div class="chart big needs-script" data-metric="${metric}" tabindex="0" role="img" aria-label="${metric} of every frame; arrow keys move from frame to frame, plus and minus zoom"></div>
<div class="chart map needs-script" data-metric="${metric}" aria-hidden="true"></div>
</section>`;
}

function legend({ reports, names }: Page): Markup | undefined {
  if (reports.length < 2) return undefined;
  return html`<div class="legend">${reports.map(
    (report, i) =>
      html`<button data-run="${i}" aria-pressed="true" style="${raw(colourOf(i))}" title="${report.distorted.name}"><span class="swatch"></span><span>${names[i]}</span></button>`,
  )}</div>`;
}

function still(page: Page, metric: string): Markup {
  const { reports } = page;
  const series = reports.map((report) => seriesOf(report, metric));
  const places = placesOf(page);
  const range = extentOf(series) ?? { low: 0, high: 1 };
  const paths = series.map(
    (values, i) =>
      html`<path d="${raw(linePath(values, range, places[i]?.width ?? STILL_COLUMNS, STILL_HEIGHT, places[i]?.left))}" fill="none" stroke="var(--s${i % 8})" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"/>`,
  );
  return html`<p class="faint small">${shortText(range.high)}</p><svg viewBox="0 0 ${STILL_COLUMNS} ${STILL_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${metric} of every frame">${paths}</svg><p class="faint small">${shortText(range.low)}</p>`;
}

/** Where each encode begins on the frame axis that all share, and how wide it is, in columns of the still drawing. */
function placesOf(page: Page): { readonly left: number; readonly width: number }[] {
  const spans = page.reports.map((report) => {
    const { frames } = report;
    const shift = shiftOf(page, report);
    return [shift + (frames[0]?.frameNum ?? 0), shift + (frames.at(-1)?.frameNum ?? 0)] as const;
  });
  const first = Math.min(...spans.map(([from]) => from));
  const last = Math.max(...spans.map(([, to]) => to));
  if (last === first) return spans.map(() => ({ left: 0, width: STILL_COLUMNS }));
  const scale = STILL_COLUMNS / (last - first);
  return spans.map(([from, to]) => ({
    left: (from - first) * scale,
    width: Math.max(1, (to - from) * scale),
  }));
}

/** Features and further scores, one small chart each, on the same frames as the large one. */
export function featureSection({ reports, others }: Page): Markup | undefined {
  if (others.length === 0) return undefined;
  const charts = others.map((name) => {
    const means = reports.flatMap((report) => {
      const pooled = pooledMetric(report, name);
      return pooled ? [shortText(pooled.mean)] : [];
    });
    const mean = means.length === 1 ? `mean ${means[0]}` : '';
    return html`<div class="feature"><h3><span title="${name}">${name}</span><span class="now" data-mean="${mean}">${mean}</span></h3><div class="chart tiny" data-metric="${name}"></div></div>`;
  });
  return html`<section class="needs-script"><div class="bar"><h2>Features</h2><span class="hint faint small">what the score is made of; all charts zoom together</span></div><div class="features">${charts}</div></section>`;
}
