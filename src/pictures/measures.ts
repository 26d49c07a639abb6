/**
 * @module pictures/measures
 * Measures a picture without another one: the visibility of an 8x8 block grid, fineness of detail, contrast.
 */
import type { Luma } from './luma.js';

/** Side of the blocks; borders of 16x16 and 32x32 blocks lie on the same grid. */
const BLOCK = 8;

/** Limit of steps in levels; larger steps are edges of the picture. */
const EDGE = 16;

/** Levels added to steps at borders and inside, so that faint steps in flat parts do not dominate. */
const FLOOR = 0.5;

/**
 * The mean, over all block borders in both directions, of the mean step across the border divided by the mean step inside
 * the two blocks. Visible borders in smooth parts count as much as those hidden by texture. About 1 without a grid.
 * @returns 1 for pictures too small to have a border
 */
export function blockiness(luma: Luma): number {
  const across = borders(luma, luma.width, luma.height, 1, luma.width);
  const down = borders(luma, luma.height, luma.width, luma.width, 1);
  const count = across.count + down.count;
  return count === 0 ? 1 : (across.sum + down.sum) / count;
}

/**
 * Sums borders along one direction: `length` samples `stride` apart, in `lines` lines `pitch` apart.
 * @returns sum of the ratios, and number of borders
 */
function borders({ levels }: Luma, length: number, lines: number, stride: number, pitch: number) {
  const [along, over] = [Math.floor(length / BLOCK), Math.floor(lines / BLOCK)];
  const steps = new Float64Array(length);
  let [sum, count] = [0, 0];
  for (let block = 0; block < over; block++) {
    steps.fill(0);
    for (let line = block * BLOCK; line < (block + 1) * BLOCK; line++) {
      for (let i = 1; i < length; i++) {
        const at = line * pitch + i * stride;
        const step = Math.abs(levels[at]! - levels[at - stride]!);
        steps[i]! += Math.min(EDGE, step) / BLOCK;
      }
    }
    for (let border = 1; border < along; border++) {
      const at = border * BLOCK;
      let inside = 0;
      for (let i = at - BLOCK + 1; i < at + BLOCK; i++) if (i !== at) inside += steps[i]!;
      sum += (steps[at]! + FLOOR) / (inside / (2 * BLOCK - 2) + FLOOR);
      count++;
    }
  }
  return { sum, count };
}

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
