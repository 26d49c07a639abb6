/**
 * @module report/format
 * Writes measured values at a configurable precision.
 */
import { type AnyvmafError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { formatFixed, formatGeneral } from '../core/printf.js';

/**
 * How reports write measured values. `legacy`: as libvmaf 3.2.0 does, six decimals, or sixteen if the fraction
 * is below a millionth. A number 1..17: that many significant digits (`%.Ng`). `max`: 17, which restores the
 * double.
 */
export type Precision = 'legacy' | 'max' | number;

/** @throws {AnyvmafError} `usage` unless the text is `legacy`, `max`, `full` (an alias of `max`) or 1..17 */
export function parsePrecision(text: string): Precision {
  if (text === 'legacy' || text === 'max') return text;
  if (text === 'full') return 'max';
  const digits = /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (digits >= 1 && digits <= 17) return digits;
  throw badPrecision(text);
}

/**
 * Returns the writer of measured values for text formats: non-finite values are `inf`, `-inf`, `-nan`.
 * @throws {AnyvmafError} `usage` if the precision is invalid
 */
export function textNumber(precision: Precision): (value: number) => string {
  if (precision === 'legacy') return formatLegacy;
  const digits = precision === 'max' ? 17 : precision;
  if (!Number.isInteger(digits) || digits < 1 || digits > 17) throw badPrecision(String(precision));
  return (value) => formatGeneral(value, digits);
}

/** As {@link textNumber}, for JSON: non-finite values are `null`. */
export function jsonNumber(precision: Precision): (value: number) => string {
  const write = textNumber(precision);
  return (value) => (Number.isFinite(value) ? write(value) : 'null');
}

/** libvmaf 3.2.0's choice between `%.6f` and `%.16f`. */
export function formatLegacy(value: number): string {
  return formatFixed(value, isTinyFraction(value) ? 16 : 6);
}

/** Like libvmaf, multiplies the fraction by ten, in doubles, until it reaches 1: more than six steps are tiny. */
function isTinyFraction(value: number): boolean {
  let fraction = Math.abs(value) % 1;
  if (!(fraction > 0 && fraction < 1e-5)) return false;
  let steps = 0;
  for (; fraction < 1; steps++) fraction *= 10;
  return steps > 6;
}

function badPrecision(text: string): AnyvmafError {
  return usageError(
    `Precision ${quoted(text)} is not one of legacy, max, full or a whole number from 1 to 17; pass 17 or max for values ` +
      'that read back as the same double.',
  );
}
