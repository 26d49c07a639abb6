/**
 * @module media/preflight/index
 * Checks a pair before scoring: finds problems, with hints that solve them.
 */
import { formatSize } from '../../core/size.js';
import { isClearTrack, trackText } from '../evidence/track.js';
import { geometryFindings, zoomedPart } from './geometry.js';
import { judge } from './judge.js';
import { modelFindings } from './model.js';
import { sampleFindings } from './samples.js';
import { swapFindings } from './swap.js';
import { finding } from './text.js';
import { timingFindings } from './timing.js';
import type { Finding, Hint, PreflightContext, SideFacts } from './types.js';

/**
 * Compares two videos by their facts, without reading files.
 * @returns findings as {@link judge} orders them; empty without problems
 */
export function preflight(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext = {},
): Finding[] {
  const framing = context.framing ?? zoomedPart(reference, distorted, context);
  // A wrong framing makes moments and levels meaningless.
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

/** Least correlation that confirms the selected tracks. */
const SAME_PICTURES = 0.95;

function* trackFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment }: PreflightContext,
): Generator<Finding> {
  const alike = alignment !== undefined && alignment.similarity >= SAME_PICTURES;
  for (const [who, side, other] of [
    ['reference', reference, distorted],
    ['distorted', distorted, reference],
  ] as const) {
    const { track } = side;
    if (!track) continue;
    const { index, tracks } = track;
    const others = tracks.flatMap((_, i) => (i === index ? [] : trackText(tracks, i))).join(', ');
    const read = `${who} has ${tracks.length} video tracks; ${trackText(tracks, index)} is used, not ${others}`;
    const option = who === 'reference' ? 'trackReference' : 'trackDistorted';
    const as = (size: Pick<SideFacts, 'width' | 'height'>) => formatSize(size) === formatSize(other);
    const fitting = isClearTrack(track) || as(side) ? -1 : tracks.findIndex(as);
    const clear = isClearTrack(track) || (alike && fitting < 0);
    const named =
      fitting < 0
        ? 'select another one if this is wrong, or the score compares different content'
        : `${trackText(tracks, fitting)} has the size of the other video`;
    const value = `${index} of ${tracks.length}`;
    const hint: Hint =
      fitting < 0 ? { purpose: 'accept', option, value: index } : { purpose: 'fix', option, value: fitting };
    yield finding(
      'tracks',
      clear ? 'info' : 'warning',
      clear ? `${read}.` : `${read}; ${named}.`,
      who === 'reference' ? [value, null] : [null, value],
      clear ? undefined : hint,
    );
  }
}
