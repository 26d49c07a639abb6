/**
 * @module core/numbers
 * Reads numbers in text from outside in one pass over its characters, however long it is.
 */

/**
 * The double nearest to a decimal number as C prints it: a sign, digits with a point, an exponent. `undefined` where the
 * text is anything else, blanks around it included.
 */
export function decimalNumber(text: string): number | undefined {
  const start = isSign(text.charCodeAt(0)) ? 1 : 0;
  return decimalEnd(text, start) === text.length ? Number(text) : undefined;
}

/** As {@link decimalNumber}, without a sign, and also hexadecimal: `0x1f`. */
export function magnitude(text: string): number | undefined {
  const hex = text.charCodeAt(0) === ZERO && (text.charCodeAt(1) | LOWER) === X;
  if (!hex) return decimalEnd(text, 0) === text.length ? Number(text) : undefined;
  return text.length > 2 && skip(text, 2, isHexDigit) === text.length ? Number(text) : undefined;
}

/** A whole number written in digits only; `undefined` for other text, or if a double cannot hold it exactly. */
export function wholeNumber(text: string): number | undefined {
  if (text === '' || skip(text, 0, isDigit) !== text.length) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Where the unsigned decimal number that begins at `at` ends; -1 where none begins. */
function decimalEnd(text: string, at: number): number {
  const point = skip(text, at, isDigit);
  const fraction = text.charCodeAt(point) === POINT;
  const end = fraction ? skip(text, point + 1, isDigit) : point;
  const digits = end - at - (fraction ? 1 : 0);
  if (digits === 0) return -1;
  if ((text.charCodeAt(end) | LOWER) !== E) return end;
  const exponent = isSign(text.charCodeAt(end + 1)) ? end + 2 : end + 1;
  const last = skip(text, exponent, isDigit);
  return last > exponent ? last : -1;
}

function skip(text: string, at: number, fits: (code: number) => boolean): number {
  let end = at;
  while (end < text.length && fits(text.charCodeAt(end))) end++;
  return end;
}

/** Makes a letter of ASCII lower case. */
const LOWER = 0x20;
const POINT = 0x2e;
const ZERO = 0x30;
const E = 0x65;
const X = 0x78;

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

function isHexDigit(code: number): boolean {
  const lower = code | LOWER;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66);
}

function isSign(code: number): boolean {
  return code === 0x2b || code === 0x2d;
}
