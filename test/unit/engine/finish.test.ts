/**
 * @module test/unit/engine/finish
 * Features from the stages' values where test/node/accuracy/libvmaf has no clip: limits and skipped stages, sums beyond 2^53, the
 * order and moment of frames, and motion of random sequences against its definition.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { score } from '../../../src/index.js';
import { numberOption } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { streamOf } from '../../support/clips.js';
import { finish, planOf, videoFormat } from '../../support/metric.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** Per-scale floats of libvmaf for the 64x64 test picture, frame 0. */
const T1 = {
  vif: [17033.0117, 7395.59766, 1953.89746, 504.75293, 37056.4648, 8817.21875, 2197.51514, 560.630371].map(
    Math.fround,
  ),
  adm: [
    ...[11.5604782, 16.814743, 32.5684433, 61.3651123],
    ...[14.5647202, 18.1233864, 34.6418991, 63.0561752],
    ...[0.626480699, 0.090752162, 0, 0],
  ].map(Math.fround),
};
const format = videoFormat(64, 64);

/** Features of a single frame by name. */
function single(feature: string, record: readonly number[], size = format): Record<string, number> {
  const plan = planOf([feature], size);
  const [frame] = finish(plan, [record]).frames;
  return Object.fromEntries(plan.names.map((name, i) => [name, frame?.values[i] ?? Number.NaN]));
}

it('skipped stages do not count, whatever the record holds', () => {
  const [, one = 0, two = 0, three = 0] = T1.vif;
  expect(single('vif=debug=true:vif_skip_scale0=true', T1.vif)).toMatchObject({
    integer_vif_scale0_ssclz: 0,
    integer_vif_num_scale0_ssclz: 0,
    integer_vif_den_scale0_ssclz: -1,
    integer_vif_num_ssclz: one + two + three,
    integer_vif_scale1_ssclz: 0.8387676477432251,
  });
  expect(single('adm=adm_skip_scale0=true', T1.adm)).toMatchObject({
    integer_adm2_ssz: 0.9561984277590172,
    integer_aim_ssz: 0.00078355221452057499,
    integer_adm3_ssz: 0.97770743777224833,
    integer_adm_scale0_ssz: 0,
    integer_adm_scale1_ssz: 0.92779255965717922,
  });
  const without = { integer_aim: 0, integer_adm2: 0.93805015249434942 };
  expect(single('adm=adm_skip_aim=true', T1.adm)).toMatchObject(without);
});

it('adm ignores sums below its limit, and a scale of 0 / 0 is NaN', () => {
  // 1e-10 of a 1080p picture's share: at 1920x1080 the limit is 1e-10 itself.
  const size = videoFormat(1920, 1080);
  const record = (num: number, den: number) => [num, 0, 0, 0, den, 0, 0, 0, den / 4, 0, 0, 0];
  const none = { integer_adm2: 1, integer_aim: 0, integer_adm3: 1 };
  expect(single('adm', record(5e-11, 5e-11), size)).toMatchObject(none);
  const some = { integer_adm2: 0, integer_aim: 0.25, integer_adm3: 0.375 };
  expect(single('adm', record(5e-11, 1), size)).toMatchObject(some);
  expect(single('adm', record(2e-10, 1), size).integer_adm2).toBe(2e-10);
  const zero = single('adm', [0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0]);
  expect(zero).toMatchObject({ integer_adm_scale0: Number.NaN, integer_adm2: 1 });
});

