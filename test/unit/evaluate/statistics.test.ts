/**
 * @module test/unit/evaluate/statistics
 * Splits, correlations and their intervals against hand-computed cases, definitions and theory.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bootstrap, figuresOfDraws } from '../../../src/evaluate/bootstrap.js';
import { agreementOf, sampleOf } from '../../../src/evaluate/correlation.js';
import { keyPosition, keyText, parseSplit, splitOf } from '../../../src/evaluate/table/columns.js';
import { type SeededRandom, seeded } from '../../support/random.js';

// Slow statistics by their definitions.

/** Kendall's tau-b over every pair. */
function bruteTau(x: readonly number[], y: readonly number[]): number {
  let difference = 0;
  let untiedX = 0;
  let untiedY = 0;
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      const dx = Math.sign((x[i] ?? 0) - (x[j] ?? 0));
      const dy = Math.sign((y[i] ?? 0) - (y[j] ?? 0));
      difference += dx * dy;
      untiedX += Math.abs(dx);
      untiedY += Math.abs(dy);
    }
  }
  return difference / Math.sqrt(untiedX * untiedY);
}

function brutePearson(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [xMean, yMean] = [mean(x), mean(y)];
  const sum = (term: (i: number) => number) => x.reduce((total, _, i) => total + term(i), 0);
  const dx = (i: number) => (x[i] ?? 0) - xMean;
  const dy = (i: number) => (y[i] ?? 0) - yMean;
  return sum((i) => dx(i) * dy(i)) / Math.sqrt(sum((i) => dx(i) ** 2) * sum((i) => dy(i) ** 2));
}

/** Average ranks by counting smaller and equal values. */
function bruteRanks(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });
}

describe('the split of a key', () => {
  it.each([
    ['clip_0000', 0.066456, 'test'],
    ['clip_0019', 0.016092, 'test'],
    ['clip_0029', 0.060968, 'test'],
    ['clip_0007', 0.115194, 'val'],
    ['clip_0023', 0.165783, 'val'],
    ['clip_0001', 0.538128, 'train'],
    ['2', 0.171059503, 'val'],
    ['0', 0.994099, 'train'],
    ['BigBuckBunny_25fps', 0.733085088, 'train'],
  ] as const)('%s is at %d: %s', async (key, position, split) => {
    expect(await keyPosition(key)).toBeCloseTo(position, 6);
    expect(await splitOf(key)).toBe(split);
  });

  it('is test for 24; of the keys 0 to 999 it is test for 100, val for 99; beyond ASCII it hashes UTF-8', async () => {
    expect(await splitOf('24')).toBe('test');
    const counts = { test: 0, val: 0, train: 0 };
    for (let key = 0; key < 1000; key++) counts[await splitOf(String(key))]++;
    expect(counts).toEqual({ test: 100, val: 99, train: 801 });
    const digest = createHash('sha256').update('vmaf-train-splits-v1:Fußball-寿司-🏟', 'utf8').digest();
    const position = Number(digest.readBigUInt64BE()) / 2 ** 64;
    expect(await keyPosition('Fußball-寿司-🏟')).toBe(position);
  });
});

describe('a key of a column', () => {
  it.each([
    ['clip_0000', false, 'clip_0000'],
    [2, false, '2'],
    [9007199254740993n, false, '9007199254740993'],
    [-7n, false, '-7'],
    [true, false, 'True'],
    // Python: str(2.0), str(0.1), str(1e16), str(123456789012345680.0), str(0.0001), str(0.00001), str(-2.5e-7).
    [2, true, '2.0'],
    [0.1, true, '0.1'],
    [1e15, true, '1000000000000000.0'],
    [1e16, true, '1e+16'],
    [123456789012345680, true, '1.2345678901234568e+17'],
    [0.0001, true, '0.0001'],
    [0.00001, true, '1e-05'],
    [-2.5e-7, true, '-2.5e-07'],
    [1e100, true, '1e+100'],
    [-0, true, '-0.0'],
  ] as const)('%s (floating: %s) is the text %s', (key, floating, text) => {
    expect(keyText(key, floating)).toBe(text);
  });

  it.each([null, undefined, Number.NaN])('%s is missing', (key) => {
    expect(keyText(key)).toBeUndefined();
    expect(keyText(key, true)).toBeUndefined();
  });
});

