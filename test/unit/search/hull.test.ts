/**
 * @module test/unit/search/hull
 * Convex hulls against all pairs, curves that only rise, and where one takes over from another.
 */
import { describe, expect, it } from 'vitest';
import {
  bestAt,
  cheapestAt,
  convexHull,
  type RateQuality,
  type RisingCurve,
  risingCurve,
  takeovers,
} from '../../../src/search/hull.js';
import { seeded } from '../../support/random.js';

/** A point is on the hull if no mixture of two others, nor another alone, gives as much for as little. */
function bruteForce(points: readonly RateQuality[]): RateQuality[] {
  const beaten = (p: RateQuality) =>
    points.some((a) => a !== p && a.kbps <= p.kbps && a.quality >= p.quality) ||
    points.some((a) =>
      points.some((b) => {
        if (a === p || b === p || !(a.kbps < p.kbps && b.kbps > p.kbps)) return false;
        const share = (p.kbps - a.kbps) / (b.kbps - a.kbps);
        return a.quality + share * (b.quality - a.quality) >= p.quality;
      }),
    );
  return points.filter((point) => !beaten(point)).sort((a, b) => a.kbps - b.kbps);
}

describe('the convex hull', () => {
  it('is that of all pairs, on 500 sets of points', () => {
    const { next: random } = seeded(7);
    for (let run = 0; run < 500; run++) {
      const count = 1 + Math.floor(random() * 30);
      const points = Array.from({ length: count }, () => ({
        kbps: 50 + 5000 * random() ** 2,
        quality: 100 * random(),
      }));
      expect(convexHull(points)).toEqual(bruteForce(points));
    }
  });

  it('has corners only: neither what lies on a line between others nor what costs the same', () => {
    const at = (kbps: number, quality: number) => ({ kbps, quality });
    expect(convexHull([at(1, 1), at(2, 2), at(3, 3)])).toEqual([at(1, 1), at(3, 3)]);
    expect(convexHull([at(1, 1), at(1, 2), at(2, 2)])).toEqual([at(1, 2)]);
    expect(convexHull([])).toEqual([]);
  });
});

describe('rising curves', () => {
  const line = (low: number, high: number, quality: (log: number) => number) =>
    risingCurve(
      Array.from({ length: 9 }, (_, i) => {
        const kbps = Math.exp(Math.log(low) + ((Math.log(high) - Math.log(low)) * i) / 8);
        return { kbps, quality: quality(Math.log(kbps)), value: 40 - i };
      }),
    ) as RisingCurve;

  it('pass over what a cheaper point reaches, and need two points', () => {
    expect(risingCurve([{ kbps: 100, quality: 50, value: 1 }])).toBeUndefined();
    expect(
      risingCurve([
        { kbps: 100, quality: 50, value: 2 },
        { kbps: 200, quality: 50, value: 1 },
      ]),
    ).toBeUndefined();
    const curve = risingCurve([
      { kbps: 100, quality: 50, value: 30 },
      { kbps: 150, quality: 45, value: 29 },
      { kbps: 200, quality: 60, value: 28 },
    ]) as RisingCurve;
    expect(curve.qualityAt(100)).toBe(50);
    expect(curve.qualityAt(200)).toBe(60);
    expect(curve.valueAt(200)).toBe(28);
    expect(curve.kbpsAt(curve.qualityAt(140))).toBeCloseTo(140, 9);
  });

  it('take over from each other where they cross', () => {
    const small = line(50, 800, (log) => 20 + 8 * log);
    const large = line(200, 4000, (log) => -10 + 13 * log);
    const [first, second, ...more] = takeovers([
      ['large', large],
      ['small', small],
    ]);
    expect(first).toMatchObject({ name: 'small', kbps: expect.closeTo(50, 6) });
    expect(second).toMatchObject({ name: 'large', kbps: expect.closeTo(Math.exp(6), 6) });
    expect(more).toEqual([]);
    const curves = [['small', small] as const, ['large', large] as const];
    expect(bestAt(curves, 300)?.name).toBe('small');
    expect(bestAt(curves, 500)?.name).toBe('large');
    expect(bestAt(curves, 10)).toBeUndefined();
    expect(cheapestAt(curves, 20 + 8 * 5)?.kbps).toBeCloseTo(Math.exp(5), 6);
    expect(cheapestAt(curves, 99)).toBeUndefined();
  });
});
