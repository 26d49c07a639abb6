/**
 * @module report/html/markup
 * HTML text that is safe by construction: whatever is put into a template is escaped unless it is markup itself.
 */
import { printable } from '../../core/printable.js';

/** Finished HTML. Only {@link html} and {@link raw} make it. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template takes; `undefined` and `false` vanish, lists are joined. */
export type Content = string | number | Markup | undefined | false | readonly Content[];

/** A template of HTML: values are escaped for content and for quoted attributes, markup stands as it is. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.map((text, i) => text + contentText(values[i])).join(''));
}

/** Text of our own that is HTML already: styles, scripts, numbers of a path. Never anything from a file or a user. */
export function raw(text: string): Markup {
  return new Markup(text);
}

function contentText(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(contentText).join('');
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

/** JSON for the inside of a script element: nothing in it ends the element or opens a comment. */
export function scriptJson(value: unknown): Markup {
  return new Markup(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}
