/**
 * @module test/gpu/shader-functions
 * Single functions of the shaders on random and extreme input, against definitions in doubles, integers and BigInt: the gain of
 * a VIF pixel, the angle test and the restored coefficients of ADM (spec 4.5), and each function of wide.wgsl.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scaleUniform } from '../../src/engine/backends/webgpu/adm.js';
import ANGLE from '../../src/engine/backends/webgpu/adm-angle.wgsl';
import DECOUPLE from '../../src/engine/backends/webgpu/adm-decouple.wgsl';
import NARROW from '../../src/engine/backends/webgpu/adm-decouple-s0.wgsl';
import WIDE_DECOUPLE from '../../src/engine/backends/webgpu/adm-decouple-s123.wgsl';
import SCALE from '../../src/engine/backends/webgpu/adm-scale.wgsl';
import { admScales, powerOfThird } from '../../src/engine/backends/webgpu/adm-scales.js';
import { limitsData } from '../../src/engine/backends/webgpu/vif.js';
import PIXEL from '../../src/engine/backends/webgpu/vif-pixel.wgsl';
import WIDE from '../../src/engine/backends/webgpu/wide.wgsl';
import { noGpu, runWgsl, softwareDevice } from '../support/gpu.js';
import { type SeededRandom, seeded } from '../support/random.js';
import { tier } from '../support/tier.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);

let device: GPUDevice;
beforeAll(async () => {
  if (noGpu === undefined) device = await softwareDevice();
});
afterAll(() => device?.destroy());

/** The first wrong results, with their cases. */
function wrong<T>(cases: readonly T[], found: ArrayLike<number>, expected: (each: T) => number): string[] {
  return cases
    .flatMap((each, i) => {
      const right = expected(each);
      return found[i] === right ? [] : [`${JSON.stringify(each, printed)}: ${found[i]} instead of ${right}`];
    })
    .slice(0, 10);
}

const printed = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

