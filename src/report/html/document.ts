/**
 * @module report/html/document
 * The page as a whole: head, order of sections, the sections themselves, styles, data and script.
 */
import { isArray, requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { findingValues, flawsOf } from '../brief.js';
import { baseName, frameTime } from '../facts.js';
import { listedMoments, MANY } from '../picture-room.js';
import { frameGap, worstFrames } from '../ranking.js';
import { type Report, requireParts, WHOLE } from '../schema.js';
import { accepts, causeText, remarks, TRUST_SIGNS, TRUST_WORDS, trustOf } from '../trust.js';
import * as view from '../view/index.js';
import { html, type Markup, pageOpening, scriptJson, templates } from './markup.js';
import {
  type HtmlOptions,
  type HtmlPictures,
  Page,
  packFrames,
  packMetric,
  pictureUrl,
  type ReportEncode,
  seriesOf,
} from './page.js';
import { STYLES } from './styles.js';
import type { ViewerRun } from './viewer.js';
import { VIEWER_SCRIPT } from './viewer-script.js';

/**
 * Yields the page in pieces, to be written in order as UTF-8. It loads nothing, works without its script
 * (charts are then static), and takes about 40 bytes per frame and encode.
 * @param reports of one reference: one, or several encodes to compare
 * @throws {AnyvmafError} `usage` without a report
 */
export function* writeHtml(
  reports: Report | readonly Report[],
  options: HtmlOptions = {},
): Generator<string, void, undefined> {
  requireObject('options', options);
  // TypeScript does not narrow readonly arrays by isArray.
  const list = isArray(reports) ? (reports as readonly Report[]) : [reports as Report];
  for (const report of list) requireParts('report', report, WHOLE);
  const [first, ...others] = list;
  if (first === undefined) throw usageError('An HTML report needs at least one report to show.');
  yield* renderPage(new Page([first, ...others], options));
}

function* renderPage(page: Page): Generator<string, void, undefined> {
  const { list, options } = page;
  const [{ facts: first }] = list;
  const metric = page.ranking?.metric;
  const score = page.pooled(list[0], metric)?.mean;
  const flaw = TRUST_SIGNS[trustOf(first).verdict];
  const value =
    list.length > 1 || score === undefined
      ? ''
      : `${metric} ${page.valueText(metric, score)}${flaw && ` ${flaw}`} · `;
  const names = list.map(({ name }) => name).join(', ');
  const against = page.against === undefined ? names : `${names} against ${page.against}`;
  const opening = html`${pageOpening({
    title: `${value}${against}`,
    version: first.version,
    styles: STYLES + seriesStyle(page),
    allowed: "img-src data:; script-src 'unsafe-inline'; ",
    kind: 'video quality report',
    button: html`<button class="tool needs-script" data-theme aria-label="Switch between light and dark">◐</button>`,
  })}${headline(page)}
${failureSection(page)}
`;
  yield opening.text;
  const body: (Markup | undefined)[] = [
    html`<div class="charts">${chartSection(page)}${distributionSection(page)}</div>`,
    worstSection(page),
    featureSections(page),
    html`<div class="folds">${pooledSection(page)}${runSection(page)}</div>`,
  ];
  for (const section of body) if (section) yield `${section.text}\n`;
  yield `<footer>${html`anyvmaf ${first.version}${options.written && ` · ${options.written}`}`.text} · this page loads nothing from the network</footer>\n</main>\n`;
  yield* data(page);
  yield `<script>${VIEWER_SCRIPT}</script>\n</body>\n</html>\n`;
}

function seriesStyle({ list, options: { looks } }: Page): string {
  if (list.length < 2) return '';
  const styles = list.flatMap(({ index }) => view.numberedColour(looks?.[index]?.colour ?? index, index));
  return `:root{${styles.map((style) => style.join(':')).join(';')}}`;
}

function* data(page: Page): Generator<string, void, undefined> {
  const { list, ordered, apart, origin, rate = null } = page;
  const metric = page.ranking?.metric ?? null;
  const score = scriptJson(page.isScore(metric ?? undefined) ? metric : null).text;
  yield `<script type="application/json" id="data">{"rate":${rate},"score":${score},"skipped":${origin},"apart":${apart},"runs":[`;
  for (const encode of list) {
    const { name, frames, metrics, shift, index } = encode;
    const head: Omit<ViewerRun, 'metrics'> = { name, frames: packFrames(frames, shift) };
    yield `${index > 0 ? ',' : ''}${scriptJson(head).text.slice(0, -1)},"metrics":{`;
    const present = ordered.filter((metric) => metrics.includes(metric));
    for (const [k, metric] of present.entries()) {
      const packed = { ...packMetric(frames, metric), mean: page.pooled(encode, metric)?.mean };
      yield `${k > 0 ? ',' : ''}${scriptJson(metric).text}:${scriptJson(packed).text}`;
    }
    yield '}}';
  }
  yield ']}</script>\n';
}

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

/** All findings about the pairs, which the script folds; `undefined` if there are none. */
function foundSection(list: readonly ReportEncode[]): Markup | undefined {
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

function failureSection({ options: { failed = [] } }: Page): Markup | undefined {
  if (failed.length === 0) return undefined;
  const [tone, sign] = SIGNS.error;
  const items = failed.map(
    ({ distorted, message }) =>
      html`<li class="finding" .style=${`--tone:var(--${tone})`}><span class="sign" role="img" aria-label="error">${sign}</span><div><b>${baseName(distorted)}:</b> ${message}</div></li>`,
  );
  return html`<section><div class="bar"><h2>Not scored</h2></div><ul class="findings">${items}</ul></section>`;
}

function worstSection(page: Page): Markup | undefined {
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
      const time = frameTime(encode.report, frameNum);
      const share = view.percentOf(value, Math.min(0, min), greatest);
      const shots = shotsOf(page.picturesOf(encode, frameNum));
      return html`<li><button data-frame="${place}" data-of="${i}" .style=${view.colourOf(i)}>${shots}<span>${place}</span><span class="soft">${time !== undefined && view.timeText(time)}</span><span class="line"><i style="width:${share}%"></i></span><b>${page.valueText(metric, value)}</b></button></li>`;
    });
    return html`<div>${list.length > 1 && html`<h3 class="worst-of" .style=${view.colourOf(i)}><span class="swatch"></span>${encode.name}</h3>`}<ol class="worst${pictured && ' pictured'}">${rows}</ol></div>`;
  });
  const gap = Math.min(...list.map(({ report }) => frameGap(report)));
  return html`<section><div class="bar"><h2>Worst frames</h2><span class="faint small">at least ${gap} frame${gap === 1 ? '' : 's'} apart${page.apart && ', numbered as in the reference'}</span></div><div class="moments" .style=${`--most:${Math.min(5, perReport)}`}${pictured && list.length > MANY && html` data-many`}>${lists}</div>${pictured && STAGE}${page.picturesLacking.map((why) => html`<p class="faint small">${why}</p>`)}</section>`;
}

