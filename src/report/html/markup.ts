/**
 * @module report/html/markup
 * HTML that is safe by construction: templates escape every value that is not markup.
 */
import { printable } from '../../core/printable.js';
import type { Templates } from '../view/numbers.js';

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
  return new Markup(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}
