/**
 * @module pictures/flat
 * What shows in flat parts of a picture: noise, and bands.
 */
import type { Luma } from './luma.js';

/** Side of the blocks in which flatness is judged. */
const BLOCK = 16;

/** Share of blocks, the flattest of the reference, that count as its flat parts. */
const FLATTEST = 0.25;

/** Top left corners of the flattest blocks of a reference. */
export function flatBlocks({ width, height, levels }: Luma): readonly (readonly [x: number, y: number])[] {
  const blocks: { readonly corner: readonly [number, number]; readonly range: number }[] = [];
  for (let y = 0; y + BLOCK <= height; y += BLOCK) {
    for (let x = 0; x + BLOCK <= width; x += BLOCK) {
      blocks.push({ corner: [x, y], range: deviation(levels, width, x, y) });
    }
  }
  blocks.sort((a, b) => a.range - b.range);
  return blocks.slice(0, Math.ceil(FLATTEST * blocks.length)).map(({ corner }) => corner);
}

function deviation(levels: Float32Array, width: number, left: number, top: number): number {
  let [sum, squares] = [0, 0];
  for (let y = top; y < top + BLOCK; y++) {
    for (let x = left; x < left + BLOCK; x++) {
      const level = levels[y * width + x]!;
      sum += level;
      squares += level * level;
    }
  }
  const n = BLOCK * BLOCK;
  return squares / n - (sum / n) ** 2;
}

/**
 * Standard deviation of noise in flat parts, in levels, by what a mask that answers neither to flat nor to evenly
 * sloping parts leaves of them (J. Immerkaer, Fast Noise Variance Estimation, 1996).
 * @param flat from {@link flatBlocks}; where there are none, the noise is 0
 */
export function noiseIn({ width, levels }: Luma, flat: ReturnType<typeof flatBlocks>): number {
  let [sum, count] = [0, 0];
  for (const [left, top] of flat) {
    for (let y = top + 1; y < top + BLOCK - 1; y++) {
      for (let x = left + 1; x < left + BLOCK - 1; x++) {
        const at = y * width + x;
        const l = (offset: number) => levels[at + offset]!;
        sum += Math.abs(
          4 * l(0) -
            2 * (l(-1) + l(1) + l(-width) + l(width)) +
            (l(-width - 1) + l(-width + 1) + l(width - 1) + l(width + 1)),
        );
        count++;
      }
    }
  }
  return count === 0 ? 0 : (Math.sqrt(Math.PI / 2) * sum) / (6 * count);
}

/** Equal samples in a row from which on they are a band: more than a block of 8 that coding left flat. */
const RUN = 12;

/** Samples between two bands in which noise may blur the step. */
const GAP = 4;

/** Levels up to which a step from one run to the next is that of a gradient drawn in bands, not an edge. */
const STEP = 20;

/** Levels from which on a step is plain to see; lower ones count for less. One level is what 8 bit cannot avoid. */
const PLAIN = 4;

/**
 * Share of samples, 0 to 1, that lie in bands: runs of at least 12 equal samples, across or down, with a small step to
 * another such run near by, counted by the height of the step. A drawing of plain areas has edges instead, and noise or
 * grain has no runs.
 */
export function banding({ width, height, levels }: Luma): number {
  const bands = new Float32Array(levels.length);
  for (let y = 0; y < height; y++) markBands(levels, y * width, width, 1, bands);
  for (let x = 0; x < width; x++) markBands(levels, x, height, width, bands);
  let sum = 0;
  for (const band of bands) sum += band;
  return sum / Math.max(1, levels.length);
}

/** Marks the bands of one line of `length` samples, `stride` apart, with how much each counts. */
function markBands(
  levels: Float32Array,
  start: number,
  length: number,
  stride: number,
  marks: Float32Array,
): void {
  let before: { readonly from: number; readonly to: number; readonly level: number } | undefined;
  for (let from = 0; from < length; ) {
    const level = levels[start + from * stride]!;
    let to = from + 1;
    while (to < length && levels[start + to * stride] === level) to++;
    if (to - from >= RUN) {
      const step = before && from - before.to <= GAP ? Math.abs(level - before.level) : 0;
      if (before && step > 0 && step <= STEP) {
        const weight = Math.min(1, step / PLAIN);
        for (let i = before.from; i < to; i++) {
          const at = start + i * stride;
          marks[at] = Math.max(marks[at]!, weight);
        }
      }
      before = { from, to, level };
    }
    from = to;
  }
}
