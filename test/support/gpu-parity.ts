/**
 * @module test/support/gpu-parity
 * Compares a GPU's records with the WebAssembly core's, double by double, on random plans and pictures: sizes, depths, layouts,
 * options and histories.
 */
import type { Compat } from '../../src/core/choices.js';
import type { Implementation } from '../../src/core/module.js';
import { wasmMeasurers } from '../../src/engine/backends/core/extractor.js';
import type { ExtractionPlan, FrameSlot, Measurer } from '../../src/engine/backends/measurer.js';
import type { WebgpuKind } from '../../src/engine/backends/webgpu/measurer.js';
import { format, type Picture, picture, planOf, wasm } from './metric.js';
import { type SeededRandom, seeded } from './random.js';

export interface FramePair {
  readonly reference: Picture;
  readonly distorted: Picture;
}

/** Draws the samples of a picture. */
type Fill = (random: SeededRandom, top: number) => (x: number, y: number, plane: number) => number;

/** Pictures for edge cases. */
const FILLS: Readonly<Record<string, Fill>> = {
  flat: (random, top) => {
    const value = random.pick([0, 1, top >> 1, top - 1, top]);
    return () => value;
  },
  noise: (random, top) => () => random.int(0, top),
  extremes: (random, top) => () => random.pick([0, top]),
  saw: (random, top) => {
    const [dx, dy] = [random.int(0, top), random.int(0, 9)];
    return (x, y, plane) => (x * dx + y * dy + plane) % (top + 1);
  },
  lines: (random, top) => {
    const [every, down] = [random.int(2, 9), random.int(0, 1) === 1];
    return (x, y) => ((down ? y : x) % every === 0 ? top : 0);
  },
  corners: (random, top) => {
    const [across, down] = [random.int(1, 4), random.int(1, 4)];
    return (x, y) => (x < across && y < down ? top : 0);
  },
  checkerboard: (random, top) => {
    const phase = random.int(0, 1);
    return (x, y) => ((x + y + phase) % 2 === 0 ? top : 0);
  },
  natural: (random, top) => {
    const [fx, fy, swing] = [0.02 + random.next() / 9, 0.02 + random.next() / 9, top / 64];
    return (x, y, plane) => {
      const wave = 0.5 + 0.2 * (Math.sin(x * fx + plane) + Math.cos(y * fy));
      return Math.round(Math.max(0, Math.min(top, top * wave + swing * (random.next() - 0.5))));
    };
  },
};

export const FILL_NAMES: readonly string[] = Object.keys(FILLS);

/** How the distorted picture of a pair follows from the reference; half gives quotients that are integers. */
const RELATIONS = ['other', 'near', 'same', 'half'] as const;

/**
 * Pairs of a fill, one of each relation in turn; the distorted picture of a natural one is near it. `mixed` draws the
 * relation of each pair and the fill of each picture.
 */
export function pairsOf(plan: ExtractionPlan, fill: string, seed: number, count = 4): FramePair[] {
  const { width, height, bitDepth, chroma } = plan.format;
  const random = seeded(seed);
  const top = 2 ** bitDepth - 1;
  const one = () => {
    const name = fill === 'mixed' ? random.pick(FILL_NAMES) : fill;
    return picture(format(width, height, bitDepth, chroma), (FILLS[name] as Fill)(random, top));
  };
  const near = (v: number) => Math.max(0, Math.min(top, v + random.int(-top >> 4, top >> 4)));
  const relationOf = (i: number): (typeof RELATIONS)[number] => {
    if (fill === 'natural') return 'near';
    return fill === 'mixed' ? random.pick(RELATIONS) : (RELATIONS[i % RELATIONS.length] ?? 'other');
  };
  return Array.from({ length: count }, (_, i) => {
    const reference = one();
    const distorted = {
      other: one,
      near: () => reference.map((plane) => plane.map(near)),
      same: () => reference,
      half: () => reference.map((plane) => plane.map((v) => v >> 1)),
    }[relationOf(i)]();
    return { reference, distorted };
  });
}

