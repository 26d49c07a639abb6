/**
 * @module test/node/wasm/guards
 * No metric writes outside its memory: all of them run in builds of the modules with guard zones behind every area
 * (wasm/src/memory.h), portable C and SIMD128, at sizes around every vector and strip. Both give the same bits there too.
 * A plain run has some of the sizes, the exhaustive one all.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { chromaSize } from '../../../src/core/frame.js';
import {
  type CallArgument,
  Core,
  type CoreCall,
  type CoreContext,
  type CorePicture,
  type Implementation,
} from '../../../src/core/module.js';
import { ADM, admStructs, admVariant } from '../../../src/metrics/adm.js';
import { admCsf } from '../../../src/metrics/adm-csf.js';
import { coreCalls, type Metric, type Variant } from '../../../src/metrics/metric.js';
import { MOTION } from '../../../src/metrics/motion.js';
import { PSNR } from '../../../src/metrics/psnr.js';
import { VIF } from '../../../src/metrics/vif.js';
import { root } from '../../support/built.js';
import { callOf, type Picture, putPicture } from '../../support/metric.js';
import { PerceptualContext } from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { exhaustive, tier } from '../../support/tier.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);
const COMPILER = existsSync('/usr/bin/emcc');

type Size = readonly [number, number];
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

const SMALL: readonly Size[] = range(17, 80).flatMap((w) => range(17, 80).map((h): Size => [w, h]));
/**
 * Widths where a vector, a strip of VIF (480), what ADM decouples (256) or gathers (512 coefficients of a region that leaves
 * out a tenth) or a power of two ends; sides from 176 are for MS-SSIM, from 216 for CAMBI.
 */
const EDGES = [
  ...[96, 128, 160, 176, 192, 240, 256, 320, 384, 512, 768, 1024, 2048].flatMap((w) => range(w - 1, w + 1)),
  ...[...range(215, 224), ...range(471, 497), ...range(636, 648), ...range(1272, 1288)],
  ...[...range(959, 962), ...range(1439, 1442)],
];
/** Metrics that need larger pictures than a row of vectors; on large pictures only these run. */
const LARGE = /^(float_ms_ssim|cambi|speed|float_motion|motion)/;
const isLarge = ([width, height]: Size): boolean => Math.min(width, height) > 100;
const WIDE: readonly Size[] = EDGES.flatMap((w) => [18, 33, 219].map((h): Size => [w, h]));
const HEIGHTS = [129, 257, 1025, 2049];
const TALL: readonly Size[] = [17, 18, 40, 219].flatMap((w) => HEIGHTS.map((h): Size => [w, h]));

/** The sizes that a run measures. */
function sizesOf(random: SeededRandom): readonly Size[] {
  if (exhaustive) return [...SMALL, ...WIDE, ...TALL];
  const few = (of: readonly Size[], n: number) => Array.from({ length: n }, () => random.pick(of));
  // Steps of 3 have every remainder of every vector length.
  const sides = range(0, 21).map((i) => 17 + 3 * i);
  const diagonal = sides.map((side, i): Size => [side, 17 + ((i * 27 + random.int(0, 3)) % 64)]);
  const narrow = [19, 20, 23, 24].map((h, i): Size => [17 + (i & 1), h]);
  return [...diagonal, ...narrow, ...few(WIDE, 4), ...few(TALL, 2)];
}

