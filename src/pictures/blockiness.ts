/**
 * @module pictures/blockiness
 * Measures the visibility of an 8x8 block grid.
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
