/**
 * @module test/unit/web/results
 * What the page's charts and tables are made of: columns that grow, their statistics, how lines are thinned, and words.
 */
import { describe, expect, it } from 'vitest';
import { pool } from '../../../src/report/pool.js';
import {
  bitrateText,
  scoreText,
  shortName,
  shortText,
  sizeText,
  thinned,
  ticks,
  timeText,
} from '../../../src/report/view.js';
import { Columns } from '../../../web/src/results/columns.js';
import { seeded } from '../../support/random.js';

function columnsOf(values: ArrayLike<number>, step = 1): Columns {
  const columns = new Columns();
  for (let i = 0; i < values.length; i++)
    columns.add({ frameNum: i * step, metrics: { vmaf: values[i] ?? 0 } });
  return columns;
}

describe('columns', () => {
  it('keep every value while they grow', () => {
    const columns = columnsOf(
      Float64Array.from({ length: 1000 }, (_, i) => i / 7),
      3,
    );
    expect(columns.length).toBe(1000);
    expect(columns.last).toBe(2997);
    expect(columns.at('vmaf', 2997)).toBe(999 / 7);
    expect(columns.at('vmaf', 1)).toBeNaN();
    expect(columns.at('psnr', 0)).toBeNaN();
    expect(columns.extent('vmaf')).toEqual([0, 999 / 7]);
  });

  it('a metric that comes late, or is missing in between, is NaN where it is not', () => {
    const columns = new Columns();
    columns.add({ frameNum: 0, metrics: { a: 1 } });
    columns.add({ frameNum: 4, metrics: { a: 2, b: 5 } });
    columns.add({ frameNum: 5, metrics: { b: Number.POSITIVE_INFINITY } });
    expect([...(columns.values('a') ?? [])]).toEqual([1, 2, Number.NaN]);
    expect([...(columns.values('b') ?? [])]).toEqual([Number.NaN, 5, Number.POSITIVE_INFINITY]);
    expect(columns.extent('b')).toEqual([5, 5]);
    expect(columns.statistics('a')).toBeUndefined();
  });

  it('have statistics of the frames there were, when a percentile is asked for after more came', () => {
    const columns = columnsOf([10, 30, 20]);
    const before = columns.statistics('vmaf');
    for (let frameNum = 3; frameNum < 400; frameNum++) columns.add({ frameNum, metrics: { vmaf: 90 } });
    expect(before?.percentile(50)).toBe(20);
    expect(before).toMatchObject({ min: 10, max: 30, mean: 20 });
    expect(columns.statistics('vmaf')).toMatchObject({ min: 10, max: 90 });
  });

  it('have libvmaf’s statistics', () => {
    const values = Float64Array.of(80, 90, 100, 70);
    const statistics = columnsOf(values).statistics('vmaf');
    // 4 / (1/81 + 1/91 + 1/101 + 1/71) - 1, by hand.
    expect(statistics?.harmonic_mean).toBeCloseTo(83.530519, 5);
    expect(statistics).toMatchObject({ ...pool(values), min: 70, max: 100, mean: 85 });
    expect(statistics?.stddev).toBeCloseTo(Math.sqrt(125), 12);
    expect(statistics?.percentile(50)).toBe(85);
    expect(statistics?.percentile(1)).toBeCloseTo(70.3, 12);
  });
});

describe('thinning', () => {
  const line = (columns: Columns) => ({ frames: columns.numbers, values: columns.values('vmaf') ?? [] });

  it('leaves few frames as they are', () => {
    expect(thinned(line(columnsOf([1, 2, 3], 2)), [0, 10], 100)).toEqual({ x: [0, 2, 4], y: [1, 2, 3] });
    expect(thinned(line(columnsOf([4, 5], 3)), [0, 10], 100)).toEqual({ x: [0, 3], y: [4, 5] });
  });

  it('loses no dip and no peak, wherever they are', () => {
    const { seed, next } = seeded(20_240_601);
    const values = Float64Array.from({ length: 50_000 }, () => 60 + 20 * next());
    for (const [at, value] of [
      [0, 3],
      [17_123, 1],
      [49_999, 2],
      [30_000, 99],
    ] as const)
      values[at] = value;
    const { x, y: row } = thinned(line(columnsOf(values)), [0, 49_999], 400);
    expect(x.length, `seed ${seed}`).toBe(800);
    for (const value of [1, 2, 3, 99]) expect(row, `seed ${seed}`).toContain(value);
    const at = x[row.indexOf(1)] ?? 0;
    expect(Math.abs(at - 17_123)).toBeLessThan(50_000 / 400);
  });

  it('a part reaches to the frames just outside', () => {
    const { x } = thinned(line(columnsOf([1, 2, 3, 4, 5, 6])), [1.5, 3.5], 100);
    expect(x).toEqual([1, 2, 3, 4, 5]);
  });

  it('values that are not finite are gaps', () => {
    const { y } = thinned(line(columnsOf([1, Number.NaN, 3])), [0, 2], 100);
    expect(y).toEqual([1, Number.NaN, 3]);
  });
});

describe('words', () => {
  it('a score is never rounded up to a round 100', () => {
    expect([
      scoreText(99.996),
      scoreText(100),
      scoreText(93.705),
      scoreText(undefined),
      scoreText(Number.NaN),
    ]).toEqual(['99.99', '100.00', '93.70', '–', '–']);
  });

  it.each([
    [timeText(0), '0:00.00'],
    [timeText(59.999), '1:00.00'],
    [timeText(3725.4, 1), '1:02:05.4'],
    [timeText(75, 0), '1:15'],
    [bitrateText(4_213_000), '4.21 Mb/s'],
    [bitrateText(999_600), '1.00 Mb/s'],
    [bitrateText(0), undefined],
    [sizeText(999), '999 B'],
    [sizeText(39_000_000), '39.0 MB'],
    [shortText(0.123456), '0.1235'],
    [shortText(1234567.8), '1.2346e+6'],
    [shortName('a-very-long-name-crf23.mp4', 16), 'a-ver…-crf23.mp4'],
    [shortName('short.mp4', 16), 'short.mp4'],
  ])('%j', (text, expected) => {
    expect(text).toBe(expected);
  });

  it('ticks are round and within the range', () => {
    expect(ticks(22.3, 23.1, 6)).toEqual([22.4, 22.6, 22.8, 23]);
    expect(ticks(0, 100, 5)).toEqual([0, 20, 40, 60, 80, 100]);
  });
});
