import { describe, expect, it } from 'vitest';
import { histogram } from '../../../../src/report/view/distribution.js';
import { extentOf, roundStep, ticks } from '../../../../src/report/view/scales.js';
import { linePath } from '../../../../src/report/view/thin.js';

const points = (path: string) =>
  [...path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

describe('linePath', () => {
  /** A value at each frame from 0 on. */
  const line = (values: ArrayLike<number>) => ({ frames: Array.from(values, (_, i) => i), values });

  it('goes through every value where there is room', () => {
    expect(linePath(line([0, 10, 5]), [0, 2], { low: 0, high: 10 }, 100, 50)).toBe('M0 50L50 0L100 25');
  });

  it('loses no dip of one frame among 200,000, and stays short', () => {
    const values = new Float64Array(200_000).fill(90);
    values[123_457] = 3;
    const path = linePath(line(values), [0, 199_999], { low: 0, high: 100 }, 900, 100);
    const lowest = points(path).filter(([, y]) => y === 97);
    expect(lowest).toEqual([[555.5, 97]]);
    expect(path.length).toBeLessThan(20_000);
  });

  it('lifts the pen over gaps', () => {
    expect(linePath(line([1, Number.NaN, 1]), [0, 2], { low: 0, high: 1 }, 10, 10)).toBe('M0 0M10 0');
  });
});

describe('histogram', () => {
  it('counts in bins with round edges, the greatest value in the last', () => {
    const { low, high, step, counts } = histogram(
      [80.2, 81, 81.9, 100, Number.NaN],
      { low: 80.2, high: 100 },
      20,
    );
    expect([low, high, step]).toEqual([80, 100, 1]);
    expect([counts[0], counts[1], counts[19]]).toEqual([1, 2, 1]);
    expect(counts.reduce((a, b) => a + b)).toBe(4);
  });

  it('counts values of which the span is more than a number can be', () => {
    const { counts } = histogram([-1e308, 0, 0, 1e308], { low: -1e308, high: 1e308 }, 42);
    expect(counts.length).toBeLessThan(100);
    expect(counts.filter((count) => count > 0)).toEqual([1, 2, 1]);
    expect(ticks(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 6)).toEqual([]);
  });

  it('has one bin for a single value', () => {
    const { counts } = histogram([5, 5], { low: 5, high: 5 }, 40);
    expect(counts.reduce((a, b) => a + b)).toBe(2);
  });
});

it('extentOf leaves out what is not finite', () => {
  expect(
    extentOf([
      [1, Number.NaN],
      [-2, Number.POSITIVE_INFINITY],
    ]),
  ).toEqual({ low: -2, high: 1 });
  expect(extentOf([[Number.NaN]])).toBeUndefined();
});

it.each([
  [10, 5, 2],
  [100, 3, 50],
  [0.9, 10, 0.1],
  [0.07, 4, 0.02],
])('a span of %f in at most %i parts has steps of %f', (span, parts, step) => {
  expect(roundStep(span, parts)).toBeCloseTo(step, 12);
});

it('ticks are multiples of a round step within the range', () => {
  expect(ticks(41, 99, 6)).toEqual([50, 60, 70, 80, 90]);
  expect(ticks(0, 0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
});
