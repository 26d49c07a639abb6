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
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Where the string that begins at `at` ends; `undefined` where it does not. One pass: strings may be megabytes. */
function stringEnd(text: string, at: number): number | undefined {
  for (let i = at + 1; i < text.length; ) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i + 1;
    if (code < 0x20) return undefined;
    if (code === 0x5c) {
      ESCAPE.lastIndex = i;
      const sequence = ESCAPE.exec(text)?.[0];
      if (sequence === undefined) return undefined;
      i += sequence.length;
    } else i++;
  }
  return undefined;
}

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
  const scalar = (): boolean => {
    if (text[at] !== '"') return match(WORD) !== undefined;
    const end = stringEnd(text, at);
    at = end ?? at;
    return end !== undefined;
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
      if (char !== '"' || !scalar())
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
      if (!scalar()) return { offset: start, expected: 'a value' };
      state = 'after';
    }
  }
}
