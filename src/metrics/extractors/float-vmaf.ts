/**
 * @module metrics/extractors/float-vmaf
 * The extractors of VMAF v0 in floating point, as the vmaf_float models read them.
 */
import {
  choice,
  DEBUG,
  type ExtractorSpec,
  type FeatureSpec,
  feature,
  flag,
  integer,
  type OptionSpec,
  real,
  SCALES,
} from './spec.js';

/** The features whose internal name is `VMAF_feature_X_score` and whose log name is `X`. */
function floatFeature(x: string, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return feature(`VMAF_feature_${x}_score`, x, extras);
}

/** Numerator and denominator in total and per scale: what `debug` adds. */
function parts(x: string): FeatureSpec[] {
  const names = [
    `${x}_num`,
    `${x}_den`,
    ...SCALES.flatMap((s) => [`${x}_num_scale${s}`, `${x}_den_scale${s}`]),
  ];
  return names.map((name) => feature(name, name, DEBUG));
}

/** How a prescale option resamples, in the core's order. */
export const RESAMPLING: readonly string[] = ['nearest', 'bilinear', 'bicubic', 'lanczos4'];

/** Kernel scales for which libvmaf has kernels. */
export const KERNEL_SCALES: readonly number[] = [
  1,
  1 / 2,
  3 / 2,
  2,
  2 / 3,
  24 / 10,
  360 / 97,
  4 / 3,
  3.5 / 3,
  3.75 / 3,
  4.25 / 3,
  5 / 3,
  3,
  1 / 2.25,
  1.4746,
  1.54,
  1.6,
  1.06667,
  0.711111,
  0.74074,
  1.111111,
];

/** The float_vif extractor. */
export const FLOAT_VIF: ExtractorSpec = {
  name: 'float_vif',
  source: 'wasm/src/float_vif.c',
  description: 'Visual information fidelity at four scales, in floating point.',
  options: [
    flag('debug', false, { description: 'Also emit VIF over all scales, and numerators and denominators.' }),
    real('vif_enhn_gain_limit', 100, 1, 100, {
      alias: 'egl',
      description:
        'Largest gain credited to enhancement of the distorted picture; 1 credits none (NEG models).',
    }),
    real('vif_kernelscale', 1, 0.1, 4, {
      alias: 'ks',
      near: KERNEL_SCALES,
      description: 'Factor on the size of the Gaussian kernels.',
    }),
    real('vif_prescale', 1, 0.1, 4, {
      alias: 'ps',
      description: 'Resize both pictures by this factor first.',
    }),
    choice('vif_prescale_method', RESAMPLING, { alias: 'pm', description: 'How vif_prescale resizes.' }),
    ...[1, 2, 3].map((s) =>
      real(`vif_scale${s}_min_val`, 0, 0, 1, {
        alias: `s${s}miv`,
        description: `Smallest value of scale ${s}.`,
      }),
    ),
    real('vif_sigma_nsq', 2, 0, 5, { alias: 'snsq', description: 'Variance of the visual noise.' }),
    flag('vif_skip_scale0', false, {
      alias: 'ssclz',
      inName: true,
      description: 'Leave out scale 0; its value is then 0.',
    }),
  ],
  features: [
    ...SCALES.map((s) => floatFeature(`vif_scale${s}`)),
    feature('vif', 'vif', DEBUG),
    ...parts('vif'),
  ],
  temporal: false,
  previousReference: false,
};

function factorOptions(): OptionSpec[] {
  return ([1, 2] as const).flatMap((band) =>
    SCALES.map((s) =>
      real(`adm_f${band}s${s}`, -1, -1, 10, {
        alias: `f${band}s${s}`,
        description: `Contrast sensitivity of the ${band === 1 ? 'horizontal and vertical bands' : 'diagonal band'} at scale ${s}; below 0 it is computed.`,
      }),
    ),
  );
}

/** The float_adm extractor. */
export const FLOAT_ADM: ExtractorSpec = {
  name: 'float_adm',
  source: 'wasm/src/float_adm.c',
  description: 'Detail loss (ADM), additive impairment (AIM) and their mix (adm3), in floating point.',
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
      alias: 'rdf',
      description: 'Height of the display in lines.',
    }),
    integer('adm_csf_mode', 0, 0, 9, {
      alias: 'csf',
      description: 'Contrast sensitivity: 0 Watson, 1 Barten, 2 native; higher ones are 0.',
    }),
    real('adm_noise_weight', 0.03125, 0, 1500, {
      alias: 'nw',
      description: 'Weight of the noise floor added to each band.',
    }),
    flag('adm_skip_scale0', false, {
      alias: 'ssz',
      inName: true,
      description: 'Leave out scale 0; its value is then 0.',
    }),
    real('adm_min_val', 0, 0, 1, { alias: 'min', description: 'Smallest value of adm3.' }),
    integer('adm_bypass_cm', 0, 0, 1, { alias: 'bcm', description: 'No contrast masking when 1.' }),
    flag('adm_adm3_apply_hm', false, {
      alias: 'aah',
      inName: true,
      description: 'Make adm3 the harmonic mean of adm2 and aim.',
    }),
    real('adm_p_norm', 3, 1, 20, { alias: 'apn', description: 'Exponent of the pooling over a band.' }),
    ...factorOptions(),
    integer('adm_skip_aim_scale', -1, 0, 3, {
      alias: 'sasc',
      description: 'A scale to leave out of aim.',
    }),
  ],
  features: [
    ...['adm2', 'aim', 'adm3', ...SCALES.map((s) => `adm_scale${s}`)].map((x) => floatFeature(x)),
    feature('adm', 'adm', { ...DEBUG, plainName: true }),
    ...parts('adm'),
  ],
  temporal: false,
  previousReference: false,
};

/** The float_motion extractor. */
export const FLOAT_MOTION: ExtractorSpec = {
  name: 'float_motion',
  source: 'wasm/src/float_motion.c',
  description:
    'Mean absolute difference between successive blurred reference pictures, in floating point, damped over neighbours.',
  options: [
    flag('debug', true, { description: 'Also emit the undamped difference as motion.' }),
    flag('motion_force_zero', false, {
      alias: 'force_0',
      inName: true,
      description: 'Make motion 0 throughout.',
    }),
    real('motion_fps_weight', 1, 0, 5, {
      alias: 'mfw',
      description: 'Factor that corrects for the frame rate.',
    }),
    real('motion_blend_factor', 1, 0, 1, {
      alias: 'mbf',
      description: 'How much of motion3 above motion_blend_offset is kept.',
    }),
    real('motion_blend_offset', 40, 0, 1000, {
      alias: 'mbo',
      description: 'Value of motion3 above which motion_blend_factor applies.',
    }),
    flag('motion_add_scale1', false, {
      alias: 'mdc',
      inName: true,
      description: 'Add the difference of the pictures at half size.',
    }),
    integer('motion_filter_size', 5, 0, 9, {
      alias: 'mfs',
      description: 'Taps of the blur: 3, 1 for no blur; anything else is 5.',
    }),
    flag('motion_add_uv', false, {
      alias: 'mau',
      inName: true,
      description: 'Add the differences of the chroma planes.',
    }),
    real('motion_max_val', 10000, 0, 10000, { alias: 'mmxv', description: 'Largest value of motion.' }),
  ],
  features: [
    // That of the first frame is 0 at once.
    floatFeature('motion2'),
    floatFeature('motion3', { emitted: 'next', atOnceWith: 'motion_force_zero' }),
    floatFeature('motion', DEBUG),
  ],
  temporal: true,
  previousReference: false,
};
