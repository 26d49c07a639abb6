/**
 * @module core/printable
 * Makes untrusted text fit for messages: on one line, without hidden characters, and limited in length.
 */

/** Most characters of a value in a message. */
const VALUE = 200;
/** Most characters of a message. */
const MESSAGE = 3000;

/** Characters that control a terminal, break a line, change direction or are invisible. */
const HIDDEN =
  /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu;

/** Escapes hidden characters as `\x1b` or `\u202e`, which leaves one line. */
export function printable(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** URLs, split where they may grant access: name and password, and the query, as in signed URLs. */
const ACCESS = /\b(https?:\/\/)(?:[^\s/?#"'<>]*@)?([^\s?#"'<>]*)(?:([?])[^\s"'<>]*)?/gi;

/** Removes from URLs what grants access: `https://host/a.mp4?...`. */
export function withoutAccess(text: string): string {
  return text.replace(
    ACCESS,
    (_, scheme: string, place: string, query?: string) =>
      scheme + place + (query === undefined ? '' : '?...'),
  );
}

/** A printable name or value, its URLs without access; a long one keeps both ends: `aaa…zzz (80,000 characters)`. */
export function shown(text: string, most = VALUE): string {
  const [found, length] = within(text, most, printable);
  return found + length;
}

/** Like {@link shown}, quoted as in JSON. */
export function quoted(text: string, most = VALUE): string {
  const [found, length] = within(text, most, (kept) => printable(JSON.stringify(kept).slice(1, -1)));
  return `"${found}"${length}`;
}

export function showValue(value: unknown, most = VALUE): string {
  if (typeof value === 'string') return quoted(value, most);
  if (typeof value === 'bigint') return shown(`${value}n`, most);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`;
    if (ArrayBuffer.isView(value)) return `${byteLength(value)} bytes`;
  } catch {
    // A revoked proxy.
  }
  return 'an object';
}

/** A value of a JSON file: first members of lists, nothing deeper. */
export function showJson(value: unknown): string {
  const member = (item: unknown): string => {
    if (typeof item === 'string') return quoted(item, 60);
    if (Array.isArray(item)) return '[…]';
    return typeof item === 'object' && item !== null ? '{…}' : String(item);
  };
  if (!Array.isArray(value)) return member(value);
  const more = value.length > 20 ? `, … (${grouped(value.length)} members)` : '';
  return `[${value.slice(0, 20).map(member).join(',')}${more}]`;
}

function byteLength({ buffer, byteLength: length }: ArrayBufferView): string {
  // A detached buffer has the length 0, like an empty one.
  return length === 0 && buffer.byteLength === 0 ? 'empty or detached' : grouped(length);
}

/** `1 frame`, `2 frames`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A count with separators: `1,500`. The first `toLocaleString` of a page takes 30 to 50 ms. */
export function grouped(count: number): string {
  return count < 1000
    ? `${count}`
    : `${grouped(Math.floor(count / 1000))},${`${count % 1000}`.padStart(3, '0')}`;
}

/** A sentence without its full stop, for continuing. */
export function clause(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1]?.trim() === '')) end--;
  return text.slice(0, end);
}

/** A whole printable message; too long ones lose their middle. */
export function sentence(text: string): string {
  // Escapes are longer than what they replace.
  return withinMessage(printable(withinMessage(withoutAccess(text.trim()))));
}

function withinMessage(text: string): string {
  if (text.length <= MESSAGE) return text;
  const head = Math.floor(MESSAGE * 0.7);
  const tail = MESSAGE - head;
  const left = grouped(text.length - MESSAGE);
  return `${text.slice(0, head)} … (${left} characters left out) … ${text.slice(-tail)}`;
}

/** Both ends of a long text, since the end of a path says most. */
function ends(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most / 3);
  let head = text.slice(0, most - tail);
  let end = text.slice(text.length - tail);
  // Do not cut a surrogate pair in half.
  if (/[\ud800-\udbff]$/.test(head)) head = head.slice(0, -1);
  if (/^[\udc00-\udfff]/.test(end)) end = end.slice(1);
  return `${head}…${end}`;
}

/** Both ends of a text, formatted by `write`, and its length if anything was left out. */
function within(whole: string, most: number, write: (text: string) => string): readonly [string, string] {
  const text = withoutAccess(whole);
  const shortened = ends(text, most);
  const written = write(shortened);
  // Escapes are longer than what they replace.
  const grown = written.length > shortened.length && written.length > most;
  const length = shortened === text && !grown ? '' : ` (${grouped(text.length)} characters)`;
  return [grown ? ends(written, most) : written, length];
}
