/**
 * @module metrics/float-ssim
 * SSIM at a selectable scale, and MS-SSIM, optionally in decibels (metrics spec D.7).
 */
import type { VideoFormat } from '../core/frame.js';
import { log10 } from '../core/log10.js';
import { atMost, requireSide } from './checks.js';
import {
  callEach,
  type ExtractorInstance,
  eachFrame,
  flagOption,
  type Metric,
  numberOption,
  ONLY,
} from './metric.js';
import { extractor, feature, flag, integer, type OptionSpec, ranked } from './spec.js';

/** Lines that the automatic scale keeps. */
const AUTOMATIC_LINES = 256;
const WINDOW = 11;

const SSIM_OPTIONS: readonly OptionSpec[] = [
  flag('enable_lcs', false, { description: 'Also emit the means of luminance, contrast and structure.' }),
  flag('enable_db', false, { description: 'Give the score in dB, -10 * log10(1 - score).' }),
  flag('clip_db', false, {
    description: 'With enable_db limit the score by the picture size and bit depth.',
  }),
];

const SSIM_PARTS = ['l', 'c', 's'] as const;
/** For features that `enable_lcs` adds. */
const LCS = { when: ['enable_lcs'] } as const;

function ssimScale(instance: ExtractorInstance, { width, height }: VideoFormat): number {
  const scale = numberOption(instance, 'scale');
  if (scale > 0) return scale;
  // Rounds a single-precision quotient, half up.
  return Math.max(1, Math.floor(Math.fround(Math.min(width, height) / AUTOMATIC_LINES) + 0.5));
}

function ssimScore(
  instance: ExtractorInstance,
  { width, height, bitDepth }: VideoFormat,
): (x: number) => number {
  if (!flagOption(instance, 'enable_db')) return (score) => score;
  const peak = 2 ** bitDepth - 1;
  const limit = flagOption(instance, 'clip_db')
    ? Math.ceil(10 * log10((peak * peak) / (0.5 / (width * height))))
    : Number.POSITIVE_INFINITY;
  // Nearly flat pictures can score above 1, which has no logarithm: use the limit.
  return (score) => atMost(-10 * log10(1 - score), limit);
}

export const FLOAT_SSIM: Metric = {
  spec: extractor({
    name: 'float_ssim',
    otherName: 'ssim',
    source: 'wasm/src/ssim.c',
    description: 'Structural similarity (SSIM) of luma.',
    options: [
      ...SSIM_OPTIONS,
      integer('scale', 0, 0, 10, {
        inName: false,
        description: 'Reduce pictures by this factor first; 0 takes the one that leaves about 256 lines.',
      }),
    ],
    features: ranked('low', [
      feature('float_ssim'),
      ...SSIM_PARTS.map((part) => feature(`float_ssim_${part}`, undefined, LCS)),
    ]),
  }),
  measure: (instance, format) => {
    const scale = ssimScale(instance, format);
    // Odd sides keep an extra sample.
    const reduced = (side: number) => Math.floor(side / scale) + (side % 2);
    if (Math.min(reduced(format.width), reduced(format.height)) < WINDOW)
      requireSide('float_ssim', format, WINDOW * scale, scale > 1 ? ` with scale ${scale}` : '');
    return { options: [scale], extent: [] };
  },
  calls: callEach('float_ssim', { fields: 4, cost: 20 }),
  finish: (instance, format) => {
    const score = ssimScore(instance, format);
    return eachFrame((frame, fields, emit) => {
      emit(frame, 'float_ssim', score(fields(0)));
      SSIM_PARTS.forEach((part, i) => {
        emit(frame, `float_ssim_${part}`, fields(1 + i));
      });
    });
  },
};

/** At this size, the smallest scale is as large as the window. */
const LEAST_SIDE = 176;
const SCALES = [0, 1, 2, 3, 4] as const;

export const FLOAT_MS_SSIM: Metric = {
  spec: extractor({
    name: 'float_ms_ssim',
    otherName: 'ms_ssim',
    source: 'wasm/src/ssim.c',
    description: 'Structural similarity of luma over five scales (MS-SSIM); sides of at least 176.',
    options: SSIM_OPTIONS,
    features: ranked('low', [
      feature('float_ms_ssim'),
      ...SSIM_PARTS.flatMap((part) =>
        SCALES.map((scale) => feature(`float_ms_ssim_${part}_scale${scale}`, undefined, LCS)),
      ),
    ]),
  }),
  measure: (_, format) => {
    requireSide('float_ms_ssim', format, LEAST_SIDE);
    return ONLY;
  },
  calls: callEach('float_ms_ssim', { fields: 1 + SCALES.length * SSIM_PARTS.length, cost: 45 }),
  finish: (instance, format) => {
    const score = ssimScore(instance, format);
    return eachFrame((frame, fields, emit) => {
      emit(frame, 'float_ms_ssim', score(fields(0)));
      for (const scale of SCALES) {
        SSIM_PARTS.forEach((part, i) => {
          emit(frame, `float_ms_ssim_${part}_scale${scale}`, fields(1 + SSIM_PARTS.length * scale + i));
        });
      }
    });
  },
};
