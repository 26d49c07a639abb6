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
import { reopen } from '../../media/open.js';
import { nameOf, type Side, type Sides } from '../../media/pairing/prepare.js';
import { framePartners, frameRatio } from '../../media/pairing/timeline.js';
import type { Platform } from '../contract/platform.js';
import type { SharedInspection } from './shared.js';

/** Range of the search. */
export interface AlignmentOptions {
  /** Frames of each before the first. */
  readonly skip: Readonly<Record<InputRole, number>>;
  /** The offset to keep if the result is unclear. */
  readonly assumed: number;
  /** Offsets to try to either side. Default: that of media/align, and more while the result is unclear. */
  readonly window?: number;
  /** Inspection of the reference, shared with other runs. */
  readonly shared?: SharedInspection;
  readonly signal?: AbortSignal;
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
  platform: Platform,
  sides: Sides,
  { skip, assumed, window, shared, signal }: AlignmentOptions,
): Promise<AlignResult> {
  const rateRatio = frameRatio(sides.reference.times, sides.distorted.times);
  const most = mostFrames(window);
  const wider = window === undefined ? WIDER : [];
  const wanted = framesToRead(Math.max(most, ...wider.map(framesForWider)), rateRatio);
  const record = (role: InputRole, until = signal) =>
    new RecordedThumbs((first, end) => openAgain(platform, sides[role], skip[role], { first, end }, until));
  const recorded = shared?.thumbs((until) => record('reference', until)) ?? record('reference');
  const reference = recorded.reader(wanted.reference);
  const distorted = record('distorted').reader(wanted.distorted);
  try {
    const partners = framePartners(sides.reference.times, sides.distorted.times, skip);
    const search = { rateRatio, assumed, maxFrames: most, ...(window !== undefined && { window }) };
    return await alignThumbs(
      reference,
      distorted,
      { ...search, ...(signal && { signal }) },
      { partners, wider },
    );
  } finally {
    await Promise.all([reference.close(), distorted.close()]);
  }
}

/** Frames [first, end) of those that count, from a second reading of the same video. */
async function openAgain(
  platform: Platform,
  side: Side,
  skip: number,
  { first, end }: { readonly first: number; readonly end: number },
  signal: AbortSignal | undefined,
): Promise<OpenedPart> {
  if (side.kind === 'frames') {
    const { descriptor } = side.source;
    if (!descriptor) {
      throw usageError(
        `the offset of ${shown(nameOf(side))} cannot be found, because it can be read only once; give it as a file, ` +
          'or state the offset.',
      );
    }
    return { source: reopen(descriptor, platform.files), start: skip + first };
  }
  const { openDecoded } = await import('../../media/decoders.js');
  const source = await openDecoded(side.video, {
    // A decoder that knows its end also ends when no caller is left to stop it.
    frames: { start: skip + first, end: skip + end },
    damage: 'accept',
    ...(signal && { signal }),
  });
  return { source, start: 0 };
}
