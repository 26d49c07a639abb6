/**
 * @module metrics/finishers/float-psnr
 * PSNR of luma from its mean squared error (metrics spec D.6).
 */
import { log10 } from '../../core/log10.js';
import { decibelCap, floatPeak } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** The float_psnr extractor. */
export const floatPsnr: FurtherExtractor = {
  measure: () => ({ metric: 'float_psnr', options: [], chroma: false }),
  finish: (_, format) => ({
    push: (frame, [noise = Number.NaN], emit) => {
      const decibels = 10 * log10(floatPeak(format) ** 2 / Math.max(noise, 1e-10));
      emit(frame, 'float_psnr', Math.min(decibels, decibelCap(format)));
    },
  }),
};
