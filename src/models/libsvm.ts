/**
 * @module models/libsvm
 * Parses libsvm's text of a nu-SVR with a radial basis kernel (spec 5.2) and evaluates it bit-exactly, with the
 * exponential function of libvmaf's scores.
 *
 * Math.exp differs between engines, and from the C library for one argument in fourteen. This is the algorithm of glibc
 * and musl, on which libvmaf runs (Arm optimized routines): exp(x) = 2^(k/128) * exp(r), with a table for the first
 * factor and a polynomial for the second, in its form for processors with fused multiply-add.
 */
import { type AnyvmafError, modelError } from '../core/errors.js';
import { decimalNumber, fma } from '../core/numbers.js';
import { quoted } from '../core/printable.js';
import type { SupportVectors } from './types.js';

/** Header words with their required values; `undefined` accepts any number. */
const HEADER = {
  svm_type: 'nu_svr',
  kernel_type: 'rbf',
  gamma: undefined,
  nr_class: '2',
  total_sv: undefined,
  rho: undefined,
} as const;

type HeaderWord = keyof typeof HEADER;

/**
 * @param dimensions number of inputs, the largest index of a support vector; omitted values are 0
 * @throws {AnyvmafError} `model`
 */
export function parseLibsvm(text: string, dimensions: number, where: string): SupportVectors {
  const fail = (problem: string): AnyvmafError =>
    modelError(`${where} holds a libsvm text ${problem}; it is damaged or not a VMAF model.`);
  const start = /(?:^|\s)SV[^\S\n]*\n/.exec(text);
  if (!start) throw fail('without the line "SV" that begins the support vectors');
  const { gamma, rho, total_sv: total } = parseHeader(text.slice(0, start.index), fail);
  if (!(gamma >= 0)) throw fail(`with gamma ${gamma}, which must not be negative`);

  const lines = text.slice(start.index + start[0].length).split('\n');
  while (lines.at(-1)?.trim() === '') lines.pop();
  if (lines.length !== total || total === 0)
    throw fail(`whose header promises ${total} support vectors but ${lines.length} follow`);
  const coefficients = new Float64Array(total);
  const vectors = new Float64Array(total * dimensions);
  lines.forEach((line, row) => {
    const refuse = (token: string): AnyvmafError =>
      fail(
        `whose support vector ${row + 1} has ${quoted(token)} where a value from 1 to ${dimensions} in order belongs`,
      );
    const [coefficient = '', ...pairs] = line.trim().split(/\s+/);
    coefficients[row] = parseNumber(coefficient, () => refuse(coefficient));
    let last = 0;
    for (const pair of pairs) {
      const colon = pair.indexOf(':');
      const indexText = pair.slice(0, colon);
      const index = Number(indexText);
      if (!/^\d{1,9}$/.test(indexText) || index <= last || index > dimensions) throw refuse(pair);
      vectors[row * dimensions + index - 1] = parseNumber(pair.slice(colon + 1), () => refuse(pair));
      last = index;
    }
  });
  return { gamma, rho, count: total, dimensions, coefficients, vectors };
}

function parseHeader(text: string, fail: (problem: string) => AnyvmafError) {
  const found = new Map<HeaderWord, string>();
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  for (let i = 0; i < tokens.length; i += 2) {
    const [word = '', value = ''] = tokens.slice(i, i + 2);
    if (!isHeaderWord(word)) throw fail(`with the unknown word ${quoted(word)} in its header`);
    const expected = HEADER[word];
    if (expected !== undefined && value !== expected)
      throw fail(`with ${word} ${quoted(value)} instead of ${expected}`);
    found.set(word, value);
  }
  const number = (word: HeaderWord): number => {
    const value = found.get(word);
    if (value === undefined) throw fail(`without ${word} in its header`);
    return parseNumber(value, () => fail(`with ${word} ${quoted(value)}, which is not a number`));
  };
  for (const word of ['svm_type', 'kernel_type', 'nr_class'] as const) {
    if (!found.has(word)) throw fail(`without ${word} in its header`);
  }
  const total = number('total_sv');
  if (!Number.isInteger(total) || total < 0) throw fail(`with total_sv ${total}, which is not a count`);
  return { gamma: number('gamma'), rho: number('rho'), total_sv: total };
}

function isHeaderWord(word: string): word is HeaderWord {
  return Object.hasOwn(HEADER, word);
}

function parseNumber(text: string, refuse: () => AnyvmafError): number {
  const value = decimalNumber(text);
  if (value === undefined || !Number.isFinite(value)) throw refuse();
  return value;
}

/** The regression at `dimensions` normalised inputs, summed in libsvm's order: vectors as in the file, then indices. */
export function evaluate(svm: SupportVectors, x: Float64Array): number {
  const { gamma, rho, count, dimensions, coefficients, vectors } = svm;
  let sum = 0;
  for (let row = 0, at = 0; row < count; row++) {
    let distance = 0;
    for (let i = 0; i < dimensions; i++, at++) {
      const difference = x[i]! - vectors[at]!;
      distance += difference * difference;
    }
    sum += coefficients[row]! * exp(-gamma * distance);
  }
  return sum - rho;
}

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
 * Bit-exact with glibc on processors with fused multiply-add for |x| up to 700. Returns Math.exp beyond that, where
 * models have no values, and for NaN.
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

/** Computes the table with integers: seven square roots give 2^(1/128), whose powers are the rest. */
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
