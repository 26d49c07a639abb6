/**
 * @module engine/backends/webgpu/kernel
 * The interface of a metric on the GPU: compute passes over a pair's pictures that leave a few exact integers, and
 * arithmetic that turns these into the core's fields. Mirrors the core's functions (wasm/include/anyvmaf.h).
 */
import type { VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/kernel.js';

export interface Gpu {
  readonly device: GPUDevice;
  /** Compiles the concatenated WGSL files, once for all kernels. */
  module(label: string, ...files: readonly string[]): GPUShaderModule;
}

/**
 * A picture in GPU memory: luma and, if a call reads them, Cb and Cr. A plane has no gaps between rows; samples have
 * 8 bits for 8-bit video, else 16 bits little-endian; zeros pad the buffer to whole words.
 */
export interface GpuPicture {
  readonly planes: readonly GPUBuffer[];
}

/** Pictures of a pair, newest first, as far as the plan looks back. */
export interface GpuPair {
  readonly reference: readonly GpuPicture[];
  readonly distorted: readonly GpuPicture[];
}

/** Records the dispatches of one pair. */
export type Encode = (pass: GPUComputePassEncoder) => void;

/** One call of the plan on a device. Scratch memory belongs to the kernel: pairs pass through it one by one. */
export interface GpuKernel {
  /** 32-bit words of results per pair. */
  readonly words: number;
  /**
   * Makes the bind groups for one arrangement of pictures; the measurer keeps one per slot.
   * @param results range of a storage buffer for the words, at a multiple of 256 bytes
   */
  bind(pair: GpuPair, results: GPUBufferBinding): Encode;
  /** Turns the words into the call's fields: doubles that equal the core's to the last bit. */
  read(words: Uint32Array, fields: Float64Array): void;
  close(): void;
}

/** A core function that the GPU supports. */
export interface GpuFunction {
  /** Name of the core's function, without `anyvmaf_`. */
  readonly run: string;
  /** Bytes of the largest buffer that it binds besides planes; the device must support it. */
  largestBuffer?(call: CoreCall, format: VideoFormat): number;
  open(gpu: Gpu, call: CoreCall, format: VideoFormat): Promise<GpuKernel>;
}

/** A bind group of resources from binding 0 on; `undefined` leaves a gap. */
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

/** Compiles a compute pipeline once per module and constants, the values of its `override` declarations. */
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