describe.skipIf(noGpu)('a pixel of VIF', () => {
  const random = seeded(SEED);
  const NSQ = 131072;
  /** About the largest variance: black and white 16-bit samples, plus rounding. */
  const TOP = 2 ** 30 + 2 ** 16;
  const LIMITS = [1, 1 + 2 ** -52, 1.05, 1.2, 2, 3.3333333, 4 - 2 ** -51, 7.3, 16, 89.99, 100];

  /** s1, s2, s12, and the index of the limit. */
  type Case = readonly [number, number, number, number];

  const HARNESS = `
@group(0) @binding(0) var<storage, read> cases: array<vec4u>;
@group(0) @binding(1) var<storage, read> gain_limits: array<Limit>;
@group(0) @binding(2) var<storage, read_write> results: array<vec2u>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&results)) {
    let v = cases[id.x];
    let gain = gain_of(v.x, v.y, v.z);
    results[id.x] = vec2u(gain.rest, limited(gain, gain_limits[v.w]));
  }
}`;

  /** The unexplained and the explained part of the distorted variance, as in wasm/src/vif.c. */
  function expected([s1, s2, s12, which]: Case): [number, number] {
    const g = s12 / (s1 + 65536 * 1.0e-10);
    const limited = Math.min(g, LIMITS[which] ?? 0);
    return [Math.max(0, Math.trunc(s2 - g * s12)), Math.trunc(limited * limited * s1)];
  }

  /** Logarithmically distributed, below `top`. */
  const spread = (from: number, top: number) => Math.floor(from * (top / from) ** random.next());
  const near = (value: number) => Math.round(value) + random.int(-2, 2);

  /** A case within the range of filtered samples: g^2 * s1 stays below 1.63e9. */
  function bounded(s1: number, s2: number, s12: number): Case {
    const variance = Math.min(TOP, Math.max(NSQ, s1));
    const most = Math.floor(Math.sqrt(variance * 1.63e9));
    const within = (v: number, top: number) => Math.max(1, Math.min(top, v));
    return [variance, within(s2, TOP), within(s12, most), random.int(0, LIMITS.length - 1)];
  }

  const KINDS: readonly (() => Case)[] = [
    // Any variances.
    () => bounded(spread(NSQ, TOP), spread(1, TOP), spread(1, TOP)),
    // A distorted variance next to the explained one.
    () => {
      const [s1, s12] = [spread(NSQ, TOP), spread(1, TOP)];
      return bounded(s1, near((s12 * s12) / s1), s12);
    },
    // Quotients that are integers or nearly so.
    () => {
      const [p, q] = [random.int(1, 9), random.int(1, 12)];
      const unit = spread(Math.ceil(NSQ / (q * q)), Math.floor(TOP / (q * q)));
      return bounded(unit * q * q, near(unit * p * p), unit * p * q + random.pick([0, 0, 0, 1, -1]));
    },
    // Squares that leave a small remainder.
    () => {
      const [root, times] = [random.int(362, 32768), random.int(1, 60)];
      return bounded(root * root + random.int(-3, 3), spread(1, TOP), root * times);
    },
    // Gains at a limit.
    () => {
      const s1 = spread(NSQ, TOP);
      return bounded(s1, spread(1, TOP), near(s1 * random.pick(LIMITS)));
    },
    // Hardly any covariance.
    () => bounded(spread(NSQ, TOP), random.pick([1, 2, TOP]), random.int(1, 400)),
  ];

  /** Cases of every kind in which a shader differs from doubles. */
  async function wrongOf(count: number): Promise<string[]> {
    const cases = KINDS.flatMap((kind) => Array.from({ length: count }, kind));
    const inputs = [Uint32Array.from(cases.flat()), limitsData(LIMITS)];
    const results = await runWgsl(device, WIDE + PIXEL + HARNESS, inputs, 2 * cases.length, cases.length);
    return [0, 1].flatMap((part) =>
      wrong(
        cases,
        results.filter((_, i) => i % 2 === part),
        (each) => expected(each)[part] ?? 0,
      ),
    );
  }

  it('equals doubles on random variances of every kind', async () => {
    expect(await wrongOf(tier(10_000, 40_000)), `seed ${SEED}`).toEqual([]);
  });
});

