/**
 * @module metrics/finishers/psnr-hvs
 * PSNR-HVS in decibels from the weighted errors of the planes (metrics spec D.8).
 */

import { AnyvmafError } from '../../core/errors.js';
import { log10 } from '../../core/log10.js';
import { requireChroma } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** The psnr_hvs extractor. */
export const psnrHvs: FurtherExtractor = {
  measure: (_, format) => {
    requireChroma('psnr_hvs', format);
    if (format.bitDepth > 12) {
      throw new AnyvmafError(
        'feature',
        `The psnr_hvs extractor takes up to 12 bits per sample but the video has ${format.bitDepth}; leave psnr_hvs ` +
          'out, or reduce the bit depth first.',
      );
    }
    return { metric: 'psnr_hvs', options: [], chroma: true };
  },
  finish: () => ({
    push: (frame, [y = Number.NaN, cb = Number.NaN, cr = Number.NaN], emit) => {
      emit(frame, 'psnr_hvs_y', decibels(y));
      emit(frame, 'psnr_hvs_cb', decibels(cb));
      emit(frame, 'psnr_hvs_cr', decibels(cr));
      emit(frame, 'psnr_hvs', decibels(0.8 * y + 0.1 * (cb + cr)));
    },
  }),
};

function decibels(error: number): number {
  return 10 * -log10(error);
}
