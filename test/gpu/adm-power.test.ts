import { describe, expect, it } from 'vitest';
import { powerOfThird } from '../../src/engine/backends/webgpu/adm-power.js';

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);
const ofBits = (word: number) => {
  bits[0] = word;
  return float[0] ?? 0;
};
const toBits = (value: number) => {
  float[0] = value;
  return bits[0] ?? 0;
};

describe('the power 1/3 in single precision', () => {
  it('has the bits of the C library over all exponents (integer-features.md 0.2)', () => {
    let hash = 0xcbf29ce484222325n;
    let values = 0;
    for (let u = 0x30000000; u < 0x60000000; u += 8191, values++) {
      const word = toBits(powerOfThird(ofBits(u)));
      for (let byte = 0; byte < 32; byte += 8) {
        hash = BigInt.asUintN(64, (hash ^ BigInt((word >>> byte) & 255)) * 0x100000001b3n);
      }
    }
    expect(values).toBe(98317);
    expect(hash.toString(16)).toBe('7f9346bc518b3ab2');
  });

  it('has them where rounding the true power once gives another value', () => {
    for (const [x, expected] of [
      [6.161642862601013e-10, 0.0008509396575391293],
      [8.521493510826872e-10, 0.0009480658336542547],
      [1.5023017496673674e-8, 0.0024674725718796253],
      [2.775002201360621e-7, 0.00652260472998023],
    ] as const) {
      expect(powerOfThird(x)).toBe(expected);
      expect(Math.fround(x ** Math.fround(1 / 3))).not.toBe(expected);
    }
  });

  it('takes 0, what lies below the normal numbers, and what has no power', () => {
    expect(powerOfThird(0)).toBe(0);
    expect(powerOfThird(2 ** -149)).toBeCloseTo(2 ** (-149 / 3), 19);
    expect(powerOfThird(1)).toBe(1);
    expect(powerOfThird(Infinity)).toBe(Infinity);
    expect(powerOfThird(-1)).toBeNaN();
    expect(powerOfThird(Number.NaN)).toBeNaN();
  });
});
