/**
 * @module test/unit/metrics/xpsnr
 * XPSNR's last step, from weighted errors to decibels per frame and of the sequence; the order of the difference in time
 * by the frame rate; and that it is measured from the first frame on.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ScoredFormat } from '../../../src/core/colour.js';
import { compileCore } from '../../../src/core/compile.js';
import { wasmMeasurers } from '../../../src/engine/backends/core/extractor.js';
import { callsOf } from '../../../src/engine/backends/pairs.js';
import { doubles } from '../../../src/metrics/metric.js';
import { finish, planOf, videoFormat } from '../../support/finish.js';
import { runMetric } from '../../support/metric.js';
import { seeded } from '../../support/random.js';

const format = videoFormat(100, 50);
/** Of a plane: samples times the square of the peak. */
const [LUMA, CHROMA] = [5000 * 255 ** 2, 1250 * 255 ** 2];
const decibels = (energy: number, error: number) => 10 * Math.log10(energy / error);

describe('values', () => {
  it('are those of the planes, the least, and 4:1:1 of them', () => {
    const { frames, series } = finish(planOf(['xpsnr'], format), [[5000, 100, 90]]);
    expect(frames).toHaveLength(1);
    const [y, u, v] = [decibels(LUMA, 5000), decibels(CHROMA, 100), decibels(CHROMA, 90)];
    expect(series('xpsnr_y')[0]).toBeCloseTo(y, 12);
    expect(series('xpsnr_u')[0]).toBeCloseTo(u, 12);
    expect(series('xpsnr_v')[0]).toBeCloseTo(v, 12);
    expect(series('xpsnr_min')[0]).toBeCloseTo(y, 12);
    expect(series('xpsnr_weighted')[0]).toBeCloseTo((4 * y + u + v) / 6, 12);
  });

  it('of the sequence are of the mean root', () => {
    const { aggregates } = finish(planOf(['xpsnr'], format), [
      [400, 16, 9],
      [100, 36, 9],
    ]);
    // Roots 20 and 10, 4 and 6, 3 and 3.
    const [y, u, v] = [decibels(LUMA, 225), decibels(CHROMA, 25), decibels(CHROMA, 9)];
    const expected = { y, u, v, min: Math.min(y, u, v), weighted: (4 * y + u + v) / 6 };
    for (const [name, value] of Object.entries(expected))
      expect(aggregates[`sequence_xpsnr_${name}`], name).toBeCloseTo(value, 12);
  });

  it('of identical planes are a cap: half an error, rounded up', () => {
    const { series, aggregates } = finish(planOf(['xpsnr'], videoFormat(1920, 1080)), [[0, 0, 0]]);
    expect(series('xpsnr_y')).toEqual([115]);
    expect(series('xpsnr_u')).toEqual([109]);
    expect(series('xpsnr_weighted')[0]).toBeCloseTo(113, 12);
    expect(aggregates.sequence_xpsnr_y).toBe(115);
  });

  it('of a sequence with fewer roots than frames are the mean in decibels', () => {
    const { aggregates } = finish(planOf(['xpsnr'], format), [
      [1, 4, 1],
      [0, 4, 1],
    ]);
    expect(aggregates.sequence_xpsnr_y).toBeCloseTo((decibels(LUMA, 1) + 89) / 2, 12);
    expect(aggregates.sequence_xpsnr_u).toBeCloseTo(decibels(CHROMA, 4), 12);
    expect(aggregates.sequence_xpsnr_v).toBeCloseTo(decibels(CHROMA, 1), 12);
  });

  it('of 4:0:0 are of luma alone', () => {
    const plan = planOf(['xpsnr'], { ...format, chroma: '400' });
    expect(plan.names).toEqual(['xpsnr_y', 'xpsnr_min', 'xpsnr_weighted']);
    expect(plan.aggregateNames).toEqual(['y', 'min', 'weighted'].map((name) => `sequence_xpsnr_${name}`));
    const { frames, aggregates } = finish(plan, [[5000, 0, 0]]);
    const y = decibels(LUMA, 5000);
    for (const value of [...(frames[0]?.values ?? []), ...Object.values(aggregates)])
      expect(value).toBeCloseTo(y, 12);
  });

  it('take the peak of their depth', () => {
    const { series } = finish(planOf(['xpsnr'], { ...format, bitDepth: 10 }), [[5000, 100, 90]]);
    expect(series('xpsnr_y')[0]).toBeCloseTo(decibels(5000 * 1023 ** 2, 5000), 12);
  });
});

