/**
 * @module test/gpu/memory
 * GPU memory of large pictures: what a measurer allocates, counted on a device that only keeps books.
 */
import { describe, expect, it } from 'vitest';
import type { ExtractionPlan } from '../../src/engine/backends/types.js';
import { openWebgpu } from '../../src/engine/backends/webgpu/open.js';
import { planOf } from '../support/finish.js';
import { format } from '../support/metric.js';

const MB = 1e6;
/** `GPUBufferUsage` of what shaders bind. */
const BOUND = 0x40 | 0x80;

/** A GPU that takes everything and does nothing. */
function bookkeeper() {
  const buffers: { size: number; usage: number; destroyed: boolean }[] = [];
  const asked: GPUDeviceDescriptor[] = [];
  const nothing = () => {};
  const device = {
    limits: { maxStorageBufferBindingSize: 128 * 2 ** 20, maxBufferSize: 256 * 2 ** 20 },
    lost: new Promise(nothing),
    queue: { writeBuffer: nothing },
    ...{ addEventListener: nothing, destroy: nothing, pushErrorScope: nothing },
    popErrorScope: async () => null,
    createShaderModule: () => ({ getCompilationInfo: async () => ({ messages: [] }) }),
    createComputePipelineAsync: async () => ({ getBindGroupLayout: nothing }),
    createBindGroup: () => ({}),
    createBuffer({ size, usage }: GPUBufferDescriptor) {
      const book = { size, usage, destroyed: false };
      buffers.push(book);
      const destroy = () => {
        book.destroyed = true;
      };
      return { size, usage, destroy, unmap: nothing, getMappedRange: () => new ArrayBuffer(size) };
    },
  };
  const adapter = {
    info: { vendor: '', architecture: '', device: '', description: '', isFallbackAdapter: false },
    features: new Set(),
    limits: { maxStorageBufferBindingSize: 2 ** 31, maxBufferSize: 2 ** 31 },
    async requestDevice(descriptor: GPUDeviceDescriptor) {
      asked.push(descriptor);
      return device;
    },
  };
  return { gpu: { requestAdapter: async () => adapter } as unknown as GPU, buffers, asked };
}

const plan = (bitDepth: number): ExtractionPlan =>
  planOf(['adm', 'motion', 'vif'], format(3840, 2160, bitDepth)).extraction;

describe('memory of the default model at 3840x2160', () => {
  it.each([
    [8, 119],
    [10, 169],
  ])('is far below 400 MB: for %i bit %i MB, as docs/backends.md says', async (bitDepth, expected) => {
    const { gpu, buffers, asked } = bookkeeper();
    const kind = await openWebgpu(gpu);
    const measurer = await kind.open(plan(bitDepth));
    const bytes = buffers.reduce((sum, { size }) => sum + size, 0);
    expect(Math.round(bytes / MB)).toBe(expected);
    // What every WebGPU device binds is enough.
    const bound = buffers.filter(({ usage }) => (usage & BOUND) !== 0).map(({ size }) => size);
    expect(Math.max(...bound)).toBeLessThan(128 * 2 ** 20);
    expect(asked).toMatchObject([{ requiredLimits: {} }]);
    measurer.close();
    expect(buffers.filter(({ destroyed }) => !destroyed)).toEqual([]);
  });
});
