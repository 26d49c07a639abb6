/**
 * @module test/gpu/adm
 * ADM on the GPU against the WebAssembly core, field by field to the last bit.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../src/core/frame.js';
import maskNarrow from '../../src/engine/backends/webgpu/adm-mask-s0.wgsl';
import maskWide from '../../src/engine/backends/webgpu/adm-mask-s123.wgsl';
import { ADM_HIGH, ADM_LOW } from '../../src/engine/backends/webgpu/adm-uniform.js';
import type { Gpu } from '../../src/engine/backends/webgpu/kernel.js';
import { gpuOf, noGpu, softwareDevice } from '../support/gpu.js';
import {
  type AdmOptions,
  admCall,
  admInCore,
  admOnGpu,
  type Luma,
  type LumaPair,
} from '../support/gpu-adm.js';
import { type SeededRandom, seeded } from '../support/random.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);

const video = (width: number, height: number, bitDepth = 8): VideoFormat => ({
  width,
  height,
  bitDepth,
  chroma: '400',
});

function draw(
  { width, height, bitDepth }: VideoFormat,
  sample: (x: number, y: number, top: number) => number,
): Luma {
  const samples = bitDepth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
  const top = 2 ** bitDepth - 1;
  return samples.map((_, i) => sample(i % width, Math.floor(i / width), top));
}

/** Texture, and the same with another contrast and noise that differs from place to place. */
function natural(format: VideoFormat, random: SeededRandom): LumaPair {
  const top = 2 ** format.bitDepth - 1;
  const within = (v: number) => Math.min(top, Math.max(0, Math.round(v)));
  const wave = random.next() + 0.05;
  const reference = draw(format, (x, y) => {
    const shade = Math.sin(x * wave) + Math.cos(y * 0.3 + x * 0.02) + (random.next() - 0.5) / 2;
    return within(top * (0.5 + shade / 6));
  });
  const gain = 0.5 + random.next();
  const distorted = reference.map((v, i) => {
    const noise = (random.next() - 0.5) * (i % 97 < 48 ? top / 300 : top / 12);
    return within(top / 2 + (v - top / 2) * gain + noise);
  });
  return { reference, distorted };
}

/** What ordinary pictures do not reach. */
function extremes(format: VideoFormat, random: SeededRandom): readonly Luma[] {
  return [
    draw(format, () => 0),
    draw(format, (_x, _y, top) => top),
    draw(format, (_x, _y, top) => random.int(0, top)),
    draw(format, (_x, _y, top) => random.pick([0, top])),
    draw(format, (x, y, top) => (x * 37 + y * 11) % (top + 1)),
    draw(format, (x, _y, top) => (x % 5 === 0 ? top : 0)),
    draw(format, (_x, y, top) => (y % 4 === 0 ? top : 0)),
    draw(format, (x, y, top) => ((x + y) % 2 === 0 ? top : 0)),
  ];
}

