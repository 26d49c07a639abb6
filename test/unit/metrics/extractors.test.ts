/**
 * @module test/unit/metrics/extractors
 * The options and features of extractors against libvmaf 3.2.0's tables, refused sizes and formats, ADM's contrast sensitivity
 * where test/node/accuracy/libvmaf has no clip, and the last step of XPSNR.
 */
import { describe, expect, it } from 'vitest';
import type { ScoredFormat } from '../../../src/core/colour.js';
import type { VideoFormat } from '../../../src/core/frame.js';
import { wasmMeasurers } from '../../../src/engine/backends/core/extractor.js';
import { callsOf } from '../../../src/engine/backends/measurer.js';
import { type AdmCsf, admCsf } from '../../../src/metrics/adm-csf.js';
import { findProvider, listExtractors } from '../../../src/metrics/extractors.js';
import { metricOf } from '../../../src/metrics/index.js';
import { doubles } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { finish, planOf, runMetric, videoFormat, wasm } from '../../support/metric.js';
import { seeded } from '../../support/random.js';

type Limit = number | undefined;

/** Name, alias, type, default, minimum, maximum, and whether it is part of the name. */
type Row = [string, string | undefined, string, boolean | number | string, Limit, Limit, boolean];

/** Shared options. */
const ADM: Row[] = [
  ['debug', undefined, 'bool', false, undefined, undefined, false],
  ['adm_csf_scale', 'scf', 'double', 1, 0, 50, true],
  ['adm_csf_diag_scale', 'scfd', 'double', 1, 0, 50, true],
  ['adm_dlm_weight', 'dlmw', 'double', 0.5, 0, 1, true],
  ['adm_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
  ['adm_norm_view_dist', 'nvd', 'double', 3, 0.75, 24, true],
];
const DECIBELS: Row[] = [
  ['enable_lcs', undefined, 'bool', false, undefined, undefined, false],
  ['enable_db', undefined, 'bool', false, undefined, undefined, false],
  ['clip_db', undefined, 'bool', false, undefined, undefined, false],
];

const OPTIONS: Record<string, Row[]> = {
  vif: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['vif_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['vif_skip_scale0', 'ssclz', 'bool', false, undefined, undefined, true],
  ],
  adm: [
    ...ADM,
    ['adm_ref_display_height', 'rdh', 'int', 1080, 1, 4320, true],
    ['adm_csf_mode', 'csf', 'int', 0, 0, 3, true],
    ['adm_noise_weight', 'nw', 'double', 0.03125, 0, 1500, true],
    ['adm_skip_aim', undefined, 'bool', false, undefined, undefined, false],
    ['adm_skip_scale0', 'ssz', 'bool', false, undefined, undefined, true],
    ['adm_min_val', 'min', 'double', 0, 0, 1, true],
  ],
  motion: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['motion_force_zero', 'force_0', 'bool', false, undefined, undefined, true],
    ['motion_blend_factor', 'mbf', 'double', 1, 0, 1, true],
    ['motion_blend_offset', 'mbo', 'double', 40, 0, 1000, true],
    ['motion_fps_weight', 'mfw', 'double', 1, 0, 5, true],
    ['motion_max_val', 'mmxv', 'double', 10000, 0, 10000, true],
    ['motion_five_frame_window', 'mffw', 'bool', false, undefined, undefined, true],
    ['motion_moving_average', 'mma', 'bool', false, undefined, undefined, true],
  ],
  psnr: [
    ['enable_chroma', undefined, 'bool', true, undefined, undefined, false],
    ['enable_mse', undefined, 'bool', false, undefined, undefined, false],
    ['enable_apsnr', undefined, 'bool', false, undefined, undefined, false],
    ['reduced_hbd_peak', undefined, 'bool', false, undefined, undefined, false],
    ['min_sse', undefined, 'double', 0, 0, Number.MAX_VALUE, false],
  ],
  float_psnr: [],
  float_ansnr: [],
  float_moment: [],
  float_ssim: [...DECIBELS, ['scale', undefined, 'int', 0, 0, 10, false]],
  float_ms_ssim: DECIBELS,
  float_motion: [
    ['debug', undefined, 'bool', true, undefined, undefined, false],
    ['motion_force_zero', 'force_0', 'bool', false, undefined, undefined, true],
    ['motion_fps_weight', 'mfw', 'double', 1, 0, 5, true],
    ['motion_blend_factor', 'mbf', 'double', 1, 0, 1, true],
    ['motion_blend_offset', 'mbo', 'double', 40, 0, 1000, true],
    ['motion_add_scale1', 'mdc', 'bool', false, undefined, undefined, true],
    ['motion_filter_size', 'mfs', 'int', 5, 0, 9, true],
    ['motion_add_uv', 'mau', 'bool', false, undefined, undefined, true],
    ['motion_max_val', 'mmxv', 'double', 10000, 0, 10000, true],
  ],
  float_vif: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['vif_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['vif_kernelscale', 'ks', 'double', 1, 0.1, 4, true],
    ['vif_prescale', 'ps', 'double', 1, 0.1, 4, true],
    ['vif_prescale_method', 'pm', 'choice', 'nearest', undefined, undefined, true],
    ['vif_scale1_min_val', 's1miv', 'double', 0, 0, 1, true],
    ['vif_scale2_min_val', 's2miv', 'double', 0, 0, 1, true],
    ['vif_scale3_min_val', 's3miv', 'double', 0, 0, 1, true],
    ['vif_sigma_nsq', 'snsq', 'double', 2, 0, 5, true],
    ['vif_skip_scale0', 'ssclz', 'bool', false, undefined, undefined, true],
  ],
  float_adm: [
    ...ADM,
    ['adm_ref_display_height', 'rdf', 'int', 1080, 1, 4320, true],
    ['adm_csf_mode', 'csf', 'int', 0, 0, 9, true],
    ['adm_noise_weight', 'nw', 'double', 0.03125, 0, 1500, true],
    ['adm_skip_scale0', 'ssz', 'bool', false, undefined, undefined, true],
    ['adm_min_val', 'min', 'double', 0, 0, 1, true],
    ['adm_bypass_cm', 'bcm', 'int', 0, 0, 1, true],
    ['adm_adm3_apply_hm', 'aah', 'bool', false, undefined, undefined, true],
    ['adm_p_norm', 'apn', 'double', 3, 1, 20, true],
    ...[1, 2].flatMap((band) =>
      [0, 1, 2, 3].map((scale): Row => {
        const short = `f${band}s${scale}`;
        return [`adm_${short}`, short, 'double', -1, -1, 10, true];
      }),
    ),
    ['adm_skip_aim_scale', 'sasc', 'int', -1, 0, 3, true],
  ],
  psnr_hvs: [],
  ciede: [],
  cambi: [
    ['cambi_max_val', 'cmxv', 'double', 1000, 0, 1000, true],
    ['enc_width', 'encw', 'int', 0, 180, 7680, true],
    ['enc_height', 'ench', 'int', 0, 150, 7680, true],
    ['enc_bitdepth', 'encbd', 'int', 0, 6, 16, true],
    ['src_width', 'srcw', 'int', 0, 320, 7680, true],
    ['src_height', 'srch', 'int', 0, 200, 4320, true],
    ['window_size', 'ws', 'int', 65, 15, 127, true],
    ['topk', undefined, 'double', 0.6, 0.0001, 1, true],
    ['cambi_topk', 'ctpk', 'double', 0.6, 0.0001, 1, true],
    ['tvi_threshold', 'tvit', 'double', 0.019, 0.0001, 1, true],
    ['cambi_vis_lum_threshold', 'vlt', 'double', 0, 0, 300, true],
    ['max_log_contrast', 'mlc', 'int', 2, 0, 5, true],
    ['heatmaps_path', undefined, 'folder', '', undefined, undefined, false],
    ['full_ref', undefined, 'bool', false, undefined, undefined, false],
    ['eotf', 'eotf', 'choice', 'bt1886', undefined, undefined, true],
    ['cambi_eotf', 'ceot', 'choice', 'bt1886', undefined, undefined, true],
    ['cambi_high_res_speedup', 'hrs', 'int', 0, 0, 2160, true],
  ],
  ...Object.fromEntries(
    (['speed_chroma', 'speed_temporal'] as const).map((name): [string, Row[]] => [
      name,
      [
        ['speed_kernelscale', 'ks', 'double', 1, 0.1, 4, true],
        ['speed_prescale', 'ps', 'double', 1, 0.1, 4, true],
        ['speed_prescale_method', 'psm', 'choice', 'nearest', undefined, undefined, true],
        ['speed_sigma_nn', 'snn', 'double', 0.29, 0.1, 2, true],
        ['speed_nn_floor', 'nnf', 'double', 0, 0, 1, true],
        ['speed_max_val', 'mxv', 'double', 1000, 0, 1000, true],
        name === 'speed_chroma'
          ? ['speed_weight_var_mode', 'wvm', 'int', 0, 0, 6, true]
          : ['speed_use_ref_diff', 'urd', 'bool', false, undefined, undefined, true],
      ],
    ]),
  ),
};

