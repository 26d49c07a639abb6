/**
 * @module test/unit/cli/plain-result
 * The lines that scripts read, and the gate.
 */
import { describe, expect, test } from 'vitest';
import { modelsBelow, objection, plainResult } from '../../../src/cli/plain-result.js';
import type { PooledMetric, Report, ReportModel } from '../../../src/report/types.js';

const pooled = (mean: number): PooledMetric => ({ min: mean, max: mean, mean, harmonic_mean: mean });
const model = (name: string, source: string): ReportModel => ({
  name,
  source,
  features: [],
  options: { disableClip: false, enableTransform: false },
});

function report(means: Record<string, number | null>, models: readonly ReportModel[]): Report {
  return {
    version: '0',
    fps: 1,
    frames: [],
    pooled_metrics: Object.fromEntries(
      Object.entries(means).map(([name, mean]) => [name, mean === null ? {} : pooled(mean)]),
    ),
    aggregate_metrics: {},
    reference: {
      name: 'a',
      container: 'y4m',
      width: 1,
      height: 1,
      bitDepth: 8,
      chroma: '420',
      frameCount: 1,
      skipped: 0,
    },
    distorted: {
      name: 'b',
      container: 'y4m',
      width: 1,
      height: 1,
      bitDepth: 8,
      chroma: '420',
      frameCount: 1,
      skipped: 0,
    },
    models,
    metrics: Object.keys(means),
    distribution: {},
    compat: 'libvmaf-3.2',
    backend_requested: 'auto',
    backend_used: 'wasm',
    implementation: 'simd128',
    threads: 1,
    subsample: 1,
    frameCount: 1,
    warnings: [],
  };
}

describe('plain result', () => {
  test('one line per model, under the model it is, not the name of its score', () => {
    const models = [model('vmaf', 'vmaf_v0.6.1'), model('mine', '/models/my.json')];
    const text = plainResult(
      report({ integer_adm2: 0.9, vmaf: 82.56422654900535, mine: 3 }, models),
      'legacy',
    );
    expect(text).toBe('vmaf_v0.6.1: 82.564227\n/models/my.json: 3.000000\n');
  });

  test('precision is heeded', () => {
    expect(plainResult(report({ vmaf: 82.56422654900535 }, [model('vmaf', 'vmaf_v0.6.1')]), 17)).toBe(
      'vmaf_v0.6.1: 82.564226549005355\n', // C's %.17g
    );
  });

  test('a collection adds its confidence interval as the vmaf tool does', () => {
    const collection = {
      members: 20,
      bagging: 'x_bagging',
      stddev: 'x_stddev',
      ciLow: 'x_lo',
      ciHigh: 'x_hi',
    };
    const text = plainResult(
      report({ x: 81.5, x_bagging: 80.79002, x_stddev: 1.622961, x_lo: 78.34105, x_hi: 83.653128 }, [
        { ...model('x', 'vmaf_b_v0.6.3'), collection },
      ]),
      'legacy',
    );
    expect(text).toBe(
      'vmaf_b_v0.6.3: 81.500000\n' +
        'vmaf_b_v0.6.3: 80.790020, ci.p95: [78.341050, 83.653128], stddev: 1.622961\n',
    );
  });

  test('without models it is the mean of every metric', () => {
    expect(plainResult(report({ psnr_y: 34.5, psnr_cb: null }, []), 'legacy')).toBe(
      'psnr_y: 34.500000\npsnr_cb: -nan\n',
    );
  });
});

test('the gate opens at the limit and not below; no mean does not pass', () => {
  const models = [model('a', 'A'), model('b', 'B'), model('c', 'C')];
  const below = modelsBelow(report({ a: 90, b: 89.999999, c: null }, models), 90);
  expect(below.map(({ model: { source } }) => source)).toEqual(['B', 'C']);
});

test('an objection to a score fails the gate for a wrong pair only, and not where that is accepted', () => {
  const warned = (code: 'offset' | 'size') => ({
    preflight: [{ code, severity: 'warning', message: 'About\nit.' }] as const,
    warnings: [],
  });
  expect(objection({ warnings: [] }, '', false)).toBeUndefined();
  expect(objection(warned('offset'), ' for b.mp4', false)).toEqual({
    message:
      '--fail-under fails because the score for b.mp4 cannot be trusted: [offset] About\\x0ait; ' +
      '--accept-untrusted judges it all the same',
    fails: true,
  });
  expect(objection(warned('offset'), '', true)?.fails).toBe(false);
  expect(objection(warned('size'), '', false)).toEqual({
    message: '--fail-under judges a score that is doubtful: [size] About\\x0ait.',
    fails: false,
  });
});
