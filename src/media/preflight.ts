/**
 * @module media/preflight
 * Checks a pair before scoring: findings about all that makes two videos a bad pair, with hints that resolve them.
 */
import { geometryFindings, zoomedPart } from './preflight/geometry.js';
import { judge } from './preflight/judge.js';
import { modelFindings } from './preflight/model.js';
import { sampleFindings } from './preflight/samples.js';
import { swapFindings } from './preflight/swap.js';
import { timingFindings } from './preflight/timing.js';
import { trackFindings } from './preflight/tracks.js';
import type { Finding, PreflightContext, SideFacts } from './preflight/types.js';

export { findBorders } from './preflight/borders.js';
export { FrameMeter, measureEncoded, measureLuma, spreadFrames } from './preflight/measure.js';
export { sharpness } from './preflight/sharpness.js';
export { analyseTimestamps } from './preflight/timestamps.js';
export {
  FINDING_CODES,
  type Finding,
  type FindingCode,
  type PreflightContext,
  type SideFacts,
} from './preflight/types.js';

/**
 * Compares the facts about two videos. Reads no files; uses timestamps, measurements and the alignment if present.
 * @returns findings weighed together, the gravest first, each before what follows from it; empty if no problems were found
 */
export function preflight(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext = {},
): Finding[] {
  const framing = context.framing ?? zoomedPart(reference, distorted, context);
  // What wrongly scaled pictures look like tells nothing of their moments or levels.
  const alignment = framing ? undefined : context.alignment;
  const { alignment: _, ...others } = context;
  const known = { ...others, ...(framing && { framing }), ...(alignment && { alignment }) };
  const found = [
    ...trackFindings(reference, distorted, context),
    ...swapFindings(reference, distorted),
    ...timingFindings(reference, distorted, known),
    ...geometryFindings(reference, distorted, known),
    ...sampleFindings(reference, distorted, known),
    ...modelFindings(reference, distorted, known),
  ];
  return judge(found, { alignment });
}
