import { describe, expect, it } from 'vitest';
import { doubtOf, type LimitResult } from '../../../src/report/limits.js';
import type { Report } from '../../../src/report/types.js';

const sampled: Pick<Report, 'sampling'> = {
  sampling: {
    ...{ runs: 8, run_frames: 100, frames: 800, total: 9000, seed: 1, level: 0.95, starts: [0] },
    intervals: [{ metric: 'vmaf', statistic: 'mean', low: 91, high: 93 }],
  },
};
const result = (overrides: Partial<LimitResult>): LimitResult => ({
  ...{ name: 'vmaf.mean', metric: 'vmaf', value: 92, relation: '>=', bound: 90, passed: true },
  ...overrides,
});

describe('a limit on a sampled video', () => {
  it('is beyond doubt where the whole interval passes, and where the samples fail', () => {
    expect(doubtOf(sampled, result({}))).toBeUndefined();
    expect(doubtOf(sampled, result({ relation: '<=', bound: 93 }))).toBeUndefined();
    expect(doubtOf(sampled, result({ bound: 95, passed: false }))).toBeUndefined();
    expect(doubtOf({}, result({ bound: 92 }))).toBeUndefined();
  });

  it('is in doubt where the interval reaches beyond it', () => {
    expect(doubtOf(sampled, result({ bound: 91.5 }))).toEqual({ low: 91, high: 93 });
    expect(doubtOf(sampled, result({ relation: '<=', bound: 92.5 }))).toEqual({ low: 91, high: 93 });
  });

  it('is not known for a statistic without an interval', () => {
    expect(doubtOf(sampled, result({ name: 'vmaf.min' }))).toBeNull();
  });
});
