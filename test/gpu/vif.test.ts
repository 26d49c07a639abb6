/**
 * @module test/gpu/vif
 * VIF on the software adapter equals the core to the last bit, over sizes, depths, gain limits and extreme pictures.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CoreCall } from '../../src/core/kernel.js';
import { Core } from '../../src/core/module.js';
import type { Gpu } from '../../src/engine/backends/webgpu/kernel.js';
import { VIF, VIF_FILTERS, vifLogOffsets } from '../../src/engine/backends/webgpu/vif.js';
import { vifCall } from '../../src/metrics/vif.js';
import { gpuOf, noGpu, softwareDevice } from '../support/gpu.js';
import { type SeededRandom, seeded } from '../support/random.js';
import { memory, native, take } from '../support/wasm.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);
const core = new Core(
  new WebAssembly.Module(readFileSync(new URL('../../wasm/anyvmaf.wasm', import.meta.url))),
);

/** Measured in one call. */
const LIMITS = [100, 1, 1.2, 7.3];

type Plane = Uint8Array | Uint16Array;
interface Pair {
  readonly reference: Plane;
  readonly distorted: Plane;
}
interface Size {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

/** A call as a plan holds it. */
const callOf = (limits: readonly number[], firstScale: 0 | 1 = 0): CoreCall => ({
  metric: 'vif',
  back: 0,
  pictures: 'pair',
  chroma: false,
  everyFrame: false,
  ...vifCall(limits, firstScale),
});

const bytesOf = (plane: Plane) => new Uint8Array(plane.buffer, plane.byteOffset, plane.byteLength);

function coreFields(size: Size, call: CoreCall, { reference, distorted }: Pair): number[] {
  const context = core.open({ ...size, chroma: '400' }, 'portable');
  const [first, second] = [reference, distorted].map((plane, serial) => {
    const address = core.alloc(core.planeBytes(size.width, size.height, size.bitDepth));
    new Uint8Array(core.memory.buffer, address).set(bytesOf(plane));
    return { serial, planes: [{ address, width: size.width, height: size.height }] };
  });
  if (!first || !second) throw new Error('two planes give two pictures');
  context.setFrames({ reference: [first], distorted: [second] });
  const fields = [...(context.run(call) ?? [])];
  for (const { planes } of [first, second]) for (const { address } of planes) core.free(address);
  context.close();
  return fields;
}

/** What a picture holds, as a function of its place. */
type Content = (x: number, y: number, top: number) => number;

function plane({ width, height, bitDepth }: Size, content: Content): Plane {
  const out = bitDepth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
  const top = 2 ** bitDepth - 1;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) out[i] = Math.max(0, Math.min(top, content(x, y, top)));
  }
  return out;
}

const noise =
  (random: SeededRandom): Content =>
  (_x, _y, top) =>
    random.int(0, top);
const smooth: Content = (x, y, top) =>
  Math.round((top / 2) * (1 + Math.sin(x / 5 + y / 9) * Math.cos(y / 7)));

/** An encode of a picture: its values with an error and a gain. */
function encode(random: SeededRandom, size: Size, reference: Plane, error: number, gain = 1): Plane {
  const top = 2 ** size.bitDepth - 1;
  const amount = Math.max(1, Math.round(error * top));
  return plane(size, (x, y) => {
    const v = reference[y * size.width + x] ?? 0;
    return Math.round((v - top / 2) * gain + top / 2) + random.int(-amount, amount);
  });
}

