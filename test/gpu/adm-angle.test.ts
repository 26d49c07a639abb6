/**
 * @module test/gpu/adm-angle
 * The angle test of ADM by itself, against the definition in binary32 and binary64 (spec 4.5).
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ANGLE from '../../src/engine/backends/webgpu/adm-angle.wgsl';
import WIDE from '../../src/engine/backends/webgpu/wide.wgsl';
import { noGpu, softwareDevice } from '../support/gpu.js';
import { seeded } from '../support/random.js';
import { runWgsl } from '../support/run-wgsl.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);

/** What the angle test sees of two gradients: their product, and their squared lengths. */
type Products = readonly [dp: bigint, om: bigint, tm: bigint];

const HARNESS = `
@group(0) @binding(0) var<storage, read> cases: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&found)) {
    let i = 3u * id.x;
    found[id.x] = u32(similar(cases[i], cases[i + 1u], cases[i + 2u]));
  }
}`;

/** An integer as binary32 rounds it once. */
function toFloat32(v: bigint): number {
  const bits = v.toString(2).replace('-', '').length;
  if (bits <= 24) return Number(v);
  // What a double cannot hold becomes a lowest bit.
  const shift = BigInt(Math.max(0, bits - 40));
  const sticky = (v >> shift) << shift === v ? 0n : 1n;
  return Math.fround(Number((v >> shift) | sticky) * 2 ** Number(shift));
}

const COS_SQUARED = 0xffec0a / 2 ** 24;

function similar([dp, om, tm]: Products): boolean {
  const x = toFloat32(dp) / 4096;
  return x >= 0 && x * x >= COS_SQUARED * (toFloat32(om) / 4096) * (toFloat32(tm) / 4096);
}

/**
 * Products whose two sides lie within 2^-52 of each other, found by factoring: the right side is below the square, above it
 * by at most half a unit of 53 bits (which rounding takes away), and above it by more.
 */
const ROUNDED = [
  [12500498, 11529849, 13556991],
  [14406266, 13397486, 15495723],
  [12324772, 9308695, 16323049],
  [15040224, 14743582, 15347509],
  [12424386, 11603551, 13307340],
  [12670422, 10216671, 15718281],
  [14311388, 12389543, 16536383],
  [11565584, 8504331, 15733570],
  [13251343, 10882920, 16140116],
  [14326307, 12704675, 16159847],
  [10542153, 8591455, 12939700],
  [16144312, 15779217, 16522887],
  [12728820, 10707215, 15136730],
  [12136872, 11343599, 12989576],
  [11071233, 8479706, 14459174],
  [12823691, 10763951, 15282228],
] as const;

describe('what the angle test is made of', () => {
  it('is the constant of the core', () => {
    const header = readFileSync(new URL('../../wasm/src/adm.h', import.meta.url), 'utf8');
    expect(/ADM_COS_1DEG_SQ 0x1\.(\w+)p-1f/.exec(header)?.[1]).toBe('ffd814');
    expect(0x1ffd814 / 2 ** 25).toBe(COS_SQUARED);
    expect(ANGLE).toContain('const COS_SQUARED = 0xffec0au;');
  });
});

describe.skipIf(noGpu)('the angle test of ADM', () => {
  let device: GPUDevice;
  beforeAll(async () => {
    device = await softwareDevice();
  });
  afterAll(() => device.destroy());

  /** @returns how many cases are similar */
  async function check(cases: readonly Products[]): Promise<number> {
    const words = new Uint32Array(new BigInt64Array(cases.flat()).buffer);
    const found = await runWgsl(device, `${WIDE}\n${ANGLE}${HARNESS}`, [words], cases.length, cases.length);
    let count = 0;
    cases.forEach((each, i) => {
      const expected = similar(each);
      count += Number(expected);
      if (found[i] !== Number(expected)) {
        expect(`${each.join(', ')} (seed ${SEED}): ${found[i]}`).toBe(`${Number(expected)}`);
      }
    });
    return count;
  }

  const productsOf = (oh: number, ov: number, th: number, tv: number): Products => {
    const [a, b, c, d] = [BigInt(oh), BigInt(ov), BigInt(th), BigInt(tv)];
    return [a * c + b * d, a * a + b * b, c * c + d * d];
  };

  it('equals binary32 arithmetic around one degree, at all lengths', async () => {
    const random = seeded(SEED);
    // Random coefficients, then those a degree apart, within what the rounding to binary32 may turn round.
    const cases = Array.from({ length: 120_000 }, (_, i): Products => {
      const most = 2 ** random.int(1, 30);
      const [oh, ov] = [random.int(-most, most), random.int(-most, most)];
      if (i % 8 === 0) return productsOf(oh, ov, random.int(-most, most), random.int(-most, most));
      const off = random.pick([1e-2, 1e-4, 1e-5, 2e-6, 5e-7]) * (2 * random.next() - 1);
      const turn = random.pick([1, -1]) * ((Math.PI / 180) * (1 + off));
      const scale = 0.03 + random.next() * 1.2;
      const [cos, sin] = [Math.cos(turn) * scale, Math.sin(turn) * scale];
      return productsOf(oh, ov, Math.round(oh * cos - ov * sin), Math.round(oh * sin + ov * cos));
    });
    const count = await check(cases);
    expect(count).toBeGreaterThan(30_000);
    expect(count).toBeLessThan(90_000);
  });

  it('rounds the right side to 53 bits before it compares', async () => {
    const random = seeded(SEED + 1);
    const cases: Products[] = ROUNDED.map((each) => each.map(BigInt) as unknown as Products);
    expect(await check(cases)).toBe(12);
    // Equal sides, and their neighbours.
    const c = 0xffec0an;
    const power = (most: number) => BigInt(random.int(0, most));
    const around = Array.from({ length: 2000 }, (): Products => {
      const [i, j, k] = [power(12), power(15), power(8)];
      const [near, far] = [BigInt(random.int(-1, 1)), BigInt(random.int(-1, 1))];
      return [((c + near) << i) << j, ((c + far) << (2n * i)) << k, 1n << (2n * j + 24n - k)];
    });
    const count = await check(around);
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThan(1900);
  });

  it('takes gradients of no length for similar, and opposite ones never', async () => {
    const edges = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 62n, -(2n ** 62n)];
    const lengths = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 62n, 2n ** 63n - 1n];
    const cases = edges.flatMap((dp) =>
      lengths.flatMap((om) => lengths.map((tm): Products => [om && tm ? dp : 0n, om, tm])),
    );
    await check(cases);
  });
});