describe('the angle test of ADM', () => {
  const COS_SQUARED = 0xffec0a / 2 ** 24;

  it('has the constant of the core', () => {
    const header = readFileSync(new URL('../../wasm/src/adm.h', import.meta.url), 'utf8');
    expect(/ADM_COS_1DEG_SQ 0x1\.(\w+)p-1f/.exec(header)?.[1]).toBe('ffd814');
    expect(0x1ffd814 / 2 ** 25).toBe(COS_SQUARED);
    expect(ANGLE).toContain('const COS_SQUARED = 0xffec0au;');
  });

  /** Dot product and squared lengths of two gradients. */
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

  /** Rounds an integer to binary32 once. */
  function toFloat32(v: bigint): number {
    const bits = v.toString(2).replace('-', '').length;
    if (bits <= 24) return Number(v);
    // Bits that a double cannot hold become a sticky bit.
    const shift = BigInt(Math.max(0, bits - 40));
    const sticky = (v >> shift) << shift === v ? 0n : 1n;
    return Math.fround(Number((v >> shift) | sticky) * 2 ** Number(shift));
  }

  function similar([dp, om, tm]: Products): number {
    const x = toFloat32(dp) / 4096;
    return Number(x >= 0 && x * x >= COS_SQUARED * (toFloat32(om) / 4096) * (toFloat32(tm) / 4096));
  }

  /** Expects the shader to agree. @returns the share of similar gradients */
  async function check(cases: readonly Products[]): Promise<number> {
    const words = new Uint32Array(new BigInt64Array(cases.flat()).buffer);
    const found = await runWgsl(device, `${WIDE}\n${ANGLE}${HARNESS}`, [words], cases.length, cases.length);
    expect(wrong(cases, found, similar), `seed ${SEED}`).toEqual([]);
    return found.reduce((sum, value) => sum + value, 0) / cases.length;
  }

  /**
   * Products whose two sides lie within 2^-52 of each other, found by factoring: the right side is below the square, above
   * it by at most half a unit of 53 bits (which rounding takes away), and above it by more.
   */
  const ROUNDED = [
    ...[12500498, 11529849, 13556991, 14406266, 13397486, 15495723, 12324772, 9308695, 16323049],
    ...[15040224, 14743582, 15347509, 12424386, 11603551, 13307340, 12670422, 10216671, 15718281],
    ...[14311388, 12389543, 16536383, 11565584, 8504331, 15733570, 13251343, 10882920, 16140116],
    ...[14326307, 12704675, 16159847, 10542153, 8591455, 12939700, 16144312, 15779217, 16522887],
    ...[12728820, 10707215, 15136730, 12136872, 11343599, 12989576, 11071233, 8479706, 14459174],
    ...[12823691, 10763951, 15282228],
  ];

  it.skipIf(noGpu)('equals binary32 arithmetic around one degree, at all lengths', async () => {
    const random = seeded(SEED);
    // Random gradients, and gradients about one degree apart, where rounding to binary32 may decide.
    const cases = Array.from({ length: tier(20_000, 120_000) }, (_, i): Products => {
      const most = 2 ** random.int(1, 30);
      const [oh, ov] = [random.int(-most, most), random.int(-most, most)];
      if (i % 8 === 0) return productsOf(oh, ov, random.int(-most, most), random.int(-most, most));
      const off = random.pick([1e-2, 1e-4, 1e-5, 2e-6, 5e-7]) * (2 * random.next() - 1);
      const turn = random.pick([1, -1]) * ((Math.PI / 180) * (1 + off));
      const scale = 0.03 + random.next() * 1.2;
      const [cos, sin] = [Math.cos(turn) * scale, Math.sin(turn) * scale];
      return productsOf(oh, ov, Math.round(oh * cos - ov * sin), Math.round(oh * sin + ov * cos));
    });
    const share = await check(cases);
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.75);
  });

  function productsOf(...coefficients: readonly [oh: number, ov: number, th: number, tv: number]): Products {
    const [a, b, c, d] = coefficients.map(BigInt) as [bigint, bigint, bigint, bigint];
    return [a * c + b * d, a * a + b * b, c * c + d * d];
  }

  it.skipIf(noGpu)('rounds the right side to 53 bits before comparing', async () => {
    const random = seeded(SEED + 1);
    const close = ROUNDED.flatMap((dp, i): Products[] => {
      const [om = 0, tm = 0] = ROUNDED.slice(i + 1);
      return i % 3 === 0 ? [[BigInt(dp), BigInt(om), BigInt(tm)]] : [];
    });
    expect((await check(close)) * close.length).toBe(12);
    // Equal sides, and their neighbours.
    const c = 0xffec0an;
    const power = (most: number) => BigInt(random.int(0, most));
    const around = Array.from({ length: 2000 }, (): Products => {
      const [i, j, k] = [power(12), power(15), power(8)];
      const [near, far] = [BigInt(random.int(-1, 1)), BigInt(random.int(-1, 1))];
      return [((c + near) << i) << j, ((c + far) << (2n * i)) << k, 1n << (2n * j + 24n - k)];
    });
    const share = await check(around);
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.95);
  });

  it.skipIf(noGpu)('finds gradients of length 0 similar, and opposite ones never', async () => {
    const edges = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 62n, -(2n ** 62n)];
    const lengths = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 62n, 2n ** 63n - 1n];
    const cases = edges.flatMap((dp) =>
      lengths.flatMap((om) => lengths.map((tm): Products => [om && tm ? dp : 0n, om, tm])),
    );
    await check(cases);
  });
});

