/**
 * @module metrics/finishers/moment
 * Moments of luma, as they are measured (metrics spec D.6).
 */
import type { FurtherExtractor } from './types.js';

const NAMES = ['ref1st', 'dis1st', 'ref2nd', 'dis2nd'];

/** The float_moment extractor. */
export const moment: FurtherExtractor = {
  measure: () => ({ metric: 'float_moment', options: [], chroma: false }),
  finish: () => ({
    push: (frame, record, emit) => {
      NAMES.forEach((name, i) => {
        emit(frame, `float_moment_${name}`, record[i] ?? Number.NaN);
      });
    },
  }),
};
