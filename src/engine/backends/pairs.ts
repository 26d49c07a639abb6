/**
 * @module engine/backends/pairs
 * Shared by measurers: planes of a picture, places of pairs in a ring, and the fields of a pair's record.
 */
import { chromaSize, type PlaneSize, type VideoFormat } from '../../core/frame.js';
import type { CoreCall } from '../../core/kernel.js';
import { findExcess } from './excess.js';
import { type ExtractionPlan, picturesRead, type RecordLayout } from './types.js';

/** Luma, unless the video is 4:0:0 two chroma planes, and alpha; odd sizes are halved downwards. */
export function planeSizes(format: VideoFormat): PlaneSize[] {
  const { width, height } = format;
  const luma = { width, height };
  if (format.chroma === '400') return [luma];
  const chroma = chromaSize(format);
  return [luma, chroma, chroma, ...(format.alpha ? [luma] : [])];
}

/** Where the picture of a number is, or would be. */
export function placeOf<T>(pictures: readonly T[], index: number): T {
  const picture = pictures[index % pictures.length];
  if (!picture) throw new RangeError(`there is no pair ${index}`);
  return picture;
}

/**
 * Starts the record of a pair: no values yet, and what was found above the range of its samples.
 * @param planes of one of its pictures
 */
export function startRecord(
  plan: ExtractionPlan,
  { excess }: RecordLayout,
  record: Float64Array,
  spatial: boolean,
  planes: (side: 'reference' | 'distorted') => readonly Uint8Array[],
): void {
  record.fill(Number.NaN);
  if (excess < 0) return;
  // Planes that are not read may hold anything.
  const read = picturesRead(plan, spatial);
  const { bitDepth } = plan.format;
  record[excess] = read.reference ? findExcess(planes('reference'), bitDepth) : 0;
  record[excess + 1] = read.distorted ? findExcess(planes('distorted'), bitDepth) : 0;
}

/** Calls to carry out on a pair, with their places in the plan: the fields of all others stay NaN. */
export function callsOf(
  { calls }: ExtractionPlan,
  index: number,
  spatial: boolean,
  holds: (index: number) => boolean,
): (readonly [place: number, call: CoreCall])[] {
  const hasHistory = ({ back, padded }: CoreCall) =>
    back === 0 || holds(index - back) || (padded === true && index < back);
  return [...calls.entries()].filter(([, call]) => (spatial || call.everyFrame) && hasHistory(call));
}
