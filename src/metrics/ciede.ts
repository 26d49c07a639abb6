/**
 * @module metrics/ciede
 * CIEDE2000 as a score that grows with quality (metrics spec D.10).
 */
import { log10 } from '../core/log10.js';
import { requireChroma } from './checks.js';
import { callEach, type Metric, ONLY } from './metric.js';
import { extractor, feature, ranked } from './spec.js';

export const CIEDE: Metric = {
  spec: extractor({
    name: 'ciede',
    source: 'wasm/src/ciede.c',
    description: 'Colour difference CIEDE2000 as 45 - 20 * log10 of its mean over all pixels.',
    options: [],
    features: ranked('low', [feature('ciede2000')]),
  }),
  measure: (_, format) => {
    requireChroma('ciede', format);
    return ONLY;
  },
  calls: callEach('ciede', { fields: 1, cost: 180 }, () => true),
  finish: () => ({ push: (frame, fields, emit) => emit(frame, 'ciede2000', 45 - 20 * log10(fields(0))) }),
};
