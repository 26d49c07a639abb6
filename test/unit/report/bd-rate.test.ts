/**
 * @module test/unit/report/bd-rate
 * Bjontegaard deltas against published values, numpy's and SciPy's.
 */
import { describe, expect, it } from 'vitest';
import { type BdOptions, bdQuality, bdRate, type RatePoint } from '../../../src/report/bd-rate.js';

const INTERPOLATIONS = ['pchip', 'akima', 'cubic'] as const;

function points(rates: readonly number[], qualities: readonly number[]): RatePoint[] {
  return rates.map((kbps, i) => ({ kbps, quality: qualities[i] as number }));
}

/** The usual example for implementations of VCEG-M33. */
const M33 = {
  anchor: points([686.76, 309.58, 157.11, 85.95], [40.28, 37.18, 34.24, 31.42]),
  test: points([893.34, 407.8, 204.93, 112.75], [40.39, 37.21, 34.17, 31.24]),
};
/** VMAF of two encoders, with different numbers of points. */
const VMAF = {
  anchor: points([300, 700, 1500, 2600, 5200, 9000], [38.2, 61.5, 79.9, 88.4, 95.1, 97.3]),
  test: points([250, 620, 1300, 2900, 6100], [41.0, 66.2, 82.5, 93.9, 98.0]),
};

/** Curves that are steep at their ends. */
const STEEP = {
  anchor: points([120, 130, 600, 1500], [22, 40, 41, 70]),
  test: points([150, 300, 700, 1100, 1200], [30, 41, 42, 66, 90]),
};
/** Curves of many points. */
const UNEVEN = {
  anchor: points([177, 350, 702, 1511, 2750, 4010], [31.5, 40.25, 52, 53.5, 66, 79]),
  test: points([140, 420, 800, 2100], [29, 47.5, 50, 72]),
};

/**
 * BD-rate in percent and BD-quality by cubic, PCHIP and Akima: the first two by numpy's `polyfit` and `polyint` and SciPy's
 * interpolators, the others by the normal equations and Bernstein's form, summed by Simpson's rule over 20,000 steps.
 */
const EXPECTED = [
  ['VCEG-M33', M33, 'cubic', 31.397374054911, -1.18489792177],
  ['VCEG-M33', M33, 'pchip', 31.3798782024, -1.1834724046],
  ['VCEG-M33', M33, 'akima', 31.3839889843, -1.1836589701],
  ['VMAF', VMAF, 'cubic', -25.778881126455, 5.631419118133],
  ['VMAF', VMAF, 'pchip', -27.01612034, 5.7120131836],
  ['VMAF', VMAF, 'akima', -26.9485676923, 5.7376940841],
  ['steep ends', STEEP, 'cubic', -99.960270650285, -18.559981579548],
  ['steep ends', STEEP, 'pchip', -5.857354505839, 0.092558428261],
  ['steep ends', STEEP, 'akima', -87.68480667978, -0.379635827108],
  ['many points', UNEVEN, 'cubic', -3.393540431317, 3.593267136489],
  ['many points', UNEVEN, 'pchip', -25.786224068703, 3.639871243015],
  ['many points', UNEVEN, 'akima', -20.580821897573, 3.654883928288],
] as const;

