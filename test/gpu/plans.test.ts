/**
 * @module test/gpu/plans
 * Whole plans on the GPU, with pairs in flight: every double of every record equals the core's.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWebgpu, type WebgpuKind } from '../../src/engine/backends/webgpu/open.js';
import { planOf } from '../support/finish.js';
import { noGpu, softwareGpu } from '../support/gpu.js';
import { drawCase } from '../support/gpu-cases.js';
import { disparity, FILL_NAMES, pairsOf } from '../support/gpu-parity.js';
import { format } from '../support/metric.js';
import { seeded } from '../support/random.js';

const FEATURES = [
  ...['psnr', 'motion', 'motion=motion_five_frame_window=true'],
  ...['vif', 'vif=vif_enhn_gain_limit=1', 'vif=vif_enhn_gain_limit=1.2:vif_skip_scale0=true'],
  ...['adm', 'adm=adm_enhn_gain_limit=1', 'adm=adm_enhn_gain_limit=1.2:adm_noise_weight=0'],
];

describe.skipIf(noGpu)('plans on the GPU', () => {
  const random = seeded(Number(process.env.ANYVMAF_SEED ?? 20261122));
  let kind: WebgpuKind;
  beforeAll(async () => {
    kind = await openWebgpu(await softwareGpu());
    // Shaders are compiled here, which a software adapter takes long for.
    for (const bitDepth of [8, 16])
      (await kind.open(planOf(FEATURES, format(64, 64, bitDepth)).extraction)).close();
  }, 400_000);
  afterAll(() => kind.close());

  it.each(['mixed', ...FILL_NAMES])('give the core’s records for pictures of %s', async (fill) => {
    const [width, height] = [random.int(17, 90), random.int(17, 70)];
    const plan = planOf(FEATURES, format(width, height, random.pick([8, 10, 12, 16]))).extraction;
    const seed = random.int(0, 1e9);
    expect(await disparity(kind, plan, pairsOf(plan, fill, seed)), `seed ${seed}`).toEqual([]);
  });

  // scripts/gpu-parity does this at length.
  it('give the core’s records for random options, sizes, depths and histories', async () => {
    for (let i = 0; i < 12; i++) {
      const { plan, pairs, run, title } = drawCase(random, { width: 120, height: 90 });
      expect(await disparity(kind, plan, pairs, run), `${title}; seed ${random.seed}`).toEqual([]);
    }
  }, 200_000);
});
