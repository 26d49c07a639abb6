/**
 * @module engine/backends/webgpu/picture-sum
 * A sum of 64 bits over pictures, which is all that the kernels of motion and squared errors are: a pass whose workgroups
 * leave a part of it each, then `reduce.wgsl`.
 */
import { sampleBytes, type VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/kernel.js';
import { BufferUsage } from './device.js';
import type { Gpu, GpuKernel, GpuPair } from './kernel.js';
import { pipelineOf } from './pipeline.js';
import reduce from './reduce.wgsl';
import samples from './samples.wgsl';
import sum from './sum.wgsl';

/** The first pass. */
export interface SumPass {
  /** Its WGSL files, which follow `samples.wgsl` and `sum.wgsl`. */
  readonly shaders: readonly string[];
  /** Whether it reads `format`, its fourth binding. */
  readonly readsFormat: boolean;
  /** Workgroups that it takes, across and down. */
  readonly groups: readonly [across: number, down: number];
  /** As {@link GpuKernel.read}. */
  read(words: Uint32Array, fields: Float64Array): void;
}

/** Invocations of a workgroup: `LANES` of sum.wgsl. */
export const LANES = 256;

const WORD_BYTES = 4;
/** A sum: its low word, then its high one. */
const SUM_BYTES = 2 * WORD_BYTES;

/** Opens the kernel of a call. The planes that the call names are the first bindings of the pass, in their order. */
export async function openSum(
  gpu: Gpu,
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
  const { STORAGE, UNIFORM, COPY_DST } = BufferUsage;
  const parts = device.createBuffer({ label: run, size: across * down * SUM_BYTES, usage: STORAGE });
  const video = device.createBuffer({ label: run, size: 4 * WORD_BYTES, usage: UNIFORM | COPY_DST });
  device.queue.writeBuffer(video, 0, Uint32Array.of(format.width, format.height, format.bitDepth));
  const group = (of: GPUComputePipeline, buffers: readonly GPUBufferBinding[]) =>
    device.createBindGroup({
      layout: of.getBindGroupLayout(0),
      entries: buffers.map((resource, binding) => ({ binding, resource })),
    });
  return {
    words: SUM_BYTES / WORD_BYTES,
    bind(pair, results) {
      const buffers = [...planesOf(call, pair), parts, ...(readsFormat ? [video] : [])];
      const inputs = group(
        first,
        buffers.map((buffer) => ({ buffer })),
      );
      const outputs = group(last, [{ buffer: parts }, { ...results, size: SUM_BYTES }]);
      return (pass) => {
        pass.setPipeline(first);
        pass.setBindGroup(0, inputs);
        pass.dispatchWorkgroups(across, down);
        pass.setPipeline(last);
        pass.setBindGroup(0, outputs);
        pass.dispatchWorkgroups(1);
      };
    },
    read,
    close() {
      parts.destroy();
      video.destroy();
    },
  };
}

function planesOf({ args }: CoreCall, pair: GpuPair): GPUBuffer[] {
  return args.flatMap((arg) =>
    typeof arg === 'object' ? (pair[arg.of][arg.back]?.planes[arg.plane] ?? []) : [],
  );
}
