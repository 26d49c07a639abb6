/**
 * @module test/unit/engine/finish
 * VIF and ADM from numerators and denominators that libvmaf's stages gave, and the order and moment of what comes out.
 */
import { describe, expect, it } from 'vitest';
import { finish, planOf, videoFormat } from '../../support/finish.js';

const f32 = Math.fround;

/** Per-scale floats of the specification's 64x64 test picture, frame 0, and the features that libvmaf makes of them. */
const T1 = {
  vif: [17033.0117, 7395.59766, 1953.89746, 504.75293, 37056.4648, 8817.21875, 2197.51514, 560.630371].map(
    f32,
  ),
  adm: [
    ...[11.5604782, 16.814743, 32.5684433, 61.3651123],
    ...[14.5647202, 18.1233864, 34.6418991, 63.0561752],
    ...[0.626480699, 0.090752162, 0, 0],
  ].map(f32),
};
const SAW = {
  vif: [
    ...[12752.279296875, 6490.97607421875, 1713.6181640625, 432.36474609375],
    ...[43032.5625, 9652.166015625, 2317.52783203125, 554.63232421875],
  ],
  adm: [
    ...[20.844964981079102, 39.815170288085938, 69.055862426757812, 105.22236633300781],
    ...[31.051837921142578, 44.439014434814453, 75.427536010742188, 109.66448974609375],
    ...[0, 0, 0, 0],
  ],
};
const format = videoFormat(64, 64);

/** Features of a single frame by name. */
function single(
  features: readonly string[],
  record: readonly number[],
  size = format,
): Record<string, number> {
  const plan = planOf(features, size);
  const { frames } = finish(plan, [record]);
  return Object.fromEntries(plan.names.map((name, i) => [name, frames[0]?.values[i] ?? Number.NaN]));
}

describe('vif', () => {
  it('divides floats in float', () => {
    expect(single(['vif'], T1.vif)).toEqual({
      integer_vif_scale0: 0.45965021848678589,
      integer_vif_scale1: 0.8387676477432251,
      integer_vif_scale2: 0.88913947343826294,
      integer_vif_scale3: 0.90033102035522461,
    });
  });

  it('adds totals with debug', () => {
    expect(single(['vif=debug=true'], SAW.vif)).toMatchObject({
      integer_vif_scale0: 0.2963402271270752,
      integer_vif_scale3: 0.77955204248428345,
      integer_vif: 0.38499705063717943,
      integer_vif_num: 21389.23828125,
      integer_vif_den: 55556.888671875,
      integer_vif_num_scale0: 12752.279296875,
      integer_vif_den_scale3: 554.63232421875,
    });
  });

  it('leaves scale 0 out of totals when it is skipped, whatever the record holds', () => {
    const values = single(['vif=debug=true:vif_skip_scale0=true'], SAW.vif);
    expect(values).toMatchObject({
      integer_vif_scale0_ssclz: 0,
      integer_vif_num_scale0_ssclz: 0,
      integer_vif_den_scale0_ssclz: -1,
      integer_vif_num_ssclz: 6490.97607421875 + 1713.6181640625 + 432.36474609375,
      integer_vif_den_ssclz: 9652.166015625 + 2317.52783203125 + 554.63232421875,
    });
    expect(values.integer_vif_scale1_ssclz).toBe(0.67248904705047607);
  });
});

describe('adm', () => {
  it('gives adm2, aim, adm3 and the scales', () => {
    expect(single(['adm'], T1.adm)).toEqual({
      integer_adm2: 0.93805015249434942,
      integer_aim: 0.0055008349488940228,
      integer_adm3: 0.96627465877272778,
      integer_adm_scale0: 0.7937315711092614,
      integer_adm_scale1: 0.92779255965717922,
      integer_adm_scale2: 0.94014601208699411,
      integer_adm_scale3: 0.97318164444598776,
    });
  });

  it('adds totals with debug', () => {
    expect(single(['adm=debug=true'], SAW.adm)).toMatchObject({
      integer_adm2: 0.90158787764727155,
      integer_adm: 0.90158787764727155,
      integer_adm_num: 234.93836402893066,
      integer_adm_den: 260.58287811279297,
      integer_adm_scale3: 0.95949351131463989,
      integer_adm_num_scale0: 20.844964981079102,
      integer_adm_den_scale3: 109.66448974609375,
    });
  });

  it('skips scale 0 and aim, whatever the record holds', () => {
    expect(single(['adm=adm_skip_scale0=true'], T1.adm)).toMatchObject({
      integer_adm2_ssz: 0.9561984277590172,
      integer_aim_ssz: 0.00078355221452057499,
      integer_adm3_ssz: 0.97770743777224833,
      integer_adm_scale0_ssz: 0,
      integer_adm_scale1_ssz: 0.92779255965717922,
    });
    expect(single(['adm=adm_skip_aim=true'], T1.adm)).toMatchObject({
      integer_aim: 0,
      integer_adm2: 0.93805015249434942,
    });
  });

  it('mixes adm3 by adm_dlm_weight and holds it up at adm_min_val', () => {
    const mixed = single(['adm=adm_dlm_weight=0.7'], T1.adm);
    expect(mixed['integer_adm3_dlmw_0.7']).toBeCloseTo(
      0.7 * 0.93805015249434942 + 0.3 * (1 - 0.0055008349488940228),
      14,
    );
    expect(single(['adm=adm_min_val=0.98'], T1.adm)).toMatchObject({
      'integer_adm3_min_0.98': 0.98,
      'integer_adm2_min_0.98': 0.93805015249434942,
    });
  });

  it('takes sums below its limit for nothing', () => {
    // 1e-10 of a 1080p picture's share: at 1920x1080 the limit is 1e-10 itself.
    const size = videoFormat(1920, 1080);
    const record = (num: number, den: number) => [num, 0, 0, 0, den, 0, 0, 0, den / 4, 0, 0, 0];
    expect(single(['adm'], record(5e-11, 5e-11), size)).toMatchObject({
      integer_adm2: 1,
      integer_aim: 0,
      integer_adm3: 1,
    });
    expect(single(['adm'], record(5e-11, 1), size)).toMatchObject({
      integer_adm2: 0,
      integer_aim: 0.25,
      integer_adm3: 0.375,
    });
    expect(single(['adm'], record(2e-10, 1), size).integer_adm2).toBe(2e-10);
  });

  it('gives NaN for a scale of 0 / 0', () => {
    const values = single(['adm'], [0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0]);
    expect(values.integer_adm_scale0).toBeNaN();
    expect(values.integer_adm2).toBe(1);
  });
});

