/**
 * @module core/numbers
 * Numbers as in C programs, to the last bit: read from text, written as by printf, multiplied and added with one
 * rounding; percentiles; and fractions for frame rates and sample aspects.
 */

const DECIMAL = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;
const HEXADECIMAL = /^0x[\da-f]+$/i;

/** The double nearest to a decimal number as C prints it; `undefined` for other text, including surrounding blanks. */
export function decimalNumber(text: string): number | undefined {
  return DECIMAL.test(/^[-+]/.test(text) ? text.slice(1) : text) ? Number(text) : undefined;
}

/** Like {@link decimalNumber}, but without a sign and also hexadecimal: `0x1f`. */
export function magnitude(text: string): number | undefined {
  return DECIMAL.test(text) || HEXADECIMAL.test(text) ? Number(text) : undefined;
}

/** A number of digits only; `undefined` for other text, or if a double cannot hold it exactly. */
export function wholeNumber(text: string): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** `%.Nf` with 0..99 decimals. */
export function formatFixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const size = Math.abs(value);
  const sign = isNegative(value) ? '-' : '';
  // From 2^53, every double is an integer; toFixed stops at 1e21.
  if (size >= 1e21) return `${sign}${BigInt(size)}${decimals > 0 ? `.${'0'.repeat(decimals)}` : ''}`;
  const rounded = size.toFixed(decimals);
  if (!isTie(size, decimals)) return sign + rounded;
  // `exact` ends in 5: cutting that off rounds down, while `rounded` was rounded up.
  const exact = size.toFixed(decimals + 1);
  const down = exact.slice(0, decimals === 0 ? -2 : -1);
  return sign + (isEvenDigit(down, down.length - 1) ? down : rounded);
}

/** `%.Ng` with 1..99 significant digits. */
export function formatGeneral(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const sign = isNegative(value) ? '-' : '';
  if (value === 0) return `${sign}0`;
  const size = Math.abs(value);
  let parts = significant(size, digits);
  const { exponent } = parts;
  // Rounding up may have carried into a new digit: 9.5 becomes 1e+1.
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

/** Formats digits like `%g`: positional from 1e-4 up to the precision, else with an exponent of two digits. */
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
 * True if `size` is exactly halfway between two neighbours with this many decimals (negative: tens, hundreds, ...).
 * With d >= 0 decimals, halfway means odd * 5 / 10^(d+1). As size * 10^(d+1) = 5^(d+1) * (size * 2^(d+1)), the product
 * size * 2^(d+1) must be an odd integer; it is exact, since only the exponent changes.
 */
function isTie(size: number, decimals: number): boolean {
  if (decimals >= 0) return (size * 2 ** (decimals + 1)) % 2 === 1;
  if (!Number.isInteger(size)) return false;
  const unit = 10n ** BigInt(-decimals);
  return (BigInt(size) % unit) * 2n === unit;
}

/** C prints the sign of a NaN, which JavaScript hides; x86 arithmetic, as in the reference's logs, sets it. */
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

/** Splits a double into halves of 26 bits (Dekker). */
const SPLIT = 2 ** 27 + 1;

/**
 * a * b + c with one rounding, for values of ordinary size: the errors of product and sum are exact and added last.
 * Rounding those together matters only if the product's error is 2^-42 of the sum's, from which these polynomials are
 * far away.
 */
export function fma(a: number, b: number, c: number): number {
  const product = a * b;
  const aScaled = SPLIT * a;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = SPLIT * b;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  const productError = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  const sum = product + c;
  const added = sum - product;
  const sumError = product - (sum - added) + (c - added);
  return sum + (sumError + productError);
}

/**
 * Linear interpolation between order statistics, at position `percent * (n - 1) / 100`.
 * @param sorted ascending, not empty
 * @param percent 0..100
 */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const position = (percent * (sorted.length - 1)) / 100;
  const below = Math.floor(position);
  const above = Math.ceil(position);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[above] ?? Number.NaN;
  return below === above ? low : low * (above - position) + high * (position - below);
}

/** NaN without values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? Number.NaN;
  return sum / values.length;
}

/** A fraction as containers write it. */
export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** Assumed frames per second if a video states no rate. */
export const USUAL_RATE = 25;

/** The value of a fraction; `undefined` for none, and for meaningless ones such as 0/1 and 25/0. */
export function quotientOf(fraction: Fraction | undefined): number | undefined {
  const isPositive = (value: number) => Number.isFinite(value) && value > 0;
  return fraction && isPositive(fraction.num) && isPositive(fraction.den)
    ? fraction.num / fraction.den
    : undefined;
}

export function areEqual(a: Fraction, b: Fraction): boolean {
  return a.num * b.den === b.num * a.den;
}

/** `25` or `30000/1001`. */
export function fractionText({ num, den }: Fraction): string {
  return num % den === 0 ? String(num / den) : `${num}/${den}`;
}
