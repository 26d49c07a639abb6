/**
 * @module platform/browser/gpu
 * A GPU in a browser, in the page or in a worker.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { GpuAccess } from '../../engine/contract/platform.js';

const ADVICE = 'use a browser that has WebGPU, over HTTPS or on this machine';

/** The GPU that the browser gives. */
export const browserGpu: GpuAccess = {
  get here() {
    return gpuOf() !== undefined;
  },
  driver: true,
  advice: ADVICE,
  async open() {
    const gpu = gpuOf();
    if (!gpu) {
      throw new AnyvmafError('backend', 'This browser has no WebGPU here', {
        hints: [ADVICE, 'use the backend cpu'],
      });
    }
    const { openWebgpu } = await import('../../engine/backends/webgpu/open.js');
    return openWebgpu(gpu);
  },
};

/** Absent where the browser has none, or keeps it from pages of other origins. */
function gpuOf(): GPU | undefined {
  return typeof navigator === 'undefined' ? undefined : navigator.gpu;
}
