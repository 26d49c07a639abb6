/**
 * @module test/node/engine/further
 * The extractors beyond VMAF v0's: what they have measured, what they refuse, and that frames they look back to are
 * there however a run is cut up.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { historyNeeds, planesRead } from '../../../src/engine/backends/types.js';
import { score } from '../../../src/index.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { file, results, scratchFolder, streamOf, y4mPair } from '../../support/clips.js';
import { finish, planOf, videoFormat } from '../../support/finish.js';
import { refusalOf } from '../../support/models.js';

const HD = videoFormat(1920, 1080);
const optionsOf = (feature: string, format: VideoFormat) =>
  planOf([feature], format).extraction.calls.map(({ parameters }) => [
    ...new Float64Array(parameters?.buffer ?? new ArrayBuffer(0)),
  ]);

describe('what is measured', () => {
  it.each([
    [1920, 1080, 4],
    [352, 288, 1],
    [640, 384, 2],
    [640, 383, 1],
    [3840, 2160, 8],
  ])('float_ssim reduces %ix%i by %i when nobody says', (width, height, scale) => {
    expect(optionsOf('float_ssim', videoFormat(width, height))).toEqual([[scale]]);
    expect(optionsOf('float_ssim=scale=3', videoFormat(width, height))).toEqual([[3]]);
  });

  it('nothing twice for options that only matter at the end', () => {
    const { extraction, extractors } = planOf(
      [
        'float_vif',
        'float_vif=vif_scale1_min_val=0.5',
        'float_adm',
        'float_adm=adm_dlm_weight=0.7:adm_min_val=0.5',
        'float_motion',
        'float_motion=motion_fps_weight=2',
        'cambi',
        'cambi=cambi_max_val=17',
      ],
      HD,
    );
    expect(extractors.map(({ instance }) => instance.key)).toHaveLength(8);
    const measured = ['float_vif', 'float_adm', 'float_motion', 'cambi'];
    expect(extraction.calls.map(({ metric }) => metric)).toEqual(measured);
  });

  it('nothing at all for motion that is forced to zero', () => {
    expect(planOf(['float_motion=motion_force_zero=true'], HD).extraction.calls).toEqual([]);
  });

  it('chroma and earlier pictures only for what reads them', () => {
    const needs = (...features: string[]) => {
      const { extraction } = planOf(features, HD);
      return [planesRead(extraction), historyNeeds(extraction)];
    };
    const none = { frames: 0, chroma: false, distorted: false };
    expect(needs('float_ssim', 'float_vif', 'cambi')).toEqual([1, none]);
    expect(needs('ciede')).toEqual([3, none]);
    expect(needs('float_motion')).toEqual([1, { ...none, frames: 1 }]);
    expect(needs('float_motion=motion_add_uv=true')).toEqual([3, { ...none, frames: 1, chroma: true }]);
    expect(needs('speed_temporal', 'ciede')).toEqual([3, { ...none, frames: 1, distorted: true }]);
    expect(needs('speed_temporal', 'motion=motion_five_frame_window=true')).toEqual([
      1,
      { frames: 2, chroma: false, distorted: true },
    ]);
  });
});

describe('what is made of it', () => {
  it('float_motion is damped by the next frame, and motion3 begins with the second frame’s', () => {
    const { series } = finish(planOf(['float_motion'], HD), [[Number.NaN], [4], [2], [6]]);
    expect(series('motion')).toEqual([0, 4, 2, 6]);
    expect(series('motion2')).toEqual([0, 2, 2, 6]);
    expect(series('motion3')).toEqual([4, 2, 2, 6]);
  });

  it('float_motion is weighted, blended and limited', () => {
    const feature =
      'float_motion=motion_fps_weight=2:motion_blend_factor=0.5:motion_blend_offset=6:motion_max_val=8';
    const { series } = finish(planOf([feature], HD), [[Number.NaN], [4], [2], [6]]);
    const suffix = '_mbf_0.5_mbo_6_mfw_2_mmxv_8';
    expect(series(`motion${suffix}`)).toEqual([0, 8, 4, 8]);
    expect(series(`motion2${suffix}`)).toEqual([0, 4, 4, 8]);
    // Of 8, 4, 4 and 12: half of it and half of at most 6.
    expect(series(`motion3${suffix}`)).toEqual([7, 4, 4, 8]);
  });

  it('a single frame has no motion', () => {
    const { series } = finish(planOf(['float_motion'], HD), [[Number.NaN]]);
    expect([series('motion'), series('motion2'), series('motion3')]).toEqual([[0], [0], [0]]);
  });

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
  ])(
    'float_vif squares a noise of %s in single precision: the values of libvmaf',
    async (noise, expected) => {
      const [width, height] = [64, 48];
      const reference = new Uint8Array(width * height).fill(128);
      const distorted = reference.map((_, at) => (((at % width) * Math.floor(at / width)) & 4 ? 205 : 20));
      const raw: VideoFormat = { width, height, bitDepth: 8, chroma: '400' };
      const features = [`float_vif=vif_sigma_nsq=${noise}`];
      for (const implementation of ['simd128', 'portable'] as const) {
        const options = { features, noPrediction: true, threads: 0, implementation } as const;
        const { frames } = await score(
          { reference: streamOf(reference), distorted: streamOf(distorted), raw },
          options,
        );
        expect(Object.values(frames[0]?.metrics ?? {})).toEqual(expected);
      }
    },
  );

  it('what is not a number is at its limit, as C compares', () => {
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

  it('float_adm without any denominator is perfect, with nothing added', () => {
    const { series } = finish(planOf(['float_adm=adm_noise_weight=0'], HD), [
      Array.from({ length: 12 }, () => 0),
    ]);
    expect(['adm2', 'aim', 'adm3'].map((name) => series(`${name}_nw_0`))).toEqual([[1], [0], [1]]);
  });

  it('stands in the order in which libvmaf first stores it', () => {
    // motion3 of float_motion comes with the second frame; the integer motions come at the end, whoever asked first.
    expect(planOf(['motion', 'float_motion', 'psnr=enable_chroma=false'], HD).names).toEqual([
      'VMAF_integer_feature_motion_sad_score',
      'motion2',
      'motion',
      'psnr_y',
      'motion3',
      'integer_motion2',
      'integer_motion3',
    ]);
  });

  it('names carry options, but not those of features that libvmaf never suffixes', () => {
    expect(planOf(['float_adm=debug=true:adm_p_norm=2'], HD).names.slice(6, 9)).toEqual([
      'adm_scale3_apn_2',
      'adm',
      'adm_num_apn_2',
    ]);
    expect(planOf(['cambi=full_ref=true:enc_bitdepth=8'], HD).names).toEqual([
      'cambi_encbd_8',
      'cambi_source',
      'cambi_full_reference',
    ]);
    const vif = planOf(['float_vif=vif_prescale=0.5:vif_prescale_method=bilinear'], HD);
    expect(vif.names[0]).toBe('vif_scale0_ps_0.5_pm_bilinear');
  });
});

describe('what is refused', () => {
  const SMALL = videoFormat(160, 90);
  const GREY = videoFormat(160, 90, { chroma: '400' });
  it.each([
    ['float_ms_ssim', SMALL, /float_ms_ssim extractor needs pictures of at least 176x176 .* is 160x90/],
    ['float_ssim=scale=9', SMALL, /float_ssim extractor needs pictures of at least 99x99 with scale 9/],
    ['ciede', GREY, /ciede extractor measures colour but the video is 4:0:0/],
    ['psnr_hvs', GREY, /psnr_hvs extractor measures colour/],
    ['psnr_hvs', videoFormat(160, 90, { bitDepth: 16 }), /takes up to 12 bits per sample .* has 16/],
    ['speed_chroma', GREY, /speed_chroma extractor measures colour/],
    [
      'float_motion=motion_add_uv=true',
      GREY,
      /float_motion extractor measures colour with motion_add_uv but .* leave motion_add_uv out\.$/,
    ],
    [
      'float_vif=vif_prescale=4:vif_prescale_method=bilinear',
      videoFormat(3840, 2160),
      /prescale to 15360 columns, but bilinear goes up to 7680/,
    ],
    [
      'float_vif=vif_prescale=0.1',
      videoFormat(160, 60),
      /would prescale 160x60 to 16x6, but needs at least 8x8/,
    ],
  ] as const)('%s on a video it cannot take', async (feature, format, message) => {
    expect(await refusalOf('feature', () => planOf([feature], format))).toMatch(message);
  });

  it.each([
    ['float_vif=vif_kernelscale=0.9', /vif_kernelscale .* "0.9" .* within 0.001 of one of 1, 0.5, 1.5, 2,/],
    ['float_vif=vif_prescale_method=cubic', /must be nearest or bilinear or bicubic or lanczos4/],
    ['float_ssim=scale=11', /scale .* is "11" .* whole number from 0 to 10/],
    ['float_adm=adm_skip_aim_scale=-1', /adm_skip_aim_scale .* from 0 to 3/],
    ['float_psnr=debug=true', /float_psnr extractor has no option "debug" .* It has none./],
  ])('%s, whatever the video', async (feature, message) => {
    expect(await refusalOf('feature', () => parseFeature(feature))).toMatch(message);
  });
});

describe('a run in pieces', () => {
  const frames = 9;
  const pair = y4mPair(videoFormat(176, 112), frames);
  const folder = scratchFolder();
  const reference = file(folder, 'reference.y4m', pair.reference);
  const distorted = file(folder, 'distorted.y4m', pair.distorted);
  const features = [
    'float_motion=motion_add_uv=true',
    'speed_temporal',
    'speed_temporal=speed_use_ref_diff=true',
    'float_ssim',
  ];
  const whole = score({ reference, distorted }, { features, noPrediction: true, threads: 0 });

  it.each([
    { threads: 0, chunkFrames: 2 },
    { threads: 2, chunkFrames: 1 },
    { threads: 2, chunkFrames: 3 },
  ])('equals a whole one: files, %o', async (how) => {
    const report = await score({ reference, distorted }, { features, noPrediction: true, ...how });
    expect(results(report)).toEqual(results(await whole));
  });

  it('equals a whole one: streams sent to two workers', async () => {
    const streams = { reference: streamOf(pair.reference), distorted: streamOf(pair.distorted) };
    const report = await score(streams, { features, noPrediction: true, threads: 2, chunkFrames: 1 });
    expect(results(report)).toEqual(results(await whole));
  });

  it('measures what looks back on frames that subsampling leaves out', async () => {
    const how = { features, noPrediction: true, threads: 0, subsample: 3 };
    const report = await score({ reference, distorted }, how);
    const all = (await whole).frames.filter(({ frameNum }) => frameNum % 3 === 0);
    expect(report.frames).toEqual(all);
  });
});
