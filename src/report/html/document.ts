/**
 * @module report/html/document
 * The page as a whole: head, order of sections, styles, data and script.
 */
import { isArray, requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { baseName } from '../facts.js';
import { TRUST_SIGNS, trustOf } from '../trust.js';
import { type Report, requireParts, WHOLE } from '../types.js';
import { numberedColour, scoreText } from '../view/numbers.js';
import { html, type Markup, pageOpening, scriptJson } from './markup.js';
import { type HtmlOptions, Page, packFrames, packMetric } from './page.js';
import {
  chartSection,
  distributionSection,
  failureSection,
  featureSections,
  headline,
  pooledSection,
  runSection,
  worstSection,
} from './sections.js';
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
  // TypeScript cannot narrow a readonly array by isArray.
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
    list.length > 1 || score === undefined ? '' : `${metric} ${scoreText(score)}${flaw && ` ${flaw}`} · `;
  const against = `${list.map(({ name }) => name).join(', ')} against ${baseName(first.reference.name)}`;
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
  const styles = list.flatMap(({ index }) => numberedColour(looks?.[index]?.colour ?? index, index));
  return `:root{${styles.map((style) => style.join(':')).join(';')}}`;
}

function* data(page: Page): Generator<string, void, undefined> {
  const { list, ordered, apart, origin, rate = null } = page;
  const metric = page.ranking?.metric ?? null;
  const score = scriptJson(page.isScore(metric ?? undefined) ? metric : null).text;
  yield `<script type="application/json" id="data">{"rate":${rate},"score":${score},"skipped":${origin},"apart":${apart},"runs":[`;
  for (const { name, frames, metrics, shift, index } of list) {
    const head: Omit<ViewerRun, 'metrics'> = { name, frames: packFrames(frames, shift) };
    yield `${index > 0 ? ',' : ''}${scriptJson(head).text.slice(0, -1)},"metrics":{`;
    const present = ordered.filter((metric) => metrics.includes(metric));
    for (const [k, metric] of present.entries()) {
      yield `${k > 0 ? ',' : ''}${scriptJson(metric).text}:${scriptJson(packMetric(frames, metric)).text}`;
    }
    yield '}}';
  }
  yield ']}</script>\n';
}