describe('a sequence', () => {
  const all = ['adm', 'motion', 'vif', 'psnr=enable_mse=true'];
  const motion = (i: number) => (i === 0 ? Number.NaN : 1000 * i);
  const psnr = (i: number) => [0, 100 + i, 0, 1, 0, 2];
  const record = (i: number) => [...T1.adm, motion(i), ...T1.vif, ...psnr(i)];

  it('orders names as libvmaf 2.3.0 did with its arithmetic', () => {
    expect(planOf(all.slice(0, 3), format, 'libvmaf-3.0').names).toEqual(
      (
        'integer_adm2 integer_adm_scale0 integer_adm_scale1 integer_adm_scale2 integer_adm_scale3 ' +
        'integer_motion2 integer_motion integer_vif_scale0 integer_vif_scale1 integer_vif_scale2 ' +
        'integer_vif_scale3'
      ).split(' '),
    );
    expect(planOf(['motion=debug=false'], format, 'libvmaf-3.0').names).toEqual(['integer_motion2']);
  });

  it('gives frames out as soon as no later frame can change them', () => {
    const { frames, after } = finish(planOf(all, format), [0, 1, 2, 3].map(record));
    expect(frames.map(({ frame }) => frame)).toEqual([0, 1, 2, 3]);
    expect(after).toEqual([1, 2, 3, 4]);
    expect(finish(planOf(['vif'], format), [T1.vif, T1.vif]).after).toEqual([0, 1]);
    // The five-frame window waits for the first difference.
    const window = planOf(['motion=motion_five_frame_window=true'], format);
    const records = [[Number.NaN], [Number.NaN], [10], [20], [30]];
    expect(finish(window, records).after).toEqual([2, 2, 3, 4, 5]);
  });

  it('of a subsample lists only its frames, with the values of a full run', () => {
    const none = (values: readonly number[]) => values.map(() => Number.NaN);
    const skipped = (i: number) => [...none(T1.adm), motion(i), ...none(T1.vif), ...psnr(i)];
    const whole = finish(planOf(all, format), [0, 1, 2, 3, 4].map(record));
    const records = [0, 1, 2, 3, 4].map((i) => (i % 2 === 0 ? record(i) : skipped(i)));
    const part = finish(planOf(all, format), records, 2);
    expect(part.frames).toEqual(whole.frames.filter(({ frame }) => frame % 2 === 0));
    expect(finish(planOf(['vif'], format), [T1.vif, T1.vif, T1.vif], 0).frames).toHaveLength(3);
  });

  it('has frames without values if no feature is requested', () => {
    expect(finish(planOf([], format), [[], []]).frames).toEqual([
      { frame: 0, values: new Float64Array(0) },
      { frame: 1, values: new Float64Array(0) },
    ]);
  });
});

/** A psnrRecord from the planes' mean squared errors. */
function psnrRecord(format: VideoFormat, ...errors: readonly number[]): number[] {
  const chroma = (format.width >> 1) * (format.height >> 1);
  return errors.flatMap((mse, plane) => {
    const sse = Math.round(mse * (plane === 0 ? format.width * format.height : chroma));
    return [Math.floor(sse / 2 ** 32), sse % 2 ** 32];
  });
}

describe('psnr', () => {
  it('has no chroma in 4:0:0', () => {
    const plan = planOf(['psnr=enable_apsnr=true'], videoFormat(64, 48, { chroma: '400' }));
    expect(plan.names).toEqual(['psnr_y']);
    expect(plan.extraction.calls).toHaveLength(1);
    expect(finish(plan, [[0, 5000]]).aggregates.apsnr_cb).toBe(Number.NEGATIVE_INFINITY);
  });

  it('of identical planes is the cap: 6 per bit and 12, or what min_sse gives', () => {
    const size = videoFormat(352, 288);
    const same = psnrRecord(size, 237.01530934343435, 0, 0);
    const plain = finish(planOf(['psnr=enable_apsnr=true'], size), [same]);
    expect(plain.series('psnr_y')).toEqual([24.383039619099527]);
    expect(plain.series('psnr_cb')).toEqual([60]);
    expect(plain.aggregates).toEqual({ apsnr_y: 24.383039619099527, apsnr_cb: 96, apsnr_cr: 96 });
    expect(finish(planOf(['psnr=min_sse=0.5'], size), [same]).series('psnr_cb')).toEqual([96]);
    const deep = finish(planOf(['psnr'], videoFormat(64, 64, { bitDepth: 16 })), [[0, 0, 0, 0, 0, 0]]);
    expect(deep.series('psnr_y')).toEqual([108]);
  });

  it('adds errors exactly beyond 2^53', () => {
    // 16 bit, all samples wrong by 65535, 16 frames of 2^24 samples: the sum is 65535^2 * 2^28 > 2^59.
    const size = videoFormat(4096, 4096, { bitDepth: 16, chroma: '400' });
    const sse = 65535n * 65535n * 2n ** 24n;
    const frame = [Number(sse >> 32n), Number(sse & 0xffffffffn)];
    const plan = planOf(['psnr=enable_apsnr=true:enable_mse=true'], size);
    const finished = finish(plan, new Array(16).fill(frame));
    expect(finished.series('mse_y')[0]).toBe(65535 * 65535);
    expect(finished.series('psnr_y')[0]).toBe(0);
    expect(finished.aggregates.apsnr_y).toBe(0);
  });
});

