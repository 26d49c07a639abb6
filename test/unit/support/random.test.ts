/** The generator that every randomised test relies on. */
import { expect, it } from 'vitest';
import { seeded } from '../../support/random.js';

it('is Mulberry32', () => {
  // The algorithm once more, in exact integers.
  const output = (state: bigint): number => {
    const mask = 0xffffffffn;
    let t = ((state ^ (state >> 15n)) * (state | 1n)) & mask;
    t ^= (t + (((t ^ (t >> 7n)) * (t | 61n)) & mask)) & mask;
    return Number(t ^ (t >> 14n)) / 2 ** 32;
  };
  const random = seeded(1);
  for (let i = 1n; i <= 100n; i++) expect(random.next()).toBe(output((1n + i * 0x6d2b79f5n) & 0xffffffffn));
  expect(seeded(1).next()).toBe(0.6270739405881613);
});

it('gives the same sequence for the same seed and stays in range', () => {
  const [a, b] = [seeded(7), seeded(7)];
  for (let i = 0; i < 1000; i++) {
    const value = a.int(-3, 3);
    expect(value).toBe(b.int(-3, 3));
    expect([-3, -2, -1, 0, 1, 2, 3]).toContain(value);
  }
  expect(a.bytes(50)).toEqual(b.bytes(50));
  expect(new Set(Array.from({ length: 100 }, () => a.pick([1, 2, 3])))).toEqual(new Set([1, 2, 3]));
});
