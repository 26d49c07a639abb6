/**
 * @module test/gpu/wide
 * Each function of wide.wgsl by itself against BigInt, and its doubles against JavaScript's, on random numbers, edges,
 * carries and ties.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WIDE from '../../src/engine/backends/webgpu/wide.wgsl';
import { noGpu, softwareDevice } from '../support/gpu.js';
import { seeded } from '../support/random.js';
import { runWgsl } from '../support/run-wgsl.js';

const CASES = 8192;
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
const whole = (mantissa: bigint): number => Number(mantissa);

interface Case {
  readonly name: string;
  /** What the shader writes, a vec4u, of the vec4u a and b. */
  readonly code: string;
  readonly a: () => bigint;
  readonly b?: () => bigint;
  readonly expected: (a: bigint, b: bigint) => bigint;
}

const word = () => number(32);
const long = () => number(64);
const count = (most: number) => () => BigInt(random.int(0, most));
const A = 'a.xy';
const pad2 = (expression: string) => `vec4u(${expression}, 0u, 0u)`;
const pad1 = (expression: string) => `vec4u(${expression}, 0u, 0u, 0u)`;
const floatWords = (expression: string) => `words_53(${expression})`;

const FUNCTIONS: readonly Case[] = [
  { name: 'mul_32', code: pad2('mul_32(a.x, b.x)'), a: word, b: word, expected: (a, b) => a * b },
  {
    name: 'mul_32_signed',
    code: pad2('mul_32_signed(i32(a.x), i32(b.x))'),
    a: word,
    b: word,
    expected: (a, b) => low(signed(a, 32) * signed(b, 32), 64),
  },
  { name: 'add_64', code: pad2(`add_64(${A}, b.xy)`), a: long, b: long, expected: (a, b) => low(a + b, 64) },
  { name: 'sub_64', code: pad2(`sub_64(${A}, b.xy)`), a: long, b: long, expected: (a, b) => low(a - b, 64) },
  { name: 'negate_64', code: pad2(`negate_64(${A})`), a: long, expected: (a) => low(-a, 64) },
  {
    name: 'abs_64',
    code: pad2(`abs_64(${A})`),
    a: long,
    expected: (a) => (signed(a, 64) < 0n ? low(-a, 64) : a),
  },
  { name: 'extend_64', code: pad2('extend_64(i32(a.x))'), a: word, expected: (a) => low(signed(a, 32), 64) },
  {
    name: 'negative_64',
    code: pad1(`u32(negative_64(${A}))`),
    a: long,
    expected: (a) => flag(signed(a, 64) < 0n),
  },
  {
    name: 'less_64',
    code: pad1(`u32(less_64(${A}, b.xy))`),
    a: long,
    b: long,
    expected: (a, b) => flag(a < b),
  },
  {
    name: 'less_64_signed',
    code: pad1(`u32(less_64_signed(${A}, b.xy))`),
    a: long,
    b: long,
    expected: (a, b) => flag(signed(a, 64) < signed(b, 64)),
  },
  {
    name: 'shl_64',
    code: pad2(`shl_64(${A}, b.x)`),
    a: long,
    b: count(63),
    expected: (a, b) => low(a << b, 64),
  },
  { name: 'shr_64', code: pad2(`shr_64(${A}, b.x)`), a: long, b: count(63), expected: (a, b) => a >> b },
  {
    name: 'shr_64_signed',
    code: pad2(`shr_64_signed(${A}, b.x)`),
    a: long,
    b: count(63),
    expected: (a, b) => low(signed(a, 64) >> b, 64),
  },
  {
    name: 'round_shr_64',
    code: pad2(`round_shr_64(${A}, b.x)`),
    a: long,
    b: count(63),
    expected: (a, b) => low(a + ((1n << b) >> 1n), 64) >> b,
  },
  {
    name: 'round_shr_64_signed',
    code: pad2(`round_shr_64_signed(${A}, b.x)`),
    a: long,
    b: count(63),
    expected: (a, b) => low(signed(a + ((1n << b) >> 1n), 64) >> b, 64),
  },
  {
    name: 'round_shr_even_64',
    code: pad2(`round_shr_even_64(${A}, b.x)`),
    a: long,
    b: count(63),
    expected: (a, b) => nearestEven(a, Number(b)),
  },
  {
    name: 'mul_64_32',
    code: `vec4u(mul_64_32(${A}, b.x), 0u)`,
    a: long,
    b: word,
    expected: (a, b) => a * b,
  },
  { name: 'mul_64', code: `mul_64(${A}, b.xy)`, a: long, b: long, expected: (a, b) => a * b },
  {
    name: 'mul_64_low',
    code: pad2(`mul_64_low(${A}, b.xy)`),
    a: long,
    b: long,
    expected: (a, b) => low(a * b, 64),
  },
  { name: 'bits_32', code: pad1('bits_32(a.x)'), a: word, expected: (a) => BigInt(lengthOf(a)) },
  { name: 'bits_64', code: pad1(`bits_64(${A})`), a: long, expected: (a) => BigInt(lengthOf(a)) },
  { name: 'bits_128', code: pad1('bits_128(a)'), a: () => number(128), expected: (a) => BigInt(lengthOf(a)) },
  {
    name: 'sub_128',
    code: 'sub_128(a, b)',
    a: () => number(128),
    b: () => number(128),
    expected: (a, b) => low(a - b, 128),
  },
  {
    name: 'shl_128',
    code: 'shl_128(a, b.x)',
    a: () => number(128),
    b: count(127),
    expected: (a, b) => low(a << b, 128),
  },
  {
    name: 'round_53',
    code: floatWords('round_53(a, i32(b.x))'),
    a: () => number(random.pick([53, 54, 64, 96, 128])),
    b: () => low(BigInt(random.int(-900, 900)), 32),
    expected: (a, b) => parts(normal(a, Number(signed(b, 32)), 53), 64),
  },
  {
    name: 'round_24',
    code: `words_24(round_24(${A}, i32(b.x)))`,
    a: () => number(random.pick([24, 25, 32, 64])),
    b: () => low(BigInt(random.int(-900, 900)), 32),
    expected: (a, b) => parts(normal(a, Number(signed(b, 32)), 24), 32),
  },
  {
    name: 'less_53',
    code: pad1('u32(less_53(round_53(a, 0), round_53(b, 0)))'),
    a: () => number(random.pick([2, 60, 128])),
    b: () => number(random.pick([2, 60, 128])),
    expected: (a, b) => flag(Number(a) < Number(b)),
  },
  {
    name: 'trunc_53',
    code: pad2(`trunc_53(Float53(${A}, i32(b.x)))`),
    a: mantissa53,
    b: () => low(BigInt(random.int(-130, 11)), 32),
    expected: (a, b) => BigInt(Math.trunc(whole(a) * 2 ** Number(signed(b, 32)))),
  },
  {
    name: 'mul_53',
    code: floatWords(`mul_53(Float53(${A}, 3), Float53(b.xy, -7))`),
    a: mantissa53,
    b: mantissa53,
    expected: (a, b) => parts(decompose(whole(a) * 8 * (whole(b) / 128)), 64),
  },
  {
    name: 'div_53',
    code: floatWords(`div_53(Float53(${A}, 3), Float53(b.xy, -7))`),
    a: mantissa53,
    b: mantissa53,
    expected: (a, b) => parts(decompose((whole(a) * 8) / (whole(b) / 128)), 64),
  },
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
    const a = Array.from({ length: CASES }, each.a);
    const b = Array.from({ length: CASES }, each.b ?? (() => 0n));
    await check(each, a, b);
  });

  it('div_64_32 gives quotient and remainder of quotients below 2^32', async () => {
    const pairs = Array.from({ length: CASES }, () => {
      const divisor = number(31) || 1n;
      const quotient = word();
      const rest = random.pick([0n, divisor - 1n, number(31) % divisor]);
      return [quotient * divisor + rest, divisor] as const;
    });
    const division: Case = {
      name: 'div_64_32',
      code: pad2('div_64_32(a.xy, b.x)'),
      a: long,
      expected: (a, b) => a / b + ((a % b) << 32n),
    };
    await check(
      division,
      pairs.map(([a]) => a),
      pairs.map(([, b]) => b),
    );
  });

  it('a table of cases covers every function of the file', () => {
    const names = [...WIDE.matchAll(/^fn (\w+)/gm)].map(([, name]) => name);
    const checked = [...FUNCTIONS.map(({ name }) => name), 'div_64_32', 'estimate_64'];
    expect([...names].sort()).toEqual([...checked].sort());
  });
});
