/**
 * @module test/unit/report/format
 * Numbers as the C library prints them, against glibc and integer arithmetic.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatFixed, formatGeneral } from '../../../src/core/numbers.js';
import { formatLegacy, jsonNumber, parsePrecision, textNumber } from '../../../src/report/write.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** The double with these 64 bits. */
function fromBits(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** `%.Nf` in integers: mantissa * 2^exponent, scaled by 10^N and rounded half to even. */
function exactFixed(value: number, decimals: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (biased > 0 ? 1n << 52n : 0n);
  const exponent = Math.max(biased, 1) - 1075;
  let scaled = mantissa * 10n ** BigInt(decimals);
  if (exponent >= 0) {
    scaled <<= BigInt(exponent);
  } else {
    const half = 1n << BigInt(-exponent - 1);
    const rest = scaled & ((half << 1n) - 1n);
    scaled >>= BigInt(-exponent);
    if (rest > half || (rest === half && (scaled & 1n) === 1n)) scaled += 1n;
  }
  const digits = scaled.toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const sign = bits >> 63n === 1n ? '-' : '';
  return sign + digits.slice(0, point) + (decimals > 0 ? `.${digits.slice(point)}` : '');
}

describe('printf of the C library', () => {
  // By a C program with glibc: bits, C.1's rule, then %.0f %.2f %.1g %.6g %.15g %.17g.
  const vectors: [string, string, string, string, string, string, string, string][] = JSON.parse(
    readFileSync(new URL('../../fixtures/printf.json', import.meta.url), 'utf8'),
  );

  it('equals ours for constants, dyadic fractions, scores and random bits', () => {
    expect(vectors.length).toBeGreaterThan(300);
    for (const [bits, legacy, f0, f2, g1, g6, g15, g17] of vectors) {
      const value = fromBits(BigInt(`0x${bits}`));
      const fixed = [0, 2].map((decimals) => formatFixed(value, decimals));
      const general = [1, 6, 15, 17].map((digits) => formatGeneral(value, digits));
      const expected = [legacy, f0, f2, g1, g6, g15, g17];
      expect([formatLegacy(value), ...fixed, ...general], `${value} (0x${bits})`).toEqual(expected);
    }
  });

  it('equals %.Nf of random doubles in integer arithmetic', () => {
    const random = seeded(32_000_001);
    const wrong: string[] = [];
    for (let i = 0; i < tier(2000, 20_000); i++) {
      // Half of them with few fraction bits, where ties are frequent.
      const value =
        i % 2 === 0
          ? random.int(-1e6, 1e6) / 2 ** random.int(0, 20)
          : fromBits(BigInt(random.int(0, 2 ** 31)) << 33n);
      if (!Number.isFinite(value)) continue;
      const decimals = random.int(0, 17);
      const [text, expected] = [formatFixed(value, decimals), exactFixed(value, decimals)];
      if (text !== expected) wrong.push(`%.${decimals}f of ${value} is ${text}, not ${expected}`);
    }
    expect(wrong, `seed ${random.seed}`).toEqual([]);
  });

  it('equals %.Ng for ties of every number of digits', () => {
    const random = seeded(32_000_002);
    const wrong: string[] = [];
    for (let i = 0; i < tier(2000, 20_000); i++) {
      const digits = random.int(1, 15);
      const value = random.int(1, 1e6) / 2 ** random.int(0, 12);
      // What %.Ng keeps of a number below 10^digits is %.Nf with the decimals left over.
      const decimals = digits - String(Math.floor(value)).length;
      if (value < 1 || decimals < 0) continue;
      const text = exactFixed(value, decimals);
      // 99.6 with two digits rounds to 1e+02, another layout.
      if (Number(text) >= 10 ** digits) continue;
      const expected = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
      const found = formatGeneral(value, digits);
      if (found !== expected) wrong.push(`%.${digits}g of ${value} is ${found}, not ${expected}`);
    }
    expect(wrong, `seed ${random.seed}`).toEqual([]);
  });
});

it('formatFixed prints values that are not finite, and signed zero, as printf does', () => {
  const values = [-0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
  expect(values.map((value) => formatFixed(value, 2))).toEqual(['-0.00', 'inf', '-inf', '-nan']);
});

it('formatGeneral round-trips every double at 17 digits', () => {
  const random = seeded(32_000_003);
  const draw = () => random.next() * 100 + random.next() * 2 ** -32;
  const values = Array.from({ length: tier(2000, 5000) }, draw);
  const wrong = values.filter((value) => Number(formatGeneral(value, 17)) !== value);
  expect(wrong, `seed ${random.seed}`).toEqual([]);
});

describe('precision settings', () => {
  it('are names or digits', () => {
    expect(['legacy', 'max', 'full', '1', '17'].map(parsePrecision)).toEqual(['legacy', 'max', 'max', 1, 17]);
  });

  it.each(['', '0', '18', '-1', '+5', '6.0', '1e1', ' 6', 'LEGACY', '0x6'])('cannot be %j', (text) => {
    const message = `Precision "${text}" is not one of legacy, max, full or a whole number`;
    expect(() => parsePrecision(text)).toThrow(message);
  });

  it('choose the notation, and are refused out of range at run time too', () => {
    for (const precision of [0, 18, 2.5, Number.NaN])
      expect(() => textNumber(precision)).toThrow(/^Precision "/);
    const value = 82.56422654900535;
    expect(textNumber('legacy')(value)).toBe('82.564227');
    expect(textNumber(4)(value)).toBe('82.56');
    expect(textNumber('max')(value)).toBe(textNumber(17)(value));
  });

  it('write null for numbers that JSON cannot hold', () => {
    const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const precision of ['legacy', 'max', 6] as const)
      expect(values.map(jsonNumber(precision))).toEqual(['null', 'null', 'null']);
  });
});