describe('the tables of ADM on the GPU', () => {
  const source = (name: string) => readFileSync(new URL(`../../wasm/src/${name}`, import.meta.url), 'utf8');

  it('are those of the core', () => {
    const taps = (name: string) =>
      new RegExp(`${name}\\[4\\] = \\{(.*)\\}`).exec(source('filters.h'))?.[1]?.split(',').map(Number);
    expect(taps('adm_low')).toEqual([...ADM_LOW]);
    expect(taps('adm_high')).toEqual([...ADM_HIGH]);
    const factors = [...source('adm.c').matchAll(/\((\d+) \* c /g)].map(([, factor]) => factor);
    const shaders = [maskNarrow, maskWide].flatMap((text) =>
      [...text.matchAll(/^const \w+TH = (\d+)/gm)].map(([, factor]) => factor),
    );
    expect(shaders).toEqual(factors);
  });
});

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
    const expected = admInCore(format, call, pairs);
    // toEqual compares numbers by Object.is.
    expect({ seed: SEED, found }).toEqual({ seed: SEED, found: expected });
  }

  it.each([
    [17, 17],
    [18, 33],
    [64, 64],
    [127, 65],
    [321, 181],
    [641, 361],
  ])('equals the core at %ix%i for all depths', async (width, height) => {
    const depths = width > 200 ? [8, 10] : [8, 9, 10, 12, 16];
    for (const depth of depths) {
      const format = video(width, height, depth);
      await expectSame(format, [{}], [natural(format, seeded(SEED + width + depth))]);
    }
  });

  it.each<readonly [string, readonly AdmOptions[]]>([
    ['VMAF v0 and NEG in one pass', [{}, { gainLimit: 1 }]],
    [
      'VMAF v1 at its viewing distances',
      [
        [1.5, 2160],
        [3, 1080],
        [3, 2160],
        [5, 1080],
      ].map(([normViewDist = 0, refDisplayHeight = 0]) => ({
        ...{ csfMode: 2, noiseWeight: 0.02, gainLimit: 1 },
        ...{ normViewDist, refDisplayHeight },
      })),
    ],
    [
      'gain limits that are no integers',
      [1.2, 1 + 2 ** -52, 33.3, 99.99999].map((gainLimit) => ({ gainLimit })),
    ],
    [
      'viewing distances',
      [
        { normViewDist: 4.5, refDisplayHeight: 720 },
        { normViewDist: 24, refDisplayHeight: 4320 },
      ],
    ],
    ['contrast sensitivities that wrap', [{ csfMode: 1 }, { csfMode: 1, csfScale: 50, csfDiagScale: 0.3 }]],
    ['the third contrast sensitivity and no noise', [{ csfMode: 3, noiseWeight: 0 }]],
    [
      'AIM left out here and scale 0 there',
      [{ aim: false }, { scale0: false }, { aim: false, scale0: false }],
    ],
    ['scale 0 left out everywhere', [{ scale0: false }]],
    ['64 parameter sets', Array.from({ length: 64 }, (_, i) => ({ gainLimit: 1 + i, noiseWeight: i / 64 }))],
  ])('equals it for %s', async (_title, sets) => {
    const format = video(96, 54);
    await expectSame(format, sets, [natural(format, seeded(SEED))]);
  });

  it.each([8, 10, 16])('equals it on extreme pictures of %i bits', async (depth) => {
    const format = video(83, 62, depth);
    const random = seeded(SEED + depth);
    const pictures = extremes(format, random);
    const pairs = pictures.flatMap((reference, i) => [
      { reference, distorted: pictures[(i + 1) % pictures.length] ?? reference },
      { reference, distorted: random.pick(pictures) },
      { reference, distorted: reference },
    ]);
    await expectSame(format, [{}, { gainLimit: 1 }], pairs);
  });

  it('wraps like portable C where samples need more bits than the video has', async () => {
    const format = video(48, 48, 10);
    const random = seeded(SEED);
    const [reference, distorted] = [0, 1].map(() => draw(format, () => random.int(0, 65535))) as [Luma, Luma];
    const call = admCall(format, [{}]);
    const pairs = [{ reference, distorted }];
    expect(await admOnGpu(gpu, format, call, pairs)).toEqual(admInCore(format, call, pairs, 'portable'));
  });

  it('equals it on random pairs, sizes, depths and options', async () => {
    const random = seeded(SEED);
    for (let i = 0; i < 12; i++) {
      const format = video(random.int(17, 150), random.int(17, 120), random.int(8, 16));
      const gainLimit = random.pick([1, 100, 1 + 99 * random.next()]);
      const set = { gainLimit, csfMode: random.pick([0, 2, 3]), noiseWeight: random.next() };
      await expectSame(format, [set], [natural(format, random), natural(format, random)]);
    }
  });

  it('gives other numbers when a constant of a shader is changed', async () => {
    const format = video(64, 64);
    const call = admCall(format, [{}]);
    const pair = natural(format, seeded(SEED));
    const edited = gpuOf(device, (text) => text.replace('const THIRTIETH = 4369', 'const THIRTIETH = 4370'));
    const [found] = await admOnGpu(edited, format, call, [pair]);
    const [expected = []] = admInCore(format, call, [pair]);
    expect(found).toHaveLength(expected.length);
    expect(found).not.toEqual(expected);
  });
});