it('the name of a split is one of four, and a near miss gets a suggestion', () => {
  expect(['train', 'val', 'test', 'all'].map(parseSplit)).toEqual(['train', 'val', 'test', 'all']);
  expect(() => parseSplit('tset')).toThrow(/"tset".*train, val, test, all; did you mean test\?/);
  expect(() => parseSplit('foo')).toThrow(/"foo", but it must be one of train, val, test, all/);
});

const of = (prediction: Iterable<number>, target: Iterable<number>) =>
  agreementOf(sampleOf(Float64Array.from(prediction), Float64Array.from(target)));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('the figures', () => {
  // Columns: x, y, then PLCC, SROCC, KROCC, RMSE.
  it.each([
    // Of the pairs, 5 agree and 1 does not. Sums of squares 5 and 5, of products 4; squared errors 0 1 1 0.
    ['one exchange', [1, 2, 3, 4], [1, 3, 2, 4], [0.8, 0.8, 4 / 6, Math.sqrt(2 / 4)]],
    ['reversed', [1, 2, 3], [30, 20, 10], [-1, -1, -1, Math.sqrt((29 ** 2 + 18 ** 2 + 7 ** 2) / 3)]],
    // Sums of squares 2 and 98/3, of products 8.
    ['not linear', [1, 2, 3], [1, 4, 9], [8 / Math.sqrt((2 * 98) / 3), 1, 1, Math.sqrt(40 / 3)]],
    ['ties that cancel', [1, 1, 2, 2], [1, 2, 1, 2], [0, 0, 0, Math.sqrt(2 / 4)]],
    [
      'ties on both sides',
      [1, 2, 2, 3, 5, 5, 5, 8],
      [2, 1, 2, 2, 6, 4, 4, 9.5],
      // Ranks 1 2.5 2.5 4 6 6 6 8 and 3 1 3 3 7 5.5 5.5 8: sums of squares 39.5 and 39.5, of products 35. Of 28 pairs
      // 4 are tied in x, 4 in y, 2 in both; 20 agree and 1, the first two rows, does not. PLCC is numpy.corrcoef's.
      [0.928714422627697, 35 / 39.5, 19 / 24, Math.sqrt(8.25 / 8)],
    ],
  ])('of %s', (_, x, y, expected) => {
    const found = of(x, y);
    expect(found.n).toBe(x.length);
    for (const [i, name] of (['plcc', 'srocc', 'krocc', 'rmse'] as const).entries())
      expect(found[name], name).toBeCloseTo(expected[i] ?? Number.NaN, 12);
  });

  it('have an error but no correlation if one side is constant', () => {
    const none = { plcc: null, srocc: null, krocc: null };
    expect(of([3, 3, 3], [1, 2, 3])).toEqual({ n: 3, ...none, rmse: Math.sqrt(5 / 3) });
    expect(of([1, 2, 3], [3, 3, 3])).toMatchObject(none);
    // 0.1 is not a sum of powers of two: a mean of many is off by rounding, and so would be a variance.
    expect(of(Array(1000).fill(0.1), upTo(1000)).plcc).toBeNull();
  });

  it('never leave -1...1 by rounding, and treat 0 and -0 as equal', () => {
    const random = seeded(20260802);
    for (let round = 0; round < 200; round++) {
      const x = Array.from({ length: random.int(2, 9) }, () => random.next() * 1e6);
      const line = x.map((value) => 3 * value + 1);
      const { plcc, srocc, krocc } = of(x, line);
      for (const value of [plcc, srocc, krocc]) {
        expect(value, `seed ${random.seed}, round ${round}`).toBeLessThanOrEqual(1);
        expect(value).toBeCloseTo(1, 9);
      }
    }
    expect(of([0, -0, 1], [5, 5, 6]).krocc).toBe(1);
  });
  it('count the pairs of Kendall by merging, equal to counting all, whatever the ties', () => {
    const random = seeded(20260803);
    for (let round = 0; round < 60; round++) {
      const n = random.int(2, 80);
      const x = values(random, n);
      const y = values(random, n);
      const expected = bruteTau(x, y);
      const found = of(x, y).krocc;
      const where = `seed ${random.seed}, round ${round}`;
      if (Number.isNaN(expected)) expect(found, where).toBeNull();
      else expect(found, where).toBeCloseTo(expected, 12);
    }
  });
});