/** A module with guard zones, built once per state of the sources. */
function buildGuarded(name: 'anyvmaf' | 'perceptual'): WebAssembly.Module {
  const script = join(root, 'scripts/build-wasm.mjs');
  const sources = readdirSync(join(root, 'wasm'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[ch]$/.test(name))
    .sort();
  const hash = createHash('sha256').update(readFileSync(script));
  for (const source of sources) hash.update(`\0${source}\0`).update(readFileSync(join(root, 'wasm', source)));
  const digest = hash.digest('hex').slice(0, 24);
  const file = join(root, 'node_modules/.cache/anyvmaf-guards', `${name}-${digest}.wasm`);
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    const partial = `${file.replace(/\.wasm$/, '')}-${process.pid}.wasm`;
    const args = [script, '--module', name, '--guards', partial];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name}.wasm with guard zones does not build: ${stderr}`);
    renameSync(partial, file);
  }
  return new WebAssembly.Module(readFileSync(file));
}

const csf = admCsf({ normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 });
const variant = (gainLimit: number, aim: boolean) =>
  admVariant(gainLimit, 0.03125, csf, { aim, scale0: true });
const factors = csf.rf.flat();

/** Metrics with options, in the order of wasm/include/anyvmaf.h. */
const METRICS: readonly (readonly [string, ...number[]])[] = [
  ['float_psnr'],
  ['float_moment'],
  ['float_ansnr'],
  ['float_ssim', 1],
  ['float_ssim', 2],
  ['float_ms_ssim'],
  ['float_motion', 5, 0, 0],
  ['float_motion', 3, 1, 1],
  ['float_vif', 100, 1, 1, 0, 2, 0],
  ['float_vif', 1.2, 3.75, 0.6, 3, 2, 0],
  ['float_vif', 100, 0.5, 1.7, 2, 2, 1],
  ['float_adm', 100, 0.03125, 3, 0, 0, ...factors],
  ['float_adm', 1, 0.03125, 2.5, 1, 0, ...factors],
  ['psnr_hvs'],
  ['xpsnr', 1],
  ['xpsnr', 2],
  ['ciede'],
  ['cambi', 0, 0, 0, 0, 0, 65, 0.6, 0.019, 0, 2, 0, 0, 0],
  ['cambi', 0, 0, 0, 0, 0, 127, 0.6, 0.019, 0.1, 5, 1, 0, 1],
  ['speed_chroma', 1, 1, 0, 0.1, 0, 0, 0],
  ['speed_chroma', 0.5, 2.5, 1, 0.1, 0, 3, 0],
  ['speed_temporal', 1, 1, 0, 0.1, 0, 0, 1],
];

type Planes = readonly Uint8Array[];

/** A picture of gradients, flat parts and noise. */
function makePicture(random: SeededRandom, format: VideoFormat): Planes {
  const chroma = chromaSize(format);
  const top = 2 ** format.bitDepth - 1;
  return [format, chroma, chroma].map(({ width, height }) => {
    const samples = format.bitDepth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
    const [slope, noise] = [random.next() * 3, random.pick([1, 8, 255])];
    let state = random.int(1, 2 ** 31 - 1);
    for (let i = 0; i < samples.length; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const level = ((i % width) * slope + ((state >>> 24) % noise)) % 256;
      samples[i] = Math.min(top, Math.trunc((level * top) / 255));
    }
    return new Uint8Array(samples.buffer);
  });
}

/** The description of a guard zone that was written to; empty if none was. */
function brokenIn(core: Core): string {
  const at = core.call('anyvmaf_guards_broken')() >>> 0;
  if (at === 0) return '';
  const bytes = new Uint8Array(core.memory.buffer, at, 200);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

/** One size and format: its pictures in the module's memory, and every metric on them. */
class Trial {
  readonly #core: Core;
  readonly #format: VideoFormat;
  readonly #pictures: readonly CorePicture[];

  constructor(core: Core, format: VideoFormat, random: SeededRandom) {
    this.#core = core;
    this.#format = format;
    const draw = (serial: number) => putPicture(core, format, makePicture(random, format), serial);
    this.#pictures = [1, 2, 3, 4].map(draw);
  }

  free(): void {
    for (const { planes } of this.#pictures) for (const { address } of planes) this.#core.free(address);
  }

  /** The values of one implementation, metric by metric; faults go to `faults`. */
  measure(implementation: Implementation, faults: string[]): Map<string, string> {
    const { width, height, bitDepth } = this.#format;
    const results = new Map<string, string>();
    const context = this.#core.open(this.#format, implementation);
    for (const [name, run] of this.#runs(context)) {
      if (isLarge([width, height]) && !LARGE.test(name)) continue;
      const about = `${name}, ${implementation}, ${width}x${height}, ${bitDepth} bit`;
      try {
        results.set(name, Array.from(run() ?? []).join());
      } catch (error) {
        faults.push(`${about}: ${error}`);
      }
      const broken = brokenIn(this.#core);
      if (broken !== '') faults.push(`${about}: ${broken}`);
    }
    context.close();
    const broken = brokenIn(this.#core);
    if (broken !== '') faults.push(`closing ${width}x${height}: ${broken}`);
    return results;
  }

  #runs(context: CoreContext): readonly (readonly [string, () => ArrayLike<number> | undefined])[] {
    type Four = [CorePicture, CorePicture, CorePicture, CorePicture];
    const [reference, distorted, earlierReference, earlierDistorted] = this.#pictures as Four;
    const [r, d] = [reference, distorted].map(({ planes }) => planes[0]?.address ?? 0) as [number, number];
    const { width, height, bitDepth } = this.#format;
    const cells = (block: number, firstPitch: number) =>
      [0, 1, 2, 3].reduce((sum, scale) => {
        const pitch = Math.max(block, firstPitch << scale);
        return sum + Math.ceil((width + 8) / pitch) * Math.ceil((height + 8) / pitch);
      }, 0);
    // xpsnr needs two earlier references; any picture will do for the second.
    const references = [reference, earlierReference, earlierDistorted];
    context.setFrames({ reference: references, distorted: [distorted, earlierDistorted] });
    const run = (call: CoreCall) => context.run(call)?.slice() ?? [];
    const of = (metric: Metric, ...variants: readonly Variant[]) =>
      coreCalls(metric, variants, this.#format).flatMap((call) => [...run(call)]);
    const gain = (limit: number) => ({ options: [limit], extent: [1] });
    return [
      ['vif', () => of(VIF, gain(100), gain(1), gain(1.1))],
      ['adm', () => of(ADM, variant(100, true), variant(1, false), variant(1.2, true))],
      ['motion', () => of(MOTION, { options: [1, 0], extent: [] })],
      ['legacy motion', () => of(MOTION, { options: [1, 1], extent: [] })],
      ['psnr', () => of(PSNR, { options: [], extent: [1] })],
      ['map of vif', () => context.vifMap(r, d, 100, 4, cells(4, 1))],
      ['map of adm', () => context.admMap(r, d, admStructs([variant(100, false)]), 8, cells(8, 2)).scores],
      ...METRICS.filter(([metric]) => metric !== 'psnr_hvs' || bitDepth <= 12).map(
        ([metric, ...options]) =>
          [`${metric} ${options}`, () => run(callOf(metric, this.#format, options))] as const,
      ),
    ];
  }
}

/** Hours for an exhaustive run. */
const timeout = 3_600_000;
const sizes = tier('some', 'all');

it.skipIf(!COMPILER)(
  `guard zones stay whole at ${sizes} sizes, and SIMD equals portable C (seed ${SEED})`,
  { timeout },
  () => {
    const random = seeded(SEED);
    const module = buildGuarded('anyvmaf');
    let core = new Core(module);
    const faults: string[] = [];
    for (const [i, [width, height]] of sizesOf(random).entries()) {
      // The remains of memory that grew would slow down the views.
      if (i % 200 === 199) core = new Core(module);
      const deep = random.pick([10, 12, 16]);
      for (const bitDepth of exhaustive || !isLarge([width, height]) ? [8, deep] : [random.pick([8, deep])]) {
        const chroma = random.pick(['420', '422', '444'] as const);
        const trial = new Trial(core, { width, height, bitDepth, chroma }, random);
        const portable = trial.measure('portable', faults);
        const about = `${width}x${height}, ${bitDepth} bit`;
        for (const [name, simd] of trial.measure('simd128', faults)) {
          const c = portable.get(name);
          if (simd !== c) faults.push(`${name}, ${about}: SIMD ${simd}, C ${c}`);
        }
        trial.free();
      }
    }
    expect(faults.slice(0, 20), `${faults.length} faults, seed ${SEED}`).toEqual([]);
  },
);

/** Sides around vectors, strips of rows, and blurs wider than the picture. */
const PERCEPTUAL_SMALL: readonly Size[] = range(1, 70).flatMap((w) => range(1, 70).map((h): Size => [w, h]));
const PERCEPTUAL_WIDE: readonly Size[] = [128, 256, 512, 1024, 2048]
  .flatMap((w) => range(w - 1, w + 2))
  .flatMap((w) => [...[1, 2, 8, 33].map((h): Size => [w, h]), ...[1, 2, 9].map((h): Size => [h, w])]);

/** Metrics of perceptual.wasm: options after the colours, the number of values and the number of pairs. */
const DISPLAY = [200, 1000, 250, 0.005, 37.8];
const PERCEPTUAL: readonly (readonly [name: string, options: number[], fields: number, pairs: number])[] = [
  ['ssimulacra2', [0, 0], 1, 1],
  ['ssimulacra2', [1, 0], 1, 1],
  ['butteraugli', [80], 2, 1],
  ['butteraugli_map', [203], 2, 1],
  ['cvvdp', [0, ...DISPLAY], 1, 1],
  ['cvvdp', [24, ...DISPLAY], 1, 3],
];

/** Runs all metrics on pairs of one size and returns their values; faults go to `faults`. */
function measurePerceptual(
  core: Core,
  implementation: Implementation,
  video: VideoFormat,
  colours: readonly number[],
  pictures: { readonly reference: readonly Picture[]; readonly distorted: readonly Picture[] },
  faults: string[],
): string[] {
  const { width, height } = video;
  const context = new PerceptualContext(implementation, video, core);
  const map = core.alloc(4 * width * height);
  const values = PERCEPTUAL.filter(([name]) => name !== 'cvvdp' || Math.min(width, height) > 1).map(
    ([name, options, fields, pairs]) => {
      const about = `${name} ${options}, ${implementation}, ${JSON.stringify(video)}, colours ${colours}`;
      const args: readonly CallArgument[] =
        name === 'cvvdp'
          ? ['frames', 'history', 'parameters']
          : ['frames', 'parameters', ...(name === 'butteraugli_map' ? (['heatmaps'] as const) : [])];
      const { reference, distorted } = pictures;
      const lists = { reference: reference.slice(0, pairs), distorted: distorted.slice(0, pairs) };
      const given = context.run(name, lists, [...colours, ...options], fields, args, map);
      const broken = brokenIn(core);
      if (broken !== '') faults.push(`${about}: ${broken}`);
      return `${name} ${options}: ${given}`;
    },
  );
  const drawn = new Float32Array(core.memory.buffer, map, width * height).slice();
  core.free(map);
  context.close();
  const broken = brokenIn(core);
  if (broken !== '') faults.push(`closing ${width}x${height}: ${broken}`);
  return [...values, `map: ${createHash('sha256').update(drawn).digest('hex')}`];
}

const PERCEPTUAL_TITLE = `guard zones of perceptual.wasm stay whole at ${sizes} sizes, with SIMD as in C (seed ${SEED})`;
it.skipIf(!COMPILER)(PERCEPTUAL_TITLE, { timeout }, () => {
  const random = seeded(SEED);
  const module = buildGuarded('perceptual');
  const few = (of: readonly Size[], n: number) => Array.from({ length: n }, () => random.pick(of));
  const corners: readonly Size[] = [
    [1, 1],
    [2, 1],
    [2, 3],
    [8, 7],
  ];
  const some = () => [...corners, ...few(PERCEPTUAL_SMALL, 14), ...few(PERCEPTUAL_WIDE, 2)];
  const sizes = exhaustive ? [...PERCEPTUAL_SMALL, ...PERCEPTUAL_WIDE] : some();
  let core = new Core(module);
  const faults: string[] = [];
  for (const [i, [width, height]] of sizes.entries()) {
    if (i % 200 === 199) core = new Core(module);
    const chroma = random.pick(['420', '422', '444', '400'] as const);
    const video: VideoFormat = { width, height, bitDepth: random.pick([8, 8, 10, 12, 16]), chroma };
    // Matrix, range, transfer, siting, upsampling and primaries; only 4:4:4 can be RGB.
    const transfer = random.int(0, 7);
    const matrix = random.int(chroma === '444' ? 0 : 1, 7);
    // The last matrix is BT.2020 with constant luminance, or ICtCp where light is PQ or HLG.
    const colour = [matrix === 7 && transfer > 5 ? 8 : matrix, random.int(0, 1), transfer];
    const rest = () => [random.int(0, 2), random.int(0, 2), random.int(0, 6)];
    const colours = [1, 2].flatMap(() => [...colour, ...rest()]);
    const alpha = chroma !== '400' && random.int(0, 1) === 1 ? makePicture(random, video).slice(0, 1) : [];
    const draw = () => [...makePicture(random, video).slice(0, chroma === '400' ? 1 : 3), ...alpha];
    const pictures = { reference: [draw(), draw(), draw()], distorted: [draw(), draw(), draw()] };
    const [portable, simd] = (['portable', 'simd128'] as const).map((one) =>
      measurePerceptual(core, one, video, colours, pictures, faults),
    );
    for (const [k, value] of (simd ?? []).entries())
      if (value !== portable?.[k])
        faults.push(`${JSON.stringify(video)}, colours ${colours}: SIMD ${value}, C ${portable?.[k]}`);
  }
  expect(faults.slice(0, 20), `${faults.length} faults, seed ${SEED}`).toEqual([]);
});
