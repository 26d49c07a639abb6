/**
 * @module media/align/beginning
 * Checks that an offset holds from the first frames on. Frames lost or doubled within the first seconds displace most of
 * what a search sees; no offset mends them, and the videos begin at another one.
 */
import { counted } from '../../core/printable.js';
import type { Evidence } from './evidence.js';
import { type Slip, SlipDetector } from './slips.js';
import type { AlignReason, AlignResult } from './types.js';

/** A slip before this pair is an offset at the start. */
const BEGINNING = 4;

/** Log likelihood ratio required on either side of a slip. */
const ENOUGH = 6;

/** Answers that a slip does not explain. */
const NO_SLIP: readonly AlignReason[] = ['unrelated', 'short'];

/**
 * The answer of a search, or, where the frames before a slip contradict it, the offset of these, with the slip.
 * @param assumed the offset at which slips are looked for
 * @param base offset of the first thumbnails
 */
export function fromTheStart(
  evidence: Evidence,
  found: AlignResult,
  assumed: number,
  base: number,
): AlignResult {
  if (!evidence.oneByOne || NO_SLIP.includes(found.reason)) return found;
  const slipped = firstSlip(evidence, assumed);
  if (!slipped) return found;
  const { slip, before } = slipped;
  const after = before + slip.by;
  const frame = slip.frame + Math.max(0, -assumed);
  const early = evidence.favours(before, after, [0, frame]);
  const late = evidence.favours(after, before, [frame, Number.POSITIVE_INFINITY]);
  if (Math.min(early, late) < ENOUGH) return found;
  const offset = before + base;
  const { similarity } = evidence.fitness(before);
  const match = { reference: Math.max(0, offset), distorted: Math.max(0, -offset) };
  return {
    ...found,
    offset,
    confidence: 1 / (1 + Math.exp(-early)),
    candidates: [{ offset, similarity }],
    ambiguous: false,
    reason: 'clear',
    explanation:
      `Distorted frame ${match.distorted} shows reference frame ${match.reference}, but at distorted frame ` +
      `${frame + Math.max(0, -base)} ${counted(Math.abs(slip.by), 'frame')} ${slip.by > 0 ? 'are missing' : 'are added'}, ` +
      'so that no offset fits all.',
    slip,
  };
}

/** The first slip after the beginning, and the offset before it. */
function firstSlip(
  evidence: Evidence,
  assumed: number,
): { readonly slip: Slip; readonly before: number } | undefined {
  const watch = new SlipDetector();
  for (const pair of evidence.signatures(assumed)) watch.add(pair);
  let before = assumed;
  for (const slip of watch.finish().slips) {
    if (slip.frame >= BEGINNING) return { slip, before };
    before = assumed + slip.ahead;
  }
  return undefined;
}