/** Values from all equal to all different. */
function values(random: SeededRandom, n: number): number[] {
  const distinct = random.pick([1, 2, 3, 10, 1000]);
  return Array.from({ length: n }, () => random.int(1, distinct));
}

/** Rows of `count` units, with as many ties as `distinct` values make. */
function made(random: SeededRandom, rows: number, count: number, distinct: number) {
  const of = Uint32Array.from({ length: rows }, (_, i) => (i < count ? i : random.int(0, count - 1)));
  const target = Float64Array.from(of, (unit) => (unit % 5) + random.int(0, distinct));
  const prediction = target.map((value) => value + random.int(-2, 2) * (distinct / 6));
  return { sample: sampleOf(prediction, target), units: { count, of } };
}

/** The rows of a draw, each repeated as often as its unit was drawn. */
function repeated({ sample, units }: ReturnType<typeof made>, weights: Uint16Array): [number[], number[]] {
  const rows = [...units.of].flatMap((unit, row) => Array<number>(weights[unit] ?? 0).fill(row));
  return [rows.map((row) => sample.prediction[row] ?? 0), rows.map((row) => sample.target[row] ?? 0)];
}

/** Draws units with replacement. @returns how often each is drawn */
function drawn(random: SeededRandom, count: number): Uint16Array {
  const units = Array.from({ length: count }, () => random.int(0, count - 1));
  return Uint16Array.from({ length: count }, (_, unit) => units.filter((one) => one === unit).length);
}

describe('the figures of a draw', () => {
  it('are those of the rows repeated', () => {
    const random = seeded(20260804);
    for (let round = 0; round < 40; round++) {
      const count = random.int(2, 12);
      const data = made(random, random.int(count, 60), count, random.pick([3, 20, 1000]));
      const figures = figuresOfDraws(data.sample, data.units);
      const weights = drawn(random, count);
      const [x, y] = repeated(data, weights);
      const found = figures(weights);
      const where = `seed ${random.seed}, round ${round}`;
      const same = (value: number, expected: number, name: string) =>
        Number.isNaN(expected)
          ? expect(value, `${name}, ${where}`).toBeNaN()
          : expect(value, `${name}, ${where}`).toBeCloseTo(expected, 9);
      same(found.plcc, brutePearson(x, y), 'plcc');
      same(found.srocc, brutePearson(bruteRanks(x), bruteRanks(y)), 'srocc');
      same(found.krocc, bruteTau(x, y), 'krocc');
      const squares = x.reduce((sum, value, i) => sum + (value - (y[i] ?? 0)) ** 2, 0);
      same(found.rmse, Math.sqrt(squares / x.length), 'rmse');
    }
  });

  it('follow tau to first order if there are many units', () => {
    const random = seeded(20260805);
    const data = made(random, 600, 300, 40);
    const figures = figuresOfDraws(data.sample, data.units);
    const once = new Uint16Array(300).fill(1);
    const [x, y] = repeated(data, once);
    expect(figures(once).krocc).toBeCloseTo(bruteTau(x, y), 12);
    let error = 0;
    let spread = 0;
    for (let round = 0; round < 24; round++) {
      const weights = drawn(random, 300);
      const expected = bruteTau(...repeated(data, weights));
      error += (figures(weights).krocc - expected) ** 2;
      spread += (bruteTau(x, y) - expected) ** 2;
    }
    // The error is of second order: small against the spread of draws.
    expect(Math.sqrt(error / spread), `seed ${random.seed}`).toBeLessThan(0.15);
  });
});

