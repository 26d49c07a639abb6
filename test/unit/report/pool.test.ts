import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { percentile } from '../../../src/core/percentile.js';
import { distribution, pool } from '../../../src/report/pool.js';
import { needsShared, sharedPath } from '../../support/shared.js';

describe('pool', () => {
  it('gives minimum, maximum, mean and harmonic mean of libvmaf (specification 7)', () => {
    // By hand: 1/2 + 1/4 + 1/4 = 1, so the harmonic mean is 3 / 1 - 1.
    expect(pool([1, 3, 3])).toEqual({ min: 1, max: 3, mean: 7 / 3, harmonic_mean: 2 });
  });

  it('adds in ascending order of frames', () => {
    // In doubles (1e16 + 1) + 1 is 1e16, while 1 + 1 + 1e16 is 1e16 + 2.
    expect(pool([1e16, 1, 1])?.mean).toBe(1e16 / 3);
    expect(pool([1, 1, 1e16])?.mean).toBe((1e16 + 2) / 3);
  });

  it('starts minimum and maximum from the first value, not from zero', () => {
    expect(pool([5, 7])).toMatchObject({ min: 5, max: 7 });
    expect(pool([-5, -7])).toMatchObject({ min: -7, max: -5 });
  });

  it('reproduces the pooled score of the specification from its three frames', () => {
    // vmaf_v0.6.1 on the 10-bit 576x324 pair.
    expect(pool([83.85628400042145, 82.63980469307762, 81.19659095351699])).toEqual({
      min: 81.19659095351699,
      max: 83.85628400042145,
      mean: 82.56422654900535,
      harmonic_mean: 82.55006320496456,
    });
  });

  it('lets what is not finite through', () => {
    expect(pool([1, Number.POSITIVE_INFINITY])).toEqual({
      min: 1,
      max: Number.POSITIVE_INFINITY,
      mean: Number.POSITIVE_INFINITY,
      harmonic_mean: 3,
    });
    expect(pool([1, Number.NaN])).toEqual({ min: 1, max: 1, mean: Number.NaN, harmonic_mean: Number.NaN });
    expect(pool([Number.NaN, 1])).toMatchObject({ min: Number.NaN, max: Number.NaN });
    // 1 / (-1 + 1) is infinite.
    expect(pool([-1, 0])?.harmonic_mean).toBe(-1);
  });

  it('has nothing to say about no frames', () => {
    expect(pool([])).toBeUndefined();
    expect(distribution([])).toBeUndefined();
  });

  it('takes typed arrays', () => {
    expect(pool(Float64Array.of(1, 3, 3))).toEqual(pool([1, 3, 3]));
  });
});

interface Golden {
  readonly pairs: Record<string, { results: Record<string, GoldenRun> }>;
}
interface GoldenRun {
  readonly features?: Record<string, (number | string | null)[]>;
  readonly pooled_min_max_mean_hmean?: number[];
}

const golden = sharedPath('golden/features.json');

describe.skipIf(golden === undefined)(`pool on golden values (${needsShared})`, () => {
  it('is equal to the last bit', () => {
    const { pairs }: Golden = JSON.parse(readFileSync(golden ?? '', 'utf8'));
    let compared = 0;
    for (const [pair, { results }] of Object.entries(pairs)) {
      for (const [run, { features, pooled_min_max_mean_hmean: expected }] of Object.entries(results)) {
        const scores = features?.vmaf?.map(Number);
        if (!scores || !expected) continue;
        const pooled = pool(scores);
        expect(
          pooled && [pooled.min, pooled.max, pooled.mean, pooled.harmonic_mean],
          `${pair} ${run}`,
        ).toEqual(expected);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(50);
  });
});

describe('distribution', () => {
  it('interpolates between order statistics', () => {
    // 0..100 shuffled: percentile p is p itself. Variance of 0..100 is (101^2 - 1) / 12 = 850.
    const values = Array.from({ length: 101 }, (_, i) => (i * 37) % 101);
    expect(distribution(values)).toEqual({
      percentiles: { p1: 1, p5: 5, p10: 10, p25: 25, p50: 50, p75: 75, p90: 90, p95: 95, p99: 99 },
      stddev: Math.sqrt(850),
    });
    // Position 0.05 * (3 - 1) = 0.1 between 10 and 20.
    expect(distribution([30, 10, 20])?.percentiles.p5).toBeCloseTo(11, 12);
  });

  it('of one value is that value', () => {
    const { percentiles, stddev } = distribution([7]) ?? {};
    expect(new Set(Object.values(percentiles ?? {}))).toEqual(new Set([7]));
    expect(stddev).toBe(0);
  });

  it('leaves its input in order', () => {
    const values = Float64Array.of(3, 1, 2);
    distribution(values);
    expect([...values]).toEqual([3, 1, 2]);
  });

  it('keeps infinities in their place', () => {
    const { percentiles } = distribution([Number.POSITIVE_INFINITY, 1, 2, Number.POSITIVE_INFINITY]) ?? {};
    expect(percentiles?.p1).toBeCloseTo(1.03, 12);
    expect(percentiles?.p90).toBe(Number.POSITIVE_INFINITY);
  });

  it('is NaN where a value is', () => {
    const spread = distribution([1, Number.NaN, 2]);
    expect(spread?.stddev).toBeNaN();
    expect(new Set(Object.values(spread?.percentiles ?? {}))).toEqual(new Set([Number.NaN]));
  });
});

describe('percentile', () => {
  it('follows the formula of bootstrap intervals', () => {
    // 20 members: position 2.5 * 19 / 100 = 0.475.
    const sorted = Array.from({ length: 20 }, (_, i) => 70 + i);
    expect(percentile(sorted, 2.5)).toBeCloseTo(70.475, 12);
    expect(percentile(sorted, 97.5)).toBeCloseTo(88.525, 12);
    expect(percentile(sorted, 0)).toBe(70);
    expect(percentile(sorted, 100)).toBe(89);
  });
});
