/**
 * @module metrics/float-moment
 * Moments of luma, as they are measured (metrics spec D.6).
 */
import { callEach, type Metric, ONLY } from './metric.js';
import { extractor, feature } from './spec.js';

const NAMES = ['ref1st', 'dis1st', 'ref2nd', 'dis2nd'];

/** The float_moment extractor. */
export const FLOAT_MOMENT: Metric = {
  spec: extractor({
    name: 'float_moment',
    source: 'wasm/src/float_psnr.c',
    description: 'First and second moment of luma of both videos: the mean, and the mean of squares.',
    options: [],
    features: ['ref1st', 'dis1st', 'ref2nd', 'dis2nd'].map((name) => feature(`float_moment_${name}`)),
  }),
  measure: () => ONLY,
  calls: callEach('float_moment', { fields: 4, cost: 2 }),
  finish: () => ({
    push: (frame, fields, emit) => {
      NAMES.forEach((name, i) => {
        emit(frame, `float_moment_${name}`, fields(i));
      });
    },
  }),
};
