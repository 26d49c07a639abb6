/**
 * @module metrics/float-ms-ssim
 * MS-SSIM, in decibels where asked for (metrics spec D.7).
 */
import { requireSide } from './checks.js';
import { LCS, SSIM_OPTIONS, SSIM_PARTS, ssimScore } from './float-ssim.js';
import { callEach, type Metric, ONLY } from './metric.js';
import { extractor, feature, ranked } from './spec.js';

/** So that the smallest scale is as large as the window. */
const LEAST_SIDE = 176;
const SCALES = [0, 1, 2, 3, 4] as const;

/** The float_ms_ssim extractor. */
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
    return {
      push: (frame, fields, emit) => {
        emit(frame, 'float_ms_ssim', score(fields(0)));
        for (const scale of SCALES) {
          SSIM_PARTS.forEach((part, i) => {
            emit(frame, `float_ms_ssim_${part}_scale${scale}`, fields(1 + SSIM_PARTS.length * scale + i));
          });
        }
      },
    };
  },
};
