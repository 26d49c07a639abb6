/**
 * @module report/html/markup
 * HTML that is safe by construction: templates escape every value that is not markup. Pages without script, of searches,
 * ladders, comparisons and batches, are made of it.
 */
import { printable } from '../../core/printable.js';
import { version } from '../../core/version.js';
import { type BatchRow, batchRow, batchTable } from '../batch.js';
import type { Section } from '../sections.js';
import type { Templates } from '../view/numbers.js';
import { htmlSections } from '../view/sections.js';
import { STYLES } from './styles.js';

/** Finished HTML. Only {@link html} and {@link raw} make it. */
export class Markup {
  constructor(readonly text: string) {}
}

/**
 * Template of HTML: escapes values for content and quoted attributes, keeps markup, drops `undefined` and
 * `false`, joins lists. Takes the `.name=` and `?name=` bindings of lit-html too.
 */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Markup {
  const pieces = strings.map((text, i) => {
    const value = values[i];
    const [binding = '', kind, name] = /\s([.?])([a-z]+)=$/.exec(text) ?? [];
    if (binding === '') return text + contentText(value);
    const attribute = kind === '.' ? ` ${name}="${contentText(value)}"` : value ? ` ${name}` : '';
    return text.slice(0, -binding.length) + attribute;
  });
  return new Markup(pieces.join(''));
}

export const templates: Templates<Markup> = { html, svg: html };

/** Marks text of our own as HTML: styles, scripts, path data. Never for text from a file or a user. */
export function raw(text: string): Markup {
  return new Markup(text);
}

interface Opening {
  readonly title: string | undefined;
  readonly version: string;
  readonly styles: string;
  /** What the content security policy allows besides styles in the page. */
  readonly allowed?: string;
  readonly kind: string;
  readonly button?: Markup;
}

/** Start of a page that loads nothing, up to the end of its heading. */
export function pageOpening({ title, version, styles, allowed = '', kind, button }: Opening): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${raw(allowed)}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="generator" content="anyvmaf ${version}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${raw(styles)}</style>
</head>
<body>
<main>
<header><span class="mark">any<i>vmaf</i></span><span class="kind">${kind}</span>${button}</header>
`;
}

function contentText(content: unknown): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  if (Array.isArray(content)) return content.map(contentText).join('');
  return escapeHtml(printable(String(content)));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for content and for attributes in quotes. Lone surrogates, which UTF-8 cannot hold, become U+FFFD. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c).replace(/\p{Cs}/gu, '\uFFFD');
}

/** JSON for a script element: nothing in it ends the element or opens a comment. */
export function scriptJson(value: unknown): Markup {
  const codeOf = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return new Markup(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, codeOf));
}

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
  const plot = (drawing: readonly Markup[], label: string) =>
    html`<div class="plot" role="img" aria-label="${label}">${drawing}</div>`;
  const shown = htmlSections(templates, sections, plot);
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
  const table = { title: 'Mean and worst percent', table: batchTable(rows) };
  return plainPage('batch', [{ headline: `${rows.length} jobs`, about, command }, table]);
}
