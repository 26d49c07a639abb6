import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import type { Gpu } from '../../../src/engine/backends/webgpu/kernel.js';
import { noGpu, softwareDevice } from '../../support/gpu.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import {
  type AdmOptions,
  admCall,
  admInCore,
  admOnGpu,
  gpuOf,
  type Luma,
  type LumaPair,
} from './adm-support.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);

const video = (width: number, height: number, bitDepth = 8): VideoFormat => ({
  width,
  height,
  bitDepth,
  chroma: '400',
});

const draw = ({ width, height, bitDepth }: VideoFormat, sample: (x: number, y: number) => number): Luma => {
  const samples = bitDepth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
  return samples.map((_, i) => sample(i % width, Math.floor(i / width)));
};

/** A textured picture, and one that lies near it here and far from it there. */
function natural(format: VideoFormat, random: SeededRandom): LumaPair {
  const top = 2 ** format.bitDepth - 1;
  const wave = random.next() + 0.05;
  const reference = draw(format, (x, y) => {
    const shade = Math.sin(x * wave) + Math.cos(y * 0.3 + x * 0.02) + (random.next() - 0.5) / 2;
    return Math.min(top, Math.max(0, Math.round(top * (0.5 + shade / 6))));
  });
  const gain = 0.5 + random.next();
  const distorted = reference.map((v, i) => {
    const strength = i % 97 < 48 ? top / 300 : top / 12;
    return Math.min(
      top,
      Math.max(0, Math.round(top / 2 + (v - top / 2) * gain + (random.next() - 0.5) * strength)),
    );
  });
  return { reference, distorted };
}

describe.skipIf(noGpu)('ADM on the GPU', () => {
  let device: GPUDevice;
  let gpu: Gpu;
  beforeAll(async () => {
    device = await softwareDevice();
    gpu = gpuOf(device);
  });
  afterAll(() => device.destroy());

  async function expectSame(format: VideoFormat, sets: readonly AdmOptions[], pairs: readonly LumaPair[]) {
    const call = admCall(format, sets);
    const found = await admOnGpu(gpu, format, call, pairs);
    expect(found).toEqual(admInCore(format, call, pairs));
  }

  it('equals the core at 64x64', async () => {
    const format = video(64, 64);
    await expectSame(format, [{}], [natural(format, seeded(SEED))]);
  });
});