describe.skipIf(noGpu)('restored coefficients of ADM', () => {
  /** Integers, which shaders multiply, and fractions; 1 + 2^-52 and 64 - 2^-47 are the hardest. */
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
    /** Index of the limit. */
    readonly limit: number;
  }

  /** Bits of coefficients: 16 at scale 0. */
  type Bits = 16 | 32;

  /** The gain in 15 bits; 1 instead of a division by 0. */
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

  /** Coefficients within 2^bits: of any magnitude, near each other, or at limits of special cases. */
  function drawCase(random: SeededRandom, bits: number): Case {
    const most = 2 ** bits - 1;
    const within = (v: number) => Math.max(-most - 1, Math.min(most, Math.round(v)));
    const anywhere = () => random.pick([1, -1]) * random.int(0, 2 ** random.int(0, bits) - 1);
    const edges = [0, 1, -1, 16384, 16385, -16384, 32767, 32768, most];
    const o = random.int(0, 3) > 0 ? anywhere() : within(random.pick(edges));
    const near = () => o * random.pick([1, 0.5, 1.2, 33.3, 99.99999, 1 + 2 ** -20]) + random.int(-2, 2);
    const t = within(random.int(0, 2) > 0 ? near() : anywhere());
    return { o, t, similar: random.int(0, 1) === 1, limit: random.int(0, LIMITS.length - 1) };
  }

  /** The members of a parameter set that encode its limit. */
  function limitWords(gainLimit: number): number[] {
    const [scale] = admScales({ width: 64, height: 64 });
    if (!scale) throw new Error('there is no scale');
    const factors = [0, 1, 2, 3].map(() => [0, 0] as const);
    const set = { gainLimit, noiseWeight: 0, factors, fixed: factors, aim: true, scale0: true };
    return [...scaleUniform(scale, 8, [set], { segments: 1, results: 0 }).subarray(30, 34)];
  }

  it.each([
    ['scale 0', NARROW, 16, [15]],
    ['scales 1 to 3', WIDE_DECOUPLE, 32, [16, 20, 31]],
  ] as const)('equal the definition at %s', async (_, file, bits, lengths) => {
    const random = seeded(SEED + bits);
    const cases = Array.from({ length: tier(15_000, 60_000) }, () => drawCase(random, random.pick(lengths)));
    const code = [SCALE, WIDE, ANGLE, DECOUPLE, file, HARNESS].join('\n');
    const inputs = [
      Uint32Array.from(cases.flatMap(({ o, t, similar, limit }) => [o, t, Number(similar), limit])),
      Uint32Array.from(LIMITS.flatMap(limitWords)),
    ];
    const found = Int32Array.from(await runWgsl(device, code, inputs, cases.length, cases.length));
    expect(
      wrong(cases, found, (each) => restored(each, bits)),
      `seed ${SEED}`,
    ).toEqual([]);
  });
});

describe('the power 1/3 in single precision', () => {
  const bits = new Uint32Array(1);
  const float = new Float32Array(bits.buffer);

  it('equals the C library bit for bit over all exponents', () => {
    let hash = 0xcbf29ce484222325n;
    let values = 0;
    for (let u = 0x30000000; u < 0x60000000; u += 8191, values++) {
      bits[0] = u;
      float[0] = powerOfThird(float[0] ?? 0);
      for (let byte = 0; byte < 32; byte += 8)
        hash = BigInt.asUintN(64, (hash ^ BigInt(((bits[0] ?? 0) >>> byte) & 255)) * 0x100000001b3n);
    }
    expect(values).toBe(98317);
    expect(hash.toString(16)).toBe('7f9346bc518b3ab2');
  });

  it('equals it where rounding the exact power gives another value', () => {
    for (const [x, expected] of [
      [6.161642862601013e-10, 0.0008509396575391293],
      [8.521493510826872e-10, 0.0009480658336542547],
      [1.5023017496673674e-8, 0.0024674725718796253],
      [2.775002201360621e-7, 0.00652260472998023],
    ] as const) {
      expect(powerOfThird(x)).toBe(expected);
      expect(Math.fround(x ** Math.fround(1 / 3))).not.toBe(expected);
    }
  });

  it('handles 0, subnormal numbers, infinity, negative numbers and NaN', () => {
    expect(powerOfThird(0)).toBe(0);
    expect(powerOfThird(2 ** -149)).toBeCloseTo(2 ** (-149 / 3), 19);
    expect(powerOfThird(1)).toBe(1);
    expect(powerOfThird(Infinity)).toBe(Infinity);
    expect(powerOfThird(-1)).toBeNaN();
    expect(powerOfThird(Number.NaN)).toBeNaN();
  });
});

