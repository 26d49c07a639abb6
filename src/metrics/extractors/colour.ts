/**
 * @module metrics/extractors/colour
 * Colour difference, contrast-weighted error, banding, and the entropy differences of SpEED.
 */
import { KERNEL_SCALES, RESAMPLING } from './float-vmaf.js';
import { choice, type ExtractorSpec, feature, flag, folder, integer, type OptionSpec, real } from './spec.js';

/** The psnr_hvs extractor. */
export const PSNR_HVS: ExtractorSpec = {
  name: 'psnr_hvs',
  source: 'wasm/src/psnr_hvs.c',
  description:
    'PSNR with contrast sensitivity and masking of 8x8 DCT blocks (PSNR-HVS-M), per plane and combined, in dB.',
  options: [],
  features: ['psnr_hvs_y', 'psnr_hvs_cb', 'psnr_hvs_cr', 'psnr_hvs'].map((name) => feature(name)),
  temporal: false,
  previousReference: false,
};

/** The ciede extractor. */
export const CIEDE: ExtractorSpec = {
  name: 'ciede',
  source: 'wasm/src/ciede.c',
  description: 'Colour difference CIEDE2000 as 45 - 20 * log10 of its mean over all pixels.',
  options: [],
  features: [feature('ciede2000')],
  temporal: false,
  previousReference: false,
};

const EOTFS = ['bt1886', 'pq'] as const;

/** The cambi extractor. */
export const CAMBI: ExtractorSpec = {
  name: 'cambi',
  source: 'wasm/src/cambi.c',
  description: 'Visible banding of the distorted video, no reference needed; 0 is none.',
  options: [
    real('cambi_max_val', 1000, 0, 1000, { alias: 'cmxv', description: 'Largest value given.' }),
    integer('enc_width', 0, 180, 7680, { alias: 'encw', description: 'Width of the encode.' }),
    integer('enc_height', 0, 150, 7680, { alias: 'ench', description: 'Height of the encode.' }),
    integer('enc_bitdepth', 0, 6, 16, { alias: 'encbd', description: 'Bit depth of the encode.' }),
    integer('src_width', 0, 320, 7680, { alias: 'srcw', description: 'Width of the source.' }),
    integer('src_height', 0, 200, 4320, { alias: 'srch', description: 'Height of the source.' }),
    integer('window_size', 65, 15, 127, {
      alias: 'ws',
      description: 'Side of the neighbourhood at 3840x2160, scaled with the picture.',
    }),
    real('topk', 0.6, 0.0001, 1, {
      description: 'Share of the pixels that are pooled, the most banded ones.',
    }),
    real('cambi_topk', 0.6, 0.0001, 1, { alias: 'ctpk', description: 'The same; topk goes before it.' }),
    real('tvi_threshold', 0.019, 0.0001, 1, {
      alias: 'tvit',
      description: 'Relative luminance step that is visible.',
    }),
    real('cambi_vis_lum_threshold', 0, 0, 300, {
      alias: 'vlt',
      description: 'Luminance in cd/m2 below which banding is not seen.',
    }),
    integer('max_log_contrast', 2, 0, 5, {
      alias: 'mlc',
      description: 'Largest contrast step looked for, as a power of two in 10-bit levels.',
    }),
    folder('heatmaps_path', {
      description: 'Folder for pictures of the banding: cambi_heatmap_scale_K_WxH_16b.gray for five scales.',
    }),
    flag('full_ref', false, { description: 'Also measure the reference, and the increase over it.' }),
    choice('eotf', EOTFS, { alias: 'eotf', description: 'How code values become light.' }),
    choice('cambi_eotf', EOTFS, { alias: 'ceot', description: 'The same; goes before eotf.' }),
    integer('cambi_high_res_speedup', 0, 0, 2160, {
      alias: 'hrs',
      description: 'Measure at half size from this height on: 1080, 1440 or 2160; anything else never.',
    }),
  ],
  features: [
    feature('Cambi_feature_cambi_score', 'cambi'),
    feature('cambi_source', 'cambi_source', { when: ['full_ref'], plainName: true }),
    feature('cambi_full_reference', 'cambi_full_reference', { when: ['full_ref'], plainName: true }),
  ],
  temporal: false,
  previousReference: false,
};

const SPEED_OPTIONS: readonly OptionSpec[] = [
  real('speed_kernelscale', 1, 0.1, 4, {
    alias: 'ks',
    near: KERNEL_SCALES,
    description: 'Factor on the size of the Gaussian kernels.',
  }),
  real('speed_prescale', 1, 0.1, 4, {
    alias: 'ps',
    description: 'Resize both pictures by this factor first.',
  }),
  choice('speed_prescale_method', RESAMPLING, { alias: 'psm', description: 'How speed_prescale resizes.' }),
  real('speed_sigma_nn', 0.29, 0.1, 2, { alias: 'snn', description: 'Variance of the neural noise.' }),
  real('speed_nn_floor', 0, 0, 1, {
    alias: 'nnf',
    description: 'Blocks of less entropy than the noise raised by this share do not count.',
  }),
  real('speed_max_val', 1000, 0, 1000, { alias: 'mxv', description: 'Largest value given.' }),
];

/** The speed_chroma extractor. */
export const SPEED_CHROMA: ExtractorSpec = {
  name: 'speed_chroma',
  source: 'wasm/src/speed_frame.c',
  description: 'Differences of local entropy between the chroma planes of both videos (SpEED).',
  options: [
    ...SPEED_OPTIONS,
    integer('speed_weight_var_mode', 0, 0, 6, {
      alias: 'wvm',
      description:
        'Whose variances weigh the entropies: 0 each its own, 1 the reference, 2 the distorted, 3 to 6 mixes.',
    }),
  ],
  features: ['u', 'v', 'uv'].map((plane) =>
    feature(`Speed_chroma_feature_speed_chroma_${plane}_score`, `speed_chroma_${plane}`),
  ),
  temporal: false,
  previousReference: false,
};

/** The speed_temporal extractor. */
export const SPEED_TEMPORAL: ExtractorSpec = {
  name: 'speed_temporal',
  source: 'wasm/src/speed_frame.c',
  description: 'Differences of local entropy between the frame differences of both videos (temporal SpEED).',
  options: [
    ...SPEED_OPTIONS,
    flag('speed_use_ref_diff', false, {
      alias: 'urd',
      inName: true,
      description: 'Take the distorted frame differences to the reference.',
    }),
  ],
  features: [feature('Speed_temporal_feature_speed_temporal_score', 'speed_temporal')],
  temporal: true,
  previousReference: false,
};
