/**
 * @module test/unit/core/rational
 * Fractions that containers write: their values, and what says nothing.
 */
import { describe, expect, it } from 'vitest';
import { areEqual, fractionText, quotientOf } from '../../../src/core/rational.js';

describe('fractions of containers', () => {
  it.each([
    [30000, 1001, 30000 / 1001],
    [0, 1, undefined],
    [25, 0, undefined],
    [0, 0, undefined],
    [-25, 1, undefined],
  ])('%i/%i has a value where it says something', (num, den, value) => {
    expect(quotientOf({ num, den })).toBe(value);
  });

  it('are equal by value, and whole where they can be', () => {
    expect(areEqual({ num: 50, den: 2 }, { num: 25, den: 1 })).toBe(true);
    expect(areEqual({ num: 24000, den: 1001 }, { num: 24, den: 1 })).toBe(false);
    expect(
      [
        { num: 50, den: 2 },
        { num: 24000, den: 1001 },
      ].map(fractionText),
    ).toEqual(['25', '24000/1001']);
    expect(quotientOf(undefined)).toBeUndefined();
  });
});
