/**
 * @module media/preflight
 * Says before a comparison what does not fit: everything that makes two videos a bad pair, with what resolves it.
 */
import { geometryFindings } from './preflight/geometry.js';
import { modelFindings } from './preflight/model.js';
import { sampleFindings } from './preflight/samples.js';
import { swapFindings } from './preflight/swap.js';
import { finding } from './preflight/text.js';
import { timingFindings } from './preflight/timing.js';
import type { Finding, PreflightContext, Severity, SideFacts } from './preflight/types.js';

export { findBorders } from './preflight/borders.js';
export { LumaMeter, measureEncoded, measureLuma, spreadFrames } from './preflight/measure.js';
export { sharpness } from './preflight/sharpness.js';
export { analyseTimestamps } from './preflight/timestamps.js';
export {
  FINDING_CODES,
  type Finding,
  type FindingCode,
  type PreflightContext,
  type SideFacts,
} from './preflight/types.js';

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];

/**
 * Compares what is known of two videos. Reads nothing itself: timestamps, measurements and the alignment are used where
 * they are given.
 * @returns findings, the most severe first; empty when the two fit together
 */
export function preflight(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext = {},
): Finding[] {
  return [
    ...swapFindings(reference, distorted),
    ...timingFindings(reference, distorted, context),
    ...geometryFindings(reference, distorted, context),
    ...sampleFindings(reference, distorted, context),
    ...modelFindings(reference, distorted, context),
  ].sort(bySeverity);
}

/** The order of findings: the most severe first. */
export function bySeverity(a: Finding, b: Finding): number {
  return ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity);
}

/**
 * Says that preflight itself failed: what it would have found is not known.
 * @param what was not looked at
 */
export function uncheckedFinding(what: string, error: unknown): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const sentence = `preflight could not look at ${what}, so that what is wrong with them may go unsaid: ${reason}`;
  return finding('unchecked', 'warning', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, [null, null]);
}
