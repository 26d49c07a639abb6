/**
 * @module media/preflight/tracks
 * Findings about files with several video tracks: which one is read.
 */
import { isClearTrack, trackText } from '../evidence/track.js';
import { dimensions, finding } from './text.js';
import type { Finding, Hint, PreflightContext, SideFacts } from './types.js';

/** Least correlation of pictures that show that no other track is meant. */
const SAME_PICTURES = 0.95;

/** A finding for each video that is one of several in its file. */
export function* trackFindings(
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
    const read = `${who} has ${tracks.length} video tracks, of which ${trackText(tracks, index)} is read, not ${others}`;
    const option = who === 'reference' ? 'trackReference' : 'trackDistorted';
    const as = (size: Pick<SideFacts, 'width' | 'height'>) => dimensions(size) === dimensions(other);
    const fitting = isClearTrack(track) || as(side) ? -1 : tracks.findIndex(as);
    const clear = isClearTrack(track) || (alike && fitting < 0);
    const named =
      fitting < 0
        ? 'if another one is meant, name it, or the score is of other pictures'
        : `${trackText(tracks, fitting)} is as large as the other video`;
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