/** Writes the planes of a pair to a slot. */
export function write(slot: FrameSlot, pair: FramePair): void {
  for (const side of ['reference', 'distorted'] as const) {
    const { y, cb, cr } = slot[side];
    for (const [i, to] of [y, cb, cr].entries()) {
      const from = pair[side][i];
      if (to && from) to.set(new Uint8Array(from.buffer, from.byteOffset, to.length));
    }
  }
}

export interface Run {
  /** Number of the first pair. */
  readonly first?: number;
  /** Pairs at the start that are kept without being measured. */
  readonly kept?: number;
  /** Every how many pairs the metrics that need no history are measured. */
  readonly subsample?: number;
}

/** The records of pairs in order, with as many in flight as the measurer has slots. */
export async function recordsOf(
  measurer: Measurer,
  pairs: readonly FramePair[],
  { first = 0, kept = 0, subsample = 1 }: Run = {},
): Promise<Float64Array[]> {
  const inFlight: (Promise<void> | undefined)[] = [];
  const records: Float64Array[] = [];
  for (const [i, pair] of pairs.entries()) {
    if (inFlight.length === measurer.slots) await inFlight.shift();
    const slot = measurer.slot(first + i);
    write(slot, pair);
    if (i < kept) {
      measurer.keep(slot);
      continue;
    }
    const record = new Float64Array(measurer.layout.length);
    const measuring = measurer.measure(slot, record, slot.index % subsample === 0);
    // The caller awaits its failure.
    measuring?.catch(() => {});
    inFlight.push(measuring);
    records.push(record);
  }
  await Promise.all(inFlight);
  return records;
}

export async function coreRecords(
  plan: ExtractionPlan,
  pairs: readonly FramePair[],
  run: Run = {},
  implementation: Implementation = 'simd128',
): Promise<Float64Array[]> {
  const measurer = wasmMeasurers(wasm, implementation).open(plan);
  const records = await recordsOf(measurer, pairs, run);
  measurer.close();
  return records;
}

/** Doubles that differ between two runs, at most ten. */
export function differences(
  plan: ExtractionPlan,
  gpu: readonly Float64Array[],
  core: readonly Float64Array[],
): string[] {
  const found: string[] = [];
  for (const [frame, record] of core.entries()) {
    for (const [field, value] of record.entries()) {
      const other = gpu[frame]?.[field];
      if (Object.is(other, value)) continue;
      found.push(`frame ${frame}, field ${field} of ${describe(plan)}: GPU ${other}, core ${value}`);
    }
  }
  return found.slice(0, 10);
}

/** Measures pairs on a GPU and with the core. @returns their differences */
export async function disparity(
  kind: WebgpuKind,
  plan: ExtractionPlan,
  pairs: readonly FramePair[],
  run: Run = {},
  implementation: Implementation = 'simd128',
): Promise<string[]> {
  for (const call of plan.calls) {
    const problem = kind.problem(call, plan.format);
    if (problem) throw new Error(problem);
  }
  const measurer = await kind.open(plan);
  try {
    const records = await recordsOf(measurer, pairs, run);
    return differences(plan, records, await coreRecords(plan, pairs, run, implementation));
  } finally {
    measurer.close();
  }
}

function describe({ calls, format: { width, height, bitDepth, chroma } }: ExtractionPlan): string {
  return `${calls.map(({ run }) => run).join('+')} at ${width}x${height}, ${bitDepth} bit, ${chroma}`;
}

/** What to measure, on which pairs, from which frame. */
export interface GpuCase {
  readonly plan: ExtractionPlan;
  readonly pairs: readonly FramePair[];
  readonly run: Run;
  /** Features, fill and seed of the pictures. */
  readonly title: string;
}

/** Largest sizes that are drawn. */
export interface Bounds {
  readonly width: number;
  readonly height: number;
}