function extractor(name: string) {
  const found = listExtractors().find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no extractor ${name}`);
  return found;
}

describe('listExtractors', () => {
  it('lists all extractors', () => {
    // In libvmaf's order of registration, which decides the provider of a feature.
    const libvmafs =
      'float_psnr float_ansnr float_adm float_vif float_motion float_moment speed_chroma speed_temporal float_ms_ssim ' +
      'float_ssim ciede psnr psnr_hvs adm motion vif cambi';
    const ours = ['xpsnr', 'ssimulacra2', 'butteraugli', 'cvvdp'];
    expect(listExtractors().map(({ name }) => name)).toEqual([...libvmafs.split(' '), ...ours]);
  });

  it.each(Object.keys(OPTIONS))('%s has libvmaf’s options', (name) => {
    const rows = extractor(name).options.map((o): Row => {
      return [o.name, o.alias, o.type, o.default, o.min, o.max, o.inName];
    });
    expect(rows).toEqual(OPTIONS[name]);
  });

  it('describes every extractor and option, in objects that callers cannot change', () => {
    for (const { description, options } of listExtractors())
      for (const text of [description, ...options.map((option) => option.description)])
        expect(text).toMatch(/^[A-Z].*\.$/);
    const open: string[] = [];
    const visit = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, part] of Object.entries(value)) visit(part, `${path}.${key}`);
    };
    visit(listExtractors(), 'extractors');
    expect(open).toEqual([]);
  });

  it('never skips frames of extractors that need neighbours or all frames', () => {
    const always = listExtractors().filter((e) => e.temporal || e.previousReference);
    const names = always.map(({ name }) => name).sort();
    expect(names.join(' ')).toBe('cvvdp float_motion motion psnr speed_temporal xpsnr');
  });
});

describe('findProvider', () => {
  it.each([
    ['VMAF_integer_feature_adm2_score', 'adm'],
    ['VMAF_integer_feature_motion2_score', 'motion'],
    ['VMAF_integer_feature_vif_scale3_score', 'vif'],
    ['psnr_cb', 'psnr'],
    ['VMAF_feature_adm2_score', 'float_adm'],
    ['Cambi_feature_cambi_score', 'cambi'],
    ['Speed_chroma_feature_speed_chroma_uv_score', 'speed_chroma'],
    // A log name, and a feature that libvmaf has no extractor for.
    ['integer_adm2', undefined],
    ['VMAF_integer_feature_ssim_score', undefined],
  ])('finds for %s: %s', (feature, name) => {
    expect(findProvider(feature)?.extractor.name).toBe(name);
  });
});

function measure(feature: string, format: Partial<VideoFormat>) {
  const instance = parseFeature(feature);
  const video: VideoFormat = { width: 1920, height: 1080, bitDepth: 8, chroma: '420', ...format };
  return metricOf(instance).measure(instance, video, 'libvmaf-3.2');
}

describe('extractors refuse', () => {
  it.each(['psnr_hvs', 'ciede', 'speed_chroma'])('%s: video without chroma', (name) => {
    const message = `The ${name} extractor measures colour but the video is 4:0:0`;
    expect(() => measure(name, { chroma: '400' })).toThrow(message);
  });

  it('psnr_hvs: more than 12 bits', () => {
    const deep = () => measure('psnr_hvs', { bitDepth: 16 });
    expect(deep).toThrow(/supports up to 12 bits per sample .* has 16/);
    expect(measure('psnr_hvs', { bitDepth: 12 })).toBeTruthy();
  });

  it.each([
    ['speed_chroma', { width: 158, height: 400 }, '79x200'],
    ['speed_chroma', { width: 400, height: 158, chroma: '422' }, undefined],
    ['speed_chroma', { width: 79, height: 400, chroma: '444' }, '79x400'],
    ['speed_chroma=speed_prescale=0.5', { width: 300, height: 400 }, '75x100'],
    ['speed_chroma=speed_prescale=2', { width: 80, height: 80 }, undefined],
    ['speed_temporal', { width: 300, height: 79 }, '300x79'],
    ['speed_temporal', { width: 80, height: 80 }, undefined],
  ] as const)('%s of %j: fewer than 80 samples on a side', (feature, format, refused) => {
    if (refused) expect(() => measure(feature, format)).toThrow(`80x80 samples but here it has ${refused}`);
    else expect(measure(feature, format)).toBeTruthy();
  });

  it.each([
    ['cambi', { width: 215, height: 215 }, '215x215'],
    ['cambi', { width: 216, height: 20 }, undefined],
    ['cambi=enc_width=200:enc_height=200', { width: 640, height: 480 }, '200x200'],
    // An encode larger than the picture is ignored.
    ['cambi=enc_width=200:enc_height=500', { width: 640, height: 480 }, undefined],
    ['cambi=src_width=700:src_height=400', { width: 640, height: 480 }, '700x400 for an encode of 640x480'],
    ['cambi', { width: 3840, height: 2160 }, undefined],
    ['cambi', { width: 4096, height: 2160 }, 'has 67 columns for 4096x2160'],
    ['cambi', { width: 7680, height: 4320 }, 'has 131 columns for 7680x4320'],
    ['cambi=cambi_high_res_speedup=1080:window_size=60', { width: 7680, height: 4320 }, undefined],
    ['cambi=window_size=127', { width: 3840, height: 2160 }, 'has 127 columns for 3840x2160'],
  ] as const)('%s of %j: sizes out of range', (feature, format, refused) => {
    if (refused) expect(() => measure(feature, format)).toThrow(refused);
    else expect(measure(feature, format)).toBeTruthy();
  });
});

function factors(normViewDist: number, refDisplayHeight: number, csfMode: number, scales = [1, 1]): AdmCsf {
  const [csfScale = 1, csfDiagScale = 1] = scales;
  return admCsf({ normViewDist, refDisplayHeight, csfMode, csfScale, csfDiagScale });
}

describe('admCsf', () => {
  it('has factors of 1.2 to 27 in mode 1, scaled by its options, that wrap in fixed point', () => {
    const { rf, fi } = factors(3, 1080, 1, [2, 0.5]);
    const plain = factors(3, 1080, 1);
    expect(plain.rf[0]?.[0]).toBeCloseTo(1.2105, 4);
    expect(plain.rf[3]?.[0]).toBeCloseTo(26.976, 3);
    expect(rf).toEqual(plain.rf.map(([hv, d]) => [2 * hv, 0.5 * d]));
    fi.forEach(([hv, d], scale) => {
      const limit = scale === 0 ? 2 ** 16 : 2 ** 32;
      expect(hv).toBe(Math.trunc((rf[scale]?.[0] ?? 0) * 2 ** (scale === 0 ? 21 : 32)) % limit);
      expect(d).toBeLessThan(limit);
    });
  });

  it('ignores the scales in other modes', () => {
    expect(factors(3, 1080, 0, [2, 2])).toEqual(factors(3, 1080, 0));
  });

  it.each([
    [2.9, 1080, 0, /2.9 times adm_ref_display_height 1080 is 3132 but must be at least 3240/],
    [3, 720, 2, /at least 3240/],
    [4, 1080, 2, /no factors for adm_norm_view_dist 4 x adm_ref_display_height 1080; supported: 3 x 1080/],
    [3.5, 1080, 3, /adm_csf_mode 3 has no factors/],
  ])('refuses %d x %d in mode %d', (distance, height, mode, message) => {
    expect(() => factors(distance, height, mode)).toThrow(message);
  });
});

const format = videoFormat(100, 50);
/** Energy of a plane: samples times the square of the peak. */
const [LUMA, CHROMA] = [5000 * 255 ** 2, 1250 * 255 ** 2];
const decibels = (energy: number, error: number) => 10 * Math.log10(energy / error);

describe('values of XPSNR', () => {
  it('are those of the planes, their minimum, and their mean weighted by 4:1:1', () => {
    const { frames, series } = finish(planOf(['xpsnr'], format), [[5000, 100, 90]]);
    expect(frames).toHaveLength(1);
    const [y, u, v] = [decibels(LUMA, 5000), decibels(CHROMA, 100), decibels(CHROMA, 90)];
    expect(series('xpsnr_y')[0]).toBeCloseTo(y, 12);
    expect(series('xpsnr_u')[0]).toBeCloseTo(u, 12);
    expect(series('xpsnr_v')[0]).toBeCloseTo(v, 12);
    expect(series('xpsnr_min')[0]).toBeCloseTo(y, 12);
    expect(series('xpsnr_weighted')[0]).toBeCloseTo((4 * y + u + v) / 6, 12);
  });

  it('of the sequence use the mean root, or the mean in decibels if a frame has no error', () => {
    const { aggregates } = finish(planOf(['xpsnr'], format), [
      [400, 16, 9],
      [100, 36, 9],
    ]);
    // Roots 20 and 10, 4 and 6, 3 and 3.
    const [y, u, v] = [decibels(LUMA, 225), decibels(CHROMA, 25), decibels(CHROMA, 9)];
    const expected = { y, u, v, min: Math.min(y, u, v), weighted: (4 * y + u + v) / 6 };
    for (const [name, value] of Object.entries(expected))
      expect(aggregates[`sequence_xpsnr_${name}`], name).toBeCloseTo(value, 12);
    const { aggregates: perfect } = finish(planOf(['xpsnr'], format), [
      [1, 4, 1],
      [0, 4, 1],
    ]);
    expect(perfect.sequence_xpsnr_y).toBeCloseTo((decibels(LUMA, 1) + 89) / 2, 12);
    expect(perfect.sequence_xpsnr_u).toBeCloseTo(decibels(CHROMA, 4), 12);
    expect(perfect.sequence_xpsnr_v).toBeCloseTo(decibels(CHROMA, 1), 12);
  });

  it('of identical planes are a cap: half an error, rounded up; they take the peak of their depth', () => {
    const { series, aggregates } = finish(planOf(['xpsnr'], videoFormat(1920, 1080)), [[0, 0, 0]]);
    expect(series('xpsnr_y')).toEqual([115]);
    expect(series('xpsnr_u')).toEqual([109]);
    expect(series('xpsnr_weighted')[0]).toBeCloseTo(113, 12);
    expect(aggregates.sequence_xpsnr_y).toBe(115);
    const deep = finish(planOf(['xpsnr'], { ...format, bitDepth: 10 }), [[5000, 100, 90]]);
    expect(deep.series('xpsnr_y')[0]).toBeCloseTo(decibels(5000 * 1023 ** 2, 5000), 12);
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
});

describe('the temporal difference', () => {
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
    const luma = plan.names.filter((name) => name.startsWith('xpsnr_y'));
    expect(luma).toEqual(['xpsnr_y', 'xpsnr_y_fps_30', 'xpsnr_y_fps_60']);
  });
});

describe('pictures missing before the first', () => {
  const { extraction } = planOf(['xpsnr=fps=50', 'motion', 'motion=motion_five_frame_window=true'], format);

  it('skip calls, unless these are padded', () => {
    const measured = (index: number, first = 0) => {
      const calls = callsOf(extraction, index, true, (earlier) => earlier >= first);
      return calls.map(([, { metric, back }]) => `${metric} ${back}`);
    };
    const calls = [measured(0), measured(1), measured(2)];
    expect(calls).toEqual([['xpsnr 2'], ['xpsnr 2', 'motion 1'], ['xpsnr 2', 'motion 1', 'motion 2']]);
    // Pictures missing later on are lost, not black.
    expect(measured(7, 6)).toEqual(['motion 1']);
  });

  it('count as black for xpsnr', async () => {
    const measurer = wasmMeasurers(wasm, 'simd128').open(planOf(['xpsnr=fps=50'], format).extraction);
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
      const pictures = { reference: at(n), distorted: at(n + 3), ...history };
      return runMetric('simd128', format, pictures, 'xpsnr', [2]);
    });
    expect(records).toEqual(expected);
  });
});
