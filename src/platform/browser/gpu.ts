/**
 * @module platform/browser/gpu
 * The GPU of a browser, in the page or in a worker.
 */
import { backendError } from '../../core/errors.js';
import type { GpuAccess } from '../../engine/contract/platform.js';

const ADVICE = 'use a browser that has WebGPU, over HTTPS or on this machine';

export const browserGpu: GpuAccess = {
  get here() {
    return gpuOf() !== undefined;
  },
  driver: true,
  advice: ADVICE,
  async open() {
    const gpu = gpuOf();
    if (!gpu) {
      throw backendError('WebGPU is not available in this browser', {
        hints: [ADVICE, 'use the backend cpu'],
      });
    }
    const { openWebgpu } = await import('../../engine/backends/webgpu/measurer.js');
    return openWebgpu(gpu);
  },
};

/** Absent if the browser has no WebGPU, or withholds it from this page. */
const gpuOf = (): GPU | undefined => (typeof navigator === 'undefined' ? undefined : navigator.gpu);