describe('the difference in time', () => {
  it.each([
    ['xpsnr', undefined, 1],
    ['xpsnr', { num: 25, den: 1 }, 1],
    ['xpsnr', { num: 32_000, den: 1001 }, 1],
    ['xpsnr', { num: 32, den: 1 }, 2],
    ['xpsnr', { num: 60_000, den: 1001 }, 2],
    ['xpsnr', { num: 25, den: 0 }, 1],
    ['xpsnr=fps=50', { num: 25, den: 1 }, 2],
    ['xpsnr=fps=24', { num: 50, den: 1 }, 1],
    ['xpsnr=fps=31.97', undefined, 1],
  ])('%s at %j is of order %i', (feature, frameRate, order) => {
    const scored: ScoredFormat = { ...format, ...(frameRate && { frameRate }) };
    const { calls } = planOf([feature], scored).extraction;
    expect(calls.map(({ parameters, back }) => [parameters, back])).toEqual([[doubles([order]), order]]);
  });

  it('is measured once for rates of one order', () => {
    const plan = planOf(['xpsnr', 'xpsnr=fps=30', 'xpsnr=fps=60'], { ...format });
    expect(plan.extraction.calls).toHaveLength(2);
    expect(plan.names.filter((name) => name.startsWith('xpsnr_y'))).toEqual([
      'xpsnr_y',
      'xpsnr_y_fps_30',
      'xpsnr_y_fps_60',
    ]);
  });
});

describe('missing pictures before the first', () => {
  const { extraction } = planOf(['xpsnr=fps=50', 'motion', 'motion=motion_five_frame_window=true'], format);

  it('skip calls, unless these are padded', () => {
    const measured = (index: number, first = 0) =>
      callsOf(extraction, index, true, (earlier) => earlier >= first).map(
        ([, { metric, back }]) => `${metric} ${back}`,
      );
    const calls = [measured(0), measured(1), measured(2)];
    expect(calls).toEqual([['xpsnr 2'], ['xpsnr 2', 'motion 1'], ['xpsnr 2', 'motion 1', 'motion 2']]);
    // What is missing later on was lost, and is not black.
    expect(measured(7, 6)).toEqual(['motion 1']);
  });

  it('count as black for xpsnr', async () => {
    const core = await compileCore(readFileSync(new URL('../../../wasm/anyvmaf.wasm', import.meta.url)));
    const measurer = wasmMeasurers(core, 'simd128').open(planOf(['xpsnr=fps=50'], format).extraction);
    const sizes = [5000, 1250, 1250];
    const made = [0, 1, 2, 3, 4, 5].map((seed) => sizes.map((n) => seeded(seed).bytes(n)));
    const black = sizes.map((n) => new Uint8Array(n));
    const records = [0, 1, 2].map((index) => {
      const slot = measurer.slot(index);
      for (const [side, planes] of [
        [slot.reference, made[index]],
        [slot.distorted, made[index + 3]],
      ] as const)
        for (const [i, plane] of [side.y, side.cb, side.cr].entries()) plane?.set(planes?.[i] ?? []);
      const record = new Float64Array(measurer.layout.length);
      measurer.measure(slot, record, true);
      return [...record];
    });
    measurer.close();
    const at = (n: number) => made[n] ?? black;
    const expected = [0, 1, 2].map((n) => {
      const history = { earlierReference: at(n - 1), secondEarlierReference: at(n - 2) };
      return runMetric(
        'simd128',
        format,
        { reference: at(n), distorted: at(n + 3), ...history },
        'xpsnr',
        [2],
      );
    });
    expect(records).toEqual(expected);
  });
});
