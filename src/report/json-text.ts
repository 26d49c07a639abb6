/**
 * @module report/json-text
 * JSON values whose scalars are finished text, so that numbers keep the digits a report was asked for and keys keep
 * their order even when they look like numbers.
 */

/** A finished scalar, a list, or a map in order. */
export type Json =
  | string
  | { readonly list: readonly Json[] }
  | { readonly map: readonly (readonly [key: string, value: Json])[] };

/** On several lines, indented by two blanks per level; the first line is not indented. */
export function pretty(json: Json, indent = ''): string {
  if (typeof json === 'string') return json;
  const inner = `${indent}  `;
  if ('list' in json) {
    if (json.list.length === 0) return '[]';
    return `[\n${json.list.map((item) => inner + pretty(item, inner)).join(',\n')}\n${indent}]`;
  }
  if (json.map.length === 0) return '{}';
  const entries = json.map.map(([key, value]) => `${inner}${quote(key)}: ${pretty(value, inner)}`);
  return `{\n${entries.join(',\n')}\n${indent}}`;
}

/** On one line, without blanks. */
export function compact(json: Json): string {
  if (typeof json === 'string') return json;
  if ('list' in json) return `[${json.list.map(compact).join(',')}]`;
  return `{${json.map.map(([key, value]) => `${quote(key)}:${compact(value)}`).join(',')}}`;
}

/** A JSON string literal. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
