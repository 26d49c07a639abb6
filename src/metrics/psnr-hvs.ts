/**
 * @module metrics/psnr-hvs
 * PSNR-HVS in decibels from the weighted errors of the planes (metrics spec D.8).
 */
import { featureError } from '../core/errors.js';
import { log10 } from '../core/log10.js';
import { requireChroma } from './checks.js';
import { callEach, eachFrame, type Metric, ONLY } from './metric.js';
import { extractor, feature, ranked } from './spec.js';

const FEATURES = ['psnr_hvs_y', 'psnr_hvs_cb', 'psnr_hvs_cr', 'psnr_hvs'].map((name) => feature(name));

export const PSNR_HVS: Metric = {
  spec: extractor({
    name: 'psnr_hvs',
    source: 'wasm/src/psnr_hvs.c',
    description:
      'PSNR with contrast sensitivity and masking of 8x8 DCT blocks (PSNR-HVS-M), per plane and combined, in dB.',
    options: [],
    features: ranked('low', FEATURES),
  }),
  measure: (_, format) => {
    requireChroma('psnr_hvs', format);
    if (format.bitDepth > 12)
      throw featureError(
        `The psnr_hvs extractor supports up to 12 bits per sample but the video has ${format.bitDepth}; leave out ` +
          'psnr_hvs, or reduce the bit depth first.',
      );
    return ONLY;
  },
  calls: callEach('psnr_hvs', { fields: 3, cost: 8 }, () => true),
  finish: () =>
    eachFrame((frame, fields, emit) => {
      const [y, cb, cr] = [fields(0), fields(1), fields(2)];
      emit(frame, 'psnr_hvs_y', decibels(y));
      emit(frame, 'psnr_hvs_cb', decibels(cb));
      emit(frame, 'psnr_hvs_cr', decibels(cr));
      emit(frame, 'psnr_hvs', decibels(0.8 * y + 0.1 * (cb + cr)));
    }),
};

function decibels(error: number): number {
  return 10 * -log10(error);
}
