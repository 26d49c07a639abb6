/**
 * @module test/unit/metrics/names
 * Feature names and the numbers in them, as libvmaf 3.2.0 writes them.
 */
import { describe, expect, it } from 'vitest';
import { formatG, logName } from '../../../src/metrics/names.js';
import { type ExtractorInstance, parseFeature } from '../../../src/metrics/options.js';

/** The log name of an instance's feature, given by internal name. */
function nameOf(instance: ExtractorInstance, internal: string): string {
  const feature = instance.spec.features.find(({ name }) => name === internal);
  if (!feature) throw new Error(`${instance.spec.name} has no ${internal}`);
  return logName(feature, instance.suffix);
}

describe('formatG writes what C’s %g writes', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [0.02, '0.02'],
    [100, '100'],
    [1080, '1080'],
    [123456, '123456'],
    [1234567, '1.23457e+06'],
    [1e6, '1e+06'],
    [0.0001, '0.0001'],
    [0.00001234, '1.234e-05'],
    [1.5e300, '1.5e+300'],
    [-2.5, '-2.5'],
    [999999.5, '1e+06'],
    [Math.fround(0.3), '0.3'],
  ])('%d as %s', (value, text) => {
    expect(formatG(value)).toBe(text);
  });

  it('rounds exact ties to the even digit', () => {
    // 2^-9 = 0.001953125 and 3 * 2^-9 = 0.005859375 are exact in binary.
    expect(formatG(2 ** -9)).toBe('0.00195312');
    expect(formatG(3 * 2 ** -9)).toBe('0.00585938');
    expect(formatG(0.5, 1)).toBe('0.5');
    expect(formatG(2.5, 1)).toBe('2');
    expect(formatG(3.5, 1)).toBe('4');
  });
});

describe('features are named as in native output', () => {
  it.each([
    ['vif=vif_enhn_gain_limit=1.0', 'VMAF_integer_feature_vif_scale0_score', 'integer_vif_scale0_egl_1'],
    ['adm=adm_enhn_gain_limit=1.0', 'VMAF_integer_feature_adm2_score', 'integer_adm2_egl_1'],
    ['adm=adm_enhn_gain_limit=1.0', 'integer_adm_scale0', 'integer_adm_scale0_egl_1'],
    ['motion=motion_force_zero=true', 'VMAF_integer_feature_motion2_score', 'integer_motion2_force_0'],
    [
      'motion=motion_force_zero=true',
      'VMAF_integer_feature_motion_sad_score',
      'VMAF_integer_feature_motion_sad_score_force_0',
    ],
    ['vif=vif_enhn_gain_limit=1.10:debug=true', 'integer_vif_num_scale0', 'integer_vif_num_scale0_egl_1.1'],
    [
      'motion=motion_max_val=18:motion_moving_average=true:motion_five_frame_window=true',
      'VMAF_integer_feature_motion3_score',
      'integer_motion3_mffw_mmxv_18_mma',
    ],
    [
      'adm=adm_dlm_weight=0.7:adm_enhn_gain_limit=1.0:adm_noise_weight=0.02:adm_norm_view_dist=1.5:' +
        'adm_ref_display_height=2160:adm_min_val=0.5:adm_csf_mode=2',
      'VMAF_integer_feature_adm3_score',
      'integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_nvd_1.5_rdh_2160',
    ],
    [
      'motion=motion_blend_offset=3:motion_blend_factor=0.3',
      'VMAF_integer_feature_motion3_score',
      'integer_motion3_mbf_0.3_mbo_3',
    ],
    ['vif=vif_skip_scale0=true', 'VMAF_integer_feature_vif_scale0_score', 'integer_vif_scale0_ssclz'],
    ['adm=adm_skip_scale0=true', 'VMAF_integer_feature_aim_score', 'integer_aim_ssz'],
    // Options that do not count, and options at their defaults, leave no trace.
    ['adm=adm_skip_aim=true:debug=true', 'VMAF_integer_feature_adm2_score', 'integer_adm2'],
    ['vif=vif_enhn_gain_limit=100.0', 'VMAF_integer_feature_vif_scale3_score', 'integer_vif_scale3'],
    ['psnr=reduced_hbd_peak=true:min_sse=0.5', 'psnr_y', 'psnr_y'],
    // Without an alias in libvmaf.
    ['motion', 'VMAF_integer_feature_motion_sad_score', 'VMAF_integer_feature_motion_sad_score'],
  ])('%s: %s is %s', (text, internal, expected) => {
    expect(nameOf(parseFeature(text), internal)).toBe(expected);
  });

  it('cuts names at 255 characters', () => {
    const feature = { name: 'x', alias: 'a'.repeat(250), when: [], emitted: 'frame' } as const;
    expect(logName(feature, '_egl_1.25')).toBe(`${'a'.repeat(250)}_egl_`);
  });
});
