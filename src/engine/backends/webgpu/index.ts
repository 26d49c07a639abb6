/**
 * @module engine/backends/webgpu/index
 * The core's functions that the GPU has too.
 */
import { ADM_ON_GPU } from './adm.js';
import type { GpuFunction } from './kernel.js';
import { MOTION, MOTION_LEGACY, SSE } from './picture-sum.js';
import { VIF } from './vif.js';

/** By the names that calls have for them. */
export const GPU_FUNCTIONS: ReadonlyMap<string, GpuFunction> = new Map(
  [SSE, MOTION, MOTION_LEGACY, VIF, ADM_ON_GPU].map((one) => [one.run, one]),
);
