/**
 * @module test/unit/metrics/extractors
 * The extractors' options and features against the tables of libvmaf 3.2.0, and the sizes and formats that some of them
 * refuse before a frame is measured.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { findProvider, listExtractors } from '../../../src/metrics/extractors.js';
import { metricOf } from '../../../src/metrics/index.js';
import { parseFeature } from '../../../src/metrics/options.js';

type Limit = number | undefined;

/** name, alias, type, default, min, max, counts for the name. */
type Row = [string, string | undefined, string, boolean | number | string, Limit, Limit, boolean];

const OPTIONS: Record<string, Row[]> = {
  vif: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['vif_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['vif_skip_scale0', 'ssclz', 'bool', false, undefined, undefined, true],
  ],
  adm: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['adm_csf_scale', 'scf', 'double', 1, 0, 50, true],
    ['adm_csf_diag_scale', 'scfd', 'double', 1, 0, 50, true],
    ['adm_dlm_weight', 'dlmw', 'double', 0.5, 0, 1, true],
    ['adm_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['adm_norm_view_dist', 'nvd', 'double', 3, 0.75, 24, true],
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
  float_ssim: [
    ['enable_lcs', undefined, 'bool', false, undefined, undefined, false],
    ['enable_db', undefined, 'bool', false, undefined, undefined, false],
    ['clip_db', undefined, 'bool', false, undefined, undefined, false],
    ['scale', undefined, 'int', 0, 0, 10, false],
  ],
  float_ms_ssim: [
    ['enable_lcs', undefined, 'bool', false, undefined, undefined, false],
    ['enable_db', undefined, 'bool', false, undefined, undefined, false],
    ['clip_db', undefined, 'bool', false, undefined, undefined, false],
  ],
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
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['adm_csf_scale', 'scf', 'double', 1, 0, 50, true],
    ['adm_csf_diag_scale', 'scfd', 'double', 1, 0, 50, true],
    ['adm_dlm_weight', 'dlmw', 'double', 0.5, 0, 1, true],
    ['adm_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['adm_norm_view_dist', 'nvd', 'double', 3, 0.75, 24, true],
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
  it('lists the extractors there are', () => {
    // In libvmaf's order of registration, which decides who provides a feature.
    expect(listExtractors().map(({ name }) => name)).toEqual([
      'float_psnr',
      'float_ansnr',
      'float_adm',
      'float_vif',
      'float_motion',
      'float_moment',
      'speed_chroma',
      'speed_temporal',
      'float_ms_ssim',
      'float_ssim',
      'ciede',
      'psnr',
      'psnr_hvs',
      'adm',
      'motion',
      'vif',
      'cambi',
      // Ours.
      'xpsnr',
      'ssimulacra2',
      'butteraugli',
      'cvvdp',
    ]);
  });

  it.each(Object.keys(OPTIONS))('%s has libvmaf’s options', (name) => {
    const rows = extractor(name).options.map((o): Row => {
      return [o.name, o.alias, o.type, o.default, o.min, o.max, o.inName];
    });
    expect(rows).toEqual(OPTIONS[name]);
  });

  it('says of every extractor and option what it is for', () => {
    for (const { description, options } of listExtractors()) {
      for (const text of [description, ...options.map((option) => option.description)]) {
        expect(text).toMatch(/^[A-Z].*\.$/);
      }
    }
  });

  it('gives nothing away that a caller could change', () => {
    const open: string[] = [];
    const visit = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, part] of Object.entries(value)) visit(part, `${path}.${key}`);
    };
    visit(listExtractors(), 'extractors');
    expect(open).toEqual([]);
  });

  it('never skips frames for what looks at neighbours or sums up all', () => {
    const always = listExtractors().filter((e) => e.temporal || e.previousReference);
    expect(always.map(({ name }) => name).sort()).toEqual([
      'cvvdp',
      'float_motion',
      'motion',
      'psnr',
      'speed_temporal',
      'xpsnr',
    ]);
  });
});

describe('findProvider', () => {
  it('finds the extractor of every feature that the built-in models read', () => {
    for (const [feature, name] of [
      ['VMAF_integer_feature_adm2_score', 'adm'],
      ['VMAF_integer_feature_motion2_score', 'motion'],
      ['VMAF_integer_feature_vif_scale3_score', 'vif'],
      ['psnr_cb', 'psnr'],
      ['VMAF_feature_adm2_score', 'float_adm'],
      ['Cambi_feature_cambi_score', 'cambi'],
      ['Speed_chroma_feature_speed_chroma_uv_score', 'speed_chroma'],
    ] as const) {
      expect(findProvider(feature)?.extractor.name).toBe(name);
    }
  });

  it('does not know log names or what libvmaf has no extractor for', () => {
    expect(findProvider('integer_adm2')).toBeUndefined();
    expect(findProvider('VMAF_integer_feature_ssim_score')).toBeUndefined();
  });
});

function measure(feature: string, format: Partial<VideoFormat>) {
  const instance = parseFeature(feature);
  const video: VideoFormat = { width: 1920, height: 1080, bitDepth: 8, chroma: '420', ...format };
  return metricOf(instance).measure(instance, video, 'libvmaf-3.2');
}

describe('what extractors cannot take', () => {
  it.each(['psnr_hvs', 'ciede', 'speed_chroma'])('%s: video without chroma', (name) => {
    expect(() => measure(name, { chroma: '400' })).toThrow(new RegExp(`The ${name} extractor .*4:0:0`));
  });

  it('psnr_hvs: more than 12 bits', () => {
    expect(() => measure('psnr_hvs', { bitDepth: 16 })).toThrow('12 bits');
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
    // An encode larger than the picture is not one.
    ['cambi=enc_width=200:enc_height=500', { width: 640, height: 480 }, undefined],
    ['cambi=src_width=700:src_height=400', { width: 640, height: 480 }, '700x400 for an encode of 640x480'],
    ['cambi', { width: 3840, height: 2160 }, undefined],
    ['cambi', { width: 4096, height: 2160 }, 'has 67 columns for 4096x2160'],
    ['cambi', { width: 7680, height: 4320 }, 'has 131 columns for 7680x4320'],
    ['cambi=cambi_high_res_speedup=1080:window_size=60', { width: 7680, height: 4320 }, undefined],
    ['cambi=window_size=127', { width: 3840, height: 2160 }, 'has 127 columns for 3840x2160'],
  ] as const)('%s of %j: sizes out of its range', (feature, format, refused) => {
    if (refused) expect(() => measure(feature, format)).toThrow(refused);
    else expect(measure(feature, format)).toBeTruthy();
  });
});