const CASES = tier(2048, 8192);
const random = seeded(SEED);

const low = (v: bigint, bits: number) => BigInt.asUintN(bits, v);
const signed = (v: bigint, bits: number) => BigInt.asIntN(bits, v);
const lengthOf = (v: bigint) => (v === 0n ? 0 : v.toString(2).length);
const flag = (v: boolean) => (v ? 1n : 0n);

/** A number below 2^bits: often near a power of two, sparse, or all ones, so that carries propagate far. */
function number(bits: number): bigint {
  let v = 0n;
  for (let i = 0; i < bits; i += 32) v = (v << 32n) | BigInt(random.int(0, 2 ** 32 - 1));
  const edge = 1n << BigInt(random.int(0, bits));
  const kind = random.int(0, 5);
  if (kind === 0) v = edge + BigInt(random.int(-2, 2));
  else if (kind === 1) v = edge - (1n << BigInt(random.int(0, bits)));
  else if (kind === 2) v >>= BigInt(random.int(0, bits));
  else if (kind === 3) v &= ~((1n << BigInt(random.int(0, bits))) - 1n);
  else if (kind === 4) v = BigInt(random.int(0, 3));
  return low(v, bits);
}

/** v / 2^n, ties to even. */
function nearestEven(v: bigint, n: number): bigint {
  if (n <= 0) return v << BigInt(-n);
  const whole = v >> BigInt(n);
  const rest = v - (whole << BigInt(n));
  const half = 1n << BigInt(n - 1);
  return whole + flag(rest > half || (rest === half && (whole & 1n) === 1n));
}

/** Mantissa of `bits` bits and exponent of v * 2^exponent, as in Float53 and Float24. */
function normal(v: bigint, exponent: number, bits: number): [bigint, number] {
  if (v === 0n) return [0n, -65536];
  const shift = lengthOf(v) - bits;
  const mantissa = nearestEven(v, shift);
  const carried = lengthOf(mantissa) > bits ? 1 : 0;
  return [mantissa >> BigInt(carried), exponent + shift + carried];
}

/** The words of a Float53 or Float24: mantissa, exponent. */
const parts = ([mantissa, exponent]: [bigint, number], bits: number): bigint =>
  mantissa | (low(BigInt(exponent), 32) << BigInt(bits));

/** Mantissa (53 bits) and exponent of a positive normal double. */
function decompose(v: number): [bigint, number] {
  const bits = new BigUint64Array(Float64Array.of(v).buffer)[0] ?? 0n;
  return [(bits & (2n ** 52n - 1n)) | (1n << 52n), Number(bits >> 52n) - 1075];
}

/** A mantissa of 53 bits, often a short one, so that products and quotients are exact or ties. */
const mantissa53 = () => normal(number(random.pick([8, 27, 31, 53])) || 1n, 0, 53)[0];

/** A function of two vec4u, `a` and `b`. */
interface Case {
  readonly name: string;
  /** An expression of type vec4u. */
  readonly code: string;
  readonly a: () => bigint;
  readonly b: () => bigint;
  readonly expected: (a: bigint, b: bigint) => bigint;
}

const of =
  (result: (call: string) => string) =>
  (
    name: string,
    args: string,
    [a, b = () => 0n]: readonly [() => bigint, (() => bigint)?],
    expected: Case['expected'],
  ): Case => ({ name, code: result(`${name}(${args})`), a, b, expected });

