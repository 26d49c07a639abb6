/**
 * @module engine/backends/webgpu/motion
 * Motion on the GPU: `anyvmaf_motion`, and `anyvmaf_motion_legacy` as libvmaf up to 3.0 has it.
 */
import type { GpuFunction } from './kernel.js';
import shader from './motion.wgsl';
import legacyShader from './motion-legacy.wgsl';
import tile from './motion-tile.wgsl';
import { openSum } from './picture-sum.js';

/** Samples of a workgroup: `TILE_WIDTH` and `TILE_HEIGHT` of motion-tile.wgsl. */
const TILE = { width: 64, height: 16 };

function motion(run: string, wgsl: string): GpuFunction {
  return {
    run,
    problem: () => undefined,
    open: (gpu, call, format) =>
      openSum(gpu, call, format, {
        shaders: [tile, wgsl],
        readsFormat: true,
        groups: [Math.ceil(format.width / TILE.width), Math.ceil(format.height / TILE.height)],
        read([low = 0, high = 0], fields) {
          // Below 2^44: sums of 16 bits over the largest picture.
          fields[0] = high * 2 ** 32 + low;
        },
      }),
  };
}

/** The field of each is the sum of absolute differences. */
export const MOTION = motion('motion', shader);
export const MOTION_LEGACY = motion('motion_legacy', legacyShader);
