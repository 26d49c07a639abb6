/**
 * @module pictures/detail
 * Measures detail and contrast of a picture.
 */
import type { Luma } from './luma.js';

/**
 * Gradient energy over the variance of luma: fineness of detail, independent of contrast. 0 for a flat picture.
 */
export function sharpness(luma: Luma): number {
  const { deviation } = brightness(luma);
  return deviation === 0 ? 0 : gradientEnergy(luma) / deviation ** 2;
}

/** Mean of the squared steps to the right and down, in levels squared. */
function gradientEnergy({ width, height, levels }: Luma): number {
  let sum = 0;
  for (let y = 0; y + 1 < height; y++) {
    for (let x = 0; x + 1 < width; x++) {
      const at = y * width + x;
      const here = levels[at]!;
      sum += (levels[at + 1]! - here) ** 2 + (levels[at + width]! - here) ** 2;
    }
  }
  return sum / Math.max(1, (width - 1) * (height - 1));
}

/** Mean and standard deviation of luma in levels. */
export function brightness({ levels }: Luma): { readonly mean: number; readonly deviation: number } {
  let sum = 0;
  for (const level of levels) sum += level;
  const mean = sum / levels.length;
  let squares = 0;
  for (const level of levels) squares += (level - mean) ** 2;
  return { mean, deviation: Math.sqrt(squares / levels.length) };
}