const boolean = of((call) => `vec4u(u32(${call}), 0u, 0u, 0u)`);
const u32 = boolean;
const u64 = of((call) => `vec4u(${call}, 0u, 0u)`);
const u96 = of((call) => `vec4u(${call}, 0u)`);
const u128 = of((call) => call);
const float53 = of((call) => `words_53(${call})`);
const float24 = of((call) => `words_24(${call})`);

const word = () => number(32);
const long = () => number(64);
const longer = () => number(128);
const shift = () => BigInt(random.int(0, 63));
const exponent = (from: number, to: number) => () => low(BigInt(random.int(from, to)), 32);
const exponentOf = (b: bigint) => Number(signed(b, 32));
const rounding = (b: bigint) => (1n << b) >> 1n;

const FUNCTIONS: readonly Case[] = [
  u64('mul_32', 'a.x, b.x', [word, word], (a, b) => a * b),
  u64('mul_32_signed', 'i32(a.x), i32(b.x)', [word, word], (a, b) => low(signed(a, 32) * signed(b, 32), 64)),
  u64('add_64', 'a.xy, b.xy', [long, long], (a, b) => low(a + b, 64)),
  u64('sub_64', 'a.xy, b.xy', [long, long], (a, b) => low(a - b, 64)),
  u64('negate_64', 'a.xy', [long], (a) => low(-a, 64)),
  u64('abs_64', 'a.xy', [long], (a) => (signed(a, 64) < 0n ? low(-a, 64) : a)),
  u64('extend_64', 'i32(a.x)', [word], (a) => low(signed(a, 32), 64)),
  boolean('negative_64', 'a.xy', [long], (a) => flag(signed(a, 64) < 0n)),
  boolean('less_64', 'a.xy, b.xy', [long, long], (a, b) => flag(a < b)),
  boolean('less_64_signed', 'a.xy, b.xy', [long, long], (a, b) => flag(signed(a, 64) < signed(b, 64))),
  u64('shl_64', 'a.xy, b.x', [long, shift], (a, b) => low(a << b, 64)),
  u64('shr_64', 'a.xy, b.x', [long, shift], (a, b) => a >> b),
  u64('shr_64_signed', 'a.xy, b.x', [long, shift], (a, b) => low(signed(a, 64) >> b, 64)),
  u64('round_shr_64', 'a.xy, b.x', [long, shift], (a, b) => low(a + rounding(b), 64) >> b),
  u64('round_shr_64_signed', 'a.xy, b.x', [long, shift], (a, b) => low(signed(a + rounding(b), 64) >> b, 64)),
  u64('round_shr_even_64', 'a.xy, b.x', [long, shift], (a, b) => nearestEven(a, Number(b))),
  u96('mul_64_32', 'a.xy, b.x', [long, word], (a, b) => a * b),
  u128('mul_64', 'a.xy, b.xy', [long, long], (a, b) => a * b),
  u64('mul_64_low', 'a.xy, b.xy', [long, long], (a, b) => low(a * b, 64)),
  u32('bits_32', 'a.x', [word], (a) => BigInt(lengthOf(a))),
  u32('bits_64', 'a.xy', [long], (a) => BigInt(lengthOf(a))),
  u32('bits_128', 'a', [longer], (a) => BigInt(lengthOf(a))),
  u128('sub_128', 'a, b', [longer, longer], (a, b) => low(a - b, 128)),
  u128('shl_128', 'a, b.x', [longer, () => BigInt(random.int(0, 127))], (a, b) => low(a << b, 128)),
  float53(
    'round_53',
    'a, i32(b.x)',
    [() => number(random.pick([53, 54, 64, 96, 128])), exponent(-900, 900)],
    (a, b) => parts(normal(a, exponentOf(b), 53), 64),
  ),
  float24(
    'round_24',
    'a.xy, i32(b.x)',
    [() => number(random.pick([24, 25, 32, 64])), exponent(-900, 900)],
    (a, b) => parts(normal(a, exponentOf(b), 24), 32),
  ),
  boolean(
    'less_53',
    'round_53(a, 0), round_53(b, 0)',
    [() => number(random.pick([2, 60, 128])), () => number(random.pick([2, 60, 128]))],
    (a, b) => flag(Number(a) < Number(b)),
  ),
  u64('trunc_53', 'Float53(a.xy, i32(b.x))', [mantissa53, exponent(-130, 11)], (a, b) =>
    BigInt(Math.trunc(Number(a) * 2 ** exponentOf(b))),
  ),
  float53('mul_53', 'Float53(a.xy, 3), Float53(b.xy, -7)', [mantissa53, mantissa53], (a, b) =>
    parts(decompose(Number(a) * 8 * (Number(b) / 128)), 64),
  ),
  float53('div_53', 'Float53(a.xy, 3), Float53(b.xy, -7)', [mantissa53, mantissa53], (a, b) =>
    parts(decompose((Number(a) * 8) / (Number(b) / 128)), 64),
  ),
];

