/**
 * @module core/printf
 * Writes doubles as C's printf does: from the exact binary value, ties to even.
 *
 * `Number.prototype.toFixed` and `toExponential` are exact too, but round ties up, lose the sign of -0 and, for
 * toFixed, stop at 1e21. A tie is found by scaling with a power of two, which is exact, and then resolved by hand.
 */

/** `%.Nf` with 0..99 decimals. */
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

/** `%.Ng` with 1..99 significant digits. */
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
 * Whether `size` lies exactly halfway between two neighbours with this many decimals (negative: tens,
 * hundreds, ...). With d >= 0 decimals halfway means odd * 5 / 10^(d+1), and size * 10^(d+1) is an odd
 * multiple of 5^(d+1) times size * 2^(d+1): so that product, exact as only the exponent changes, must be an
 * odd integer.
 */
function isTie(size: number, decimals: number): boolean {
  if (decimals >= 0) return (size * 2 ** (decimals + 1)) % 2 === 1;
  if (!Number.isInteger(size)) return false;
  const unit = 10n ** BigInt(-decimals);
  return (BigInt(size) % unit) * 2n === unit;
}

/** C prints the sign of a NaN, which JavaScript hides. x86 arithmetic, as in the reference's logs, sets it. */
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
