/**
 * @module report/html/sections
 * The parts of the page that are text and tables: preflight, worst frames, pooled values, how it was run.
 */
import { remarks } from '../findings.js';
import { findingValues } from '../flaws.js';
import { accepts } from '../trust.js';
import { percentileTable } from '../view/distribution.js';
import { baseName, colourOf, labelOf, percentOf, timeText } from '../view/numbers.js';
import { pooledTables, runGroups } from '../view/tables.js';
import { frameGap, worstFrames } from '../worst.js';
import { html, type Markup, templates } from './markup.js';
import type { Page, ReportEncode } from './page.js';
import { type HtmlPictures, listedMoments, MANY, pictureUrl } from './pictures.js';

// --- preflight ---

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

/** All that was found about the pairs, which the script folds; `undefined` when there is nothing to say. */
export function foundSection(list: readonly ReportEncode[]): Markup | undefined {
  const items = remarks(list.map(({ facts }) => facts)).map(
    ({ severity, code, message, fix, finding, follows, of }) => {
      const [tone, sign] = SIGNS[severity];
      const which = of.length < list.length ? of.map((i) => list[i]?.name).join(', ') : '';
      const values = findingValues(finding);
      return html`<li class="finding${follows !== undefined && ' follows'}" .style=${`--tone:var(--${tone})`}><span class="sign" role="img" aria-label="${severity}">${sign}</span><div>${which !== '' && html`<b>${which}:</b> `}${message}</div>
${code !== undefined && html`<div class="more"><code>${code}</code>${values !== '' && html`<span>${values}</span>`}${fix !== undefined && html`<span>${accepts(finding) ? '' : 'fix: '}<code>${fix}</code></span>`}</div>`}</li>`;
    },
  );
  if (items.length === 0) return undefined;
  const count = items.length === 1 ? '1 note' : `${items.length} notes`;
  return html`<details open class="found"><summary>${count} about the comparison</summary><ul class="findings">${items}</ul></details>`;
}

/** Encodes that could not be scored. */
export function failureSection({ options: { failed = [] } }: Page): Markup | undefined {
  if (failed.length === 0) return undefined;
  const [tone, sign] = SIGNS.error;
  const items = failed.map(
    ({ distorted, message }) =>
      html`<li class="finding" .style=${`--tone:var(--${tone})`}><span class="sign" role="img" aria-label="error">${sign}</span><div><b>${baseName(distorted)}:</b> ${message}</div></li>`,
  );
  return html`<section><div class="bar"><h2>Not scored</h2></div><ul class="findings">${items}</ul></section>`;
}

// --- worst frames ---

/** The frames to look at first. */
export function worstSection(page: Page): Markup | undefined {
  const { list, ranking } = page;
  if (!ranking) return undefined;
  const { metric } = ranking;
  const perReport = listedMoments(list.length);
  const pictured = (page.options.pictures ?? []).length > 0;
  const lists = list.map((encode, i) => {
    const { min = 0, max = 1 } = page.pooled(encode, metric) ?? {};
    const greatest = ranking.worse === 'low' && max > 1 && max <= 100 ? 100 : Math.max(0, max);
    const rows = worstFrames(encode.report, ranking, perReport).map(({ frameNum, value }) => {
      const place = frameNum + encode.shift;
      const time = page.timeOf(place);
      const share = percentOf(value, Math.min(0, min), greatest);
      const shots = shotsOf(page.picturesOf(encode, frameNum));
      return html`<li><button data-frame="${place}" data-of="${i}" .style=${colourOf(i)}>${shots}<span>${place}</span><span class="soft">${time !== undefined && timeText(time)}</span><span class="line"><i style="width:${share}%"></i></span><b>${page.valueText(metric, value)}</b></button></li>`;
    });
    return html`<div>${list.length > 1 && html`<h3 class="worst-of" .style=${colourOf(i)}><span class="swatch"></span>${encode.name}</h3>`}<ol class="worst${pictured && ' pictured'}">${rows}</ol></div>`;
  });
  const gap = frameGap(list[0].report);
  return html`<section><div class="bar"><h2>Worst frames</h2><span class="faint small">at least ${gap} frame${gap === 1 ? '' : 's'} apart${page.apart && ', numbered as in the reference'}</span></div><div class="moments" .style=${`--most:${Math.min(5, perReport)}`}${pictured && list.length > MANY && html` data-many`}>${lists}</div>${pictured && SPLIT}${page.picturesLacking.map((why) => html`<p class="faint small">${why}</p>`)}</section>`;
}

/** Both pictures of a moment in one place, divided by a line that moves; the script fills it. */
const SPLIT = html`<figure class="split needs-script"><div></div><input type="range" min="0" max="100" value="50" aria-label="How much of the encode is shown"><figcaption class="faint small"></figcaption></figure>`;

/** Both frames and the loss map; what they show is said by the numbers below. */
function shotsOf(pictures: HtmlPictures | undefined): Markup | undefined {
  if (!pictures) return undefined;
  const shot = (name: 'reference' | 'distorted' | 'map', label: string) =>
    pictures[name] &&
    html`<span class="shot"><img alt=""${pictures.aspect !== undefined && html` .style=${`aspect-ratio:${pictures.aspect}`}`} src="${pictureUrl(`the ${label} picture of frame ${pictures.frame}`, pictures[name])}"><span class="faint">${label}</span></span>`;
  return html`<span class="shots" aria-hidden="true">${shot('reference', 'reference')}${shot('distorted', 'encode')}${shot('map', 'loss')}</span>`;
}

// --- tables ---

/** What few look at: the script folds it. */
function fold(heading: string, body: Markup): Markup {
  return html`<section class="fold"><details open><summary><h2>${heading}</h2></summary>${body}</details></section>`;
}

/** All metrics by their statistics over the frames, and the percentiles of the score. */
export function pooledSection(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  if (page.metrics.length === 0) return undefined;
  return fold(
    'Pooled values',
    html`${pooledTables(templates, page)}${metric !== undefined && html`<h3>Percentiles of ${labelOf(metric)}</h3><div class="scroll" tabindex="0" role="region" aria-label="percentiles">${percentileTable(templates, page, metric)}</div>`}`,
  );
}

/** Everything that must be known to make the number again. */
export function runSection(page: Page): Markup {
  const { command } = page.options;
  return fold(
    'How it was run',
    html`<div class="run">${runGroups(templates, page)}</div>${command !== undefined && html`<pre><code>${command}</code></pre>`}`,
  );
}