const EXTREMES: Readonly<Record<string, (random: SeededRandom) => readonly [Content, Content]>> = {
  'two flat pictures': () => [() => 7, (_x, _y, top) => top],
  'full-scale noise': (random) => [noise(random), noise(random)],
  'noise of black and white': (random) => {
    const binary: Content = (_x, _y, top) => random.int(0, 1) * top;
    return [binary, binary];
  },
  'a saw against its shift': () => [
    (x, y, top) => ((x * 7 + y * 3) * (top >> 4)) % (top + 1),
    (x, y, top) => ((x * 7 + y * 3 + 5) * (top >> 4)) % (top + 1),
  ],
  'lines of a pixel': () => [
    (x, _y, top) => (x % 9 === 4 ? top : 0),
    (_x, y, top) => (y % 11 === 5 ? top : 0),
  ],
  'a line of a pixel against half of it': () => [
    (x, _y, top) => (x === 11 ? top : 0),
    (x, _y, top) => (x === 11 ? top >> 1 : 0),
  ],
  'a checkerboard against its negative': () => [
    (x, y, top) => ((x + y) & 1) * top,
    (x, y, top) => ((x + y + 1) & 1) * top,
  ],
  'a flat reference and noise': (random) => [() => 100, noise(random)],
  'noise and a flat picture': (random) => [noise(random), () => 0],
  'white corners on black': () => [
    (x, y, top) => (x < 3 && y < 3 ? top : 0),
    (x, y, top) => (x < 2 && y < 4 ? top : 0),
  ],
};

