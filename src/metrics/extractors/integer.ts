/**
 * @module metrics/extractors/integer
 * The integer extractors that VMAF v0 is made of, and PSNR.
 */
import { DEBUG, type ExtractorSpec, type FeatureSpec, feature, flag, integer, real, SCALES } from './spec.js';

/** The features whose internal name is `VMAF_integer_feature_X_score` and whose log name is `integer_X`. */
function integerFeature(x: string, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return feature(`VMAF_integer_feature_${x}_score`, `integer_${x}`, extras);
}

/** `integer_X`, its numerator and denominator, in total and per scale: what `debug` adds to vif and adm. */
function debugFeatures(x: string): FeatureSpec[] {
  const names = [`integer_${x}`, `integer_${x}_num`, `integer_${x}_den`];
  for (const s of SCALES) names.push(`integer_${x}_num_scale${s}`, `integer_${x}_den_scale${s}`);
  return names.map((name) => feature(name, name, DEBUG));
}

/** The vif extractor. */
export const VIF: ExtractorSpec = {
  name: 'vif',
  source: 'wasm/src/vif.c',
  description:
    'Visual information fidelity at four scales: the share of the reference’s information that survives in the distorted picture.',
  options: [
    flag('debug', false, { description: 'Also emit VIF over all scales, and numerators and denominators.' }),
    real('vif_enhn_gain_limit', 100, 1, 100, {
      alias: 'egl',
      description:
        'Largest gain credited to enhancement of the distorted picture; 1 credits none (NEG models).',
    }),
    flag('vif_skip_scale0', false, {
      alias: 'ssclz',
      inName: true,
      description: 'Leave out scale 0; its value is then 0.',
    }),
  ],
  features: [...SCALES.map((s) => integerFeature(`vif_scale${s}`)), ...debugFeatures('vif')],
  temporal: false,
  previousReference: false,
};

const ADM_SCALES = SCALES.map((s) => feature(`integer_adm_scale${s}`));

/** The adm extractor. */
export const ADM: ExtractorSpec = {
  name: 'adm',
  source: 'wasm/src/adm.c',
  description:
    'Detail loss (ADM), additive impairment (AIM) and their mix (adm3), from contrast-masked wavelet bands at four scales.',
  options: [
    flag('debug', false, {
      description: 'Also emit ADM under its own name, and numerators and denominators.',
    }),
    real('adm_csf_scale', 1, 0, 50, {
      alias: 'scf',
      description: 'Factor on the horizontal and vertical contrast sensitivity, in adm_csf_mode 1 only.',
    }),
    real('adm_csf_diag_scale', 1, 0, 50, {
      alias: 'scfd',
      description: 'Factor on the diagonal contrast sensitivity, in adm_csf_mode 1 only.',
    }),
    real('adm_dlm_weight', 0.5, 0, 1, {
      alias: 'dlmw',
      description: 'Weight of detail loss in adm3; additive impairment has the rest.',
    }),
    real('adm_enhn_gain_limit', 100, 1, 100, {
      alias: 'egl',
      description:
        'Largest gain credited to enhancement of the distorted picture; 1 credits none (NEG models).',
    }),
    real('adm_norm_view_dist', 3, 0.75, 24, {
      alias: 'nvd',
      description: 'Viewing distance in picture heights.',
    }),
    integer('adm_ref_display_height', 1080, 1, 4320, {
      alias: 'rdh',
      description: 'Height of the display in lines; view distance times height must be at least 3240.',
    }),
    integer('adm_csf_mode', 0, 0, 3, {
      alias: 'csf',
      description:
        'Contrast sensitivity: 0 Watson, 1 Barten, 2 blend, 3 blend fitted to mean absolute error.',
    }),
    real('adm_noise_weight', 0.03125, 0, 1500, {
      alias: 'nw',
      description: 'Weight of the noise floor added to each band.',
    }),
    flag('adm_skip_aim', false, { description: 'Leave out additive impairment; its value is then 0.' }),
    flag('adm_skip_scale0', false, {
      alias: 'ssz',
      inName: true,
      description: 'Leave out scale 0; its value is then 0.',
    }),
    real('adm_min_val', 0, 0, 1, { alias: 'min', description: 'Smallest value of adm3.' }),
  ],
  features: [
    integerFeature('adm2'),
    integerFeature('aim'),
    integerFeature('adm3'),
    ...ADM_SCALES,
    ...debugFeatures('adm'),
  ],
  featuresUpTo30: [integerFeature('adm2'), ...ADM_SCALES, ...debugFeatures('adm')],
  temporal: false,
  previousReference: false,
};

