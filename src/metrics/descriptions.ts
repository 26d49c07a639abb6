/**
 * @module metrics/descriptions
 * Specs of the metrics. The build inlines the value (scripts/bundle.mjs), so that pages that only list extractors or
 * read models load no arithmetic.
 */
import { METRICS } from './index.js';
import type { ExtractorSpec } from './spec.js';

/** In the order of {@link METRICS}. */
export const DESCRIPTIONS: readonly ExtractorSpec[] = METRICS.map(({ spec }) => spec);
