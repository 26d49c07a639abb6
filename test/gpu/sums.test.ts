/**
 * @module test/gpu/sums
 * Motion and squared errors on the GPU equal the core's to the last bit.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Compat } from '../../src/core/choices.js';
import type { ExtractionPlan } from '../../src/engine/backends/types.js';
import { openWebgpu, type WebgpuKind } from '../../src/engine/backends/webgpu/open.js';
import { planOf } from '../support/finish.js';
import { noGpu, softwareGpu } from '../support/gpu.js';
import { disparity, FILL_NAMES, pairsOf } from '../support/gpu-parity.js';
import { format } from '../support/metric.js';
import { seeded } from '../support/random.js';

const FEATURES = ['psnr', 'motion', 'motion=motion_five_frame_window=true'];
const SIZES = [
  [17, 17],
  [18, 33],
  [64, 64],
  [65, 19],
  [131, 47],
  [255, 129],
  [641, 61],
] as const;
const CHROMA = ['420', '422', '444', '400'] as const;

/** The calls of all kernels here, legacy motion too. */
function planFor(video: ReturnType<typeof format>): ExtractionPlan {
  const plan = planOf(FEATURES, video).extraction;
  const legacy = (compat: Compat) => planOf(['motion'], video, compat).extraction.calls;
  return { ...plan, calls: [...plan.calls, ...legacy('libvmaf-3.0')] };
}

describe.skipIf(noGpu)('sums on the GPU', () => {
  let kind: WebgpuKind;
  beforeAll(async () => {
    kind = await openWebgpu(await softwareGpu());
    // Shaders are compiled here, which a software adapter takes long for.
    for (const bitDepth of [8, 16]) (await kind.open(planFor(format(64, 64, bitDepth)))).close();
  });
  afterAll(() => kind.close());

  it.each(SIZES)('are the core’s at %dx%d', async (width, height) => {
    const random = seeded(width * height);
    for (const bitDepth of [8, random.int(9, 16)]) {
      const plan = planFor(format(width, height, bitDepth, random.pick(CHROMA)));
      const seed = random.int(0, 1e9);
      expect(await disparity(kind, plan, pairsOf(plan, 'mixed', seed, 3)), `seed ${seed}`).toEqual([]);
    }
  });

  it.each(FILL_NAMES)('are the core’s for pictures of %s', async (fill) => {
    for (const bitDepth of [8, 10, 15, 16]) {
      const plan = planFor(format(67, 35, bitDepth, '420'));
      expect(await disparity(kind, plan, pairsOf(plan, fill, bitDepth)), `seed ${bitDepth}`).toEqual([]);
    }
  });
});
