/**
 * @module core/aspect
 * Shapes of pictures.
 */

import { type Fraction, quotientOf } from './rational.js';
import type { PictureSize } from './size.js';

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly sampleAspect?: Fraction;
}

/** Relative difference of two aspects of one shape, which sizes in whole samples leave. */
export const SAME_ASPECT = 0.012;

/** Shapes that pictures usually have; small ones have them but for what their sizes round. */
const SHAPES = [16 / 9, 4 / 3, 16 / 10, 3 / 2, 1];

/** Width over height of a picture as shown. */
export function displayAspect({ width, height, sampleAspect }: Picture): number {
  return (width * (quotientOf(sampleAspect) ?? 1)) / height;
}

/** The size with a short side of 1080 in which square samples show a picture in its shape. */
export function screenSize(aspect: number): PictureSize {
  const wide = Math.max(aspect, 1 / aspect);
  const usual = SHAPES.find((shape) => Math.abs(wide / shape - 1) <= SAME_ASPECT) ?? wide;
  const long = 2 * Math.round((1080 * usual) / 2);
  return aspect < 1 ? { width: 1080, height: long } : { width: long, height: 1080 };
}
