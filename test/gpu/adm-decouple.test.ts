/**
 * @module test/gpu/adm-decouple
 * Restored coefficients of ADM by themselves, against the definition in integers and doubles (spec 4.5).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ANGLE from '../../src/engine/backends/webgpu/adm-angle.wgsl';
import DECOUPLE from '../../src/engine/backends/webgpu/adm-decouple.wgsl';
import NARROW from '../../src/engine/backends/webgpu/adm-decouple-s0.wgsl';
import WIDE_DECOUPLE from '../../src/engine/backends/webgpu/adm-decouple-s123.wgsl';
import SCALE from '../../src/engine/backends/webgpu/adm-scale.wgsl';
import { admScales } from '../../src/engine/backends/webgpu/adm-scales.js';
import { scaleUniform } from '../../src/engine/backends/webgpu/adm-uniform.js';
import WIDE from '../../src/engine/backends/webgpu/wide.wgsl';
import { noGpu, softwareDevice } from '../support/gpu.js';
import { type SeededRandom, seeded } from '../support/random.js';
import { runWgsl } from '../support/run-wgsl.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);
const CASES = 60_000;

/** Integers, which shaders multiply, and fractions, of which 2^-52 above 1 and 2^-47 below 64 are the hardest. */
const LIMITS = [1, 100, 1.2, 1 + 2 ** -52, 64 - 2 ** -47, 33.3, 99.99999, 7];

const HARNESS = `
@group(0) @binding(0) var<storage, read> cases: array<vec4i>;
@group(0) @binding(1) var<storage, read> limits: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> found: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&found)) {
    let each = cases[id.x];
    var variant: Variant;
    let limit = limits[each.w];
    variant.whole_limit = limit.x;
    variant.limit_shift = limit.y;
    variant.limit = limit.zw;
    found[id.x] = restore(each.x, each.y, each.z != 0, variant);
  }
}`;

interface Case {
  readonly o: number;
  readonly t: number;
  readonly similar: boolean;
  /** Number of the limit. */
  readonly limit: number;
}

/** Of coefficients: 16 at scale 0. */
type Bits = 16 | 32;

/** The gain in 15 bits: 1 where there is nothing to divide by. */
function gain(o: number, t: number, bits: Bits): bigint {
  if (o === 0) return 32768n;
  let m = BigInt(Math.abs(o));
  let shift = 0n;
  if (m >= 32768n && bits === 32) {
    shift = BigInt(m.toString(2).length - 15);
    m = (m + (1n << (shift - 1n))) >> shift;
  }
  const k = ((2n ** 30n / m) * BigInt(Math.sign(o)) * BigInt(t) + (1n << (14n + shift))) >> (15n + shift);
  return k < 0n ? 0n : k > 32768n ? 32768n : k;
}

function restored({ o, t, similar, limit }: Case, bits: Bits): number {
  const k = gain(o, t, bits);
  const cut = (r: bigint) => Number(BigInt.asIntN(bits, r));
  const r = cut((k * BigInt(o) + 16384n) >> 15n);
  if (!similar || k === 0n || o === 0) return r;
  const e = r * (LIMITS[limit] ?? Number.NaN);
  const limited = o > 0 ? Math.min(e, t) : Math.max(e, t);
  return cut(BigInt(Math.trunc(limited)));
}

/** Coefficients within 2^bits: of any length, near each other, or at the edges of what is computed differently. */
function drawCase(random: SeededRandom, bits: number): Case {
  const most = 2 ** bits - 1;
  const within = (v: number) => Math.max(-most - 1, Math.min(most, Math.round(v)));
  const anywhere = () => random.pick([1, -1]) * random.int(0, 2 ** random.int(0, bits) - 1);
  const o =
    random.int(0, 3) > 0
      ? anywhere()
      : within(random.pick([0, 1, -1, 16384, 16385, -16384, 32767, 32768, most]));
  const near = () => o * random.pick([1, 0.5, 1.2, 33.3, 99.99999, 1 + 2 ** -20]) + random.int(-2, 2);
  const t = within(random.int(0, 2) > 0 ? near() : anywhere());
  return { o, t, similar: random.int(0, 1) === 1, limit: random.int(0, LIMITS.length - 1) };
}

/** The members of a parameter set that hold its limit. */
function limitWords(gainLimit: number): number[] {
  const [scale] = admScales({ width: 64, height: 64 });
  if (!scale) throw new Error('there is no scale');
  const factors = [0, 1, 2, 3].map(() => [0, 0] as const);
  const set = { gainLimit, noiseWeight: 0, factors, fixed: factors, aim: true, scale0: true };
  return [...scaleUniform(scale, 8, [set], { segments: 1, results: 0 }).subarray(30, 34)];
}

describe.skipIf(noGpu)('restored coefficients of ADM', () => {
  let device: GPUDevice;
  beforeAll(async () => {
    device = await softwareDevice();
  });
  afterAll(() => device.destroy());

  async function check(file: string, bits: Bits, cases: readonly Case[]) {
    const code = [SCALE, WIDE, ANGLE, DECOUPLE, file, HARNESS].join('\n');
    const inputs = [
      Uint32Array.from(cases.flatMap(({ o, t, similar, limit }) => [o, t, Number(similar), limit])),
      Uint32Array.from(LIMITS.flatMap(limitWords)),
    ];
    const found = Int32Array.from(await runWgsl(device, code, inputs, cases.length, cases.length));
    cases.forEach((each, i) => {
      const expected = restored(each, bits);
      if (found[i] !== expected) {
        expect(`${JSON.stringify(each)} (seed ${SEED}): ${found[i]}`).toBe(`${expected}`);
      }
    });
  }

  it('equal the definition at scale 0', async () => {
    const random = seeded(SEED);
    await check(
      NARROW,
      16,
      Array.from({ length: CASES }, () => drawCase(random, 15)),
    );
  });

  it('equal it at scales 1 to 3', async () => {
    const random = seeded(SEED + 1);
    await check(
      WIDE_DECOUPLE,
      32,
      Array.from({ length: CASES }, () => drawCase(random, random.pick([16, 20, 31]))),
    );
  });
});
