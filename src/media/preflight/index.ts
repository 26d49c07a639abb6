/**
 * @module media/preflight/index
 * Checks a pair before scoring: findings about all that makes two videos a bad pair, with hints that resolve them.
 */
import { geometryFindings, zoomedPart } from './geometry.js';
import { judge } from './judge.js';
import { modelFindings } from './model.js';
import { sampleFindings } from './samples.js';
import { swapFindings } from './swap.js';
import { timingFindings } from './timing.js';
import { trackFindings } from './tracks.js';
import type { Finding, PreflightContext, SideFacts } from './types.js';

export { findBorders } from './borders.js';
export { FrameMeter, measureEncoded, measureLuma, spreadFrames } from './measure.js';
export { sharpness } from './sharpness.js';
export { analyseTimestamps } from './timestamps.js';
export {
  FINDING_CODES,
  type Finding,
  type FindingCode,
  type PreflightContext,
  type SideFacts,
} from './types.js';

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
