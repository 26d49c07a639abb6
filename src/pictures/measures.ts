/**
 * @module pictures/measures
 * Measures luma in 8-bit levels: block grid, detail, contrast, noise, banding, and where two frames differ most.
 */
import { samplesOf, type VideoFormat } from '../core/frame.js';

/** Luma in 8-bit levels; deeper video has fractions of them. */
export interface Luma {
  readonly width: number;
  readonly height: number;
  readonly levels: Float32Array;
}

export function lumaOf(plane: Uint8Array, { width, height, bitDepth }: VideoFormat): Luma {
  const samples = samplesOf(plane, bitDepth);
  const unit = 2 ** (bitDepth - 8);
  const levels = new Float32Array(width * height);
  for (let i = 0; i < levels.length; i++) levels[i] = samples[i]! / unit;
  return { width, height, levels };
}

/** Side of the blocks; borders of 16x16 and 32x32 blocks lie on the same grid. */
const BLOCK = 8;

/** Limit of steps in levels; larger steps are edges of the picture. */
const EDGE = 16;

/** Levels added to steps at borders and inside, so that faint steps in flat parts do not dominate. */
const FLOOR = 0.5;

/**
 * The mean step across a block border divided by the mean step inside the two blocks, averaged over all borders in
 * both directions. Visible borders in smooth parts count as much as those hidden by texture. About 1 without a grid.
 * @returns 1 for pictures too small to have a border
 */
export function blockiness(luma: Luma): number {
  const across = borders(luma, luma.width, luma.height, 1, luma.width);
  const down = borders(luma, luma.height, luma.width, luma.width, 1);
  const count = across.count + down.count;
  return count === 0 ? 1 : (across.sum + down.sum) / count;
}

/** Sums the ratios of borders along one direction: `length` samples `stride` apart, in `lines` lines `pitch` apart. */
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

/** Gradient energy over the variance of luma: fineness of detail, independent of contrast. 0 for a flat picture. */
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

/** Side of the blocks for measuring flatness. */
const FLAT_BLOCK = 16;

/** Share of the reference's blocks that count as flat. */
const FLATTEST = 0.25;

/** Top left corners of the flattest blocks of a reference. */
export function flatBlocks({ width, height, levels }: Luma): readonly (readonly [x: number, y: number])[] {
  const blocks: { readonly corner: readonly [number, number]; readonly range: number }[] = [];
  for (let y = 0; y + FLAT_BLOCK <= height; y += FLAT_BLOCK) {
    for (let x = 0; x + FLAT_BLOCK <= width; x += FLAT_BLOCK) {
      blocks.push({ corner: [x, y], range: deviation(levels, width, x, y) });
    }
  }
  blocks.sort((a, b) => a.range - b.range);
  return blocks.slice(0, Math.ceil(FLATTEST * blocks.length)).map(({ corner }) => corner);
}

function deviation(levels: Float32Array, width: number, left: number, top: number): number {
  let [sum, squares] = [0, 0];
  for (let y = top; y < top + FLAT_BLOCK; y++) {
    for (let x = left; x < left + FLAT_BLOCK; x++) {
      const level = levels[y * width + x]!;
      sum += level;
      squares += level * level;
    }
  }
  const n = FLAT_BLOCK * FLAT_BLOCK;
  return squares / n - (sum / n) ** 2;
}

/**
 * Standard deviation of noise in flat parts, in levels, from a mask that ignores constant and linear parts (J.
 * Immerkaer, Fast Noise Variance Estimation, 1996). 0 without flat blocks.
 */
export function noiseIn({ width, levels }: Luma, flat: ReturnType<typeof flatBlocks>): number {
  let [sum, count] = [0, 0];
  for (const [left, top] of flat) {
    for (let y = top + 1; y < top + FLAT_BLOCK - 1; y++) {
      for (let x = left + 1; x < left + FLAT_BLOCK - 1; x++) {
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
