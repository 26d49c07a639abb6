/**
 * @module models/exp
 * The exponential function of libvmaf's scores, bit-exact.
 *
 * Math.exp differs between engines, and from the C library in every fourteenth argument. This is the algorithm of
 * glibc and musl, on which libvmaf runs (Arm optimized routines): exp(x) = 2^(k/128) * exp(r) with a table for the
 * first factor and a polynomial for the second, in the form that processors with fused multiply-add run.
 */
import { fma } from '../core/fma.js';

const SIZE = 128;
/** Fraction bits of the fixed-point numbers that the table is made from. */
const BITS = 200n;

/** Adding and subtracting it rounds a double below 2^51 to an integer. */
const SHIFT = 1.5 * 2 ** 52;
const INV_LN2_N = SIZE * Math.LOG2E;
/** ln2 / 128 in two parts, negated: the first has so few bits that its product with k is exact. */
const NEG_LN2_HI_N = -0.005415212348111709;
const NEG_LN2_LO_N = -1.2864023111638344e-14;
/** exp(r) - 1 - r = r^2 (C2 + C3 r) + r^4 (C4 + C5 r) for |r| <= ln2 / 256. */
const C2 = 0.49999999999996786;
const C3 = 0.16666666666665886;
const C4 = 0.0416666808410674;
const C5 = 0.008333335853059549;

interface Table {
  /** 2^(i/128) as doubles. */
  readonly value: Float64Array;
  /** Relative rounding error of each value. */
  readonly tail: Float64Array;
  /** 2^(i - 1024), the range of exponents in which results are normal numbers. */
  readonly power: Float64Array;
}

let table: Table | undefined;

/**
 * Bit-exact with glibc on processors with fused multiply-add for |x| up to 700. Beyond that, and for NaN, returns
 * Math.exp; models do not use such values.
 */
export function exp(x: number): number {
  if (!(Math.abs(x) <= 700)) return Math.exp(x);
  table ??= makeTable();
  const k = INV_LN2_N * x + SHIFT - SHIFT;
  const r = fma(k, NEG_LN2_LO_N, x + k * NEG_LN2_HI_N);
  const index = k & (SIZE - 1);
  const square = r * r;
  const low = fma(square, fma(r, C3, C2), table.tail[index]! + r);
  const rest = fma(square * square, fma(r, C5, C4), low);
  const scale = table.value[index]! * table.power[(k - index) / SIZE + 1024]!;
  return fma(scale, rest, scale);
}

/** The table in exact integer arithmetic: seven square roots give 2^(1/128), its powers the rest. */
function makeTable(): Table {
  const one = 1n << BITS;
  let root = 2n * one;
  for (let n = SIZE; n > 1; n /= 2) root = squareRoot(root << BITS);
  const value = new Float64Array(SIZE);
  const tail = new Float64Array(SIZE);
  const scale = 2 ** Number(BITS);
  for (let i = 0, exact = one; i < SIZE; i++, exact = (exact * root) >> BITS) {
    const rounded = Number(exact) / scale;
    const asInteger = BigInt(rounded * 2 ** 52) << (BITS - 52n);
    value[i] = rounded;
    tail[i] = Number(((exact - asInteger) << BITS) / asInteger) / scale;
  }
  return { value, tail, power: Float64Array.from({ length: 2048 }, (_, i) => 2 ** (i - 1024)) };
}

/** The integer square root (Newton's iteration from above). */
function squareRoot(n: bigint): bigint {
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}
