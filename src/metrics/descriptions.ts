/**
 * @module metrics/descriptions
 * What the metrics are, without what they do. The build writes the value out (scripts/bundle.mjs), so that a page
 * that lists extractors or reads models loads no arithmetic.
 */
import { METRICS } from './index.js';
import type { ExtractorSpec } from './spec.js';

/** In the order of {@link METRICS}. */
export const DESCRIPTIONS: readonly ExtractorSpec[] = METRICS.map(({ spec }) => spec);
