/**
 * @module engine/backends/webgpu/sse
 * Squared errors of a plane on the GPU: `anyvmaf_sse`.
 */
import { sampleBytes } from '../../../core/frame.js';
import type { GpuFunction } from './kernel.js';
import { LANES, openSum } from './picture-sum.js';
import shader from './sse.wgsl';

/** Workgroups among which a large plane is shared. */
const MOST_GROUPS = 1024;

/** Its fields are the sum's high and low word. */
export const SSE: GpuFunction = {
  run: 'sse',
  problem: () => undefined,
  open(gpu, call, format) {
    const [, , samples] = call.args;
    const words = Math.ceil((Number(samples) * sampleBytes(format.bitDepth)) / 4);
    return openSum(gpu, call, format, {
      shaders: [shader],
      readsFormat: false,
      groups: [Math.min(MOST_GROUPS, Math.ceil(words / LANES)), 1],
      read([low = 0, high = 0], fields) {
        fields[0] = high;
        fields[1] = low;
      },
    });
  },
};
