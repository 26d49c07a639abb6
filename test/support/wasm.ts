/**
 * @module test/support/wasm
 * Calls single functions of the core's table, portable C and SIMD128, and compares the results; contracts are in
 * wasm/src/dsp.h.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { wasm } from './metric.js';
import { type SeededRandom, seeded } from './random.js';
import { exhaustive, tier } from './tier.js';

/** Seed of all random input; ANYVMAF_SEED sets another. */
export const SEED = Number(process.env.ANYVMAF_SEED ?? 20261121);
const upTo = (most: number): number[] => Array.from({ length: most }, (_, i) => i + 1);
/** Widths with every remainder of every vector length, and some longer than a strip. */
export const WIDTHS: readonly number[] = tier(
  [...upTo(34), 47, 48, 49, 63, 64, 65, 131, 257, 511],
  [...upTo(70), 131, 255, 256, 257, 511, 640, 1021],
);
/** A test over the widths from `from` on, with its own random numbers. */
export function overWidths(
  title: string,
  { seed, from }: { readonly seed: number; readonly from: number },
  run: (random: SeededRandom, width: number) => void,
): void {
  it(title, () => {
    const random = seeded(SEED + seed);
    for (const width of WIDTHS) if (width >= from) run(random, width);
  });
}
export const DEPTHS = [8, 9, 10, 12, 14, 15, 16] as const;

/** The whole list in an exhaustive run, otherwise a third of it that depends on `turn`. */
export function some<T>(list: readonly T[], turn: number): readonly T[] {
  return exhaustive ? list : list.filter((_, i) => (i + turn) % 3 === 0);
}

/** The functions of AnyvmafDsp in order. */
const FUNCTIONS = readTable(new URL('../../wasm/src/dsp.h', import.meta.url));

function readTable(header: URL): readonly string[] {
  const text = readFileSync(header, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const [, body = ''] = /typedef struct AnyvmafDsp \{([\s\S]*?)\} AnyvmafDsp;/.exec(text) ?? [];
  return [...body.matchAll(/\(\*(\w+)\)\(/g)].map(([, name = '']) => name);
}

export type Callable = (...args: number[]) => unknown;

const env = { emscripten_notify_memory_growth: () => {} };
const { exports } = new WebAssembly.Instance(wasm, { env });

function callable(value: unknown, name: string): Callable {
  if (typeof value !== 'function') throw new Error(`the module exports no function ${name}`);
  return (...args) => value(...args);
}
/** An exported function of the module. */
export const native = (name: string): Callable => callable(exports[name], name);

function memoryAndTable(): { memory: WebAssembly.Memory; table: WebAssembly.Table } {
  const { memory: exported, __indirect_function_table: table } = exports;
  if (!(exported instanceof WebAssembly.Memory) || !(table instanceof WebAssembly.Table)) {
    throw new Error('the module exports no memory or no table');
  }
  return { memory: exported, table };
}
const { memory, table } = memoryAndTable();

export { memory };

native('_initialize')();

/** A bump allocator over one block, reset for every case. Gaps between blocks absorb overruns of vectors. */
const ARENA_BYTES = 48 << 20;
const arena = Number(native('anyvmaf_alloc')(ARENA_BYTES));
let used = 0;
export function take(bytes: number): number {
  const at = arena + used;
  used += (bytes + 15 + 256) & ~15;
  if (used > ARENA_BYTES) throw new Error('the test arena is too small');
  return at;
}
type Samples = Uint8Array | Uint16Array | Int16Array | Int32Array | Float32Array;

/** Copies samples into the module. */
export function put(samples: Samples, front = 0): number {
  const at = take(samples.byteLength + 2 * front) + front;
  new Uint8Array(memory.buffer, at, samples.byteLength).set(
    new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength),
  );
  return at;
}
/** Copies addresses or other words into the module. */
export const pointers = (list: readonly number[]): number => put(Int32Array.from(list));
/** The values at an address as 32-bit integers: also the bits of floats. */
export const words = (at: number, n: number): Int32Array => new Int32Array(memory.buffer, at, n).slice();
/** The same as 16-bit integers. */
export const halves = (at: number, n: number): Int16Array => new Int16Array(memory.buffer, at, n).slice();
/** The same as 64-bit integers: also the bits of doubles. */
export const longs = (at: number, n: number): BigInt64Array =>
  new BigInt64Array(memory.buffer, at, n).slice();

const columns = [0, 1].map((implementation) => {
  const at = Number(native('anyvmaf_dsp')(implementation));
  const entries = new Uint32Array(memory.buffer, at, FUNCTIONS.length);
  return new Map(FUNCTIONS.map((name, i) => [name, callable(table.get(entries[i] ?? 0), name)]));
});

/** Runs both twins of a function and expects what `run` reads to be equal. */
export function compare(name: string, about: string, run: (twin: Callable) => unknown): void {
  const start = used;
  const [portable, simd] = columns.map((column) => {
    used = start;
    const twin = column.get(name);
    if (!twin) throw new Error(`no ${name} in the table`);
    return run(twin);
  });
  used = 0;
  // expect alone would take most of the time.
  if (!same(simd, portable)) expect(simd, `${name} ${about}, seed ${SEED}`).toEqual(portable);
}

const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);

function same(a: unknown, b: unknown): boolean {
  if (!isList(a) || !isList(b)) return Object.is(a, b);
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!same(a[i], b[i])) return false;
  return true;
}
