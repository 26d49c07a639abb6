/**
 * @module test/unit/report/bd-rate
 * Bjontegaard deltas against published values, numpy's and SciPy's, and curves that are made and added up another way.
 */
import { describe, expect, it } from 'vitest';
import { type BdOptions, bdQuality, bdRate, type RatePoint } from '../../../src/report/bd-rate.js';
import { tier } from '../../support/tier.js';

const INTERPOLATIONS = ['pchip', 'akima', 'cubic'] as const;
type Interpolation = (typeof INTERPOLATIONS)[number];

function points(rates: readonly number[], qualities: readonly number[]): RatePoint[] {
  return rates.map((kbps, i) => ({ kbps, quality: qualities[i] as number }));
}

/** The example that implementations of VCEG-M33 are checked with. */
const M33 = {
  anchor: points([686.76, 309.58, 157.11, 85.95], [40.28, 37.18, 34.24, 31.42]),
  test: points([893.34, 407.8, 204.93, 112.75], [40.39, 37.21, 34.17, 31.24]),
};
/** VMAF of two encoders, of unequal number. */
const VMAF = {
  anchor: points([300, 700, 1500, 2600, 5200, 9000], [38.2, 61.5, 79.9, 88.4, 95.1, 97.3]),
  test: points([250, 620, 1300, 2900, 6100], [41.0, 66.2, 82.5, 93.9, 98.0]),
};

/** [BD-rate in percent, BD-quality], by numpy's `polyfit` and `polyint` and SciPy's interpolators. */
const EXPECTED = [
  {
    name: 'VCEG-M33',
    curves: M33,
    cubic: [31.397374054911, -1.18489792177],
    pchip: [31.3798782024, -1.1834724046],
    akima: [31.3839889843, -1.1836589701],
  },
  {
    name: 'VMAF',
    curves: VMAF,
    cubic: [-25.778881126455, 5.631419118133],
    pchip: [-27.01612034, 5.7120131836],
    akima: [-26.9485676923, 5.7376940841],
  },
] as const;

