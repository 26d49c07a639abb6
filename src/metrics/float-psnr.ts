/**
 * @module metrics/float-psnr
 * PSNR, ANSNR and moments of luma in floating point (metrics spec D.6).
 */
import { log10 } from '../core/log10.js';
import { decibelCap, floatPeak } from './checks.js';
import { callEach, eachFrame, type Metric, ONLY } from './metric.js';
import { extractor, feature, ranked } from './spec.js';

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
  finish: (_, format) =>
    eachFrame((frame, fields, emit) => {
      const decibels = 10 * log10(floatPeak(format) ** 2 / Math.max(fields(0), 1e-10));
      emit(frame, 'float_psnr', Math.min(decibels, decibelCap(format)));
    }),
};

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
    return eachFrame((frame, fields, emit) => {
      const noise = fields(1);
      emit(frame, 'float_ansnr', noise === 0 ? cap : 10 * log10(Math.fround(fields(0) / noise)));
      emit(frame, 'float_anpsnr', Math.min(10 * log10(energy / Math.max(noise, 1e-10)), cap));
    });
  },
};

const MOMENTS = ['ref1st', 'dis1st', 'ref2nd', 'dis2nd'];

export const FLOAT_MOMENT: Metric = {
  spec: extractor({
    name: 'float_moment',
    source: 'wasm/src/float_psnr.c',
    description: 'First and second moment of luma of both videos: the mean, and the mean of squares.',
    options: [],
    features: MOMENTS.map((name) => feature(`float_moment_${name}`)),
  }),
  measure: () => ONLY,
  calls: callEach('float_moment', { fields: 4, cost: 2 }),
  finish: () =>
    eachFrame((frame, fields, emit) => {
      MOMENTS.forEach((name, i) => {
        emit(frame, `float_moment_${name}`, fields(i));
      });
    }),
};
