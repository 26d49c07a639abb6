/**
 * @module test/gpu/changed-shader
 * That the GPU did it: a tap of a shader that is one larger gives other numbers.
 */
import { expect, it, vi } from 'vitest';
import { openWebgpu } from '../../src/engine/backends/webgpu/open.js';
import { planOf } from '../support/finish.js';
import { noGpu, softwareGpu } from '../support/gpu.js';
import { disparity, pairsOf } from '../support/gpu-parity.js';
import { format } from '../support/metric.js';

vi.mock('../../src/engine/backends/webgpu/motion.wgsl', async (original) => {
  const { default: shader } = await original<{ default: string }>();
  return { default: shader.replace('26386', '26387') };
});

it.skipIf(noGpu)('a changed shader gives other numbers', async () => {
  const kind = await openWebgpu(await softwareGpu());
  const plan = planOf(['motion'], format(64, 48)).extraction;
  const found = await disparity(kind, plan, pairsOf(plan, 'noise', 1, 3));
  expect(found).toHaveLength(2);
  expect(found[0]).toMatch(/^frame 1, field 0 of motion/);
  kind.close();
});
