/**
 * @module metrics/finishers/ciede
 * CIEDE2000 as a score that grows with quality (metrics spec D.10).
 */
import { log10 } from '../../core/log10.js';
import { requireChroma } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** The ciede extractor. */
export const ciede: FurtherExtractor = {
  measure: (_, format) => {
    requireChroma('ciede', format);
    return { metric: 'ciede', options: [], chroma: true };
  },
  finish: () => ({
    push: (frame, [difference = Number.NaN], emit) => {
      emit(frame, 'ciede2000', 45 - 20 * log10(difference));
    },
  }),
};
