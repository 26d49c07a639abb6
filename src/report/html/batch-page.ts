/**
 * @module report/html/batch-page
 * All jobs of a batch in one HTML page without scripts: what was scored, what failed and why.
 */
import { version } from '../../core/version.js';
import { type BatchRow, batchRow } from '../batch.js';
import { html, type Markup, raw } from './markup.js';

const STYLE = `
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1b1f24; background: #fff; }
h1 { font-size: 1.4rem; } table { border-collapse: collapse; width: 100%; } caption { text-align: left; padding: .4rem 0; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d5dae0; vertical-align: top; overflow-wrap: anywhere; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.failed td { background: #fdecea; } .below td { background: #fff4dc; }
@media (prefers-color-scheme: dark) { body { color: #e6e9ed; background: #14171b; } th, td { border-color: #3a4149; }
.failed td { background: #4a1f1c; } .below td { background: #47360f; } }`;

/**
 * The page in pieces.
 * @param lines of results, in the order of the table: text of JSON objects
 * @param command line that it repeats
 */
export function* writeBatchPage(
  lines: readonly string[],
  command: string,
): Generator<string, void, undefined> {
  const rows = lines.map(batchRow);
  const count = (state: BatchRow['state']) => rows.filter((row) => row.state === state).length;
  const head = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>anyvmaf: ${rows.length} jobs</title><style>${raw(STYLE)}</style></head><body><main>
<h1>${rows.length} jobs</h1>
<p>${count('scored')} passed, ${count('below')} below the limit or not to be trusted, ${count('failed')} failed.</p>
<p><code>${command}</code></p>
<table><caption>Mean and the value that one frame in a hundred falls short of</caption>
<thead><tr><th scope="col">Line</th><th scope="col">Distorted</th><th scope="col">Reference</th><th scope="col">Metric</th>
<th scope="col">Mean</th><th scope="col">1 %</th><th scope="col">Frames</th><th scope="col">Notes</th></tr></thead><tbody>
`;
  yield head.text;
  for (const row of rows) yield `${rowHtml(row).text}\n`;
  yield html`</tbody></table><p>anyvmaf ${version}</p></main></body></html>\n`.text;
}

function rowHtml(row: BatchRow): Markup {
  const notes = row.notes.map((note) => html`<div>${note}</div>`);
  return html`<tr class="${row.state}"><td class="number">${row.line}</td><td>${row.distorted}</td><td>${row.reference}</td><td>${row.metric}</td><td class="number">${row.mean}</td><td class="number">${row.low}</td><td class="number">${row.frames}</td><td>${notes}</td></tr>`;
}
