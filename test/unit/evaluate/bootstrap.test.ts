/**
 * @module test/unit/evaluate/bootstrap
 * Figures of a draw are those of the repeated rows, and intervals are where theory has them.
 */
import { describe, expect, it } from 'vitest';
import { bootstrap, figuresOfDraws } from '../../../src/evaluate/bootstrap.js';
import { sampleOf } from '../../../src/evaluate/correlation.js';
import { brutePearson, bruteRanks, bruteTau } from '../../support/evaluate.js';
import { type SeededRandom, seeded } from '../../support/random.js';

/** Rows of some units, with as many ties as `distinct` values make. */
function made(random: SeededRandom, rows: number, count: number, distinct: number) {
  const of = Uint32Array.from({ length: rows }, (_, i) => (i < count ? i : random.int(0, count - 1)));
  const target = Float64Array.from(of, (unit) => (unit % 5) + random.int(0, distinct));
  const prediction = target.map((value) => value + random.int(-2, 2) * (distinct / 6));
  return { sample: sampleOf(prediction, target), units: { count, of } };
}

/** The rows of a draw, repeated as often as their unit was drawn. */
function repeated({ sample, units }: ReturnType<typeof made>, weights: Uint16Array): [number[], number[]] {
  const rows = [...units.of].flatMap((unit, row) => Array<number>(weights[unit] ?? 0).fill(row));
  return [rows.map((row) => sample.prediction[row] ?? 0), rows.map((row) => sample.target[row] ?? 0)];
}

/** How often each of some units is drawn. */
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

  it('follow tau to first order when the units are many', () => {
    const random = seeded(20260805);
    const data = made(random, 600, 300, 40);
    const figures = figuresOfDraws(data.sample, data.units);
    const once = new Uint16Array(300).fill(1);
    const [x, y] = repeated(data, once);
    expect(figures(once).krocc).toBeCloseTo(bruteTau(x, y), 12);
    let error = 0;
    let spread = 0;
    for (let round = 0; round < 30; round++) {
      const weights = drawn(random, 300);
      const expected = bruteTau(...repeated(data, weights));
      error += (figures(weights).krocc - expected) ** 2;
      spread += (bruteTau(x, y) - expected) ** 2;
    }
    // What is left out is of second order: a small part of how much draws differ.
    expect(Math.sqrt(error / spread), `seed ${random.seed}`).toBeLessThan(0.15);
  });
});

describe('intervals', () => {
  const options = { resamples: 1000, seed: 7, level: 0.95 };

  it('are the same for the same seed and others for another', () => {
    const data = made(seeded(20260806), 200, 20, 1000);
    const first = bootstrap(data.sample, data.units, options);
    expect(bootstrap(data.sample, data.units, options)).toEqual(first);
    expect(bootstrap(data.sample, data.units, { ...options, seed: 8 })).not.toEqual(first);
  });

  it('of a correlation of independent rows is about as wide as theory says', () => {
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

  it('are wider when rows of a unit are alike', () => {
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

  it('are left out when most draws have no figure', () => {
    // A draw has correlations only when it holds both the row that differs in x and the one that differs in y: with ten
    // rows 1 - 2 * 0.9^10 + 0.8^10 of all draws, 41 %.
    const rows = { count: 10, of: Uint32Array.from({ length: 10 }, (_, i) => i) };
    const x = Float64Array.from(rows.of, (i) => (i === 0 ? 1 : 0));
    const y = Float64Array.from(rows.of, (i) => (i === 1 ? 1 : 0));
    const { rmse, ...correlations } = bootstrap(sampleOf(x, y), rows, options);
    expect(correlations).toEqual({ plcc: null, srocc: null, krocc: null });
    expect(rmse?.[0]).toBe(0);
  });
});
