/**
 * @module test/unit/core/log10
 * log10 against values that glibc 2.36 printed with 17 digits, and a fingerprint of 20000 of its results.
 */
import { describe, expect, it } from 'vitest';
import { log10 } from '../../../src/core/log10.js';
import { fnv1aOfDoubles } from '../../support/fnv.js';

describe('log10', () => {
  it.each([
    [2, 0.3010299956639812],
    [3, 0.47712125471966244],
    [10, 1],
    [0.5, -0.3010299956639812],
    [0.7, -0.15490195998574319],
    [1e-16, -16],
    [65025, 4.81308036086791],
    [65025 / 7.25, 3.9527423542969164],
    [1046529 / 33.3333, 4.4968729564386818],
    // Next to 1, where a polynomial of its own is used, and at the ends of the table.
    [1.05, 0.021189299069938092],
    [0.97, -0.01322826573375516],
    [1.0000000000000002, 9.6432746655328696e-17],
    [1.375, 0.13830269816628143],
    [0.6875, -0.16272729749769974],
    [65535 * 65535, 9.6329466075304993],
    [1e300, 300],
    [3e-310, -309.52287874528037],
  ])('of %d', (x, expected) => {
    expect(log10(x)).toBe(expected);
  });

  it('of 0.731, 1.462, ... 20000 values', () => {
    const results = Float64Array.from({ length: 20000 }, (_, i) => log10((i + 1) * 0.731));
    expect(fnv1aOfDoubles(results)).toBe('efbec87946b4cce7');
  });

  it('of what has no logarithm', () => {
    expect(log10(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(log10(-1)).toBeNaN();
    expect(log10(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    expect(log10(Number.NaN)).toBeNaN();
  });
});
