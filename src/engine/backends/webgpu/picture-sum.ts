/**
 * @module engine/backends/webgpu/picture-sum
 * A sum of 64 bits over pictures, which is all that the kernels of motion and squared errors are: a pass whose workgroups
 * leave a part of it each, then `reduce.wgsl`.
 */
import type { CoreCall } from '../../../core/kernel.js';
import { BufferUsage } from './device.js';
import type { Gpu, GpuKernel, GpuPair } from './kernel.js';
import reduce from './reduce.wgsl';
import samples from './samples.wgsl';
import sum from './sum.wgsl';

/** The first pass. */
export interface SumPass {
  /** Its WGSL, which follows `samples.wgsl` and `sum.wgsl`. */
  readonly shader: string;
  /** Values of its overrides. */
  readonly constants: Readonly<Record<string, number>>;
  /** Workgroups that it takes, across and down. */
  readonly groups: readonly [across: number, down: number];
  /** As {@link GpuKernel.read}. */
  read(words: Uint32Array, fields: Float64Array): void;
}

/** Invocations of a workgroup: `LANES` of sum.wgsl. */
export const LANES = 256;

const WORD_BYTES = 4;
/** A sum: its low word, then its high one. */
const WORDS = 2;

/** Opens the kernel of a call. The planes that the call names are the first bindings of the pass, in their order. */
export async function openSum(gpu: Gpu, call: CoreCall, pass: SumPass): Promise<GpuKernel> {
  const { device } = gpu;
  const { run } = call;
  const [across, down] = pass.groups;
  const pipeline = (label: string, module: GPUShaderModule, constants: SumPass['constants']) =>
    device.createComputePipelineAsync({ label, layout: 'auto', compute: { module, constants } });
  const [first, last] = await Promise.all([
    pipeline(run, gpu.module(run, samples, sum, pass.shader), pass.constants),
    pipeline('reduce', gpu.module('reduce', sum, reduce), { PARTIALS: across * down }),
  ]);
  const partials = device.createBuffer({
    label: `${run}: parts of the sum`,
    size: across * down * WORDS * WORD_BYTES,
    usage: BufferUsage.STORAGE,
  });
  const group = (of: GPUComputePipeline, resources: readonly GPUBufferBinding[]) =>
    device.createBindGroup({
      layout: of.getBindGroupLayout(0),
      entries: resources.map((resource, binding) => ({ binding, resource })),
    });
  return {
    words: WORDS,
    bind(pair, results) {
      const planes = planesOf(call, pair).map((buffer) => ({ buffer }));
      const summing = group(first, [...planes, { buffer: partials }]);
      const reducing = group(last, [{ buffer: partials }, { ...results, size: WORDS * WORD_BYTES }]);
      return (compute) => {
        compute.setPipeline(first);
        compute.setBindGroup(0, summing);
        compute.dispatchWorkgroups(across, down);
        compute.setPipeline(last);
        compute.setBindGroup(0, reducing);
        compute.dispatchWorkgroups(1);
      };
    },
    read: pass.read,
    close: () => partials.destroy(),
  };
}

function planesOf({ args }: CoreCall, pair: GpuPair): GPUBuffer[] {
  return args.flatMap((arg) =>
    typeof arg === 'object' ? (pair[arg.of][arg.back]?.planes[arg.plane] ?? []) : [],
  );
}
