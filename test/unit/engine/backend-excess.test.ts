/**
 * @module test/unit/engine/backend-excess
 * Samples above their range are met wherever a file with a wrong bit depth has them.
 */
import { describe, expect, it } from 'vitest';
import { canExceed, findExcess, readExcess } from '../../../src/engine/backends/excess.js';

/** A plane of samples, all of one value, as bytes. */
function plane(samples: number, value: number, set: Readonly<Record<number, number>> = {}): Uint8Array {
  const words = new Uint16Array(samples).fill(value);
  for (const [at, sample] of Object.entries(set)) words[Number(at)] = sample;
  return new Uint8Array(words.buffer);
}

const find = (planes: readonly Uint8Array[], bitDepth: number) => readExcess(findExcess(planes, bitDepth));

describe('samples above their range', () => {
  it.each([
    [8, false],
    [9, true],
    [10, true],
    [12, true],
    [15, true],
    [16, false],
  ])('can be there at %d bits: %s', (bitDepth, expected) => {
    expect(canExceed(bitDepth)).toBe(expected);
  });

  it.each([9, 10, 12, 14, 15])('the largest sample of %d bits is none', (bitDepth) => {
    expect(find([plane(1000, 2 ** bitDepth - 1)], bitDepth)).toBeUndefined();
    expect(find([plane(1000, 2 ** bitDepth)], bitDepth)).toEqual({ plane: 0, value: 2 ** bitDepth });
  });

  it('is met anywhere in a plane of up to 16384 samples, the last of an odd number included', () => {
    for (const samples of [1, 2, 577, 16383, 16384]) {
      for (const at of new Set([0, samples >> 1, samples - 1])) {
        expect(find([plane(samples, 5, { [at]: 1024 })], 10)).toEqual({ plane: 0, value: 1024 });
      }
    }
  });

  it('is met in a large plane that has it in a run of a sixteenth', () => {
    const samples = 1920 * 1080;
    const run = Math.ceil(samples / 16);
    for (let start = 0; start + run <= samples; start += 100_003) {
      const words = new Uint16Array(samples).fill(700);
      words.fill(40_000, start, start + run);
      expect(find([new Uint8Array(words.buffer)], 12)).toEqual({ plane: 0, value: 40_000 });
    }
  });

  it('gives the first plane that has one, and the largest of it', () => {
    const good = plane(100, 900);
    expect(find([good, plane(100, 3, { 7: 4095, 60: 65_535, 99: 1030 }), plane(100, 2000)], 10)).toEqual({
      plane: 1,
      value: 65_535,
    });
    expect(find([good, good, plane(50, 2000)], 10)).toEqual({ plane: 2, value: 2000 });
    expect(find([good, good, good], 10)).toBeUndefined();
  });
});
