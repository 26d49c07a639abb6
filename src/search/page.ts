/**
 * @module search/page
 * A search, a ladder or a comparison as an HTML page that stands by itself: its curves, what they mean, every point, and
 * the command to go on with.
 */
import { quotedWord } from '../core/shell.js';
import { version } from '../core/version.js';
import { html, type Markup, raw, templates } from '../report/html/markup.js';
import { STYLES } from '../report/html/styles.js';
import { curveChart } from '../report/view/curves.js';
import { type CurveResult, curvesOf } from './curve-view.js';
import { type ResultTable, resultTables, titleOf } from './result-tables.js';

/** What the report's styles do not have. */
const OWN_STYLES = `
.plot { height: 380px; } .plot .dot.small { width: 9px; height: 9px; margin: -4.5px; }
.plot .ring { position: absolute; width: 18px; height: 18px; margin: -9px; border-radius: 50%; border: 2px solid var(--ink); }
.plot .tag { transform: translate(12px, 8px); color: var(--ink); background: color-mix(in srgb, var(--card) 70%, transparent); }
.plot .tag.left { transform: translate(calc(-100% - 12px), -24px); }
td.text { text-align: left; white-space: normal; }
`;

/** @returns the page in one piece */
export function resultPage(result: CurveResult): string {
  const title = titleOf(result);
  const set = curvesOf(result);
  const { drawing, key } = curveChart(templates, set);
  const [main, ...others] = resultTables(result);
  const words = `${set.quality} over bit rate, ${set.curves.length} curves; every point is in the tables below`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="generator" content="anyvmaf ${version}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${raw(STYLES + OWN_STYLES)}</style>
</head>
<body>
<main>
<header><span class="mark">any<i>vmaf</i></span><span class="kind">${KINDS[result.kind]}</span></header>
<section>
<h1>${title}</h1>
<p class="files">${sampledText(result)}</p>
${main && tableMarkup(main)}
</section>
<section>
<div class="bar"><h2>${set.quality} over bit rate</h2></div>
<div class="key small soft">${key}</div>
<div class="plot" role="img" aria-label="${words}">${drawing}</div>
</section>
${others.map((table) => html`<section><div class="bar"><h2>${table.title}</h2></div>${tableMarkup(table)}</section>\n`)}
${'command' in result && html`<section><div class="bar"><h2>${COMMANDS[result.kind]}</h2></div><pre><code>${result.command.map(quotedWord).join(' ')}</code></pre></section>`}
<footer>anyvmaf ${version} · nothing on this page was loaded from elsewhere</footer>
</main>
</body>
</html>
`.text;
}

const KINDS = {
  search: 'encoder setting',
  ladder: 'encoding ladder',
  comparison: 'encoders compared',
} as const;
const COMMANDS = { search: 'Encode with it', ladder: 'Encode all rungs for DASH and HLS' } as const;

/** How the points came about. */
function sampledText({ samples, encodes, cached }: CurveResult): string {
  const frames = samples?.reduce((sum, { count }) => sum + count, 0);
  const what = samples ? `${samples.length} samples, ${frames} frames` : 'the whole source';
  return `measured on ${what}; ${encodes} encodes, ${cached} points known from before`;
}

function tableMarkup({ title, heads, rows }: ResultTable): Markup {
  const cells = (row: ResultTable['rows'][number]) =>
    row.map((cell, i) => (i === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`;
}
