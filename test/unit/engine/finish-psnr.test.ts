/**
 * @module test/unit/engine/finish-psnr
 * PSNR in decibels from sums of squared errors, against what libvmaf 3.2.0 gave for natural clips.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { finish, planOf, videoFormat } from '../../support/finish.js';

/** A record from the planes' mean squared errors. */
function record(format: VideoFormat, ...errors: readonly number[]): number[] {
  const chroma = (format.width >> 1) * (format.height >> 1);
  return errors.flatMap((mse, plane) => {
    const sse = Math.round(mse * (plane === 0 ? format.width * format.height : chroma));
    return [Math.floor(sse / 2 ** 32), sse % 2 ** 32];
  });
}

const TEN_BIT = videoFormat(576, 324, { bitDepth: 10 });
const MSE_10 = [
  [347.6341735253772, 124.22290809327846, 76.2482853223594],
  [674.3379629629629, 131.54012345679013, 77.90363511659808],
  [827.5953360768176, 136.27469135802468, 79.66838134430726],
];

describe('psnr', () => {
  const records = MSE_10.map((errors) => record(TEN_BIT, ...errors));

  it('of a 10-bit clip, with mean squared errors and all frames together', () => {
    const finished = finish(planOf(['psnr=enable_mse=true:enable_apsnr=true'], TEN_BIT), records);
    expect(finished.series('psnr_y')).toEqual([34.786288050447055, 31.908736577384285, 31.01933232895352]);
    expect(finished.series('psnr_cb')).toEqual([39.255495754395966, 39.00693022294442, 38.85336060336096]);
    expect(finished.series('psnr_cr')).toEqual([41.37521185745308, 41.28193544357066, 41.18465273911028]);
    expect(finished.series('mse_y')).toEqual(MSE_10.map(([y]) => y));
    expect(finished.series('mse_cr')).toEqual(MSE_10.map(([, , cr]) => cr));
    expect(finished.aggregates).toEqual({
      apsnr_y: 32.298023430601646,
      apsnr_cb: 39.03544664147504,
      apsnr_cr: 41.2799030543937,
    });
  });

  it('with a reduced peak', () => {
    const plan = planOf(['psnr=reduced_hbd_peak=true:min_sse=0.5:enable_apsnr=true'], TEN_BIT);
    const finished = finish(plan, records);
    expect(finished.series('psnr_y')).toEqual([34.7607788114422, 31.88322733837943, 30.99382308994867]);
    expect(finished.aggregates.apsnr_y).toBe(32.272514191596784);
  });

  it('without chroma, whose aggregate is minus infinity all the same', () => {
    const plan = planOf(['psnr=enable_chroma=false:enable_apsnr=true'], TEN_BIT);
    expect(plan.names).toEqual(['psnr_y']);
    expect(plan.extraction.calls).toHaveLength(1);
    const { aggregates } = finish(
      plan,
      records.map((planes) => planes.slice(0, 2)),
    );
    expect(aggregates).toEqual({
      apsnr_y: 32.298023430601646,
      apsnr_cb: Number.NEGATIVE_INFINITY,
      apsnr_cr: Number.NEGATIVE_INFINITY,
    });
  });

  it('has no chroma in 4:0:0', () => {
    const plan = planOf(['psnr=enable_apsnr=true'], videoFormat(64, 48, { chroma: '400' }));
    expect(plan.names).toEqual(['psnr_y']);
    expect(plan.extraction.calls).toHaveLength(1);
    expect(finish(plan, [[0, 5000]]).aggregates.apsnr_cb).toBe(Number.NEGATIVE_INFINITY);
  });

  it('of identical planes is the cap: 6 per bit and 12, or what min_sse gives', () => {
    const size = videoFormat(352, 288);
    const same = record(size, 237.01530934343435, 0, 0);
    const plain = finish(planOf(['psnr=enable_apsnr=true'], size), [same]);
    expect(plain.series('psnr_y')).toEqual([24.383039619099527]);
    expect(plain.series('psnr_cb')).toEqual([60]);
    expect(plain.aggregates).toEqual({ apsnr_y: 24.383039619099527, apsnr_cb: 96, apsnr_cr: 96 });
    expect(finish(planOf(['psnr=min_sse=0.5'], size), [same]).series('psnr_cb')).toEqual([96]);
    expect(
      finish(planOf(['psnr'], videoFormat(64, 64, { bitDepth: 16 })), [[0, 0, 0, 0, 0, 0]]).series('psnr_y'),
    ).toEqual([108]);
  });

  it('of an 8-bit frame, where frame and aggregate round differently', () => {
    const size = videoFormat(352, 288);
    const finished = finish(planOf(['psnr=enable_apsnr=true'], size), [
      record(size, 14.625246606691919, 7.331123737373737, 4.972616792929293),
    ]);
    expect(finished.series('psnr_y')).toEqual([36.47977163103603]);
    expect(finished.aggregates.apsnr_y).toBe(36.47977163103604);
  });

  it('adds errors exactly beyond 2^53', () => {
    // 16 bit, all samples wrong by 65535, 16 frames of 2^24 samples: the sum is 65535^2 * 2^28 > 2^59.
    const size = videoFormat(4096, 4096, { bitDepth: 16, chroma: '400' });
    const sse = 65535n * 65535n * 2n ** 24n;
    const frame = [Number(sse >> 32n), Number(sse & 0xffffffffn)];
    const finished = finish(
      planOf(['psnr=enable_apsnr=true:enable_mse=true'], size),
      Array.from({ length: 16 }, () => frame),
    );
    expect(finished.series('mse_y')[0]).toBe(65535 * 65535);
    expect(finished.series('psnr_y')[0]).toBe(0);
    expect(finished.aggregates.apsnr_y).toBe(0);
  });
});