const VIEWS = [
  ['split', 'Split', 'encode left of the line, reference right of it'],
  ['blink', 'Blink', 'encode and reference in turn'],
  ['difference', 'Difference', 'difference of these pictures, amplified 4 times'],
  ['loss', 'Loss', 'where quality is lost'],
] as const;

/** A moment enlarged; the script fills it. */
const STAGE = html`<figure class="split needs-script" data-view="split"><div class="bar"><span class="tools" role="group" aria-label="View">${VIEWS.map(
  ([name, label, hint]) =>
    html`<button class="tool" data-view="${name}" data-hint="${hint}" aria-pressed="${name === 'split'}">${label}</button>`,
)}</span></div><div class="pictures"></div><input type="range" min="0" max="100" value="50" aria-label="How much of the encode is shown"><figcaption class="faint small"></figcaption></figure>`;

/** Both frames and the loss map; hidden from screen readers, which get the numbers below them. */
function shotsOf(pictures: HtmlPictures | undefined): Markup | undefined {
  if (!pictures) return undefined;
  const shot = (name: 'reference' | 'distorted' | 'map', label: string) =>
    pictures[name] &&
    html`<span class="shot"><img alt=""${pictures.aspect !== undefined && html` .style=${`aspect-ratio:${pictures.aspect}`}`} src="${pictureUrl(`the ${label} picture of frame ${pictures.frame}`, pictures[name])}"><span class="faint">${label}</span></span>`;
  return html`<span class="shots" aria-hidden="true">${shot('reference', 'reference')}${shot('distorted', 'encode')}${shot('map', 'loss')}</span>`;
}

/** A section that the script folds, as it is rarely needed. */
function fold(heading: string, body: Markup): Markup {
  return html`<section class="fold"><details open><summary><h2>${heading}</h2></summary>${body}</details></section>`;
}

function pooledSection(page: Page): Markup | undefined {
  if (page.metrics.length === 0) return undefined;
  const metric = page.ranking?.metric;
  return fold(
    'Pooled values',
    html`${view.pooledTables(templates, page)}${metric !== undefined && html`<h3>Percentiles of ${view.labelOf(metric)}</h3><div class="scroll" tabindex="0" role="region" aria-label="percentiles">${view.percentileTable(templates, page, metric)}</div>`}`,
  );
}