/** The motion extractor. */
export const MOTION: ExtractorSpec = {
  name: 'motion',
  source: 'wasm/src/motion.c',
  description:
    'Mean absolute difference between successive blurred reference pictures, damped over neighbouring frames.',
  options: [
    flag('debug', false, { description: 'Also emit the undamped difference as integer_motion.' }),
    flag('motion_force_zero', false, {
      alias: 'force_0',
      inName: true,
      description: 'Make motion 0 throughout.',
    }),
    real('motion_blend_factor', 1, 0, 1, {
      alias: 'mbf',
      description: 'How much of motion3 above motion_blend_offset is kept.',
    }),
    real('motion_blend_offset', 40, 0, 1000, {
      alias: 'mbo',
      description: 'Value of motion3 above which motion_blend_factor applies.',
    }),
    real('motion_fps_weight', 1, 0, 5, {
      alias: 'mfw',
      description: 'Factor that corrects for the frame rate.',
    }),
    real('motion_max_val', 10000, 0, 10000, { alias: 'mmxv', description: 'Largest value of motion.' }),
    flag('motion_five_frame_window', false, {
      alias: 'mffw',
      inName: true,
      description: 'Compare with the reference picture two frames back.',
    }),
    flag('motion_moving_average', false, {
      alias: 'mma',
      inName: true,
      description: 'Average motion3 with that of the frame before.',
    }),
  ],
  features: [
    // Without an alias in libvmaf: it appears under its raw name in reports.
    feature('VMAF_integer_feature_motion_sad_score'),
    integerFeature('motion', DEBUG),
    integerFeature('motion2', { emitted: 'flush' }),
    integerFeature('motion3', { emitted: 'flush' }),
  ],
  featuresUpTo30: [integerFeature('motion2'), integerFeature('motion', DEBUG)],
  onUpTo30: ['debug'],
  temporal: false,
  previousReference: true,
};

/** Emission order of psnr: for each plane the PSNR, then with `enable_mse` the mean squared error. */
function psnrFeatures(): FeatureSpec[] {
  const features: FeatureSpec[] = [];
  for (const plane of ['y', 'cb', 'cr']) {
    const chroma = plane === 'y' ? [] : ['enable_chroma'];
    features.push(feature(`psnr_${plane}`, undefined, { when: chroma }));
    features.push(feature(`mse_${plane}`, undefined, { when: [...chroma, 'enable_mse'] }));
  }
  for (const plane of ['y', 'cb', 'cr']) {
    features.push(feature(`apsnr_${plane}`, undefined, { when: ['enable_apsnr'], emitted: 'sequence' }));
  }
  return features;
}

/** The psnr extractor. */
export const PSNR: ExtractorSpec = {
  name: 'psnr',
  source: 'wasm/src/sse.c',
  description: 'Peak signal-to-noise ratio of each plane in dB.',
  options: [
    flag('enable_chroma', true, { description: 'Measure the chroma planes too.' }),
    flag('enable_mse', false, { description: 'Also emit the mean squared error of each plane.' }),
    flag('enable_apsnr', false, {
      description: 'Also give the PSNR of all frames together as an aggregate.',
    }),
    flag('reduced_hbd_peak', false, {
      description: 'Above 8 bit take 255 shifted to the bit depth as the peak, not the largest sample value.',
    }),
    real('min_sse', 0, 0, Number.MAX_VALUE, {
      inName: false,
      description:
        'Sum of squared errors whose PSNR, rounded up, is the largest PSNR given; 0 gives 6 * bit depth + 12.',
    }),
  ],
  features: psnrFeatures(),
  temporal: true,
  previousReference: false,
};
