/**
 * @module metrics/finishers/ssim
 * SSIM and MS-SSIM: the scale chosen, and the score in decibels where asked for (metrics spec D.7).
 */

import type { VideoFormat } from '../../core/frame.js';
import { log10 } from '../../core/log10.js';
import { type ExtractorInstance, flagOption, numberOption } from '../options.js';
import { atMost } from './bounds.js';
import { requireSide } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** Lines that are left when the scale is chosen for the picture. */
const AUTOMATIC_LINES = 256;
/** Taps of the window. */
const WINDOW = 11;
const MS_SSIM_SCALES = 5;
/** So that the smallest scale is as large as the window. */
const MS_SSIM_SIDE = 176;

function ssimScale(instance: ExtractorInstance, { width, height }: VideoFormat): number {
  const asked = numberOption(instance, 'scale');
  if (asked > 0) return asked;
  // To the nearest, half up, of a quotient in single precision.
  return Math.max(1, Math.floor(Math.fround(Math.min(width, height) / AUTOMATIC_LINES) + 0.5));
}

/** The score as it is or in decibels. */
function scoreOf(
  instance: ExtractorInstance,
  { width, height, bitDepth }: VideoFormat,
): (x: number) => number {
  if (!flagOption(instance, 'enable_db')) return (score) => score;
  const peak = 2 ** bitDepth - 1;
  const limit = flagOption(instance, 'clip_db')
    ? Math.ceil(10 * log10((peak * peak) / (0.5 / (width * height))))
    : Number.POSITIVE_INFINITY;
  // A score above 1, which nearly flat pictures get, has no logarithm: it is at the limit.
  return (score) => atMost(-10 * log10(1 - score), limit);
}

/** The float_ssim extractor. */
export const ssim: FurtherExtractor = {
  measure: (instance, format) => {
    const scale = ssimScale(instance, format);
    // An odd side keeps one sample more.
    const reduced = (side: number) => Math.floor(side / scale) + (side % 2);
    if (Math.min(reduced(format.width), reduced(format.height)) < WINDOW)
      requireSide('float_ssim', format, WINDOW * scale, scale > 1 ? ` with scale ${scale}` : '');
    return { metric: 'float_ssim', options: [scale], chroma: false };
  },
  finish: (instance, format) => {
    const score = scoreOf(instance, format);
    return {
      push: (frame, record, emit) => {
        emit(frame, 'float_ssim', score(record[0] ?? Number.NaN));
        ['l', 'c', 's'].forEach((part, i) => {
          emit(frame, `float_ssim_${part}`, record[1 + i] ?? Number.NaN);
        });
      },
    };
  },
};

/** The float_ms_ssim extractor. */
export const msSsim: FurtherExtractor = {
  measure: (_, format) => {
    requireSide('float_ms_ssim', format, MS_SSIM_SIDE);
    return { metric: 'float_ms_ssim', options: [], chroma: false };
  },
  finish: (instance, format) => {
    const score = scoreOf(instance, format);
    return {
      push: (frame, record, emit) => {
        emit(frame, 'float_ms_ssim', score(record[0] ?? Number.NaN));
        for (let scale = 0; scale < MS_SSIM_SCALES; scale++) {
          ['l', 'c', 's'].forEach((part, i) => {
            emit(frame, `float_ms_ssim_${part}_scale${scale}`, record[1 + 3 * scale + i] ?? Number.NaN);
          });
        }
      },
    };
  },
};
