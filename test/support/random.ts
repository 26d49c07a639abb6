/**
 * @module test/support/random
 * The seeded generator of every randomised test: Mulberry32 (Tommy Ettinger, public domain), a 32-bit counter through a mixing
 * function. Not for cryptography.
 */

export interface SeededRandom {
  /** Print it when a test fails. */
  readonly seed: number;
  /** A double in [0, 1), a multiple of 2^-32. */
  next(): number;
  /** An integer in [lo, hi], both included. */
  int(lo: number, hi: number): number;
  bytes(n: number): Uint8Array<ArrayBuffer>;
  /** One element of a non-empty array. */
  pick<T>(array: readonly T[]): T;
}

/** A generator; `seed` counts modulo 2^32. */
export function seeded(seed: number): SeededRandom {
  let state = seed >>> 0;
  const uint32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const next = (): number => uint32() / 2 ** 32;
  const int = (lo: number, hi: number): number => lo + Math.floor(next() * (hi - lo + 1));
  return {
    seed,
    next,
    int,
    bytes(n) {
      const out = new Uint8Array(n);
      for (let i = 0; i < n; i++) out[i] = uint32() >>> 24;
      return out;
    },
    pick<T>(array: readonly T[]): T {
      if (array.length === 0) throw new RangeError('pick: the array is empty');
      return array[int(0, array.length - 1)] as T;
    },
  };
}

/** A fingerprint of long sequences: FNV-1a 64 over the little-endian bytes of doubles, 16 hexadecimal digits. */
export function fnv1aOfDoubles(values: Float64Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
