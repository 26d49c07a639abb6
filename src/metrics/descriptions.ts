/**
 * @module metrics/descriptions
 * Specs of the metrics. The build inlines them (scripts/bundle.mjs), so that pages load no arithmetic.
 */
import { METRICS } from './index.js';
import type { ExtractorSpec } from './spec.js';

/** In the order of {@link METRICS}. */
export const DESCRIPTIONS: readonly ExtractorSpec[] = METRICS.map(({ spec }) => spec);
