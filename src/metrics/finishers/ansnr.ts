/**
 * @module metrics/finishers/ansnr
 * ANSNR in decibels from the energies of signal and noise (metrics spec D.6).
 */
import { log10 } from '../../core/log10.js';
import { decibelCap, floatPeak } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** The float_ansnr extractor. */
export const ansnr: FurtherExtractor = {
  measure: () => ({ metric: 'float_ansnr', options: [], chroma: false }),
  finish: (_, format) => {
    const cap = decibelCap(format);
    const energy = floatPeak(format) ** 2 * format.width * format.height;
    return {
      push: (frame, [signal = Number.NaN, noise = Number.NaN], emit) => {
        emit(frame, 'float_ansnr', noise === 0 ? cap : 10 * log10(Math.fround(signal / noise)));
        emit(frame, 'float_anpsnr', Math.min(10 * log10(energy / Math.max(noise, 1e-10)), cap));
      },
    };
  },
};