describe.skipIf(noGpu)('VIF on a GPU', () => {
  let gpu: Gpu;
  beforeAll(async () => {
    const device = await softwareDevice();
    gpu = gpuOf(device);
    await VIF.open(gpu, callOf(LIMITS), { width: 17, height: 17, bitDepth: 8, chroma: '400' });
  });
  afterAll(() => {
    gpu.device.destroy();
  });

  function upload(data: Plane): GPUBuffer {
    const size = Math.ceil(data.byteLength / 4) * 4;
    const buffer = gpu.device.createBuffer({ size, usage: GPUBufferUsage.STORAGE, mappedAtCreation: true });
    new Uint8Array(buffer.getMappedRange()).set(bytesOf(data));
    buffer.unmap();
    return buffer;
  }

  /** What the kernel of a call gives of pairs, one after the other. */
  async function gpuFields(size: Size, call: CoreCall, pairs: readonly Pair[]): Promise<number[][]> {
    const { device } = gpu;
    const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
    const kernel = await VIF.open(gpu, call, { ...size, chroma: '400' });
    const bytes = 4 * kernel.words;
    const results = device.createBuffer({ size: 256 + bytes, usage: STORAGE | COPY_SRC });
    const back = device.createBuffer({ size: bytes, usage: COPY_DST | MAP_READ });
    const measured: number[][] = [];
    for (const { reference, distorted } of pairs) {
      const planes = [upload(reference), upload(distorted)] as const;
      const pair = { reference: [{ planes: [planes[0]] }], distorted: [{ planes: [planes[1]] }] };
      const run = kernel.bind(pair, { buffer: results, offset: 256, size: bytes });
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      run(pass);
      pass.end();
      encoder.copyBufferToBuffer(results, 256, back, 0, bytes);
      device.queue.submit([encoder.finish()]);
      await back.mapAsync(GPUMapMode.READ);
      const fields = new Float64Array(call.fields);
      kernel.read(new Uint32Array(back.getMappedRange()), fields);
      back.unmap();
      for (const buffer of planes) buffer.destroy();
      measured.push([...fields]);
    }
    for (const buffer of [results, back]) buffer.destroy();
    kernel.close();
    return measured;
  }

  async function expectEqual(size: Size, call: CoreCall, pairs: readonly Pair[]): Promise<void> {
    const expected = pairs.map((pair) => coreFields(size, call, pair));
    expect(await gpuFields(size, call, pairs), `seed ${SEED}`).toStrictEqual(expected);
  }

  it.each([
    { width: 17, height: 17, depths: [8, 9, 10, 12, 15, 16] },
    { width: 18, height: 33, depths: [8, 10, 16] },
    { width: 64, height: 64, depths: [8, 10, 14, 16] },
    { width: 127, height: 65, depths: [8, 12] },
  ])('measures $width x $height at $depths bits as the core does', async ({ width, height, depths }) => {
    const random = seeded(SEED + width);
    for (const bitDepth of depths) {
      const size = { width, height, bitDepth };
      const reference = plane(size, smooth);
      await expectEqual(size, callOf(LIMITS), [
        { reference, distorted: encode(random, size, reference, 0.02) },
        { reference: plane(size, noise(random)), distorted: encode(random, size, reference, 0.3, 0.5) },
      ]);
    }
  });

  it.each([
    [641, 361],
    [321, 181],
    [1030, 18],
    [19, 1031],
  ])('measures the many workgroups of %i x %i', async (width, height) => {
    const random = seeded(SEED);
    const size = { width, height, bitDepth: 8 };
    const reference = plane(size, smooth);
    await expectEqual(size, callOf(LIMITS), [
      { reference, distorted: encode(random, size, reference, 0.05, 1.1) },
    ]);
  });

  it.each(Object.keys(EXTREMES))('measures %s', async (name) => {
    for (const bitDepth of [8, 16]) {
      const size = { width: 49, height: 41, bitDepth };
      const [first, second] = EXTREMES[name]?.(seeded(SEED)) ?? [];
      if (!first || !second) throw new Error(`no ${name}`);
      const [reference, distorted] = [plane(size, first), plane(size, second)];
      await expectEqual(size, callOf(LIMITS), [
        { reference, distorted },
        { reference, distorted: reference },
        // Quotients that are integers.
        { reference, distorted: plane(size, (x, y) => (reference[y * size.width + x] ?? 0) >> 1) },
      ]);
    }
  });

  it('measures without scale 0', async () => {
    const size = { width: 131, height: 67, bitDepth: 10 };
    const random = seeded(SEED);
    const reference = plane(size, smooth);
    const pair = { reference, distorted: encode(random, size, reference, 0.02) };
    await expectEqual(size, callOf(LIMITS, 1), [pair]);
  });

  it('gives other numbers when a constant of a shader is another', async () => {
    const size = { width: 64, height: 64, bitDepth: 8 };
    const reference = plane(size, smooth);
    const pair = { reference, distorted: encode(seeded(SEED), size, reference, 0.1) };
    const usual = await gpuFields(size, callOf(LIMITS), [pair]);
    const kept = gpu;
    gpu = gpuOf(gpu.device, (code, label) =>
      label === 'vif: decimate' ? code.replace('+ 0x8000u', '+ 0x4000u') : code,
    );
    const [changed = []] = await gpuFields(size, callOf(LIMITS), [pair]);
    gpu = kept;
    const differing = changed.map((value, i) => Number(value !== usual[0]?.[i]));
    const ofGain = [0, 1, 1, 1, 0, 1, 1, 1];
    expect(differing).toStrictEqual(LIMITS.flatMap(() => ofGain));
  });
});

describe('constants of VIF on a GPU', () => {
  it("has the core's filters", () => {
    const source = readFileSync(new URL('../../wasm/src/filters.h', import.meta.url), 'utf8');
    const [, table = ''] = /vif_filter\[4\]\[17\] = \{\n([\s\S]*?)\n\};/.exec(source) ?? [];
    const rows = [...table.matchAll(/\{([^}]*)\}/g)].map(([, row = '']) => row.split(',').map(Number));
    expect(VIF_FILTERS).toStrictEqual(rows);
  });

  it("has the core's logarithms, none of which depends on a last bit", () => {
    const at = take(3 * 32768);
    native('vif_build_tables')(at);
    expect(vifLogOffsets()).toStrictEqual(new Uint8Array(memory.buffer, at + 2 * 32768, 32768).slice());
    for (let i = 32768; i < 65536; i++) {
      const exact = 2048 * Math.log2(i) + 0.5 + 2 ** -10;
      if (Math.abs(exact - Math.round(exact)) < 1e-9) throw new Error(`log2 of ${i}`);
    }
  });
});
