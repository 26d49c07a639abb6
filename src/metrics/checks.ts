/**
 * @module metrics/checks
 * What formats an extractor can take, as errors that say what to do.
 */
import { AnyvmafError } from '../core/errors.js';
import type { VideoFormat } from '../core/frame.js';

/**
 * Refuses video without chroma.
 * @param option what makes the extractor measure colour, where it does not always
 * @throws {AnyvmafError} `feature`
 */
export function requireChroma(extractor: string, { chroma }: VideoFormat, option?: string): void {
  if (chroma !== '400') return;
  const why = option === undefined ? '' : ` with ${option}`;
  throw new AnyvmafError(
    'feature',
    `The ${extractor} extractor measures colour${why} but the video is 4:0:0, luma alone; ` +
      (option === undefined ? leaveOut(extractor) : `leave ${option} out.`),
  );
}

/**
 * Refuses pictures with a side shorter than `least`.
 * @throws {AnyvmafError} `feature`
 */
export function requireSide(
  extractor: string,
  { width, height }: VideoFormat,
  least: number,
  why = '',
): void {
  if (width >= least && height >= least) return;
  throw new AnyvmafError(
    'feature',
    `The ${extractor} extractor needs pictures of at least ${least}x${least}${why} but the video is ` +
      `${width}x${height}; ${leaveOut(extractor)}`,
  );
}

/** What to do about an extractor that cannot work, whoever asked for it. */
export function leaveOut(extractor: string): string {
  return `leave ${extractor} out, and a preset that asks for it.`;
}
