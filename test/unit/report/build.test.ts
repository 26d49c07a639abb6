import { describe, expect, it } from 'vitest';
import { buildReport, type ReportParts } from '../../../src/report/build.js';
import { report } from '../../support/report.js';

function parts(overrides: Partial<ReportParts>): ReportParts {
  const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = report();
  return { ...facts, frameNumbers: [], series: [], ...overrides };
}

describe('buildReport', () => {
  it('turns series into frames, pooled values and distributions, in the order of the series', () => {
    const built = buildReport(
      parts({
        frameNumbers: [0, 5],
        series: [
          { name: 'zeta', values: Float64Array.of(1, 3) },
          { name: 'alpha', values: Float64Array.of(4, 4) },
        ],
        aggregates: { apsnr_y: 33 },
        frameCount: 10,
        subsample: 5,
      }),
    );
    expect(built.metrics).toEqual(['zeta', 'alpha']);
    expect(built.frames).toEqual([
      { frameNum: 0, metrics: { zeta: 1, alpha: 4 } },
      { frameNum: 5, metrics: { zeta: 3, alpha: 4 } },
    ]);
    expect(Object.keys(built.frames[0]?.metrics ?? {})).toEqual(['zeta', 'alpha']);
    // 2 / (1/2 + 1/4) - 1 = 5/3.
    expect(built.pooled_metrics.zeta).toEqual({ min: 1, max: 3, mean: 2, harmonic_mean: 2 / 0.75 - 1 });
    expect(built.distribution.zeta?.percentiles.p50).toBe(2);
    expect(built.distribution.zeta?.stddev).toBe(1);
    expect(built.aggregate_metrics).toEqual({ apsnr_y: 33 });
    expect(built).toMatchObject({ frameCount: 10, subsample: 5, compat: 'libvmaf-3.2' });
  });

  it('takes NaN as missing, and leaves such a metric without pooled values', () => {
    const built = buildReport(
      parts({ frameNumbers: [0, 1], series: [{ name: 'a', values: Float64Array.of(Number.NaN, 2) }] }),
    );
    expect(built.frames).toEqual([{ frameNum: 1, metrics: { a: 2 } }]);
    expect(built.pooled_metrics).toEqual({ a: {} });
    expect(built.distribution).toEqual({});
  });

  it('takes NaN as a value where a mask says so', () => {
    const built = buildReport(
      parts({
        frameNumbers: [0, 1],
        series: [{ name: 'a', values: Float64Array.of(Number.NaN, 2), present: Uint8Array.of(1, 1) }],
      }),
    );
    expect(built.frames[0]).toEqual({ frameNum: 0, metrics: { a: Number.NaN } });
    expect(built.pooled_metrics.a).toMatchObject({ mean: Number.NaN });
  });

  it('leaves out what a mask hides', () => {
    const built = buildReport(
      parts({
        frameNumbers: [0, 1],
        series: [{ name: 'a', values: Float64Array.of(1, 2), present: Uint8Array.of(1, 0) }],
      }),
    );
    expect(built.frames).toEqual([{ frameNum: 0, metrics: { a: 1 } }]);
    expect(built.pooled_metrics).toEqual({ a: {} });
  });

  it('of no frames is empty, yet names its metrics', () => {
    const built = buildReport(parts({ series: [{ name: 'a', values: new Float64Array(0) }] }));
    expect(built).toMatchObject({ frames: [], metrics: ['a'], pooled_metrics: { a: {} }, distribution: {} });
  });

  it('keeps a model named __proto__', () => {
    const built = buildReport(
      parts({ frameNumbers: [0], series: [{ name: '__proto__', values: Float64Array.of(9) }] }),
    );
    expect(Object.entries(built.frames[0]?.metrics ?? {})).toEqual([['__proto__', 9]]);
    expect(Object.keys(built.pooled_metrics)).toEqual(['__proto__']);
  });

  it('refuses a series of another length than the list of frames', () => {
    const series = [{ name: 'a', values: Float64Array.of(1, 2, 3) }];
    expect(() => buildReport(parts({ frameNumbers: [0], series }))).toThrow(
      'Metric a has 3 values for 1 frames',
    );
  });
});