describe('bdRate and bdQuality', () => {
  it.each(EXPECTED)('equal other programs for %s', (_, { anchor, test }, interpolation, rate, quality) => {
    expect(bdRate(anchor, test, { interpolation }).value).toBeCloseTo(rate, 8);
    expect(bdQuality(anchor, test, { interpolation }).value).toBeCloseTo(quality, 8);
  });

  // Two rows of JCTVC-E137, from the spreadsheet of the common test conditions.
  it('use the method of the common test conditions by default', () => {
    const [traffic, tennis] = [
      [
        points([108048.8736, 61279.976, 33905.6656, 18883.6928], [43.6471, 40.3953, 37.247, 34.2911]),
        points([108061.2784, 61299.9936, 33928.7472, 18910.912], [43.6768, 40.4232, 37.2761, 34.3147]),
      ],
      [
        points([40433.8848, 7622.7456, 2394.488, 1017.6184], [37.5761, 35.3756, 33.8977, 32.0603]),
        points([40370.12, 7587.0024, 2390.0944, 1017.0984], [37.5982, 35.4025, 33.9194, 32.0822]),
      ],
    ] as const;
    expect(bdRate(...traffic).value).toBeCloseTo(-0.465215420752807, 9);
    expect(bdRate(...tennis).value).toBeCloseTo(-1.8779823450567612, 9);
    expect(bdRate(...traffic).interpolation).toBe('pchip');
  });

  it('are 0 for a curve and itself, a factor for a scaled one, and swap with the sides', () => {
    const half = VMAF.anchor.map(({ kbps, quality }) => ({ kbps: (kbps as number) / 2, quality }));
    for (const interpolation of INTERPOLATIONS) {
      const options: BdOptions = { interpolation };
      expect(bdRate(VMAF.anchor, VMAF.anchor, options).value).toBe(0);
      expect(bdQuality(VMAF.anchor, VMAF.anchor, options).value).toBe(0);
      expect(bdRate(VMAF.anchor, half, options).value).toBeCloseTo(-50, 8);
      expect(bdRate(half, VMAF.anchor, options).value).toBeCloseTo(100, 8);
    }
  });

  it('also take bytes, and points in any order', () => {
    const bytes = (all: readonly RatePoint[]) =>
      all.map(({ kbps, quality }) => ({ bytes: (kbps as number) * 1250, quality })).reverse();
    const rate = bdRate(bytes(VMAF.anchor), bytes(VMAF.test));
    expect(rate.value).toBeCloseTo(-27.01612034, 8);
    expect(rate.range).toEqual({ from: 41, to: 97.3 });
    const quality = bdQuality(bytes(VMAF.anchor), bytes(VMAF.test));
    expect(quality.range.from).toBeCloseTo(300 * 1250, 6);
    expect(quality.range.to).toBeCloseTo(6100 * 1250, 6);
    expect(rate.overlap).toBeCloseTo((97.3 - 41) / (98 - 41), 12);
  });

  it('are the mean difference of logarithms between two points each', () => {
    // Straight lines in the logarithm: the test needs half at quality 50 and a quarter at 90, so 2 ** -1.5 in the mean.
    const anchor = points([100, 1600], [50, 90]);
    const test = points([50, 400], [50, 90]);
    expect(bdRate(anchor, test).value).toBeCloseTo((2 ** -1.5 - 1) * 100, 10);
    expect(bdRate(anchor, test, { interpolation: 'akima' }).value).toBeCloseTo((2 ** -1.5 - 1) * 100, 10);
  });

  it('report where quality does not rise with rate, and use the cheaper of equals', () => {
    const saturated = points([300, 700, 1500, 2600, 5200], [60, 80, 95, 100, 100]);
    const cheaper = points([300, 700, 1500, 2600], [60, 80, 95, 100]);
    const result = bdRate(saturated, VMAF.test);
    expect(result.monotone).toEqual({ anchor: false, test: true });
    expect(result.value).toBe(bdRate(cheaper, VMAF.test).value);
    expect(bdRate(cheaper, VMAF.test).monotone).toEqual({ anchor: true, test: true });
    const falling = bdRate(VMAF.test, points([300, 700, 1500], [60, 59, 95]));
    expect(falling.monotone).toEqual({ anchor: true, test: false });
  });
});

describe('bdRate and bdQuality refuse', () => {
  const { anchor, test } = VMAF;
  const one = points([1, 2], [50, 50]);
  const low = points([1, 2], [10, 20]);
  const touching = points([1, 2], [10, 41]);
  const tooFew = /anchor has 1 point of different quality, but a pchip curve needs at least 2/;
  const cubic = /test has 3 points .* at least 4; .*'pchip'/;
  const apart = /no range of quality: anchor covers 10 to 20 and test 41 to 98/;
  const zero = /anchor\[0\]\.kbps is 0, but it must be a number above 0/;
  it.each<[string, readonly RatePoint[], readonly RatePoint[], RegExp, BdOptions?]>([
    ['one point', anchor.slice(0, 1), test, tooFew],
    ['three points for a cubic', anchor, test.slice(0, 3), cubic, { interpolation: 'cubic' }],
    ['one quality twice', one, test, /anchor has 1 point of different quality/],
    ['separate ranges', low, test, apart],
    ['ranges that touch', touching, test, /share no range of quality/],
    ['a rate of 0', points([0, 2], [10, 60]), test, zero],
    ['no quality', anchor, [{ kbps: 5, quality: Number.NaN }], /test\[0\]\.quality is NaN/],
    ['two units of rate', anchor, [{ bytes: 5, quality: 5 }], /give every point kbps, or every point bytes/],
    ['extreme rates', points([1e-300, 2e-300], [50, 60]), points([1e300, 2e300], [50, 60]), /too far apart/],
    ['an interpolation', anchor, test, /pchip, akima or cubic/, { interpolation: 'linear' as 'pchip' }],
  ])('%s', (_, a, b, message, options) => {
    const refusal = expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) });
    expect(() => bdRate(a, b, options)).toThrow(refusal);
  });

  it('curves whose rates do not overlap', () => {
    const far = () => bdQuality(points([1, 2], [50, 60]), test);
    expect(far).toThrow(/share no range of kbps: anchor covers 1 to 2 and/);
  });
});
