/**
 * @module score/alignment
 * Opens the first seconds of both videos a second time, to find the offset at which they show the same pictures.
 */
import { AnyvmafError } from '../errors.js';
import type { AlignResult } from '../media/align/types.js';
import { align } from '../media/align.js';
import { shown } from '../media/errors.js';
import { reopen } from '../media/open.js';
import { nameOf, type Side, type Sides } from '../media/pairing/prepare.js';
import { averageRate } from '../media/pairing/timeline.js';
import type { FrameSource } from '../media/types.js';
import type { Platform } from '../platform/platform.js';

/** What was found, and how far was looked. */
export interface Alignment {
  readonly result: AlignResult;
}

/** Where to look. */
export interface AlignmentOptions {
  readonly skipReference: number;
  readonly skipDistorted: number;
  /** The offset to stay with where the pictures do not tell. */
  readonly assumed: number;
  /** Offsets tried to either side. Default: as media/align has it. */
  readonly window?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Frames that an automatic search decodes at least, where its answer stays unclear. */
const FEWEST_MOST = 300;

/** Frames of each video that a search of a window decodes at most. */
export function mostFrames(window = 0): number {
  return Math.max(FEWEST_MOST, 4 * window);
}

/**
 * Searches the offset.
 * @throws {AnyvmafError} `usage` when a video can be read only once; whatever decoders throw
 */
export async function findOffset(
  platform: Platform,
  sides: Sides,
  { skipReference, skipDistorted, assumed, window, signal }: AlignmentOptions,
): Promise<Alignment> {
  const rates = [sides.reference, sides.distorted].map((side) => side.times && averageRate(side.times));
  const [first, second] = rates;
  const rateRatio = first && second ? Math.min(16, Math.max(1 / 16, first / second)) : 1;
  const most = mostFrames(window);
  const opening = [
    openAgain(platform, sides.reference, skipReference, Math.ceil(most * Math.max(1, rateRatio)), signal),
    openAgain(platform, sides.distorted, skipDistorted, Math.ceil(most / Math.min(1, rateRatio)), signal),
  ] as const;
  try {
    const [reference, distorted] = await Promise.all(opening);
    const result = await align(reference.source, distorted.source, {
      start: { reference: reference.start, distorted: distorted.start },
      // What rounding of times makes of equal rates is no difference.
      ...(Math.abs(rateRatio - 1) > 0.01 && { rateRatio }),
      assumed,
      maxFrames: most,
      ...(window !== undefined && { window }),
      ...(signal && { signal }),
    });
    return { result };
  } finally {
    for (const opened of opening) opened.then(({ source }) => source.close()).catch(() => {});
  }
}

/** The same video once more, `most` frames of it, and which of these is the first that counts. */
async function openAgain(
  platform: Platform,
  side: Side,
  skip: number,
  most: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly source: FrameSource; readonly start: number }> {
  if (side.kind === 'frames') {
    const { descriptor } = side.source;
    if (!descriptor) {
      throw new AnyvmafError(
        'usage',
        `the offset of ${shown(nameOf(side))} cannot be found, because it can be read only once; give it as a file, ` +
          'or state the offset.',
      );
    }
    return { source: reopen(descriptor, platform.files), start: skip };
  }
  const { openDecoded } = await import('../media/decoders.js');
  const source = await openDecoded(side.video, {
    // A decoder that knows its end ends also when nobody is left to stop it.
    frames: { start: skip, end: skip + most },
    allowDamaged: true,
    ...(signal && { signal }),
  });
  return { source, start: 0 };
}
