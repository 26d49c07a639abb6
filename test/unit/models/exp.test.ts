/**
 * @module test/unit/models/exp
 * exp against values that glibc 2.36 printed with 17 digits (on a processor with fused multiply-add), and a fingerprint
 * of 20000 of its results.
 */
import { describe, expect, it } from 'vitest';
import { exp } from '../../../src/models/exp.js';
import { fnv1aOfDoubles } from '../../support/fnv.js';

describe('exp', () => {
  it.each([
    [0, 1],
    [-0.04, 0.96078943915232318],
    [-0.1, 0.90483741803595952],
    [-0.2345678, 0.79091260819865206],
    [-0.5, 0.60653065971263342],
    [-1, 0.36787944117144233],
    [-1.5, 0.22313016014842982],
    [-2.75, 0.06392786120670757],
    [-10 / 3, 0.035673993347252395],
    [-10, 4.5399929762484854e-5],
    [-100.25, 2.8971980832101479e-44],
    [-699.5, 1.6255858439919858e-304],
    [0.3, 1.3498588075760032],
    [1, Math.E],
    [20.125, 549764190.66046834],
    [690, 4.6046064047829897e299],
    [-1e-10, 0.99999999989999999],
    [-1e-300, 1],
  ])('of %d', (x, expected) => {
    expect(exp(x)).toBe(expected);
  });

  it('of 0, -0.000731, ... 20000 values', () => {
    const results = Float64Array.from({ length: 20000 }, (_, i) => exp(-i * 0.000731));
    expect(fnv1aOfDoubles(results)).toBe('cacb36a495c14378');
  });

  it('beyond the range of doubles', () => {
    expect(exp(-1e4)).toBe(0);
    expect(exp(1e4)).toBe(Number.POSITIVE_INFINITY);
    expect(exp(Number.NaN)).toBeNaN();
  });
});
