/**
 * @module test/unit/wasm/power
 * Powers as the C library of libvmaf's machines gives them: results of glibc 2.36 on x86-64 with fused multiply-add.
 */
import { describe, expect, it } from 'vitest';
import { native } from '../../support/wasm.js';

const power = (base: number, exponent: number) => Number(native('power_fused')(base, exponent));

describe('power_fused', () => {
  it.each([
    [0.44250378012657166, 0.04479999840259552, 0.96413329637827572],
    [0.65367990732192993, 0.28560000658035278, 0.88566255114383663],
    [0.4900219738483429, 0.04479999840259552, 0.96854913450080826],
    [0.55424481630325317, 0.23630000650882721, 0.86983463396508365],
    [0.90363544225692749, 0.28560000658035278, 0.97147510027047701],
    [0.29974773526191711, 0.28560000658035278, 0.70886165537337098],
    [0.94171828031539917, 0.23630000650882721, 0.98591059180361429],
    [0.94016015529632568, 0.30009999871253967, 0.98165271636282314],
  ])('%d to the power of %d, whose last bit needs fused steps', (base, exponent, expected) => {
    expect(power(base, exponent)).toBe(expected);
  });

  it.each([
    [0.52483958005905151, 0.04479999840259552, 0.9715321820533932],
    [0.78859949111938477, 0.30009999871253967, 0.93120786102796338],
    [0.51823300123214722, 0.13330000638961792, 0.91610697426661658],
    [0.99772369861602783, 0.30009999871253967, 0.99931633708849676],
    [1, 0.3, 1],
    [4, 0.5, 2],
    [2 ** -1000, 0.5, 2 ** -500],
    [2 ** 1000, -0.25, 2 ** -250],
  ])('%d to the power of %d', (base, exponent, expected) => {
    expect(power(base, exponent)).toBe(expected);
  });

  it.each([
    [0, 0.25, 0],
    [-0.5, 0.25, Number.NaN],
    [Number.NaN, 0.25, Number.NaN],
    [Number.POSITIVE_INFINITY, 0.25, Number.POSITIVE_INFINITY],
    [2 ** -1074, 0.5, 2 ** -537],
    [1e300, 2, Number.POSITIVE_INFINITY],
    [1e-300, 2, 0],
  ])('%d to the power of %d, beyond the ordinary', (base, exponent, expected) => {
    expect(power(base, exponent)).toBe(expected);
  });
});