function runSection(page: Page): Markup {
  const { command } = page.options;
  return fold(
    'How it was run',
    html`<div class="run">${view.runTables(templates, page)}</div>${command !== undefined && html`<pre><code>${command}</code></pre>`}`,
  );
}

function headline(page: Page): Markup {
  return page.list.length === 1 ? single(page, page.list[0]) : several(page);
}

function single(page: Page, encode: ReportEncode): Markup {
  const { facts } = encode;
  const metric = page.ranking?.metric;
  const pooled = page.pooled(encode, metric);
  const top = view.headlineOf(page, encode);
  const { trust, model, word, tone, text } = view.meaningOf(page, encode);
  const reference = view.referenceOf(facts);
  const against = reference ? `against ${baseName(reference.name)}` : 'no reference';
  return html`<section>
<h1>${baseName(facts.distorted.name)}</h1>
<p class="files">${view.joined([against, ...view.inputFacts(facts.reference), view.matchText(facts)], ' · ')}</p>
${
  metric !== undefined &&
  pooled &&
  top &&
  html`<div class="head">
<div><div class="score is-${trust.verdict}">${page.valueText(top.metric, top.value)}${view.flawSign(templates, trust)}<sup>${view.labelOf(top.metric)}</sup></div>
${word && html`<span class="word" .style=${`--tone:var(--${tone})`}>${word}</span>`}${view.verdictBadge(templates, facts)}</div>
<div>${model && view.scale(templates, page, metric, pooled, word)}<p class="soft small">${text}</p><p class="soft small">${view.comparedText(facts)}</p></div>
</div>`
}
${flaws(page)}
${view.tiles(templates, page, encode)}
</section>`;
}

/** Flaws, grouped if encodes share them, then all findings, folded. */
function flaws({ list }: Page): Markup {
  const notes = flawsOf(list.map(({ facts }) => facts)).map((flaw) => {
    const names = list.length > 1 ? flaw.of.map((i) => list[i]?.name).join(', ') : undefined;
    return view.flawNote(templates, flaw.trust, TRUST_WORDS[flaw.trust.verdict], causeText(flaw), names);
  });
  return html`${notes}${foundSection(list)}`;
}

function several(page: Page): Markup {
  const { list, ranking, apart } = page;
  const metric = ranking?.metric ?? '';
  const [{ facts: first }] = list;
  const model = first.models.find(({ name }) => name === metric);
  const range = model && page.rangeOf(metric);
  const reference = apart ? { ...first.reference, skipped: 0 } : first.reference;
  const further = view.furtherMetrics(page);
  const rows = view.compare(page).map((row, i) => {
    const { facts, name } = list[i] ?? list[0];
    const [mean, tail, rate, size] = row.texts;
    return html`<div class="encode" .style=${view.colourOf(i)}>
<div class="name"><span class="swatch"></span><span title="${facts.distorted.name}">${name}</span></div>
<b>${mean ?? view.NONE}${view.flawSign(templates, row.trust)}</b>
${view.track(templates, row)}
${row.further.map(({ text }, k) => html`<div class="num" data-label="${view.labelOf(further[k] ?? '')}">${text ?? view.NONE}</div>`)}
<div class="num" data-label="worst 1 %">${tail ?? view.NONE}</div>
<div class="num" data-label="bit rate">${rate ?? view.NONE}</div>
<div class="num" data-label="size">${size ?? view.NONE}</div>
${apart && html`<div class="skipped soft small">skipped at the start: ${view.skippedText(facts)}</div>`}
</div>`;
  });
  return html`<section>
<h1>${list.length} encodes${page.against !== undefined && ` of ${page.against}`}</h1>
<p class="files">${view.joined([...view.inputFacts(reference), model?.source, view.matchText(...page.list.map(({ facts }) => facts))], ' · ')}</p>
<div class="encodes${further.length > 0 && ' more'}${further.length > 2 && ' wide'}" .style=${`--nums:${3 + further.length}`}><div class="encode headings"><span>encode</span><span>${view.labelOf(metric)}</span><span>${range && `${range[0]} to ${range[1]}, `}bar: 98 % of the frames</span>${further.map((name) => html`<span class="num" title="${name}">${view.labelOf(name)}</span>`)}<span class="num">worst 1 %</span><span class="num">bit rate</span><span class="num">size</span></div>
${rows}</div>
${flaws(page)}
${rateCurve(page)}
</section>`;
}

/** Pixels of the chart on a desktop. */
const ROOM = { width: 940, height: 240 } as const;

