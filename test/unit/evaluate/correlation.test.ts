/**
 * @module test/unit/evaluate/correlation
 * Correlations against hand-computed cases, and fast Kendall against counting all pairs.
 */
import { describe, expect, it } from 'vitest';
import { agreementOf, sampleOf } from '../../../src/evaluate/correlation.js';
import { averageRanks, rankingOf } from '../../../src/evaluate/ranks.js';
import { bruteTau } from '../../support/evaluate.js';
import { type SeededRandom, seeded } from '../../support/random.js';

const of = (prediction: readonly number[], target: readonly number[]) =>
  agreementOf(sampleOf(Float64Array.from(prediction), Float64Array.from(target)));

describe('the figures', () => {
  it.each([
    {
      name: 'one exchange: 5 pairs agree, 1 does not',
      x: [1, 2, 3, 4],
      y: [1, 3, 2, 4],
      // Sums of squares 5 and 5, of products 4; squared errors 0 1 1 0.
      expected: { plcc: 0.8, srocc: 0.8, krocc: 4 / 6, rmse: Math.sqrt(2 / 4) },
    },
    {
      name: 'reversed',
      x: [1, 2, 3],
      y: [30, 20, 10],
      expected: { plcc: -1, srocc: -1, krocc: -1, rmse: Math.sqrt((29 ** 2 + 18 ** 2 + 7 ** 2) / 3) },
    },
    {
      name: 'monotonic but not linear',
      x: [1, 2, 3],
      y: [1, 4, 9],
      // Sums of squares 2 and 98/3, of products 8.
      expected: { plcc: 8 / Math.sqrt((2 * 98) / 3), srocc: 1, krocc: 1, rmse: Math.sqrt(40 / 3) },
    },
    {
      name: 'ties that cancel',
      x: [1, 1, 2, 2],
      y: [1, 2, 1, 2],
      expected: { plcc: 0, srocc: 0, krocc: 0, rmse: Math.sqrt(2 / 4) },
    },
    {
      name: 'ties on both sides',
      x: [1, 2, 2, 3, 5, 5, 5, 8],
      y: [2, 1, 2, 2, 6, 4, 4, 9.5],
      // Ranks 1 2.5 2.5 4 6 6 6 8 and 3 1 3 3 7 5.5 5.5 8: sums of squares 39.5 and 39.5, of products 35. Of 28 pairs
      // 4 are tied in x, 4 in y, 2 in both; 20 agree and 1, the first two rows, does not.
      expected: {
        plcc: 0.928714422627697, // numpy.corrcoef
        srocc: 35 / 39.5,
        krocc: 19 / 24,
        rmse: Math.sqrt(8.25 / 8),
      },
    },
  ])('of $name', ({ x, y, expected }) => {
    const found = of(x, y);
    expect(found.n).toBe(x.length);
    for (const name of ['plcc', 'srocc', 'krocc', 'rmse'] as const)
      expect(found[name], name).toBeCloseTo(expected[name], 12);
  });

  it('have no correlation where one side is constant, but an error', () => {
    expect(of([3, 3, 3], [1, 2, 3])).toEqual({
      n: 3,
      plcc: null,
      srocc: null,
      krocc: null,
      rmse: Math.sqrt(5 / 3),
    });
    expect(of([1, 2, 3], [3, 3, 3])).toMatchObject({ plcc: null, srocc: null, krocc: null });
    // 0.1 is not a sum of powers of two: a mean of many of them is off by rounding, and so would be a variance.
    expect(
      of(
        Array(1000).fill(0.1),
        Array.from({ length: 1000 }, (_, i) => i),
      ).plcc,
    ).toBeNull();
  });

  it('never leave -1...1 by rounding', () => {
    const random = seeded(20260802);
    for (let round = 0; round < 200; round++) {
      const x = Array.from({ length: random.int(2, 9) }, () => random.next() * 1e6);
      const { plcc, srocc, krocc } = of(
        x,
        x.map((value) => 3 * value + 1),
      );
      for (const value of [plcc, srocc, krocc]) {
        expect(value, `seed ${random.seed}, round ${round}`).toBeLessThanOrEqual(1);
        expect(value).toBeCloseTo(1, 9);
      }
    }
  });

  it('treat 0 and -0 as equal', () => {
    expect(of([0, -0, 1], [5, 5, 6]).krocc).toBe(1);
  });
});

describe('average ranks', () => {
  it('share the places of equals', () => {
    expect([...averageRanks(rankingOf(Float64Array.of(10, 20, 10, 5, 20, 20)))]).toEqual([
      2.5, 5, 2.5, 1, 5, 5,
    ]);
  });
});

describe('Kendall by merging', () => {
  it('equals counting all pairs, whatever the ties', () => {
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

/** From all equal to all different. */
function values(random: SeededRandom, n: number): number[] {
  const distinct = random.pick([1, 2, 3, 10, 1000]);
  return Array.from({ length: n }, () => random.int(1, distinct));
}