describe('bdRate and bdQuality', () => {
  for (const { name, curves, ...expected } of EXPECTED) {
    it.each(INTERPOLATIONS)(`give what other programs give for ${name}, %s`, (interpolation) => {
      const [rate, quality] = expected[interpolation];
      expect(bdRate(curves.anchor, curves.test, { interpolation }).value).toBeCloseTo(rate, 8);
      expect(bdQuality(curves.anchor, curves.test, { interpolation }).value).toBeCloseTo(quality, 8);
    });
  }

  // Two rows of JCTVC-E137, as the spreadsheet of the common test conditions has them.
  it('gives the values of the common test conditions by default', () => {
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

  it.each(INTERPOLATIONS)('agree with a sum over many small steps, %s', (interpolation) => {
    let seed = 20_260;
    const random = () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    for (let round = 0; round < tier(4, 12); round++) {
      const curve = (): RatePoint[] => {
        let [kbps, quality] = [100 + 200 * random(), 20 + 20 * random()];
        return Array.from({ length: 4 + Math.floor(3 * random()) }, () => {
          kbps *= 1.3 + 1.5 * random();
          quality += 1 + 14 * random();
          return { kbps, quality };
        });
      };
      const [anchor, test] = [curve(), curve()];
      const byQuality = (all: RatePoint[]): Placed => all.map((p) => [p.quality, Math.log(p.kbps as number)]);
      const byRate = (all: RatePoint[]): Placed => all.map((p) => [Math.log(p.kbps as number), p.quality]);
      const rate = (Math.exp(steppedMean(byQuality(anchor), byQuality(test), interpolation)) - 1) * 100;
      expect(within(bdRate(anchor, test, { interpolation }).value, rate), `round ${round}`).toBe(true);
      const quality = steppedMean(byRate(anchor), byRate(test), interpolation);
      expect(within(bdQuality(anchor, test, { interpolation }).value, quality), `round ${round}`).toBe(true);
    }
  });

  it('is zero for a curve and itself, a factor for a scaled one, and turns with the sides', () => {
    const half = VMAF.anchor.map(({ kbps, quality }) => ({ kbps: (kbps as number) / 2, quality }));
    for (const interpolation of INTERPOLATIONS) {
      const options: BdOptions = { interpolation };
      expect(bdRate(VMAF.anchor, VMAF.anchor, options).value).toBe(0);
      expect(bdQuality(VMAF.anchor, VMAF.anchor, options).value).toBe(0);
      expect(bdRate(VMAF.anchor, half, options).value).toBeCloseTo(-50, 8);
      expect(bdRate(half, VMAF.anchor, options).value).toBeCloseTo(100, 8);
    }
  });

  it('takes bytes as well, and points in any order', () => {
    const bytes = (all: readonly RatePoint[]) =>
      all.map(({ kbps, quality }) => ({ bytes: (kbps as number) * 1250, quality })).reverse();
    const rate = bdRate(bytes(VMAF.anchor), bytes(VMAF.test));
    expect(rate.value).toBeCloseTo(EXPECTED[1].pchip[0], 8);
    expect(rate.range).toEqual({ from: 41, to: 97.3 });
    const quality = bdQuality(bytes(VMAF.anchor), bytes(VMAF.test));
    expect(quality.range.from).toBeCloseTo(300 * 1250, 6);
    expect(quality.range.to).toBeCloseTo(6100 * 1250, 6);
    expect(rate.overlap).toBeCloseTo((97.3 - 41) / (98 - 41), 12);
  });

  it('is the mean difference of logarithms between two points each', () => {
    // Straight lines in the logarithm: the test needs half at quality 50 and a quarter at 90, so 2 ** -1.5 in the mean.
    const anchor = points([100, 1600], [50, 90]);
    const test = points([50, 400], [50, 90]);
    expect(bdRate(anchor, test).value).toBeCloseTo((2 ** -1.5 - 1) * 100, 10);
    expect(bdRate(anchor, test, { interpolation: 'akima' }).value).toBeCloseTo((2 ** -1.5 - 1) * 100, 10);
  });

  it('says where quality does not rise with rate, and takes the cheaper of equals', () => {
    const saturated = points([300, 700, 1500, 2600, 5200], [60, 80, 95, 100, 100]);
    const cheaper = points([300, 700, 1500, 2600], [60, 80, 95, 100]);
    const result = bdRate(saturated, VMAF.test);
    expect(result.monotone).toEqual({ anchor: false, test: true });
    expect(result.value).toBe(bdRate(cheaper, VMAF.test).value);
    expect(bdRate(cheaper, VMAF.test).monotone).toEqual({ anchor: true, test: true });
    expect(bdRate(VMAF.test, points([300, 700, 1500], [60, 59, 95])).monotone).toEqual({
      anchor: true,
      test: false,
    });
  });
});

describe('what they refuse', () => {
  const { anchor, test } = VMAF;
  it.each([
    [
      'one point',
      anchor.slice(0, 1),
      test,
      {},
      /anchor has 1 point of different quality, but a pchip curve needs at least 2/,
    ],
    [
      'three for a cubic',
      anchor,
      test.slice(0, 3),
      { interpolation: 'cubic' },
      /test has 3 points .* needs at least 4; .*'pchip'/,
    ],
    ['one quality twice', points([1, 2], [50, 50]), test, {}, /anchor has 1 point of different quality/],
    [
      'ranges apart',
      points([1, 2], [10, 20]),
      test,
      {},
      /share no range of quality: anchor covers 10 to 20 and test 41 to 98/,
    ],
    ['ranges that touch', points([1, 2], [10, 41]), test, {}, /share no range of quality/],
    [
      'a rate of zero',
      points([0, 2], [10, 60]),
      test,
      {},
      /anchor\[0\]\.kbps is 0, but it must be a number above 0/,
    ],
    ['no quality', anchor, [{ kbps: 5, quality: Number.NaN }], {}, /test\[0\]\.quality is NaN/],
    [
      'two kinds of rate',
      anchor,
      [{ bytes: 5, quality: 5 }],
      {},
      /give every point kbps, or every point bytes/,
    ],
    [
      'a number too great',
      points([1e-300, 2e-300], [50, 60]),
      points([1e300, 2e300], [50, 60]),
      {},
      /too far apart/,
    ],
    ['an interpolation', anchor, test, { interpolation: 'linear' as 'pchip' }, /pchip, akima or cubic/],
  ] as const)('%s', (_, a, b, options, message) => {
    expect(() => bdRate(a, b, options)).toThrow(message);
    expect(() => bdRate(a, b, options)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('curves whose rates do not overlap', () => {
    expect(() => bdQuality(points([1, 2], [50, 60]), test)).toThrow(
      /share no range of kbps: anchor covers 1 to 2 and/,
    );
  });
});

type Placed = readonly (readonly [x: number, y: number])[];

function at<T>(list: readonly T[], i: number): T {
  return list.at(i) as T;
}

function within(value: number, expected: number): boolean {
  return Math.abs(value - expected) <= 1e-6 * Math.max(1, Math.abs(expected));
}

/** Simpson's rule over 20,000 steps, on curves in Lagrange's or Bernstein's form. */
function steppedMean(a: Placed, b: Placed, interpolation: Interpolation): number {
  const made = (curve: Placed) =>
    interpolation === 'cubic' ? fitted(curve) : bernstein(curve, interpolation);
  const [f, g] = [made(a), made(b)];
  const [from, to] = [Math.max(at(a, 0)[0], at(b, 0)[0]), Math.min(at(a, -1)[0], at(b, -1)[0])];
  const steps = 20_000;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const x = from + ((to - from) * i) / steps;
    sum += (g(x) - f(x)) * (i === 0 || i === steps ? 1 : i % 2 ? 4 : 2);
  }
  return sum / (3 * steps);
}

/** The polynomial of least squares from its normal equations, by Gauss, in a variable from -1 to 1. */
function fitted(curve: Placed): (x: number) => number {
  const [low, high] = [at(curve, 0)[0], at(curve, -1)[0]];
  const scaled = (x: number) => (2 * x - low - high) / (high - low);
  const rows = [0, 1, 2, 3].map((i) => [
    ...[0, 1, 2, 3].map((j) => curve.reduce((sum, [x]) => sum + scaled(x) ** (i + j), 0)),
    curve.reduce((sum, [x, y]) => sum + y * scaled(x) ** i, 0),
  ]);
  for (let i = 0; i < 4; i++) {
    for (let k = 0; k < 4; k++) {
      if (k === i) continue;
      const factor = at(at(rows, k), i) / at(at(rows, i), i);
      rows[k] = at(rows, k).map((value, j) => value - factor * at(at(rows, i), j));
    }
  }
  return (x) => rows.reduce((sum, row, i) => sum + (at(row, 4) / at(row, i)) * scaled(x) ** i, 0);
}

function bernstein(curve: Placed, interpolation: 'pchip' | 'akima'): (x: number) => number {
  const slope = interpolation === 'pchip' ? pchipSlope : akimaSlope;
  const slopes = curve.map((_, i) => slope(curve, i));
  return (where) => {
    const i = Math.max(
      0,
      Math.min(
        curve.findLastIndex(([x]) => x <= where),
        curve.length - 2,
      ),
    );
    const [[x0, y0], [x1, y1]] = [at(curve, i), at(curve, i + 1)];
    const third = (x1 - x0) / 3;
    const u = (where - x0) / (x1 - x0);
    const v = 1 - u;
    const [c1, c2] = [y0 + third * at(slopes, i), y1 - third * at(slopes, i + 1)];
    return v * v * v * y0 + 3 * v * v * u * c1 + 3 * v * u * u * c2 + u * u * u * y1;
  };
}

function chord(curve: Placed, i: number): number {
  const [[x0, y0], [x1, y1]] = [at(curve, i), at(curve, i + 1)];
  return (y1 - y0) / (x1 - x0);
}

/** For rising curves of at least three points, which is what the rounds above have. */
function pchipSlope(curve: Placed, i: number): number {
  const width = (k: number) => at(curve, k + 1)[0] - at(curve, k)[0];
  const last = curve.length - 1;
  if (i === 0 || i === last) {
    const [near, far] = i === 0 ? [0, 1] : [last - 1, last - 2];
    const [h, k] = [width(near), width(far)];
    const slope = chord(curve, near) + ((chord(curve, near) - chord(curve, far)) * h) / (h + k);
    return Math.max(0, slope);
  }
  // A harmonic mean, in which the chord over the shorter way counts more.
  const share = (width(i - 1) + 2 * width(i)) / (3 * (width(i - 1) + width(i)));
  return 1 / (share / chord(curve, i - 1) + (1 - share) / chord(curve, i));
}

function akimaSlope(curve: Placed, i: number): number {
  const last = curve.length - 2;
  const slope = (k: number): number => {
    if (k < 0) return 2 * slope(k + 1) - slope(k + 2);
    return k > last ? 2 * slope(k - 1) - slope(k - 2) : chord(curve, k);
  };
  const left = Math.abs(slope(i - 1) - slope(i - 2));
  const right = Math.abs(slope(i + 1) - slope(i));
  return slope(i - 1) + ((slope(i) - slope(i - 1)) * left) / (left + right);
}
