/**
 * @module pictures/facts
 * Measures defects of a frame from its luma and the reference's (block grid, detail, contrast, noise, banding, and where the
 * two differ most) and says them in words; docs/worst-frames.md explains each fact.
 */
import { capital } from '../core/errors.js';
import { samplesOf, type VideoFormat } from '../core/frame.js';

/** How visible a defect is. */
export type FactLevel = 'none' | 'slight' | 'clear' | 'strong';

/** One fact about a frame. */
export interface FrameFact {
  /** Change from the reference to the distorted frame, in `unit`; larger is worse. */
  readonly value: number;
  readonly unit: string;
  /** Range of harmless values, in words. */
  readonly normal: string;
  readonly level: FactLevel;
  /** Measurement of each frame. */
  readonly reference: number;
  readonly distorted: number;
}

/** Names of the facts. */
export type FrameFactName = 'blockiness' | 'blur' | 'noise' | 'banding' | 'contrast_loss';

/** All measurements of a pair of frames. */
export interface FrameFacts extends Readonly<Record<FrameFactName, FrameFact>> {
  /** Mean luma in 8-bit levels, 0..255. */
  readonly brightness: { readonly reference: number; readonly distorted: number };
  /** Location and size of the difference. */
  readonly difference: Place;
  /** One or two sentences about all facts. */
  readonly summary: string;
}

interface FrameFactSpec {
  readonly unit: string;
  readonly normal: string;
  /** Smallest values that count as slight, clear, strong. */
  readonly from: readonly [slight: number, clear: number, strong: number];
}

/** In order. docs/worst-frames.md shows the encodes from which the levels were chosen. */
const SPECS: Readonly<Record<FrameFactName, FrameFactSpec>> = {
  // Mean step across the borders of 8x8 blocks over that inside, minus the same of the reference: about -1 to 15.
  blockiness: { unit: 'ratio', normal: 'below 0.05', from: [0.05, 0.2, 0.5] },
  // Lost share of the reference's fine detail, relative to contrast: at most 1, negative with added detail.
  blur: { unit: 'share', normal: '-0.1 to 0.1', from: [0.1, 0.35, 0.6] },
  // Standard deviation of noise in parts that are flat in the reference, minus the reference's.
  noise: { unit: '8-bit levels', normal: '-0.5 to 0.5', from: [0.5, 1.5, 4] },
  // Share of the picture in runs of equal samples, weighted by the step to the next, minus the reference's: -1 to 1.
  banding: { unit: 'share', normal: 'below 0.05', from: [0.05, 0.2, 0.5] },
  // Lost share of luma's standard deviation: at most 1, negative if contrast increased.
  contrast_loss: { unit: 'share', normal: '-0.03 to 0.03', from: [0.03, 0.1, 0.25] },
};

/** @param reference packed luma, as in media/types */
export function measureFacts(reference: Uint8Array, distorted: Uint8Array, format: VideoFormat): FrameFacts {
  const [ref, dis] = [lumaOf(reference, format), lumaOf(distorted, format)];
  const light = [brightness(ref), brightness(dis)] as const;
  const flat = flatBlocks(ref);
  const noise = (luma: Luma) => noiseIn(luma, flat);
  const of = (measure: (luma: Luma) => number) => [measure(ref), measure(dis)] as const;
  const facts: WordlessFacts = {
    blockiness: fact('blockiness', of(blockiness), growth),
    blur: fact('blur', of(sharpness), loss),
    noise: fact('noise', of(noise), growth),
    banding: fact('banding', of(banding), growth),
    contrast_loss: fact('contrast_loss', [light[0].deviation, light[1].deviation], loss),
    brightness: { reference: light[0].mean, distorted: light[1].mean },
    difference: place(ref, dis),
  };
  return { ...facts, summary: summarizeFacts(facts) };
}

type Both = readonly [reference: number, distorted: number];
const growth = ([reference, distorted]: Both) => distorted - reference;
const loss = ([reference, distorted]: Both) =>
  reference === 0 ? 0 : Math.max(-LARGEST_GAIN, 1 - distorted / reference);

/** Limits negative losses, which a nearly flat reference would make meaninglessly large. */
const LARGEST_GAIN = 10;

function fact(name: FrameFactName, both: Both, combine: (both: Both) => number): FrameFact {
  const value = combine(both);
  const { unit, normal, from } = SPECS[name];
  return { value, unit, normal, level: levelOf(from, value), reference: both[0], distorted: both[1] };
}

function levelOf([slight, clear, strong]: FrameFactSpec['from'], value: number): FactLevel {
  if (value >= strong) return 'strong';
  if (value >= clear) return 'clear';
  return value >= slight ? 'slight' : 'none';
}

type WordlessFacts = Omit<FrameFacts, 'summary'>;