/** Quality over bit rate; `undefined` unless at least two encodes have both. */
function rateCurve(page: Page): Markup | undefined {
  const { curves: choice = {} } = page.options;
  const metric = choice.metric ?? page.ranking?.metric;
  const points = view.ratePoints(page, metric);
  if (metric === undefined || points.length < 2) return undefined;
  const label = view.labelOf(metric);
  const left = view.leftOutText(page);
  const { curves } = view.comparableCurves(page, points, metric);
  const areas = view.comparedCurves(curves, { ...choice, metric });
  const { drawing, key } = view.rateChart(templates, page, metric, points, ROOM, areas);
  return html`<div class="rates"><h2 style="margin-top:18px">${label} over bit rate</h2>
${key.length > 0 && html`<p class="key small soft" aria-hidden="true">${key}</p>`}
<div class="plot" role="img" aria-label="${label} over bit rate; the values are in the table above">${drawing}</div></div>
${left !== '' && html`<p class="soft small">${left}</p>`}
${view.bdTable(templates, page, points, metric, choice)}`;
}

/** Size of the static drawing, which stays if the script never runs. */
const STILL_COLUMNS = 900;
const STILL_HEIGHT = 240;

function chartSection(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  if (metric === undefined || page.list.every(({ count }) => count === 0)) return undefined;
  return html`<section>
<div class="bar"><h2>${view.labelOf(metric)}, frame by frame</h2><span class="hint faint small needs-script">drag to zoom, double-click to see all</span>
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
      html`<button data-run="${i}" aria-pressed="true" .style=${view.colourOf(i)} title="${facts.distorted.name}"><span class="swatch"></span><span>${name}</span></button>`,
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
  const range = view.extentOf(lines.map(({ values }) => values)) ?? { low: 0, high: 1 };
  const paths = lines.map(
    (line, i) =>
      html`<path d="${view.linePath(line, span, range, STILL_COLUMNS, STILL_HEIGHT)}" fill="none" stroke="${view.encodeColour(i)}" stroke-dasharray="${view.encodeDash(i)}" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"/>`,
  );
  return html`<p class="faint small">${view.shortText(range.high)}</p><svg viewBox="0 0 ${STILL_COLUMNS} ${STILL_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${metric} of every frame">${paths}</svg><p class="faint small">${view.shortText(range.low)}</p>`;
}

/** Small charts of requested metrics; features of a score are folded. */
function featureSections(page: Page): Markup {
  const main = page.ranking?.metric;
  const further = page.asked.filter((name) => name !== main);
  const inner = page.inner.filter((name) => name !== main);
  const shown =
    further.length > 0 &&
    html`<section class="needs-script"><div class="bar"><h2>Features</h2><span class="hint faint small">the numbers are means; all charts zoom together</span></div>${charts(page, further)}</section>`;
  const folded =
    inner.length > 0 &&
    html`<section class="fold needs-script"><details open><summary><h2>All features</h2><span class="hint faint small">inputs of the score: detail, contrast and motion</span></summary>${charts(page, inner)}</details></section>`;
  return html`${shown}${folded}`;
}

function charts(page: Page, names: readonly string[]): Markup {
  const [only, ...more] = page.list;
  const chart = (name: string) => {
    const pooled = more.length === 0 ? page.pooled(only, name) : undefined;
    const mean = pooled ? view.shortText(pooled.mean) : '';
    const meaning = view.featureMeaning(name);
    return html`<div class="feature"><h3><span title="${name}">${view.labelOf(name)}</span><span class="now" data-mean="${mean}">${mean}</span></h3>${meaning !== undefined && html`<p class="faint meaning">${meaning}</p>`}<div class="chart tiny" data-metric="${name}"></div></div>`;
  };
  return html`<div class="features">${names.map(chart)}</div>`;
}

/** Histogram or cumulative share; `undefined` without a metric that has values. */
function distributionSection(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  if (metric === undefined) return undefined;
  const [only, ...more] = page.list;
  const kind = view.spreadKind(page.list.length);
  const spreads = page.list.map((encode) => ({ index: encode.index, values: seriesOf(encode, metric) }));
  const shown = view.distribution(templates, spreads, kind);
  if (!shown) return undefined;
  return html`<section>
<div class="bar"><h2>Distribution</h2><span class="faint small">share of the frames ${kind === 'histogram' ? 'by' : 'at or below'} ${metric}</span></div>
<div class="hist" role="img" aria-label="${kind === 'histogram' ? 'Histogram' : 'Cumulative share'} of ${metric}">${shown.drawing}${more.length === 0 && view.distributionMarks(templates, page, only, metric, shown.range)}</div>
</section>`;
}
