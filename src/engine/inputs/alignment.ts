/**
 * @module engine/inputs/alignment
 * Decodes the first seconds of both videos a second time to find the offset at which their pictures match.
 */
import { type InputRole, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { alignThumbs, framesForWider, framesToRead } from '../../media/align/index.js';
import { type OpenedPart, RecordedThumbs } from '../../media/align/recorded.js';
import type { AlignResult } from '../../media/align/types.js';
import { WIDER } from '../../media/align/types.js';
import { nameOf, type Side, type Sides } from '../../media/pairing/prepare.js';
import { framePartners, frameRatio } from '../../media/pairing/timeline.js';
import type { InputContext } from './context.js';
import { openPart } from './few-frames.js';

/** Range of the search. */
export interface AlignmentOptions {
  /** The offset to keep if the result is unclear. */
  readonly assumed: number;
  /** Offsets to try to either side. Default: that of media/align, and more while the result is unclear. */
  readonly window?: number;
}

/** Smallest limit on the decoded frames of each video. */
const FEWEST_MOST = 300;

/** Most frames of each video that a search of a window decodes. */
export function mostFrames(window = 0): number {
  return Math.max(FEWEST_MOST, 4 * window);
}

/**
 * Searches for the offset.
 * @throws {AnyvmafError} `usage` if a video can be read only once; errors of decoders
 */
export async function findOffset(
  context: InputContext,
  sides: Sides,
  { assumed, window }: AlignmentOptions,
): Promise<AlignResult> {
  const { checked, signal, shared } = context;
  const { skip } = checked;
  const rateRatio = frameRatio(sides.reference.times, sides.distorted.times);
  const most = mostFrames(window);
  const wider = window === undefined ? WIDER : [];
  const wanted = framesToRead(Math.max(most, ...wider.map(framesForWider)), rateRatio);
  const record = (role: InputRole, until = signal) =>
    new RecordedThumbs((first, end) =>
      openAgain({ ...context, signal: until }, sides[role], skip[role] + first, skip[role] + end),
    );
  const recorded = shared?.thumbs(checked, (until) => record('reference', until)) ?? record('reference');
  const reference = recorded.reader(wanted.reference);
  const distorted = record('distorted').reader(wanted.distorted);
  try {
    const partners = framePartners(sides.reference.times, sides.distorted.times, skip);
    const search = { rateRatio, assumed, maxFrames: most, window, signal };
    return await alignThumbs(reference, distorted, search, { partners, wider });
  } finally {
    await Promise.all([reference.close(), distorted.close()]);
  }
}

async function openAgain(context: InputContext, side: Side, start: number, end: number): Promise<OpenedPart> {
  const part = await openPart(context, side, start, end);
  if (part) return part;
  throw usageError(
    `the offset of ${shown(nameOf(side))} cannot be found, because it can be read only once; give it as a file, ` +
      'or state the offset.',
  );
}
