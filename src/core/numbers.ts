/**
 * @module core/numbers
 * Reads numbers in text from outside, in time that is linear in its length.
 */

const DECIMAL = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;
const HEXADECIMAL = /^0x[\da-f]+$/i;

/** The double nearest to a decimal number as C prints it; `undefined` for other text, blanks around it included. */
export function decimalNumber(text: string): number | undefined {
  return DECIMAL.test(/^[-+]/.test(text) ? text.slice(1) : text) ? Number(text) : undefined;
}

/** Like {@link decimalNumber}, but without a sign, and hexadecimal too: `0x1f`. */
export function magnitude(text: string): number | undefined {
  return DECIMAL.test(text) || HEXADECIMAL.test(text) ? Number(text) : undefined;
}

/** Reads a whole number in digits only; `undefined` for other text, or if a double cannot hold it exactly. */
export function wholeNumber(text: string): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}