describe('intervals', () => {
  const options = { resamples: 1000, seed: 7, level: 0.95 };

  it('depend on the seed alone', () => {
    const data = made(seeded(20260806), 200, 20, 1000);
    const first = bootstrap(data.sample, data.units, options);
    expect(bootstrap(data.sample, data.units, options)).toEqual(first);
    expect(bootstrap(data.sample, data.units, { ...options, seed: 8 })).not.toEqual(first);
  });

  it('of a correlation of independent rows are about as wide as theory says', () => {
    const random = seeded(20260807);
    const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const n = 2000;
    const x = Float64Array.from({ length: n }, normal);
    const y = x.map((value) => 0.6 * value + 0.8 * normal());
    const sample = sampleOf(x, y);
    const rows = { count: n, of: Uint32Array.from({ length: n }, (_, i) => i) };
    const { plcc, krocc } = bootstrap(sample, rows, options);
    // Standard errors of normal data: (1 - r^2) / sqrt(n) with r = 0.6; for tau = 2/pi asin(r) it is
    // sqrt((4/9 - 4 (asin(r/2) 2/pi)^2) / n) (Esscher 1924).
    const [low = 0, high = 0] = plcc ?? [];
    expect((high - low) / (2 * 1.96 * ((1 - 0.36) / Math.sqrt(n)))).toBeCloseTo(1, 0.8);
    const [tauLow = 0, tauHigh = 0] = krocc ?? [];
    const tauError = Math.sqrt((4 / 9 - 4 * ((2 / Math.PI) * Math.asin(0.3)) ** 2) / n);
    expect((tauHigh - tauLow) / (2 * 1.96 * tauError)).toBeCloseTo(1, 0.8);
  });

  it('hold the figure of the sample if rows of a unit share an opinion score, which resampling ties', () => {
    const random = seeded(20261125);
    for (const count of [3, 10, 30]) {
      const opinion = Array.from({ length: count }, () => random.next());
      const of = Uint32Array.from({ length: 12 * count }, (_, i) => i % count);
      const target = Float64Array.from(of, (unit) => opinion[unit] ?? 0);
      const prediction = target.map((value) => value + 0.02 * random.next());
      const sample = sampleOf(prediction, target);
      const figures = figuresOfDraws(sample, { count, of })(new Uint16Array(count).fill(1));
      const intervals = bootstrap(sample, { count, of }, options);
      for (const name of ['plcc', 'srocc', 'krocc', 'rmse'] as const) {
        const [low = 1, high = 0] = intervals[name] ?? [];
        expect(figures[name], `${name} of ${count}`).toBeGreaterThan(low - 1e-9);
        expect(figures[name], `${name} of ${count}`).toBeLessThan(high + 1e-9);
        expect(high, `${name} of ${count}`).toBeLessThanOrEqual(1);
      }
    }
  });

  it('are wider if the rows of a unit are alike', () => {
    const random = seeded(20260808);
    const clips = Array.from({ length: 20 }, () => [random.next() * 100, random.next() * 10] as const);
    const of = Uint32Array.from({ length: 2000 }, (_, i) => i % 20);
    const target = Float64Array.from(of, (clip) => clips[clip]?.[0] ?? 0);
    const prediction = Float64Array.from(of, (clip) => (clips[clip]?.[0] ?? 0) + (clips[clip]?.[1] ?? 0));
    const sample = sampleOf(prediction, target);
    const width = (interval: readonly [number, number] | null) =>
      interval ? interval[1] - interval[0] : Number.NaN;
    const byClip = bootstrap(sample, { count: 20, of }, options);
    const byRow = bootstrap(sample, { count: 2000, of: of.map((_, i) => i) }, options);
    expect(width(byClip.rmse)).toBeGreaterThan(5 * width(byRow.rmse));
    expect(width(byClip.plcc)).toBeGreaterThan(5 * width(byRow.plcc));
  });

  it('are left out if most draws have no figure', () => {
    // A draw has correlations only if it holds both the row that differs in x and the one that differs in y: with ten
    // rows 1 - 2 * 0.9^10 + 0.8^10 of all draws, 41 %.
    const rows = { count: 10, of: Uint32Array.from({ length: 10 }, (_, i) => i) };
    const x = Float64Array.from(rows.of, (i) => (i === 0 ? 1 : 0));
    const y = Float64Array.from(rows.of, (i) => (i === 1 ? 1 : 0));
    const { rmse, ...correlations } = bootstrap(sampleOf(x, y), rows, options);
    expect(correlations).toEqual({ plcc: null, srocc: null, krocc: null });
    expect(rmse?.[0]).toBe(0);
  });
});
