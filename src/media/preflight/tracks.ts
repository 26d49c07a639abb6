/**
 * @module media/preflight/tracks
 * Findings about files with several video tracks: which one is read.
 */
import { isClearTrack, trackText } from '../evidence/track.js';
import { finding } from './text.js';
import type { Finding, SideFacts } from './types.js';

/** A finding for each video that is one of several in its file. */
export function* trackFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  for (const [who, { track }] of [
    ['reference', reference],
    ['distorted', distorted],
  ] as const) {
    if (!track) continue;
    const { index, tracks } = track;
    const others = tracks.flatMap((_, i) => (i === index ? [] : trackText(tracks, i))).join(', ');
    const read = `${who} has ${tracks.length} video tracks, of which ${trackText(tracks, index)} is read, not ${others}`;
    const clear = isClearTrack(track);
    const value = `${index} of ${tracks.length}`;
    yield finding(
      'tracks',
      clear ? 'info' : 'warning',
      clear ? `${read}.` : `${read}; if another one is meant, name it, or the score is of other pictures.`,
      who === 'reference' ? [value, null] : [null, value],
      clear
        ? undefined
        : {
            purpose: 'accept',
            option: who === 'reference' ? 'trackReference' : 'trackDistorted',
            value: index,
          },
    );
  }
}
