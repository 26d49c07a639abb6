/**
 * @module pictures/luma
 * Luma in 8-bit levels at every bit depth, for the measurements of this folder.
 */

import { samplesOf, type VideoFormat } from '../core/frame.js';

/** Luma in 8-bit levels; deeper video has fractions of them. */
export interface Luma {
  readonly width: number;
  readonly height: number;
  readonly levels: Float32Array;
}

/** The luma of packed samples. */
export function lumaOf(plane: Uint8Array, { width, height, bitDepth }: VideoFormat): Luma {
  const samples = samplesOf(plane, bitDepth);
  const unit = 2 ** (bitDepth - 8);
  const levels = new Float32Array(width * height);
  for (let i = 0; i < levels.length; i++) levels[i] = samples[i]! / unit;
  return { width, height, levels };
}
