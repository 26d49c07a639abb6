/**
 * @module report/html/charts
 * Charts over the frames: a drawing of the score that needs no script, and the places where the script draws. And how the
 * score is spread over the frames.
 */
import { distribution, distributionMarks, spreadKind } from '../view/distribution.js';
import { featureMeaning } from '../view/features.js';
import { colourOf, encodeColour, labelOf, shortText } from '../view/numbers.js';
import { extentOf } from '../view/scales.js';
import { linePath } from '../view/thin.js';
import { html, type Markup, templates } from './markup.js';
import { type Page, seriesOf } from './page.js';

/** Columns of the drawing that stands until the script runs, or where it never does. */
const STILL_COLUMNS = 900;
const STILL_HEIGHT = 240;

/** The score frame by frame. */
export function chartSection(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  if (metric === undefined || page.list.every(({ count }) => count === 0)) return undefined;
  return html`<section>
<div class="bar"><h2>${labelOf(metric)}, frame by frame</h2><span class="hint faint small needs-script">drag to zoom, double-click to see all</span>
<span class="tools needs-script"><button class="tool" data-zoom="in" aria-label="Zoom in">+</button><button class="tool" data-zoom="out" aria-label="Zoom out">−</button><button class="tool" data-zoom="0" disabled>All</button></span></div>
${page.list.length > 1 && legend(page)}
<div class="still">${still(page, metric)}</div>
<div class="chart big needs-script" data-metric="${metric}" tabindex="0" role="img" aria-label="${metric} of every frame; arrow keys move from frame to frame, plus and minus zoom"></div>
<div class="chart map needs-script" data-metric="${metric}" aria-hidden="true"></div>
</section>`;
}

function legend({ list }: Page): Markup {
  return html`<div class="legend">${list.map(
    ({ name, facts }, i) =>
      html`<button data-run="${i}" aria-pressed="true" .style=${colourOf(i)} title="${facts.distorted.name}"><span class="swatch"></span><span>${name}</span></button>`,
  )}</div>`;
}

function still({ list }: Page, metric: string): Markup {
  const lines = list.map((encode) => ({
    frames: encode.frames.map(({ frameNum }) => encode.shift + frameNum),
    values: seriesOf(encode, metric),
  }));
  const span = [
    Math.min(...lines.map(({ frames }) => frames[0] ?? 0)),
    Math.max(...lines.map(({ frames }) => frames.at(-1) ?? 0)),
  ] as const;
  const range = extentOf(lines.map(({ values }) => values)) ?? { low: 0, high: 1 };
  const paths = lines.map(
    (line, i) =>
      html`<path d="${linePath(line, span, range, STILL_COLUMNS, STILL_HEIGHT)}" fill="none" stroke="${encodeColour(i)}" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"/>`,
  );
  return html`<p class="faint small">${shortText(range.high)}</p><svg viewBox="0 0 ${STILL_COLUMNS} ${STILL_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${metric} of every frame">${paths}</svg><p class="faint small">${shortText(range.low)}</p>`;
}

/** Metrics that were asked for, a small chart each, on the same frames as the large one; what scores are made of is folded. */
export function featureSections(page: Page): Markup {
  const main = page.ranking?.metric;
  const asked = page.asked.filter((name) => name !== main);
  const inner = page.inner.filter((name) => name !== main);
  const shown =
    asked.length > 0 &&
    html`<section class="needs-script"><div class="bar"><h2>Features</h2><span class="hint faint small">the numbers are means; all charts zoom together</span></div>${charts(page, asked)}</section>`;
  const folded =
    inner.length > 0 &&
    html`<section class="fold needs-script"><details open><summary><h2>All features</h2><span class="hint faint small">what the score is made of: detail, contrast and motion</span></summary>${charts(page, inner)}</details></section>`;
  return html`${shown}${folded}`;
}

function charts(page: Page, names: readonly string[]): Markup {
  const [only, ...more] = page.list;
  const one = (name: string) => {
    const pooled = more.length === 0 ? page.pooled(only, name) : undefined;
    const mean = pooled ? shortText(pooled.mean) : '';
    const meaning = featureMeaning(name);
    return html`<div class="feature"><h3><span title="${name}">${labelOf(name)}</span><span class="now" data-mean="${mean}">${mean}</span></h3>${meaning !== undefined && html`<p class="faint meaning">${meaning}</p>`}<div class="chart tiny" data-metric="${name}"></div></div>`;
  };
  return html`<div class="features">${names.map(one)}</div>`;
}

/** Histogram or cumulative share; `undefined` without a metric that has values. */
export function distributionSection(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  if (metric === undefined) return undefined;
  const [only, ...more] = page.list;
  const kind = spreadKind(page.list.length);
  const shown = distribution(
    templates,
    page.list.map((encode) => ({ index: encode.index, values: seriesOf(encode, metric) })),
    kind,
  );
  if (!shown) return undefined;
  return html`<section>
<div class="bar"><h2>Distribution</h2><span class="faint small">share of the frames ${kind === 'histogram' ? 'by' : 'at or below'} ${metric}</span></div>
<div class="hist" role="img" aria-label="${kind === 'histogram' ? 'Histogram' : 'Cumulative share'} of ${metric}">${shown.drawing}${more.length === 0 && distributionMarks(templates, page, only, metric, shown.range)}</div>
</section>`;
}
