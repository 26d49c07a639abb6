/**
 * @module search/page
 * A search, a ladder or a comparison as an HTML page that stands by itself and runs no script.
 */
import { version } from '../core/version.js';
import { html, raw, templates } from '../report/html/markup.js';
import { STYLES } from '../report/html/styles.js';
import type { CurveResult } from './curve-view.js';
import { resultSections, titleOf } from './result-view.js';

/** What the report's styles do not have. */
const OWN_STYLES = `
.plot { height: 380px; } .plot .dot.small { width: 9px; height: 9px; margin: -4.5px; }
.plot .ring { position: absolute; width: 18px; height: 18px; margin: -9px; border-radius: 50%; border: 2px solid var(--ink); }
.plot .tag { transform: translate(12px, 8px); color: var(--ink); background: color-mix(in srgb, var(--card) 70%, transparent); }
.plot .tag.left { transform: translate(calc(-100% - 12px), -24px); }
`;

const KINDS = {
  search: 'encoder setting',
  ladder: 'encoding ladder',
  comparison: 'encoders compared',
} as const;

/** @returns the page in one piece */
export function resultPage(result: CurveResult): string {
  const sections = resultSections(
    templates,
    result,
    ({ drawing }, label) => html`<div class="plot" role="img" aria-label="${label}">${drawing}</div>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="generator" content="anyvmaf ${version}">
<meta name="color-scheme" content="light dark">
<title>${titleOf(result)}</title>
<style>${raw(STYLES + OWN_STYLES)}</style>
</head>
<body>
<main>
<header><span class="mark">any<i>vmaf</i></span><span class="kind">${KINDS[result.kind]}</span></header>
${sections}
<footer>anyvmaf ${version} · nothing on this page was loaded from elsewhere</footer>
</main>
</body>
</html>
`.text;
}
