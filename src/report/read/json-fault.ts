/**
 * @module report/read/json-fault
 * Finds the first place where a text stops being JSON: engines say it differently, or not at all.
 */

/** Where, and what would have been right there. */
export interface JsonFault {
  readonly offset: number;
  readonly expected: string;
}

const BLANKS = /[ \t\n\r]*/y;
const SCALAR =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings hold none of them.
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;

/** `undefined` where the text is JSON. */
export function jsonFault(text: string): JsonFault | undefined {
  let at = 0;
  /** What is open: objects and lists. */
  const open: ('{' | '[')[] = [];
  /** `key` is one after a comma, `first` one that may be missing. */
  let state: 'value' | 'first value' | 'key' | 'first key' | 'after' = 'value';
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  for (;;) {
    match(BLANKS);
    const char = text[at];
    const inside = open.at(-1);
    if (state === 'after') {
      if (inside === undefined) return char === undefined ? undefined : { offset: at, expected: 'the end' };
      const close = inside === '{' ? '}' : ']';
      if (char !== ',' && char !== close) return { offset: at, expected: `"," or "${close}"` };
      at++;
      if (char === close) open.pop();
      else state = inside === '{' ? 'key' : 'value';
    } else if (state === 'key' || state === 'first key') {
      if (char === '}' && state === 'first key') {
        at++;
        open.pop();
        state = 'after';
        continue;
      }
      const start = at;
      if (char !== '"' || match(SCALAR) === undefined)
        return { offset: start, expected: state === 'key' ? 'a key in quotes' : 'a key in quotes or "}"' };
      match(BLANKS);
      if (text[at] !== ':') return { offset: at, expected: '":"' };
      at++;
      state = 'value';
    } else if (char === '{' || char === '[') {
      at++;
      open.push(char);
      state = char === '{' ? 'first key' : 'first value';
    } else if (char === ']' && state === 'first value') {
      at++;
      open.pop();
      state = 'after';
    } else {
      const start = at;
      if (match(SCALAR) === undefined) return { offset: start, expected: 'a value' };
      state = 'after';
    }
  }
}
