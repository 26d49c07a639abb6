/**
 * @module pictures/place
 * Measures how much two frames differ and where most.
 */
import type { Luma } from './luma.js';

/** The ninths of a picture, row by row. */
const PARTS = [
  'top left',
  'top',
  'top right',
  'left',
  'centre',
  'right',
  'bottom left',
  'bottom',
  'bottom right',
] as const;

/** A ninth of the picture. */
export type PicturePart = (typeof PARTS)[number];

/** Size and location of the difference of two frames. */
export interface Place {
  /** Mean absolute difference of luma in 8-bit levels. */
  readonly mean: number;
  /** Largest absolute difference in 8-bit levels. */
  readonly largest: number;
  /** The ninth of the picture with the most squared error; `null` for identical frames. */
  readonly part: PicturePart | null;
  /** Share of the squared error in that part; 1/9 if spread evenly. */
  readonly share: number;
}

/** Compares two frames of one size. */
export function place(reference: Luma, distorted: Luma): Place {
  const { width, height } = reference;
  const errors = new Float64Array(PARTS.length);
  let [sum, largest] = [0, 0];
  for (let y = 0; y < height; y++) {
    const row = 3 * Math.floor((3 * y) / height);
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const difference = Math.abs(distorted.levels[at]! - reference.levels[at]!);
      const part = row + Math.floor((3 * x) / width);
      errors[part]! += difference * difference;
      sum += difference;
      largest = Math.max(largest, difference);
    }
  }
  const all = errors.reduce((a, b) => a + b, 0);
  const most = errors.indexOf(Math.max(...errors));
  return {
    mean: sum / (width * height),
    largest,
    part: all === 0 ? null : (PARTS[most] ?? null),
    share: all === 0 ? 0 : errors[most]! / all,
  };
}
