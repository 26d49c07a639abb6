/**
 * @module test/gpu/wide
 * Each function of wide.wgsl by itself against BigInt, and its doubles against JavaScript's, on random numbers, edges,
 * carries and ties.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WIDE from '../../src/engine/backends/webgpu/wide.wgsl';
import { noGpu, runWgsl, softwareDevice } from '../support/gpu.js';
import { seeded } from '../support/random.js';
import { tier } from '../support/tier.js';

const CASES = tier(2048, 8192);
const random = seeded(Number(process.env.ANYVMAF_SEED ?? 20261122));

const low = (v: bigint, bits: number) => BigInt.asUintN(bits, v);
const signed = (v: bigint, bits: number) => BigInt.asIntN(bits, v);
const lengthOf = (v: bigint) => (v === 0n ? 0 : v.toString(2).length);
const flag = (v: boolean) => (v ? 1n : 0n);

/** Anything below 2^bits: often near a power of two, sparse, or all ones, so that carries run far. */
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

/** A number of `bits` bits and its exponent, as Float53 and Float24 hold v / divisor * 2^exponent. */
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

/** The mantissa of 53 bits and the exponent of a double, which is positive and not subnormal. */
function decompose(v: number): [bigint, number] {
  const bits = new BigUint64Array(Float64Array.of(v).buffer)[0] ?? 0n;
  return [(bits & (2n ** 52n - 1n)) | (1n << 52n), Number(bits >> 52n) - 1075];
}

/** A mantissa of 53 bits, by preference a short one: such products and quotients are exact or ties. */
const mantissa53 = () => normal(number(random.pick([8, 27, 31, 53])) || 1n, 0, 53)[0];

/** A function with what it is given: a vec4u `a` and `b`. */
interface Case {
  readonly name: string;
  /** Gives a vec4u. */
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

/** Four words a number. */
const wordsOf = (values: readonly bigint[]): Uint32Array =>
  Uint32Array.from(
    values.flatMap((v) => [0n, 32n, 64n, 96n].map((shift) => Number((v >> shift) & 0xffffffffn))),
  );

function numberAt(words: Uint32Array, i: number): bigint {
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = words.subarray(4 * i, 4 * i + 4);
  return BigInt(w0) | (BigInt(w1) << 32n) | (BigInt(w2) << 64n) | (BigInt(w3) << 96n);
}

describe.skipIf(noGpu)('wide integers in shaders', () => {
  let device: GPUDevice;
  beforeAll(async () => {
    device = await softwareDevice();
  });
  afterAll(() => device.destroy());

  /** Runs a function on its cases and expects what BigInt gives. */
  async function check({ name, code, expected }: Case, a: readonly bigint[], b: readonly bigint[]) {
    const shader = `${WIDE}${HARNESS}\nfn run(a: vec4u, b: vec4u) -> vec4u { return ${code}; }`;
    const results = await runWgsl(device, shader, [wordsOf(a), wordsOf(b)], 4 * a.length, a.length);
    a.forEach((left, i) => {
      const right = b[i] ?? 0n;
      const about = `${name}(${left}, ${right}), seed ${random.seed}`;
      // A string a failure: BigInt comparisons by expect would cost most of the test's time.
      if (numberAt(results, i) !== expected(left, right)) {
        expect(`${about} = ${numberAt(results, i)}`).toBe(`${about} = ${expected(left, right)}`);
      }
    });
  }

  it.each(FUNCTIONS)('$name equals BigInt', async (each) => {
    await check(each, Array.from({ length: CASES }, each.a), Array.from({ length: CASES }, each.b));
  });

  it('div_64_32 gives quotient and remainder of quotients below 2^32', async () => {
    const divisors = Array.from({ length: CASES }, () => number(31) || 1n);
    const dividends = divisors.map((divisor) => {
      const rest = random.pick([0n, divisor - 1n, number(31) % divisor]);
      return word() * divisor + rest;
    });
    const division = u64('div_64_32', 'a.xy, b.x', [long], (a, b) => a / b + ((a % b) << 32n));
    await check(division, dividends, divisors);
  });

  it('a table of cases covers every function of the file', () => {
    const names = [...WIDE.matchAll(/^fn (\w+)/gm)].map(([, name]) => name);
    const checked = [...FUNCTIONS.map(({ name }) => name), 'div_64_32', 'estimate_64'];
    expect([...names].sort()).toEqual([...checked].sort());
  });
});
