/**
 * @module test/support/gpu-cases
 * Random plans and pictures for comparing a GPU with the core: sizes, depths, layouts, options and histories.
 */
import type { Compat } from '../../src/core/choices.js';
import type { ExtractionPlan } from '../../src/engine/backends/types.js';
import { planOf } from './finish.js';
import { FILL_NAMES, type FramePair, pairsOf, type Run } from './gpu-parity.js';
import { format } from './metric.js';
import type { SeededRandom } from './random.js';

/** What to measure, on which pairs, and from where. */
export interface GpuCase {
  readonly plan: ExtractionPlan;
  readonly pairs: readonly FramePair[];
  readonly run: Run;
  /** For messages: features, fill and seed of the pictures. */
  readonly title: string;
}

/** Largest sizes that are drawn. */
export interface Bounds {
  readonly width: number;
  readonly height: number;
}

/** Draws a case. */
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

/** One picture of four is narrow or low, and small ones are more frequent than large ones. */
function drawFormat(random: SeededRandom, { width, height }: Bounds) {
  const thin = random.int(0, 7);
  const side = (most: number) => Math.floor(17 + (most - 16) * random.next() ** 2);
  const columns = side(thin === 0 ? 20 : width);
  const rows = side(thin === 1 ? 20 : height);
  const bitDepth = random.pick([8, 8, 10, random.int(8, 16)]);
  return format(columns, rows, bitDepth, random.pick(['420', '420', '422', '444', '400']));
}

/** Feature strings: mostly VIF and ADM with one to three parameter sets each, often the others too. */
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
  // Blends have factors for some conditions only, the other modes for all of 3240 lines or more.
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