export function drawCase(random: SeededRandom, bounds: Bounds): GpuCase {
  const video = drawFormat(random, bounds);
  const features = drawFeatures(random);
  const compat: Compat = random.int(0, 4) === 0 ? 'libvmaf-3.0' : 'libvmaf-3.2';
  const plan = planOf(features, video, compat).extraction;
  const fill = random.pick(['natural', 'natural', 'mixed', 'mixed', random.pick(FILL_NAMES)]);
  const seed = random.int(0, 2 ** 31);
  const run = { first: random.pick([0, 0, random.int(1, 99)]), kept: random.int(0, 2) };
  const pairs = pairsOf(plan, fill, seed, run.kept + random.int(1, 3));
  const title = `${features.join(' ')}, ${compat}, ${fill} of seed ${seed}, ${JSON.stringify(run)}`;
  return { plan, pairs, run: { ...run, subsample: random.pick([1, 1, 2]) }, title };
}

/** One picture of four is narrow or low; small ones are more frequent than large ones. */
function drawFormat(random: SeededRandom, { width, height }: Bounds) {
  const thin = random.int(0, 7);
  const side = (most: number) => Math.floor(17 + (most - 16) * random.next() ** 2);
  const columns = side(thin === 0 ? 20 : width);
  const rows = side(thin === 1 ? 20 : height);
  const bitDepth = random.pick([8, 8, 10, random.int(8, 16)]);
  return format(columns, rows, bitDepth, random.pick(['420', '420', '422', '444', '400']));
}

/** Feature strings: mostly VIF and ADM with one to three parameter sets each, often others too. */
function drawFeatures(random: SeededRandom): string[] {
  const perhaps = (chance: number, names: () => readonly string[]) => (random.next() < chance ? names() : []);
  const several = (draw: () => string) => Array.from({ length: random.int(1, 3) }, draw);
  const drawn = [
    ...perhaps(0.8, () => several(() => drawVif(random))),
    ...perhaps(0.8, () => several(() => drawAdm(random))),
    ...perhaps(0.5, () => ['motion']),
    ...perhaps(0.3, () => ['motion=motion_five_frame_window=true']),
    ...perhaps(0.3, () => ['psnr']),
  ];
  return drawn.length > 0 ? [...new Set(drawn)] : ['vif', 'adm', 'motion'];
}

const gainLimit = (random: SeededRandom) =>
  random.pick([1, 100, 1.2, 1 + random.next(), 1 + 99 * random.next(), random.int(1, 100)]);

function drawVif(random: SeededRandom): string {
  return `vif=vif_enhn_gain_limit=${gainLimit(random)}:vif_skip_scale0=${random.int(0, 3) === 0}`;
}

/** Viewing distances in picture heights, and lines of a display. */
const CONDITIONS = [
  [3, 1080],
  [1.5, 2160],
  [5, 1080],
  [3, 2160],
  [5, 2160],
  [5, 720],
] as const;

function drawAdm(random: SeededRandom): string {
  const flag = () => random.int(0, 3) === 0;
  const mode = random.int(0, 3);
  // Blends have factors for these conditions only; the other modes for all of 3240 lines or more.
  const distance = 0.75 + random.next() * 23;
  const least = Math.ceil(3240 / distance);
  const any = [distance, random.int(least, 4320)] as const;
  const [view, height] = random.pick(mode < 2 ? [...CONDITIONS, any] : CONDITIONS);
  const options = {
    adm_enhn_gain_limit: gainLimit(random),
    adm_noise_weight: random.pick([0.03125, 0.02, 0, 1500 * random.next()]),
    adm_csf_mode: mode,
    adm_csf_scale: random.pick([1, 50 * random.next()]),
    adm_csf_diag_scale: random.pick([1, 50 * random.next()]),
    adm_norm_view_dist: view,
    adm_ref_display_height: height,
    adm_skip_aim: flag(),
    adm_skip_scale0: flag(),
  };
  const given = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return `adm=${given.join(':')}`;
}
