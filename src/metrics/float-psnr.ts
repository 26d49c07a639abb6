/**
 * @module metrics/float-psnr
 * PSNR of luma from its mean squared error in floating point (metrics spec D.6).
 */
import { log10 } from '../core/log10.js';
import { callEach, type Metric, ONLY } from './metric.js';
import { extractor, feature, ranked } from './spec.js';
import { decibelCap, floatPeak } from './values.js';

/** The float_psnr extractor. */
export const FLOAT_PSNR: Metric = {
  spec: extractor({
    name: 'float_psnr',
    source: 'wasm/src/float_psnr.c',
    description: 'Peak signal-to-noise ratio of luma in dB, in floating point and limited by bit depth.',
    options: [],
    features: ranked('low', [feature('float_psnr')]),
  }),
  measure: () => ONLY,
  calls: callEach('float_psnr', { fields: 1, cost: 0.5 }),
  finish: (_, format) => ({
    push: (frame, fields, emit) => {
      const decibels = 10 * log10(floatPeak(format) ** 2 / Math.max(fields(0), 1e-10));
      emit(frame, 'float_psnr', Math.min(decibels, decibelCap(format)));
    },
  }),
};
