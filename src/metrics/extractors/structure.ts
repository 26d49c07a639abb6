/**
 * @module metrics/extractors/structure
 * Signal and structure in floating point: PSNR, moments, ANSNR, SSIM and MS-SSIM of luma.
 */
import { type ExtractorSpec, feature, flag, integer, type OptionSpec } from './spec.js';

/** The float_psnr extractor. */
export const FLOAT_PSNR: ExtractorSpec = {
  name: 'float_psnr',
  source: 'wasm/src/float_psnr.c',
  description: 'Peak signal-to-noise ratio of luma in dB, in floating point and limited by bit depth.',
  options: [],
  features: [feature('float_psnr')],
  temporal: false,
  previousReference: false,
};

/** The float_ansnr extractor. */
export const FLOAT_ANSNR: ExtractorSpec = {
  name: 'float_ansnr',
  source: 'wasm/src/float_ansnr.c',
  description: 'Signal-to-noise ratio in dB of lightly and more strongly low-passed luma (ANSNR).',
  options: [],
  features: [feature('float_ansnr'), feature('float_anpsnr')],
  temporal: false,
  previousReference: false,
};

/** The float_moment extractor. */
export const FLOAT_MOMENT: ExtractorSpec = {
  name: 'float_moment',
  source: 'wasm/src/float_psnr.c',
  description: 'First and second moment of luma of both videos: the mean, and the mean of squares.',
  options: [],
  features: ['ref1st', 'dis1st', 'ref2nd', 'dis2nd'].map((name) => feature(`float_moment_${name}`)),
  temporal: false,
  previousReference: false,
};

const DECIBELS: readonly OptionSpec[] = [
  flag('enable_lcs', false, { description: 'Also emit the means of luminance, contrast and structure.' }),
  flag('enable_db', false, { description: 'Give the score in dB, -10 * log10(1 - score).' }),
  flag('clip_db', false, {
    description: 'With enable_db limit the score by the picture size and bit depth.',
  }),
];

const LCS = { when: ['enable_lcs'] } as const;

/** The float_ssim extractor. */
export const FLOAT_SSIM: ExtractorSpec = {
  name: 'float_ssim',
  source: 'wasm/src/ssim.c',
  description: 'Structural similarity (SSIM) of luma.',
  options: [
    ...DECIBELS,
    integer('scale', 0, 0, 10, {
      inName: false,
      description: 'Reduce pictures by this factor first; 0 takes the one that leaves about 256 lines.',
    }),
  ],
  features: [
    feature('float_ssim'),
    ...['l', 'c', 's'].map((part) => feature(`float_ssim_${part}`, undefined, LCS)),
  ],
  temporal: false,
  previousReference: false,
};

/** The float_ms_ssim extractor. */
export const FLOAT_MS_SSIM: ExtractorSpec = {
  name: 'float_ms_ssim',
  source: 'wasm/src/ssim.c',
  description: 'Structural similarity of luma over five scales (MS-SSIM); sides of at least 176.',
  options: DECIBELS,
  features: [
    feature('float_ms_ssim'),
    ...['l', 'c', 's'].flatMap((part) =>
      [0, 1, 2, 3, 4].map((scale) => feature(`float_ms_ssim_${part}_scale${scale}`, undefined, LCS)),
    ),
  ],
  temporal: false,
  previousReference: false,
};