describe('a sequence', () => {
  const all = ['adm', 'motion', 'vif', 'psnr=enable_mse=true'];
  const motion = (i: number) => (i === 0 ? Number.NaN : 1000 * i);
  const psnr = (i: number) => [0, 100 + i, 0, 1, 0, 2];
  const record = (i: number) => [...T1.adm, motion(i), ...T1.vif, ...psnr(i)];

  it('orders names as libvmaf: each frame’s first, what waits for later frames last', () => {
    expect(planOf(all, format).names).toEqual([
      'integer_adm2',
      'integer_aim',
      'integer_adm3',
      'integer_adm_scale0',
      'integer_adm_scale1',
      'integer_adm_scale2',
      'integer_adm_scale3',
      'VMAF_integer_feature_motion_sad_score',
      'integer_vif_scale0',
      'integer_vif_scale1',
      'integer_vif_scale2',
      'integer_vif_scale3',
      'psnr_y',
      'mse_y',
      'psnr_cb',
      'mse_cb',
      'psnr_cr',
      'mse_cr',
      'integer_motion2',
      'integer_motion3',
    ]);
  });

  it('orders names as libvmaf 2.3.0 did where its arithmetic is asked for', () => {
    expect(planOf(all.slice(0, 3), format, 'libvmaf-3.0').names).toEqual([
      'integer_adm2',
      'integer_adm_scale0',
      'integer_adm_scale1',
      'integer_adm_scale2',
      'integer_adm_scale3',
      'integer_motion2',
      'integer_motion',
      'integer_vif_scale0',
      'integer_vif_scale1',
      'integer_vif_scale2',
      'integer_vif_scale3',
    ]);
    expect(planOf(['motion=debug=false'], format, 'libvmaf-3.0').names).toEqual(['integer_motion2']);
  });

  it('gives a frame out when the next is known, the last at the end', () => {
    const { frames, after } = finish(planOf(all, format), [0, 1, 2, 3].map(record));
    expect(frames.map(({ frame }) => frame)).toEqual([0, 1, 2, 3]);
    expect(after).toEqual([1, 2, 3, 4]);
  });

  it('gives frames out at once where nothing looks ahead', () => {
    const { after } = finish(planOf(['vif'], format), [T1.vif, T1.vif]);
    expect(after).toEqual([0, 1]);
  });

  it('waits for the first difference with the five-frame window', () => {
    const plan = planOf(['motion=motion_five_frame_window=true'], format);
    const records = [[Number.NaN], [Number.NaN], [10], [20], [30]];
    expect(finish(plan, records).after).toEqual([2, 2, 3, 4, 5]);
  });

  it('lists only the frames of the subsample, with the values they have in a full run', () => {
    const none = (values: readonly number[]) => values.map(() => Number.NaN);
    const skipped = (i: number) => [...none(T1.adm), motion(i), ...none(T1.vif), ...psnr(i)];
    const whole = finish(planOf(all, format), [0, 1, 2, 3, 4].map(record));
    const part = finish(
      planOf(all, format),
      [0, 1, 2, 3, 4].map((i) => (i % 2 === 0 ? record(i) : skipped(i))),
      2,
    );
    expect(part.frames).toEqual(whole.frames.filter(({ frame }) => frame % 2 === 0));
    expect(finish(planOf(['vif'], format), [T1.vif, T1.vif, T1.vif], 0).frames).toHaveLength(3);
  });

  it('has frames without values where nothing is asked for', () => {
    expect(finish(planOf([], format), [[], []]).frames).toEqual([
      { frame: 0, values: new Float64Array(0) },
      { frame: 1, values: new Float64Array(0) },
    ]);
  });
});
