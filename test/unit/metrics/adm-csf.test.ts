/**
 * @module test/unit/metrics/adm-csf
 * ADM's contrast sensitivity factors against the specification's tables.
 */
import { describe, expect, it } from 'vitest';
import { type AdmCsf, admCsf } from '../../../src/metrics/adm-csf.js';

function factors(normViewDist: number, refDisplayHeight: number, csfMode: number, scales = [1, 1]): AdmCsf {
  const [csfScale = 1, csfDiagScale = 1] = scales;
  return admCsf({ normViewDist, refDisplayHeight, csfMode, csfScale, csfDiagScale });
}

/** The value of a C hexadecimal float without fraction of its exponent, `0x1.8p-3`. */
function hex(text: string): number {
  const [, digits = '', exponent = '0'] = /^0x1(?:\.([0-9a-f]+))?p([+-]?\d+)$/.exec(text) ?? [];
  return (1 + Number(`0x${digits || 0}`) / 16 ** digits.length) * 2 ** Number(exponent);
}

type Table = readonly (readonly [hv: string, d: string, fixedHv: number, fixedD: number])[];

const AT_3_X_1080: Table = [
  ['0x1.1cc774p-6', '0x1.820d54p-8', 36453, 49417],
  ['0x1.06050cp-5', '0x1.d48d46p-7', 137373792, 61414028],
  ['0x1.634f1p-5', '0x1.8fb80cp-6', 186284160, 104783920],
  ['0x1.762816p-5', '0x1.008392p-5', 196165808, 134487184],
];

const WATSON: readonly (readonly [distance: number, height: number, table: Table])[] = [
  [3, 1080, AT_3_X_1080],
  [1.5, 2160, AT_3_X_1080],
  [
    3,
    2160,
    [
      ['0x1.392e4ep-8', '0x1.6408d8p-10', 10021, 11393],
      ['0x1.5e020ep-7', '0x1.0670cp-8', 45876252, 17199296],
      ['0x1.20415cp-6', '0x1.0ff286p-7', 75564400, 35644684],
      ['0x1.70b4fap-6', '0x1.a7f684p-7', 96654312, 55569672],
    ],
  ],
  [
    5,
    1080,
    [
      ['0x1.c0364ep-8', '0x1.0ad7fep-9', 14342, 17077],
      ['0x1.dbf058p-7', '0x1.75c678p-8', 62382256, 24495736],
      ['0x1.746c1p-6', '0x1.700066p-7', 97628224, 48234700],
      ['0x1.c49c48p-6', '0x1.108d0ep-6', 118649120, 71447608],
    ],
  ],
  [
    5,
    2160,
    [
      ['0x1.ab1988p-10', '0x1.aa7914p-12', 3416, 3411],
      ['0x1.137012p-8', '0x1.6acdc6p-10', 18051090, 5944177],
      ['0x1.05cc02p-7', '0x1.b1e0ccp-9', 34314244, 14217318],
      ['0x1.82772ep-7', '0x1.865264p-8', 50654812, 25580132],
    ],
  ],
];

describe('admCsf', () => {
  it.each(WATSON)('mode 0 at %d x %d', (distance, height, table) => {
    const { rf, fi } = factors(distance, height, 0);
    expect(rf).toEqual(table.map(([hv, d]) => [hex(hv), hex(d)]));
    expect(fi).toEqual(table.map(([, , hv, d]) => [hv, d]));
  });

  it('mode 2 at 3 x 1080', () => {
    const { rf, fi } = factors(3, 1080, 2);
    expect(fi).toEqual([
      [24809, 36087],
      [107485848, 50586124],
      [184468848, 102727024],
      [251775280, 154193616],
    ]);
    expect(rf[3]).toEqual([Math.fround(0.058621), Math.fround(0.035901)]);
    expect(factors(1.5, 2160, 2)).toEqual(factors(3, 1080, 2));
  });

  it('mode 3 has a table of its own', () => {
    expect(factors(5, 720, 3).rf[0]).toEqual([Math.fround(0.009689), Math.fround(0.003302)]);
    expect(factors(5, 2160, 3).rf[3]).toEqual([Math.fround(0.026298), Math.fround(0.013415)]);
  });

  it('mode 1 gives factors of 1.2 to 27, scaled as asked, that wrap in fixed point', () => {
    const { rf, fi } = factors(3, 1080, 1, [2, 0.5]);
    const plain = factors(3, 1080, 1);
    expect(plain.rf[0]?.[0]).toBeCloseTo(1.2105, 4);
    expect(plain.rf[3]?.[0]).toBeCloseTo(26.976, 3);
    expect(rf).toEqual(plain.rf.map(([hv, d]) => [2 * hv, 0.5 * d]));
    fi.forEach(([hv, d], scale) => {
      const limit = scale === 0 ? 2 ** 16 : 2 ** 32;
      expect(hv).toBe(Math.trunc((rf[scale]?.[0] ?? 0) * 2 ** (scale === 0 ? 21 : 32)) % limit);
      expect(d).toBeLessThan(limit);
    });
  });

  it('other modes do not look at the scales', () => {
    expect(factors(3, 1080, 0, [2, 2])).toEqual(factors(3, 1080, 0));
  });

  it.each([
    [2.9, 1080, 0, /2.9 times adm_ref_display_height 1080 is 3132 but must be at least 3240/],
    [3, 720, 2, /at least 3240/],
    [
      4,
      1080,
      2,
      /adm_csf_mode 2 has no factors for adm_norm_view_dist 4 x adm_ref_display_height 1080; it knows 3 x 1080/,
    ],
    [3.5, 1080, 3, /adm_csf_mode 3 has no factors/],
  ])('refuses %d x %d in mode %d', (distance, height, mode, message) => {
    expect(() => factors(distance, height, mode)).toThrow(message);
  });
});
