/**
 * @module engine/backends/webgpu/kernel
 * What a metric is on the GPU: compute passes over the pictures of a pair that leave a few exact integers, and the
 * arithmetic that makes the core's fields of them. Mirrors the core's functions (wasm/include/anyvmaf.h), one kernel a call.
 */
import type { VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/kernel.js';

/** A device, and what kernels need to know of it. */
export interface Gpu {
  readonly device: GPUDevice;
  /** Compiles a module once, however many kernels use it: the given WGSL files one after the other. */
  module(label: string, ...files: readonly string[]): GPUShaderModule;
}

/**
 * A picture in GPU memory: luma and, where a call reads them, Cb and Cr. A plane's samples follow each other without gaps
 * between rows, 8 bits each for 8-bit video, else 16 bits little-endian; zeros pad the buffer to whole words.
 */
export interface GpuPicture {
  readonly planes: readonly GPUBuffer[];
}

/** Where the pictures of a pair stand, newest first as far as the plan looks back. */
export interface GpuPair {
  readonly reference: readonly GpuPicture[];
  readonly distorted: readonly GpuPicture[];
}

/** Records the dispatches of one pair. */
export type Encode = (pass: GPUComputePassEncoder) => void;

/** One call of the plan on a device. Scratch memory belongs to the kernel: pairs pass through it one after the other. */
export interface GpuKernel {
  /** Words of 32 bits that it leaves per pair. */
  readonly words: number;
  /**
   * Makes the bind groups for one arrangement of pictures; the measurer keeps one for each of its slots.
   * @param results where the words go: a range of a storage buffer, at a multiple of 256 bytes
   */
  bind(pair: GpuPair, results: GPUBufferBinding): Encode;
  /**
   * Makes the core's fields of the words.
   * @param fields receives as many doubles as the call has fields, equal to the core's to the last bit
   */
  read(words: Uint32Array, fields: Float64Array): void;
  /** Frees its buffers. */
  close(): void;
}

/** A core function that the GPU has too. */
export interface GpuFunction {
  /** The core's function, without `anyvmaf_`. */
  readonly run: string;
  /** Bytes of the largest buffer that it binds, where it binds more than planes of the picture: the device must allow it. */
  largestBuffer?(call: CoreCall, format: VideoFormat): number;
  /** Compiles what the call needs. */
  open(gpu: Gpu, call: CoreCall, format: VideoFormat): Promise<GpuKernel>;
}

/** A bind group of resources by binding, those of the pipeline from 0 on; there may be gaps. */
export function bindGroup(
  device: GPUDevice,
  pipeline: GPUComputePipeline,
  resources: readonly (GPUBuffer | GPUBufferBinding | undefined)[],
): GPUBindGroup {
  const entries = resources.flatMap((bound, binding) => {
    if (!bound) return [];
    return [{ binding, resource: 'buffer' in bound ? bound : { buffer: bound } }];
  });
  return device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
}

const pipelines = new WeakMap<GPUShaderModule, Map<string, Promise<GPUComputePipeline>>>();

/**
 * Compiles a compute pipeline once per module and constants.
 * @param constants values of the module's `override` declarations
 */
export function pipelineOf(
  device: GPUDevice,
  module: GPUShaderModule,
  constants: Readonly<Record<string, number>> = {},
): Promise<GPUComputePipeline> {
  const compiled = pipelines.get(module) ?? new Map<string, Promise<GPUComputePipeline>>();
  pipelines.set(module, compiled);
  const key = JSON.stringify(constants);
  const known = compiled.get(key);
  if (known) return known;
  const { label } = module;
  const compute = { module, constants };
  const compiling = device.createComputePipelineAsync({ label, layout: 'auto', compute });
  compiled.set(key, compiling);
  return compiling;
}
