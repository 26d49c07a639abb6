/**
 * @module pictures/difference
 * Draws the difference of two frames: warm if the distorted one is brighter, cold if it is darker.
 */

import { type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import type { RgbImage } from './image.js';

/** A map of differences in luma. */
export interface DifferenceMap {
  readonly image: RgbImage;
  /** Amplification of differences. */
  readonly gain: number;
}

/** How to amplify differences. */
export interface DifferenceOptions {
  /** Brightness of the map per 8-bit level of difference. Default: see {@link differenceMap}. */
  readonly gain?: number;
}

/** Possible gains; a difference of 255 / gain levels has full brightness. */
const GAINS = [32, 16, 8, 4, 2, 1] as const;

/** Share of samples that may exceed full brightness. */
const CLIPPED = 0.02;

/** @param options default gain: the largest power of two up to 32 at which at most one sample in 50 is clipped */
export function differenceMap(
  reference: FramePlanes,
  distorted: FramePlanes,
  { width, height, bitDepth }: VideoFormat,
  options: DifferenceOptions = {},
): DifferenceMap {
  const [ref, dis] = [samplesOf(reference.y, bitDepth), samplesOf(distorted.y, bitDepth)];
  const unit = 2 ** (bitDepth - 8);
  const gain = options.gain ?? fittingGain(ref, dis, unit);
  const data = new Uint8ClampedArray(3 * width * height);
  for (let i = 0; i < width * height; i++) {
    const difference = (dis[i]! - ref[i]!) / unit;
    const light = Math.abs(difference) * gain;
    // Goes towards white, so that strong differences stand out in black and white as well.
    const [warm, cold] = difference > 0 ? [light, light / 4] : [light / 4, light];
    data[3 * i] = warm;
    data[3 * i + 1] = light / 2;
    data[3 * i + 2] = cold;
  }
  return { image: { width, height, data: new Uint8Array(data.buffer) }, gain };
}

type Samples = Uint8Array | Uint16Array;

function fittingGain(ref: Samples, dis: Samples, unit: number): number {
  const counts = new Uint32Array(256);
  for (let i = 0; i < ref.length; i++) {
    const level = Math.min(255, Math.ceil(Math.abs(dis[i]! - ref[i]!) / unit));
    counts[level]!++;
  }
  let left = CLIPPED * ref.length;
  let level = 255;
  while (level > 0 && left >= counts[level]!) left -= counts[level--]!;
  return GAINS.find((gain) => gain * level <= 255) ?? 1;
}
