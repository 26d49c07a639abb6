import { describe, expect, it } from 'vitest';
import { type PackedMetric, packFrames, packMetric } from '../../../../src/report/html/pack.js';
import type { FrameMetrics } from '../../../../src/report/types.js';
import { frames } from '../../../support/report.js';

/** Written from the description of the form, not from the page's script. */
function unpack({ low, high, bytes, data }: PackedMetric): number[] {
  const codes = Buffer.from(data, 'base64');
  const top = 2 ** (8 * bytes) - 2;
  return Array.from({ length: codes.length / bytes }, (_, i) => {
    const code = codes.readUIntBE(i * bytes, bytes);
    return code > top ? Number.NaN : low + (code * (high - low)) / top;
  });
}

describe('packMetric', () => {
  it('keeps values of a short run to a ten millionth of their range', () => {
    const values = Array.from({ length: 5000 }, (_, i) => 50 + 50 * Math.sin(i * i));
    const packed = packMetric(frames('vmaf', values), 'vmaf');
    expect(packed.bytes).toBe(3);
    const error = Math.max(...unpack(packed).map((value, i) => Math.abs(value - (values[i] ?? 0))));
    expect(error).toBeLessThan(100 * 1e-7);
  });

  it('takes two bytes a value where there are very many', () => {
    const values = Array.from({ length: 60_000 }, (_, i) => Math.sin(i));
    const packed = packMetric(frames('x', values), 'x');
    expect(packed.data).toHaveLength(160_000);
    const error = Math.max(...unpack(packed).map((value, i) => Math.abs(value - (values[i] ?? 0))));
    expect(error).toBeLessThan(2e-5);
  });

  it('keeps gaps, and what is not finite is one', () => {
    const list: FrameMetrics[] = [
      ...frames('x', [1, Number.NaN, Number.POSITIVE_INFINITY]),
      { frameNum: 3, metrics: {} },
      { frameNum: 4, metrics: { x: 3 } },
    ];
    expect(unpack(packMetric(list, 'x'))).toEqual([1, Number.NaN, Number.NaN, Number.NaN, 3]);
  });

  it('keeps a constant and an empty series', () => {
    expect(unpack(packMetric(frames('x', [7, 7]), 'x'))).toEqual([7, 7]);
    expect(unpack(packMetric([], 'x'))).toEqual([]);
  });
});

describe('packFrames', () => {
  const numbered = (numbers: number[]) => numbers.map((frameNum) => ({ frameNum, metrics: {} }));

  it('states evenly spaced numbers by first, step and count', () => {
    expect(packFrames(numbered([10, 15, 20]))).toEqual({ first: 10, step: 5, count: 3 });
    expect(packFrames(numbered([4]))).toEqual({ first: 4, step: 1, count: 1 });
    expect(packFrames([])).toEqual({ first: 0, step: 1, count: 0 });
  });

  it('states others by their distances', () => {
    expect(packFrames(numbered([0, 1, 5]))).toEqual({ gaps: [1, 1, 4] });
  });
});
