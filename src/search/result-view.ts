/**
 * @module search/result-view
 * A search, a ladder or a comparison as sections to look at: its answer, its curves, every point, and the command to go on
 * with. The HTML page and the web page show the same.
 */
import { counted } from '../core/printable.js';
import { quotedWord } from '../core/shell.js';
import { BANDWIDTH_COMMAND } from '../report/bandwidth.js';
import { type CurveChart, curveChart } from '../report/view/curves.js';
import type { Templates } from '../report/view/numbers.js';
import { type CurveResult, curvesOf } from './curve-view.js';
import { type ResultTable, resultTables, titleOf } from './result-tables.js';

export { titleOf } from './result-tables.js';

const COMMANDS = { search: 'Encode with it', ladder: 'Encode all rungs for DASH and HLS' } as const;

/**
 * The sections of a result.
 * @param plot puts a chart into an element of its size; `label` says what it shows
 */
export function resultSections<T>(
  templates: Templates<T>,
  result: CurveResult,
  plot: (chart: CurveChart<T>, label: string) => T,
): readonly T[] {
  const { html } = templates;
  const set = curvesOf(result);
  const chart = curveChart(templates, set);
  const [main, ...others] = resultTables(result);
  const label = `${set.quality} over bit rate, ${set.curves.length} curves; every point is in the tables below`;
  const plain = 'command' in result && result.command.map(quotedWord).join(' ');
  const command = plain && result.kind === 'ladder' ? `${plain}\n${BANDWIDTH_COMMAND}` : plain;
  return [
    html`<section class="card"><h1 class="title">${titleOf(result)}</h1><p class="files">${sampledText(result)}</p>${tableOf(templates, main)}</section>`,
    html`<section class="card"><div class="bar"><h2>${set.quality} over bit rate</h2></div><div class="key small soft">${chart.key}</div>${plot(chart, label)}</section>`,
    ...others.map(
      (table) =>
        html`<section class="card"><div class="bar"><h2>${table.title}</h2></div>${tableOf(templates, table)}</section>`,
    ),
    ...(command
      ? [
          html`<section class="card"><div class="bar"><h2>${COMMANDS[result.kind as keyof typeof COMMANDS]}</h2></div><pre><code>${command}</code></pre></section>`,
        ]
      : []),
  ];
}

/** How the points came about. */
function sampledText({ samples, encodes, cached }: CurveResult): string {
  const frames = samples?.reduce((sum, { count }) => sum + count, 0);
  const what = samples ? `${counted(samples.length, 'sample')}, ${frames} frames` : 'the whole source';
  return `measured on ${what}; ${counted(encodes, 'encode')}, ${counted(cached, 'point')} known from before`;
}

function tableOf<T>({ html }: Templates<T>, { title, heads, rows }: ResultTable): T {
  const cells = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`;
}
