/**
 * @module report/html/plain-page
 * Renders sections of a result as a self-contained HTML page without script: searches, ladders, comparisons, batches.
 */
import { version } from '../../core/version.js';
import { type BatchRow, batchRow, batchTable } from '../batch.js';
import type { Section } from '../sections.js';
import { htmlSections } from '../view/sections.js';
import { html, pageOpening, templates } from './markup.js';
import { STYLES } from './styles.js';

/** Styles that the report lacks. */
const OWN_STYLES = `
.plot { height: 380px; } .plot .dot.small { width: 9px; height: 9px; margin: -4.5px; }
.plot .ring { position: absolute; width: 18px; height: 18px; margin: -9px; border-radius: 50%; border: 2px solid var(--ink); }
.plot .tag { transform: translate(12px, 8px); color: var(--ink); background: color-mix(in srgb, var(--card) 70%, transparent); }
.plot .tag.left { transform: translate(calc(-100% - 12px), -24px); }
th.text, td.text { text-align: left; } td.text { white-space: normal; overflow-wrap: anywhere; }
tr.warn > * { background: color-mix(in srgb, var(--bad) 12%, transparent); }
`;

/** @returns the page; its title is the first headline */
export function plainPage(kind: string, sections: readonly Section[]): string {
  const shown = htmlSections(
    templates,
    sections,
    (drawing, label) => html`<div class="plot" role="img" aria-label="${label}">${drawing}</div>`,
  );
  return html`${pageOpening({ title: sections[0]?.headline, version, styles: STYLES + OWN_STYLES, kind })}${shown}
<footer>anyvmaf ${version} · this page loads nothing from the network</footer>
</main>
</body>
</html>
`.text;
}

/** @param lines results in the order of the table: text of JSON objects */
export function batchPage(lines: readonly string[], command: string): string {
  const rows = lines.map(batchRow);
  const count = (state: BatchRow['state']) => rows.filter((row) => row.state === state).length;
  const about = `${count('scored')} passed, ${count('below')} below the limit or untrusted, ${count('failed')} failed.`;
  const title = 'Mean and 1st percentile';
  return plainPage('batch', [
    { headline: `${rows.length} jobs`, about, command },
    { title, table: batchTable(rows) },
  ]);
}
