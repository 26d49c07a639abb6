/**
 * @module metrics/float-ansnr
 * ANSNR in decibels from the energies of signal and noise (metrics spec D.6).
 */
import { log10 } from '../core/log10.js';
import { callEach, type Metric, ONLY } from './metric.js';
import { extractor, feature, ranked } from './spec.js';
import { decibelCap, floatPeak } from './values.js';

/** The float_ansnr extractor. */
export const FLOAT_ANSNR: Metric = {
  spec: extractor({
    name: 'float_ansnr',
    source: 'wasm/src/float_ansnr.c',
    description: 'Signal-to-noise ratio in dB of lightly and more strongly low-passed luma (ANSNR).',
    options: [],
    features: ranked('low', [feature('float_ansnr'), feature('float_anpsnr')]),
  }),
  measure: () => ONLY,
  calls: callEach('float_ansnr', { fields: 2, cost: 18 }),
  finish: (_, format) => {
    const cap = decibelCap(format);
    const energy = floatPeak(format) ** 2 * format.width * format.height;
    return {
      push: (frame, fields, emit) => {
        const noise = fields(1);
        emit(frame, 'float_ansnr', noise === 0 ? cap : 10 * log10(Math.fround(fields(0) / noise)));
        emit(frame, 'float_anpsnr', Math.min(10 * log10(energy / Math.max(noise, 1e-10)), cap));
      },
    };
  },
};