const HD = videoFormat(1920, 1080);

describe('the extractors beyond VMAF v0', () => {
  it('float_psnr of equal pictures is limited by bit depth', () => {
    for (const [bitDepth, cap] of [
      [8, 60],
      [10, 72],
      [12, 84],
      [16, 108],
    ] as const) {
      expect(finish(planOf(['float_psnr'], { ...HD, bitDepth }), [[0]]).series('float_psnr')).toEqual([cap]);
    }
  });

  it('SSIM in decibels is infinite for equal pictures unless limited', () => {
    const of = (feature: string) => finish(planOf([feature], HD), [[1, 1, 1, 1]]).series('float_ssim');
    expect(of('float_ssim')).toEqual([1]);
    expect(of('float_ssim=enable_db=true')).toEqual([Number.POSITIVE_INFINITY]);
    // 10 * log10(255^2 * 1920 * 1080 / 0.5) is 114.3.
    expect(of('float_ssim=enable_db=true:clip_db=true')).toEqual([115]);
  });

  it.each([
    ['2.6381', [0.09640297293663025, 0.9888304074605306, 0.9981168905893961, 0.9998834927876791]],
    ['4.1', [-1.1825287342071533, 0.9730212688446045, 0.9954516092936198, 0.9997185866038004]],
  ])('float_vif squares a noise of %s in single precision, like libvmaf', async (noise, expected) => {
    const [width, height] = [64, 48];
    const reference = new Uint8Array(width * height).fill(128);
    const distorted = reference.map((_, at) => (((at % width) * Math.floor(at / width)) & 4 ? 205 : 20));
    const raw: VideoFormat = { width, height, bitDepth: 8, chroma: '400' };
    const features = [`float_vif=vif_sigma_nsq=${noise}`];
    for (const implementation of ['simd128', 'portable'] as const) {
      const request = { reference: streamOf(reference), distorted: streamOf(distorted), raw };
      const report = await score(request, { features, noPrediction: true, threads: 0, implementation });
      expect(Object.values(report.frames[0]?.metrics ?? {})).toEqual(expected);
      expect(report.implementation).toBe(implementation);
    }
  });

  it('NaN is limited as comparisons in C do', () => {
    // A score above 1 has no logarithm: libvmaf gave 109 for pictures of 177x179, 10 bit, that are nearly flat.
    const small = videoFormat(177, 179, { bitDepth: 10 });
    const of = (feature: string, records: number[], name: string) =>
      finish(planOf([feature], small), [records]).series(name);
    for (const name of ['float_ssim', 'float_ms_ssim']) {
      const above = Array.from({ length: 16 }, () => 1 + 2 ** -23);
      expect(of(`${name}=enable_db=true:clip_db=true`, above, name)).toEqual([109]);
      expect(of(`${name}=enable_db=true`, above, name)).toEqual([Number.POSITIVE_INFINITY]);
    }
    const none = Array.from({ length: 8 }, () => Number.NaN);
    const vif = 'float_vif=vif_sigma_nsq=0:vif_scale2_min_val=0.25';
    expect(of(vif, none, 'vif_scale1_s2miv_0.25_snsq_0')).toEqual([0]);
    expect(of(vif, none, 'vif_scale2_s2miv_0.25_snsq_0')).toEqual([0.25]);
    expect(of('speed_chroma=speed_max_val=7', none, 'speed_chroma_u_mxv_7')).toEqual([7]);
  });

  it('float_adm is perfect if every denominator is 0; a single frame has no float_motion', () => {
    const plan = planOf(['float_adm=adm_noise_weight=0'], HD);
    const { series } = finish(plan, [new Array(12).fill(0)]);
    expect(['adm2', 'aim', 'adm3'].map((name) => series(`${name}_nw_0`))).toEqual([[1], [0], [1]]);
    const single = finish(planOf(['float_motion'], HD), [[Number.NaN]]);
    expect(['motion', 'motion2', 'motion3'].map((name) => single.series(name))).toEqual([[0], [0], [0]]);
  });
});

