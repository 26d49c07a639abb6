/**
 * @module engine/backends/webgpu/picture-sum
 * Motion and squared errors on the GPU: 64-bit sums per workgroup, then over all (`reduce.wgsl`).
 */
import { sampleBytes, type VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/module.js';
import type { GpuFunction, GpuKernel, GpuPair, OpenDevice } from './device.js';
import { Buffers, dispatchOf, pipelineOf } from './device.js';
import motionShader from './motion.wgsl';
import legacyMotionShader from './motion-legacy.wgsl';
import motionTile from './motion-tile.wgsl';
import reduce from './reduce.wgsl';
import samples from './samples.wgsl';
import sseShader from './sse.wgsl';
import sum from './sum.wgsl';

interface SumPass {
  /** WGSL files that follow `samples.wgsl` and `sum.wgsl`. */
  readonly shaders: readonly string[];
  /** Whether it reads `format`, its fourth binding. */
  readonly readsFormat: boolean;
  readonly groups: readonly [across: number, down: number];
  read(words: Uint32Array, fields: Float64Array): void;
}

/** Invocations of a workgroup: `LANES` of sum.wgsl. */
const LANES = 256;

const WORD_BYTES = 4;
/** A sum: low word, then high word. */
const SUM_BYTES = 2 * WORD_BYTES;

/** Binds the planes of the call first, in its order. */
async function openSum(
  gpu: OpenDevice,
  call: CoreCall,
  format: VideoFormat,
  { shaders, readsFormat, groups: [across, down], read }: SumPass,
): Promise<GpuKernel> {
  const { device } = gpu;
  const { run } = call;
  const constants = { SAMPLE_BYTES: sampleBytes(format.bitDepth) };
  const [first, last] = await Promise.all([
    pipelineOf(device, gpu.module(run, samples, sum, ...shaders), constants),
    pipelineOf(device, gpu.module('reduce', sum, reduce)),
  ]);
  const buffers = new Buffers(device);
  const parts = buffers.scratch(run, across * down * SUM_BYTES);
  const video = buffers.uniform(Uint32Array.of(format.width, format.height, format.bitDepth, 0));
  return {
    words: SUM_BYTES / WORD_BYTES,
    bind(pair, results) {
      const inputs = [...planesOf(call, pair), parts, ...(readsFormat ? [video] : [])];
      return [
        dispatchOf(device, first, inputs, [across, down]),
        dispatchOf(device, last, [parts, { ...results, size: SUM_BYTES }], [1]),
      ];
    },
    read,
    close: () => buffers.close(),
  };
}

function planesOf({ args }: CoreCall, pair: GpuPair): GPUBuffer[] {
  return args.flatMap((arg) => (typeof arg === 'object' ? (pair[arg.of][arg.back]?.[arg.plane] ?? []) : []));
}

/** Samples per workgroup of motion: `TILE_WIDTH` and `TILE_HEIGHT` of motion-tile.wgsl. */
const TILE = { width: 64, height: 16 };

function motion(run: string, wgsl: string): GpuFunction {
  return {
    run,
    open: (gpu, call, format) =>
      openSum(gpu, call, format, {
        shaders: [motionTile, wgsl],
        readsFormat: true,
        groups: [Math.ceil(format.width / TILE.width), Math.ceil(format.height / TILE.height)],
        read([low = 0, high = 0], fields) {
          // Below 2^44: a sum of 16-bit values over the largest picture.
          fields[0] = high * 2 ** 32 + low;
        },
      }),
  };
}

/** `anyvmaf_motion`, and `anyvmaf_motion_legacy` (libvmaf up to 3.0): one field, the sum of absolute differences. */
export const MOTION = motion('motion', motionShader);
export const MOTION_LEGACY = motion('motion_legacy', legacyMotionShader);

/** Most workgroups that share a large plane. */
const MOST_GROUPS = 1024;

/** Squared errors of a plane, `anyvmaf_sse`: two fields, the high and low word of the sum. */
export const SSE: GpuFunction = {
  run: 'sse',
  open(gpu, call, format) {
    const [, , count] = call.args;
    const words = Math.ceil((Number(count) * sampleBytes(format.bitDepth)) / 4);
    return openSum(gpu, call, format, {
      shaders: [sseShader],
      readsFormat: false,
      groups: [Math.min(MOST_GROUPS, Math.ceil(words / LANES)), 1],
      read([low = 0, high = 0], fields) {
        fields[0] = high;
        fields[1] = low;
      },
    });
  },
};