/** Smallest visible change of mean luma in levels. */
const BRIGHTER = 2;
/** Smallest loss of noise to mention, as standard deviation in levels. */
const DENOISED = 0.5;
/** Smallest gain of detail to mention. */
const SHARPENED = 0.25;
/** Smallest share of the squared error for naming a ninth of the picture; 0.11 would be even. */
const GATHERED = 0.2;

const TEXTS: Readonly<Record<FrameFactName, (facts: WordlessFacts) => string>> = {
  blockiness: ({ blockiness }) =>
    `blockiness (steps at the 8x8 grid are ${blockiness.distorted.toFixed(2)} times those inside, in the ` +
    `reference ${blockiness.reference.toFixed(2)})`,
  blur: ({ blur }) => `blur (${percent(blur.value)} of the fine detail is gone)`,
  noise: ({ noise }) => `noise (${noise.value.toFixed(1)} levels added in flat parts)`,
  banding: ({ banding }) => `banding (${percent(banding.value)} more of the picture is drawn in flat steps)`,
  contrast_loss: ({ contrast_loss }) => `contrast loss (${percent(contrast_loss.value)} less)`,
};

const NAMES = ['blockiness', 'blur', 'noise', 'banding', 'contrast_loss'] as const;
const WEIGHT = { none: 0, slight: 1, clear: 2, strong: 3 } as const;

/** Names the visible defects, the strongest first, and where the frames differ. */
function summarizeFacts(facts: WordlessFacts): string {
  const { difference } = facts;
  if (difference.part === null) return 'Luma is the same in both frames.';
  const found = NAMES.filter((name) => facts[name].level !== 'none')
    .sort((a, b) => WEIGHT[facts[b].level] - WEIGHT[facts[a].level])
    .map((name) => `${facts[name].level} ${TEXTS[name](facts)}`);
  const clauses = [...found, ...asides(facts)];
  const what = clauses.length === 0 ? 'No measured defect stands out' : capital(clauses.join('; '));
  const where = difference.share >= GATHERED ? `, mostly in the ${difference.part} of the picture` : '';
  return `${what}. Luma differs by ${difference.mean.toFixed(1)} of 255 levels on average${where}.`;
}

/** Changes that are not defects. */
function asides({ blur, noise, brightness }: WordlessFacts): string[] {
  const lighter = brightness.distorted - brightness.reference;
  return [
    ...(noise.value <= -DENOISED
      ? [`noise or grain of the reference is smoothed away (${(-noise.value).toFixed(1)} levels)`]
      : []),
    ...(blur.value <= -SHARPENED && noise.level === 'none'
      ? ['there is more fine detail than in the reference, as after sharpening']
      : []),
    ...(Math.abs(lighter) >= BRIGHTER
      ? [`the picture is ${Math.abs(lighter).toFixed(0)} levels ${lighter > 0 ? 'brighter' : 'darker'}`]
      : []),
  ];
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** Luma in 8-bit levels; deeper video has fractions of them. */
export interface Luma {
  readonly width: number;
  readonly height: number;
  readonly levels: Float32Array;
}

function lumaOf(plane: Uint8Array, { width, height, bitDepth }: VideoFormat): Luma {
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
function blockiness(luma: Luma): number {
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
function sharpness(luma: Luma): number {
  const { deviation } = brightness(luma);
  return deviation === 0 ? 0 : gradientEnergy(luma) / deviation ** 2;
}

/** Mean of the squared steps to the right and down, in levels squared. */
function gradientEnergy({ width, height, levels }: Luma): number {
  let sum = 0;
  for (let y = 0; y + 1 < height; y++) {
    for (let x = 0; x + 1 < width; x++) {
      const at = y * width + x;
      const level = levels[at]!;
      sum += (levels[at + 1]! - level) ** 2 + (levels[at + width]! - level) ** 2;
    }
  }
  return sum / Math.max(1, (width - 1) * (height - 1));
}

/** Mean and standard deviation of luma in levels. */
function brightness({ levels }: Luma): { readonly mean: number; readonly deviation: number } {
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
function flatBlocks({ width, height, levels }: Luma): readonly (readonly [x: number, y: number])[] {
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
function noiseIn({ width, levels }: Luma, flat: ReturnType<typeof flatBlocks>): number {
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
function banding({ width, height, levels }: Luma): number {
  const bands = new Float32Array(levels.length);
  for (let y = 0; y < height; y++) markBands(levels, y * width, width, 1, bands);
  for (let x = 0; x < width; x++) markBands(levels, x, height, width, bands);
  let sum = 0;
  for (const band of bands) sum += band;
  return sum / Math.max(1, levels.length);
}

/** Writes the weights of the bands of one line of `length` samples, `stride` apart. */
function markBands(levels: Float32Array, start: number, length: number, stride: number, marks: Float32Array) {
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

function place(reference: Luma, distorted: Luma): Place {
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
