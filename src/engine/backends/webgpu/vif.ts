/**
 * @module engine/backends/webgpu/vif
 * VIF on the GPU: passes compute integer sums by scale (VifSums of wasm/src/dsp.h); this file does the floating point.
 */
import type { VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/module.js';
import type { Encode, GpuFunction, GpuKernel, GpuPair, OpenDevice } from './device.js';
import { Buffers, dispatchOf, pipelineOf } from './device.js';
import common from './vif.wgsl';
import decimate from './vif-decimate.wgsl';
import level from './vif-level.wgsl';
import picture from './vif-picture.wgsl';
import pixel from './vif-pixel.wgsl';
import reduce from './vif-reduce.wgsl';
import statistics from './vif-statistics.wgsl';
import wide from './wide.wgsl';

/** VIF's low-pass filters by scale: `vif_filter` of wasm/src/filters.h. */
export const VIF_FILTERS: readonly (readonly number[])[] = [
  [489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489],
  [1244, 3663, 7925, 12590, 14692, 12590, 7925, 3663, 1244],
  [3571, 16004, 26386, 16004, 3571],
  [10904, 43728, 10904],
];
const SCALES = [0, 1, 2, 3];

const WORD_BYTES = 4;

/** Constants of the shaders: invocations and output rows of a workgroup, and samples that contribute to four outputs. */
const LANES = 128;
const ROWS = 4;
const RUN = 20;
const MOST_LIMITS = 16;
const LOG_ENTRIES = 32768;
/** Sums of a scale besides those of the gain limits: den_log, den_non_log, num_non_log in two halves. */
const PLAIN_SUMS = 4;
/** Approximate outputs per dispatch: a slow GPU must not appear to hang. */
const DISPATCH_OUTPUTS = 4e6;

/** A level of the pyramid, and the place of its workgroups' sums. */
interface Level {
  readonly scale: number;
  readonly width: number;
  readonly height: number;
  /** Workgroups that measure its statistics; 0 for a skipped scale. */
  readonly groups: readonly [across: number, down: number];
  /** Index of its first partial sum. */
  readonly partials: number;
}

interface Pass {
  readonly pipeline: GPUComputePipeline;
  /** Scale of its source. */
  readonly from: number;
  /** From binding 3 on. */
  readonly buffers: readonly GPUBuffer[];
  readonly dispatches: readonly { readonly uniform: GPUBuffer; readonly groups: readonly [number, number] }[];
}

export const VIF: GpuFunction = { run: 'vif', open: openVif };

interface Context {
  readonly gpu: OpenDevice;
  readonly buffers: Buffers;
  readonly bitDepth: number;
}

async function openVif(
  gpu: OpenDevice,
  { args, parameters }: CoreCall,
  format: VideoFormat,
): Promise<GpuKernel> {
  const limits = [...new Float64Array(Uint8Array.from(parameters ?? []).buffer)];
  const firstScale = Number(args.at(-1));
  const sums = PLAIN_SUMS + limits.length;
  const buffers = new Buffers(gpu.device);
  const context: Context = { gpu, buffers, bitDepth: format.bitDepth };
  const levels = levelsOf(format, firstScale, sums);
  const planes = levels.map(({ scale, width, height }) =>
    scale === 0 ? undefined : buffers.scratch(`vif: scale ${scale}`, WORD_BYTES * width * height),
  );
  const groups = levels.reduce((sum, each) => sum + groupsOf(each), 0);
  const partials = buffers.scratch('vif: sums', WORD_BYTES * sums * groups);
  const offsets = buffers.storage(new Uint32Array(vifLogOffsets().buffer));
  const others = [partials, offsets, buffers.uniform(limitsData(limits))];
  const passes = levels.flatMap((each, scale) => {
    const [above, plane] = [levels[scale - 1], planes[scale]];
    return [
      ...(above && plane ? [decimatePass(context, above, each, plane)] : []),
      ...(scale < firstScale ? [] : [statisticsPass(context, each, sums, others)]),
    ];
  });
  const adding = pipelineOf(gpu.device, gpu.module('vif: reduce', wide, reduce), { SUMS: sums });
  const scales = buffers.uniform(
    Uint32Array.from(levels.flatMap((each) => [each.partials, groupsOf(each), 0, 0])),
  );
  const [reducing, ...steps] = await Promise.all([adding, ...passes]);
  return {
    words: 2 * SCALES.length * sums,
    bind(pair, results) {
      return [
        ...steps.flatMap((pass) => bindPass(gpu.device, pass, sourcesOf(pair, planes[pass.from]))),
        dispatchOf(gpu.device, reducing, [scales, partials, results], [sums, SCALES.length]),
      ];
    },
    read: (words, fields) => readScores(words, limits.length, firstScale, fields),
    close: () => buffers.close(),
  };
}

function levelsOf(format: VideoFormat, firstScale: number, sums: number): Level[] {
  let partials = 0;
  return SCALES.map((scale) => {
    const width = format.width >> scale;
    const height = format.height >> scale;
    const groups = [Math.ceil(width / (LANES - 2 * reachOf(scale))), Math.ceil(height / ROWS)] as const;
    const each = { scale, width, height, partials, groups: scale < firstScale ? ([0, 0] as const) : groups };
    partials += sums * groupsOf(each);
    return each;
  });
}

const groupsOf = ({ groups: [across, down] }: Pick<Level, 'groups'>): number => across * down;

/** Radius of a scale's filter. */
const reachOf = (scale: number): number => (filterOf(scale).length - 1) / 2;

function filterOf(scale: number): readonly number[] {
  const filter = VIF_FILTERS[scale];
  if (!filter) throw new RangeError(`VIF has no scale ${scale}`);
  return filter;
}

const sourceOf = ({ scale }: Level): string => (scale > 0 ? level : picture);

async function decimatePass(context: Context, above: Level, below: Level, plane: GPUBuffer): Promise<Pass> {
  const reach = reachOf(below.scale);
  const { gpu } = context;
  const pipeline = pipelineOf(gpu.device, gpu.module('vif: decimate', common, sourceOf(above), decimate));
  const groups = [Math.ceil(below.width / (LANES / 2 - reach)), Math.ceil(below.height / ROWS)] as const;
  const weights = weightsOf(below.scale, 2);
  const dispatches = dispatchesOf(context, above, reach, groups, weights);
  return { pipeline: await pipeline, from: above.scale, buffers: [plane], dispatches };
}

async function statisticsPass(context: Context, each: Level, sums: number, buffers: readonly GPUBuffer[]) {
  const { gpu } = context;
  const module = gpu.module('vif: statistics', wide, common, sourceOf(each), pixel, statistics);
  const pipeline = pipelineOf(gpu.device, module, { SUMS: sums });
  const dispatches = dispatchesOf(context, each, reachOf(each.scale), each.groups, weightsOf(each.scale, 1));
  return { pipeline: await pipeline, from: each.scale, buffers, dispatches };
}

/** Weight of each sample of a run in four outputs, `step` samples apart. */
function weightsOf(scale: number, step: 1 | 2): Uint32Array {
  const filter = filterOf(scale);
  return Uint32Array.from({ length: 4 * RUN }, (_, i) => filter[(i >> 2) - step * (i & 3)] ?? 0);
}

/** Splits a pass so that a slow GPU finishes each part soon; each part has a uniform (`Level` of vif.wgsl). */
function dispatchesOf(
  { buffers, bitDepth }: Context,
  each: Level,
  reach: number,
  [across, down]: readonly [number, number],
  weights: Uint32Array,
): Pass['dispatches'] {
  const rows = Math.max(1, Math.floor(DISPATCH_OUTPUTS / (across * LANES * ROWS)));
  return Array.from({ length: Math.ceil(down / rows) }, (_, i) => {
    const first = i * rows;
    const samples = [bitDepth > 8 ? 1 : 2, 16 - bitDepth];
    const head = [each.width, each.height, ...samples, reach, first, each.partials, groupsOf(each)];
    const uniform = buffers.uniform(Uint32Array.from([...head, ...weights]));
    return { uniform, groups: [across, Math.min(rows, down - first)] as const };
  });
}

/** Sources of a level: both luma planes, or the level itself. */
function sourcesOf({ reference, distorted }: GpuPair, plane: GPUBuffer | undefined): GPUBuffer[] {
  if (plane) return [plane];
  return [reference, distorted].map(([newest]) => {
    const luma = newest?.[0];
    if (!luma) throw new RangeError('a pair has no luma');
    return luma;
  });
}

/** Binds each dispatch of a pass: its uniform at 0, the sources at 1 and 2, its buffers from 3 on. */
function bindPass(device: GPUDevice, pass: Pass, [source, other]: readonly GPUBuffer[]): Encode[] {
  const { pipeline, buffers, dispatches } = pass;
  return dispatches.map(({ uniform, groups }) =>
    dispatchOf(device, pipeline, [uniform, source, other, ...buffers], groups),
  );
}

/**
 * round(2048 * log2(i)) - 30720 - (m >> 4) for m = i - 32768: `offsets` of the core's VifTables. The summand 2^-10 is from
 * wasm/src/vif.c; no entry is so near to an integer that the last bit of log2 matters.
 */
export function vifLogOffsets(): Uint8Array {
  return Uint8Array.from({ length: LOG_ENTRIES }, (_, m) => {
    const entry = Math.floor(2048 * Math.log2(m + LOG_ENTRIES) + 0.5 + 2 ** -10);
    return entry - 30720 - (m >> 4);
  });
}

/** `limits` of vif-pixel.wgsl. */
export function limitsData(limits: readonly number[]): Uint32Array {
  const words = new Uint32Array(12 * MOST_LIMITS);
  limits.forEach((limit, i) => {
    const { mantissa, exponent } = mantissaOf(limit);
    // The double below a power of two is half as far away.
    const nearer = mantissa === 1n << 52n ? 2 : 1;
    const middle = { mantissa: (mantissa << BigInt(nearer)) - 1n, exponent: exponent - nearer };
    words.set([...floatWords(middle), ...floatWords(mantissaOf(limit * limit))], 12 * i);
    new Float32Array(words.buffer)[12 * i + 8] = limit;
  });
  return words;
}

/** mantissa * 2^exponent. */
interface Float {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** Splits a positive double into its 53 bits and exponent. */
function mantissaOf(value: number): Float {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0] ?? 0n;
  return { mantissa: BigInt.asUintN(52, bits) | (1n << 52n), exponent: Number(bits >> 52n) - 1075 };
}

/** `Float53` of wide.wgsl, padded. */
function floatWords({ mantissa, exponent }: Float): number[] {
  return [Number(mantissa & 0xffffffffn), Number(mantissa >> 32n), exponent, 0];
}

/** Computes the core's fields from the sums, as wasm/src/vif_frame.c does. */
function readScores(words: Uint32Array, limits: number, firstScale: number, fields: Float64Array): void {
  const sums = PLAIN_SUMS + limits;
  for (const scale of SCALES) {
    const sum = (i: number): bigint => {
      const [low = 0, high = 0] = words.subarray(2 * (sums * scale + i));
      return BigInt(low) + (BigInt(high) << 32n);
    };
    const denNonLog = Number(sum(1));
    const nonLog = denNonLog - Number(sum(2) + (sum(3) << 16n)) / 16384 / 65025;
    for (let k = 0; k < limits; k++) {
      const skipped = scale < firstScale;
      const numerator = Math.fround(Number(sum(PLAIN_SUMS + k)) / 2048 + nonLog);
      const denominator = Math.fround(Number(sum(0)) / 2048 + denNonLog);
      fields[8 * k + scale] = skipped ? 0 : numerator;
      fields[8 * k + 4 + scale] = skipped ? -1 : denominator;
    }
  }
}
