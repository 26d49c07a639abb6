/**
 * @module pictures/flat
 * Measures noise and banding in flat parts of a picture.
 */
import type { Luma } from './luma.js';

/** Side of the blocks for measuring flatness. */
const BLOCK = 16;

/** Share of the reference's blocks that count as flat. */
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
 * Standard deviation of noise in flat parts, in levels, from a mask that ignores constant and linear parts (J. Immerkaer,
 * Fast Noise Variance Estimation, 1996). 0 without flat blocks.
 * @param flat from {@link flatBlocks}
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

/** Shortest run of equal samples that counts as a band; longer than a flat 8x8 block. */
const RUN = 12;

/** Most samples between two bands. */
const GAP = 4;

/** Largest step between bands in levels; larger steps are edges. */
const STEP = 20;

/** Steps of this many levels count fully, smaller ones less. 8-bit video cannot avoid steps of one level. */
const PLAIN = 4;

/**
 * Share of samples in bands, 0 to 1, weighted by the height of the step. A band is a run of at least 12 equal samples,
 * across or down, with a small step to another run nearby. Plain drawings have edges instead, and noise has no runs.
 */
export function banding({ width, height, levels }: Luma): number {
  const bands = new Float32Array(levels.length);
  for (let y = 0; y < height; y++) markBands(levels, y * width, width, 1, bands);
  for (let x = 0; x < width; x++) markBands(levels, x, height, width, bands);
  let sum = 0;
  for (const band of bands) sum += band;
  return sum / Math.max(1, levels.length);
}

/** Writes the weights of the bands of one line of `length` samples, `stride` apart. */
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
