/**
 * @module pictures/blockiness
 * How much a grid of 8x8 blocks stands out.
 */
import type { Luma } from './luma.js';

/** Side of the blocks whose borders are looked for; those of 16 and 32 lie on the same lines. */
const BLOCK = 8;

/** Steps above this many levels are edges of the picture, which no coding made: they count as this. */
const EDGE = 16;

/** Levels added to steps at borders and inside, so that the faintest steps in flat parts do not decide. */
const FLOOR = 0.5;

/**
 * Mean over all block borders of the mean step across the border, over the mean step inside the two blocks, both
 * directions. Borders in smooth parts, where the eye sees them, count as much as those that texture hides. A picture
 * without a grid has about 1.
 * @returns 1 for pictures too small to have a border
 */
export function blockiness(luma: Luma): number {
  const across = borders(luma, luma.width, luma.height, 1, luma.width);
  const down = borders(luma, luma.height, luma.width, luma.width, 1);
  const count = across.count + down.count;
  return count === 0 ? 1 : (across.sum + down.sum) / count;
}

/**
 * Borders met along one direction: `length` samples `stride` apart, in `lines` lines `pitch` apart.
 * @returns sum of the ratios, and how many borders there are
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
