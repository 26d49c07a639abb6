/**
 * @module report/format
 * Writes doubles as C's printf does: from the exact binary value, ties to even. Specification C.1 of the log formats.
 *
 * `Number.prototype.toFixed` and `toExponential` are exact too, but round ties up, lose the sign of -0 and, for
 * toFixed, stop at 1e21. A tie is found by scaling with a power of two, which is exact, and then resolved by hand.
 */
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';

/**
 * How reports write measured values. `legacy`: as libvmaf 3.2.0 does, six decimals, or sixteen where the fraction is
 * below a millionth. A number 1..17: that many significant digits (`%.Ng`). `max`: 17, which gives the double back.
 */
export type Precision = 'legacy' | 'max' | number;

/**
 * Reads a precision setting: `legacy`, `max`, its alias `full`, or a whole number 1..17.
 * @throws {AnyvmafError} `usage`
 */
export function parsePrecision(text: string): Precision {
  if (text === 'legacy' || text === 'max') return text;
  if (text === 'full') return 'max';
  const digits = /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (digits >= 1 && digits <= 17) return digits;
  throw badPrecision(text);
}

/**
 * The function that writes measured values at a precision, in text formats: non-finite values are `inf`, `-inf`, `-nan`.
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function textNumber(precision: Precision): (value: number) => string {
  if (precision === 'legacy') return formatLegacy;
  const digits = precision === 'max' ? 17 : precision;
  if (!Number.isInteger(digits) || digits < 1 || digits > 17) throw badPrecision(String(precision));
  return (value) => formatGeneral(value, digits);
}

/**
 * As {@link textNumber}, for JSON: non-finite values are `null`.
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function jsonNumber(precision: Precision): (value: number) => string {
  const write = textNumber(precision);
  return (value) => (Number.isFinite(value) ? write(value) : 'null');
}

/** libvmaf 3.2.0's choice between `%.6f` and `%.16f`. */
export function formatLegacy(value: number): string {
  return formatFixed(value, isTinyFraction(value) ? 16 : 6);
}

/**
 * `%.Nf`.
 * @param decimals 0..99
 */
export function formatFixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const size = Math.abs(value);
  const sign = isNegative(value) ? '-' : '';
  // From 2^53 on every double is an integer; toFixed gives up at 1e21.
  if (size >= 1e21) return `${sign}${BigInt(size)}${decimals > 0 ? `.${'0'.repeat(decimals)}` : ''}`;
  const rounded = size.toFixed(decimals);
  if (!isTie(size, decimals)) return sign + rounded;
  // Exact, ends in 5: cutting it off rounds down. `rounded` was rounded up.
  const exact = size.toFixed(decimals + 1);
  const down = exact.slice(0, decimals === 0 ? -2 : -1);
  return sign + (isEvenDigit(down, down.length - 1) ? down : rounded);
}

/**
 * `%.Ng`.
 * @param digits significant digits, 1..99
 */
export function formatGeneral(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const sign = isNegative(value) ? '-' : '';
  if (value === 0) return `${sign}0`;
  const size = Math.abs(value);
  let parts = significant(size, digits);
  const { exponent } = parts;
  // Rounding up may have carried into a new digit: 9.5 became 1e+1.
  const carried = /^10*$/.test(parts.digits);
  if (isTie(size, digits - 1 - exponent) || (carried && isTie(size, digits - exponent))) {
    const exact = significant(size, digits + 1);
    if (isEvenDigit(exact.digits, digits - 1)) {
      parts = { digits: exact.digits.slice(0, digits), exponent: exact.exponent };
    }
  }
  return sign + general(trimZeros(parts.digits), parts.exponent, digits);
}

interface Significant {
  /** Decimal digits, the first not zero. */
  readonly digits: string;
  /** Power of ten of the first digit. */
  readonly exponent: number;
}

function significant(size: number, digits: number): Significant {
  const text = size.toExponential(digits - 1);
  const e = text.indexOf('e');
  return { digits: text[0] + text.slice(2, e), exponent: Number(text.slice(e + 1)) };
}

/** Lays digits out as `%g` does: positional from 1e-4 up to the precision, otherwise with an exponent of two digits. */
function general(digits: string, exponent: number, precision: number): string {
  if (exponent < -4 || exponent >= precision) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return digits.length > exponent + 1 ? `${whole}.${digits.slice(exponent + 1)}` : whole;
}

/**
 * Whether `size` lies exactly halfway between two neighbours with this many decimals (negative: tens, hundreds, ...).
 * With d >= 0 decimals halfway means odd * 5 / 10^(d+1), and size * 10^(d+1) is an odd multiple of 5^(d+1) times
 * size * 2^(d+1): so that product must be an odd integer. It is exact, a change of the exponent alone.
 */
function isTie(size: number, decimals: number): boolean {
  if (decimals >= 0) return (size * 2 ** (decimals + 1)) % 2 === 1;
  if (!Number.isInteger(size)) return false;
  const unit = 10n ** BigInt(-decimals);
  return (BigInt(size) % unit) * 2n === unit;
}

/** libvmaf multiplies the fraction by ten until it reaches 1, in doubles, and counts: more than six is tiny. */
function isTinyFraction(value: number): boolean {
  let fraction = Math.abs(value) % 1;
  if (!(fraction > 0 && fraction < 1e-5)) return false;
  let steps = 0;
  for (; fraction < 1; steps++) fraction *= 10;
  return steps > 6;
}

/**
 * C tells NaNs apart by their sign, which JavaScript does not show. Every NaN that arithmetic makes on x86, where the
 * reference's logs come from, has it set.
 */
function nonFinite(value: number): string {
  if (Number.isNaN(value)) return '-nan';
  return value > 0 ? 'inf' : '-inf';
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

function isEvenDigit(text: string, at: number): boolean {
  return text.charCodeAt(at) % 2 === 0;
}

function trimZeros(digits: string): string {
  let end = digits.length;
  while (end > 1 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

function badPrecision(text: string): AnyvmafError {
  return new AnyvmafError(
    'usage',
    `Precision ${quoted(text)} is not one of legacy, max, full or a whole number from 1 to 17; pass 17 or max for values ` +
      'that read back as the same double.',
  );
}
