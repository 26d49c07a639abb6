/**
 * @module test/unit/models/transform
 * Score transforms and clips, by hand calculation.
 */
import { describe, expect, it } from 'vitest';
import { applyTransform, clip } from '../../../src/models/transform.js';
import type { ScoreTransform } from '../../../src/models/types.js';

const transform = (changes: Partial<ScoreTransform>): ScoreTransform => ({
  enabled: true,
  outLteIn: false,
  outGteIn: false,
  ...changes,
});

describe('applyTransform', () => {
  it('leaves the score without anything to do', () => {
    expect(applyTransform(transform({}), 42)).toBe(42);
  });

  it('sums the terms that are there', () => {
    expect(applyTransform(transform({ p0: 1, p1: 2, p2: 3 }), 10)).toBe(1 + 20 + 300);
    expect(applyTransform(transform({ p2: 0.5 }), 4)).toBe(8);
    expect(applyTransform(transform({ p0: 7 }), 4)).toBe(7);
  });

  it('bounds the result by the input', () => {
    expect(applyTransform(transform({ p1: 0.5, outGteIn: true }), 10)).toBe(10);
    expect(applyTransform(transform({ p1: 2, outGteIn: true }), 10)).toBe(20);
    expect(applyTransform(transform({ p1: 2, outLteIn: true }), 10)).toBe(10);
    expect(applyTransform(transform({ p1: 0.5, outLteIn: true }), 10)).toBe(5);
  });

  const knots = [
    [10, 10],
    [20, 40],
    [30, 40],
    [40, 60],
  ] as const;

  it.each([
    [10, 10],
    [15, 25],
    [20, 40],
    [25, 40],
    [35, 50],
    // Beyond the ends the end segments go on.
    [0, -20],
    [50, 80],
  ])('follows the curve at %d', (x, y) => {
    expect(applyTransform(transform({ knots }), x)).toBeCloseTo(y, 12);
  });

  it('starts a segment at 0 without dividing by its start', () => {
    expect(
      applyTransform(
        transform({
          knots: [
            [0, 5],
            [4, 7],
          ],
        }),
        2,
      ),
    ).toBe(6);
  });

  it('ends where a segment does not rise', () => {
    const falling = [
      [0, 0],
      [10, 10],
      [20, 5],
      [30, 30],
    ] as const;
    expect(applyTransform(transform({ knots: falling }), 5)).toBe(5);
    expect(applyTransform(transform({ knots: falling }), 15)).toBe(0);
  });

  it('ignores a single knot', () => {
    expect(applyTransform(transform({ knots: [[0, 5]] }), 2)).toBe(2);
  });
});

describe('clip', () => {
  it('brings into the range', () => {
    expect([-1, 0, 50, 100, 101].map((y) => clip([0, 100], y))).toEqual([0, 0, 50, 100, 100]);
  });
});