/** The definition of motion, for a whole sequence at once. */
function wholeSequence(sads: readonly number[], feature: string, samples: number) {
  const instance = parseFeature(feature);
  const option = (name: string) => numberOption(instance, name);
  const { options } = instance;
  const q = options.motion_five_frame_window === true ? 2 : 1;
  const maximum = option('motion_max_val');
  const cap = (x: number) => Math.min(x, maximum);
  const factor = option('motion_blend_factor');
  const offset = option('motion_blend_offset');
  const blend = (x: number) => x * factor + (1 - factor) * Math.min(offset, x);
  const s = sads.map((sad, n) => (n < q ? 0 : cap((sad / 256 / samples) * option('motion_fps_weight'))));
  const at = (n: number) => s[n] ?? Number.NaN;
  const n = s.length;
  const motion2 = s.map((_, i) => {
    if (i < q) return 0;
    if (i + 1 >= n) return at(i);
    return i - (q - 1) >= q ? Math.min(at(i - (q - 1)), at(i + 1)) : at(i + 1);
  });
  const stamp = n > q ? cap(blend(at(q))) : 0;
  const processed = motion2.map((m2, i) => (i < q ? stamp : cap(blend(m2))));
  const motion3 = processed.map((p, i) =>
    i >= q && options.motion_moving_average === true ? (p + (processed[i - 1] ?? 0)) / 2 : p,
  );
  return { motion2, motion3 };
}

it('motion of random sequences matches the definition for whole sequences', () => {
  const seed = 22;
  const random = seeded(seed);
  const size = videoFormat(64, 48);
  for (let round = 0; round < tier(120, 400); round++) {
    const window = random.int(0, 1) === 1;
    const feature = [
      `motion=motion_five_frame_window=${window}`,
      `motion_moving_average=${random.int(0, 1) === 1}`,
      `motion_blend_factor=${random.pick([1, 0.5, 0.25])}`,
      `motion_blend_offset=${random.pick([40, 10, 3])}`,
      `motion_fps_weight=${random.pick([1, 0.5, 2])}`,
      `motion_max_val=${random.pick([10000, 18, 4])}`,
    ].join(':');
    const lead = window ? 2 : 1;
    const length = random.int(1, 9);
    const sads = Array.from({ length }, (_, i) =>
      i < lead ? Number.NaN : random.int(0, 20 * 256 * 64 * 48),
    );
    const expected = wholeSequence(sads, feature, 64 * 48);
    const plan = planOf([feature], size);
    const records = sads.map((sad) => [sad]);
    const finished = finish(plan, records);
    const [, motion2 = '', motion3 = ''] = plan.names;
    const what = `seed ${seed}, round ${round}: ${feature} of ${sads.join(' ')}`;
    expect(finished.series(motion2), what).toEqual(expected.motion2);
    expect(finished.series(motion3), what).toEqual(expected.motion3);
  }
});