const HARNESS = `
@group(0) @binding(0) var<storage, read> a: array<vec4u>;
@group(0) @binding(1) var<storage, read> b: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> results: array<vec4u>;
fn words_53(v: Float53) -> vec4u { return vec4u(v.mantissa, u32(v.exponent), 0u); }
fn words_24(v: Float24) -> vec4u { return vec4u(v.mantissa, u32(v.exponent), 0u, 0u); }
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&results)) { results[id.x] = run(a[id.x], b[id.x]); }
}`;

/** Four words per number. */
const wordsOf = (values: readonly bigint[]): Uint32Array =>
  Uint32Array.from(
    values.flatMap((v) => [0n, 32n, 64n, 96n].map((shift) => Number((v >> shift) & 0xffffffffn))),
  );

function numberAt(words: Uint32Array, i: number): bigint {
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = words.subarray(4 * i, 4 * i + 4);
  return BigInt(w0) | (BigInt(w1) << 32n) | (BigInt(w2) << 64n) | (BigInt(w3) << 96n);
}

describe.skipIf(noGpu)('wide integers in shaders', () => {
  /** Runs a function on its cases and compares with BigInt. */
  async function check({ name, code, expected }: Case, a: readonly bigint[], b: readonly bigint[]) {
    const shader = `${WIDE}${HARNESS}\nfn run(a: vec4u, b: vec4u) -> vec4u { return ${code}; }`;
    const results = await runWgsl(device, shader, [wordsOf(a), wordsOf(b)], 4 * a.length, a.length);
    a.forEach((left, i) => {
      const right = b[i] ?? 0n;
      const about = `${name}(${left}, ${right}), seed ${random.seed}`;
      // Compare here, as expect on BigInts would take most of the test's time.
      if (numberAt(results, i) !== expected(left, right)) {
        expect(`${about} = ${numberAt(results, i)}`).toBe(`${about} = ${expected(left, right)}`);
      }
    });
  }

  it.each(FUNCTIONS)('$name equals BigInt', async (each) => {
    await check(each, Array.from({ length: CASES }, each.a), Array.from({ length: CASES }, each.b));
  });

  it('div_64_32 gives quotient and remainder for quotients below 2^32', async () => {
    const divisors = Array.from({ length: CASES }, () => number(31) || 1n);
    const dividends = divisors.map((divisor) => {
      const rest = random.pick([0n, divisor - 1n, number(31) % divisor]);
      return word() * divisor + rest;
    });
    const division = u64('div_64_32', 'a.xy, b.x', [long], (a, b) => a / b + ((a % b) << 32n));
    await check(division, dividends, divisors);
  });

  it('the table of cases covers every function of the file', () => {
    const names = [...WIDE.matchAll(/^fn (\w+)/gm)].map(([, name]) => name);
    const checked = [...FUNCTIONS.map(({ name }) => name), 'div_64_32', 'estimate_64'];
    expect([...names].sort()).toEqual([...checked].sort());
  });
});
