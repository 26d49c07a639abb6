/**
 * @module test/unit/wasm/metrics
 * CAMBI, CIEDE2000, PSNR-HVS and SpEED in the core, and the smallest pictures: values by hand, refusals.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { disturbed, format, type Picture, picture, runMetric, runTwins } from '../../support/metric.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';
import { native } from '../../support/wasm.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261125);

const CHROMA = ['420', '422', '444'] as const;

const DEFAULTS = {
  ...{ encWidth: 0, encHeight: 0, encBitdepth: 0, srcWidth: 0, srcHeight: 0, windowSize: 65, topk: 0.6 },
  ...{ tviThreshold: 0.019, visLumThreshold: 0, maxLogContrast: 2, pq: 0, highResSpeedup: 0, fullRef: 0 },
};

/** The options in the core's order. */
const options = (changed: Partial<typeof DEFAULTS> = {}) => Object.values({ ...DEFAULTS, ...changed });

function measure(video: VideoFormat, distorted: Picture, changed: Partial<typeof DEFAULTS> = {}) {
  return runMetric('simd128', video, { reference: distorted, distorted }, 'cambi', options(changed));
}

describe('cambi', () => {
  it.each([
    ['both sides below 216', 215, 215, {}],
    ['an encode below 216', 640, 480, { encWidth: 200, encHeight: 180 }],
    ['a window of more than 65', 640, 480, { windowSize: 127, srcWidth: 7680, srcHeight: 4320 }],
    ['a source both wider and lower than the encode', 640, 480, { srcWidth: 700, srcHeight: 400 }],
  ])('refuses %s', (_, width, height, changed) => {
    const video = format(width, height, 8, '400');
    const flat = picture(video, () => 100);
    expect(() => measure(video, flat, changed)).toThrow(/no \w+ for these/);
  });

  it('refuses samples of more bits than the video has', () => {
    const video = format(240, 220, 10, '400');
    const flat = picture(video, (x, y) => (x === 239 && y === 219 ? 1024 : 500));
    expect(() => measure(video, flat)).toThrow(/no \w+ for these/);
    // Also where resampling leaves them out.
    expect(() => measure(video, flat, { encWidth: 230, encHeight: 218 })).toThrow(/no \w+ for these/);
  });
});

/** Mean difference of two pictures. */
function mean(video: VideoFormat, reference: Picture, distorted: Picture): number {
  return runMetric('simd128', video, { reference, distorted }, 'ciede')[0] ?? Number.NaN;
}

describe('ciede', () => {
  it('is 0 between equal pictures, and from black to white 100 levels of lightness over its weight at 50', () => {
    const random = seeded(SEED);
    const odd = format(35, 21, 8, '422');
    const noise = picture(odd, () => random.int(0, 255));
    expect(mean(odd, noise, noise)).toBe(0);
    // Limited range black and white are L = 0 and 100 without chroma; S_L is 1 at a mean lightness of 50, k_L is 0.65.
    const video = format(32, 18, 8, '444');
    const grey = (level: number) => picture(video, (_x, _y, plane) => (plane === 0 ? level : 128));
    expect(mean(video, grey(16), grey(235))).toBeCloseTo(100 / 0.65, 2);
  });

  it('repeats chroma to the size of luma', () => {
    const random = seeded(SEED);
    const pictures = [0, 1].map(() => Array.from({ length: 3 }, () => random.bytes(16 * 16)));
    const at = (k: number, plane: number, x: number, y: number) =>
      pictures[k]?.[plane]?.[(y % 16) * 16 + (x % 16)] ?? 0;
    const values = CHROMA.map((chroma) => {
      const video = format(32, 32, 8, chroma);
      // Each colour fills 2x2 pixels, so that no subsampling changes what is seen.
      const made = [0, 1].map((k) =>
        picture(video, (x, y, plane) => {
          const across = plane === 0 || chroma === '444' ? 2 : 1;
          const down = plane === 0 || chroma !== '420' ? 2 : 1;
          return at(k, plane, Math.floor(x / across), Math.floor(y / down));
        }),
      );
      return mean(video, made[0] ?? [], made[1] ?? []);
    });
    expect(new Set(values).size).toBe(1);
    expect(values[0]).toBeGreaterThan(1);
  });

  it('measures the last column and row of odd sizes by the last chroma sample', () => {
    const video = format(19, 17);
    const reference = picture(video, () => 128);
    const distorted = reference.map((plane) => plane.slice());
    distorted[1]?.fill(90, -1);
    // The last sample of 9x8 covers columns 16..18 and rows 14..16.
    const everywhere = reference.map((plane, i) => (i === 1 ? plane.map(() => 90) : plane));
    const expected = 9 * mean(video, reference, everywhere);
    expect(mean(video, reference, distorted) * (19 * 17)).toBeCloseTo(expected, 4);
  });
});

describe('psnr_hvs', () => {
  it('gives no error for equal pictures', () => {
    const random = seeded(SEED);
    const video = format(33, 29, 8, '444');
    const noise = picture(video, () => random.int(0, 255));
    const errors = runMetric('simd128', video, { reference: noise, distorted: noise }, 'psnr_hvs');
    expect(errors).toEqual([0, 0, 0]);
  });

  it('sees a flat shift as the DC coefficient alone, weighted by the sensitivity of its plane', () => {
    // Flat blocks: DC is 8 times the level and nothing else differs, so each of the 64 coefficients of a block counts
    // (8 * shift * csf)^2 / 64 in the mean: shift^2 * csf^2, then divided by the square of the peak. The integer transform
    // rounds DC by one in 1600.
    const video = format(50, 22);
    const [reference, distorted] = [30, 230].map((level) => picture(video, () => level));
    if (!reference || !distorted) throw new Error('two pictures');
    const shift = 200 / 255;
    const expected = [1.6193873005, 1.91113096927, 2.03871978502].map((csf) => (shift * csf) ** 2);
    runMetric('simd128', video, { reference, distorted }, 'psnr_hvs').forEach((value, plane) => {
      expect(value / (expected[plane] ?? 0)).toBeCloseTo(1, 2);
    });
  });

  it('gives the same at the largest samples of 12 bits, where 16 bits no longer hold a transform', () => {
    const video = format(40, 24, 12, '444');
    const reference = picture(video, () => 4095);
    const distorted = picture(video, (x, y) => ((x + y) % 5 === 0 ? 4095 : 4064));
    const [portable, simd] = runTwins(video, { reference, distorted }, 'psnr_hvs');
    expect(simd).toEqual(portable);
  });
});

describe('pictures of 17 to 20 columns', () => {
  it.each([17, 18, 19, 20])('%i columns, up to 24 rows: SIMD gives what portable C gives', async (width) => {
    for (const height of tier(width % 2 ? [17, 24] : [20, 23], [17, 18, 19, 20, 21, 22, 23, 24])) {
      const clip = makeSample({ width, height, bitDepth: 8, chroma: '420' }, { seed: height });
      const side = (of: 'reference' | 'distorted') => sampleSource(clip, of, 3);
      const scored = (implementation: 'simd128' | 'portable') =>
        score({ reference: side('reference'), distorted: side('distorted') }, { threads: 0, implementation });
      const [simd, portable] = await Promise.all([scored('simd128'), scored('portable')]);
      expect(simd.frames, `${width}x${height}`).toEqual(portable.frames);
    }
  });
});

const SPEED = {
  ...{ kernelscale: 1, prescale: 1, prescaleMethod: 0, sigmaNn: 0.29 },
  ...{ nnFloor: 0, weightVarMode: 0, useRefDiff: 0 },
};

/** The options of SpEED in the core's order. */
const speedOptions = (changed: Partial<typeof SPEED> = {}) => Object.values({ ...SPEED, ...changed });

describe('speed_chroma', () => {
  const chroma = (of: VideoFormat, pair: Parameters<typeof runMetric>[2], changed?: Partial<typeof SPEED>) =>
    runMetric('simd128', of, pair, 'speed_chroma', speedOptions(changed));
  const video = format(640, 480, 8, '420');
  const random = seeded(SEED);
  const noise = picture(video, () => random.int(0, 255));

  it('gives exactly 0 where a plane is flat, and leaves it out of uv', () => {
    const flat = picture(video, () => 128);
    expect(chroma(video, { reference: flat, distorted: noise })).toEqual([0, 0, 0, 1, 1]);
    const half = noise.map((plane, i) => (i === 1 ? plane.map(() => 128) : plane));
    const distorted = disturbed(random, noise, 8, 60);
    const [u, v, uv, badU, badV] = chroma(video, { reference: half, distorted });
    expect({ u, badU, badV }).toEqual({ u: 0, badU: 1, badV: 0 });
    expect(uv).toBe(v);
    expect(v).toBeGreaterThan(0);
  });

  it('gives 0 for equal pictures, but hardly more than 0 where the weights are rounded differently', () => {
    const pair = { reference: noise, distorted: noise };
    expect(chroma(video, pair)).toEqual([0, 0, 0, 0, 0]);
    const [u = 0] = chroma(video, pair, { weightVarMode: 5 });
    expect(u).toBeGreaterThan(0);
    expect(u).toBeLessThan(1e-4);
  });

  it('refuses planes below 80 samples, after prescaling', () => {
    const small = format(158, 300, 8, '420');
    const flat = picture(small, () => 128);
    const pair = { reference: flat, distorted: flat };
    expect(() => chroma(small, pair)).toThrow(/no \w+ for these/);
    expect(chroma(small, pair, { prescale: 1.1 })).toEqual([0, 0, 0, 1, 1]);
    expect(() => chroma(video, pair, { prescale: 0.3 })).toThrow(/no \w+ for these/);
  });
});

describe('speed_temporal', () => {
  it('is 0 without an earlier pair', () => {
    const random = seeded(SEED);
    const video = format(160, 96, 8, '400');
    const noise = picture(video, () => random.int(0, 255));
    const pair = { reference: noise, distorted: noise };
    expect(runMetric('simd128', video, pair, 'speed_temporal', speedOptions())).toEqual([0, 0]);
  });

  it('takes the distorted difference to the reference on request', () => {
    const random = seeded(SEED);
    const video = format(320, 240, 8, '400');
    const noise = () => picture(video, () => random.int(0, 255));
    const earlier = noise();
    const reference = noise();
    // What was before is the same in both, so that the difference to the reference is the reference's own.
    const pictures = { reference, distorted: noise(), earlierReference: earlier, earlierDistorted: earlier };
    const of = (useRefDiff: number) =>
      runMetric('simd128', video, pictures, 'speed_temporal', speedOptions({ useRefDiff }));
    expect(of(1)).toEqual([0, 0]);
    expect(of(0)[0]).toBeGreaterThan(0);
  });
});

const power = (base: number, exponent: number) => Number(native('power_fused')(base, exponent));

describe('power_fused', () => {
  it.each([
    // The last bit needs fused steps.
    [0.44250378012657166, 0.04479999840259552, 0.96413329637827572],
    [0.65367990732192993, 0.28560000658035278, 0.88566255114383663],
    [0.4900219738483429, 0.04479999840259552, 0.96854913450080826],
    [0.55424481630325317, 0.23630000650882721, 0.86983463396508365],
    [0.90363544225692749, 0.28560000658035278, 0.97147510027047701],
    [0.29974773526191711, 0.28560000658035278, 0.70886165537337098],
    [0.94171828031539917, 0.23630000650882721, 0.98591059180361429],
    [0.94016015529632568, 0.30009999871253967, 0.98165271636282314],
    [0.52483958005905151, 0.04479999840259552, 0.9715321820533932],
    [0.78859949111938477, 0.30009999871253967, 0.93120786102796338],
    [0.51823300123214722, 0.13330000638961792, 0.91610697426661658],
    [0.99772369861602783, 0.30009999871253967, 0.99931633708849676],
    [1, 0.3, 1],
    [4, 0.5, 2],
    [2 ** -1000, 0.5, 2 ** -500],
    [2 ** 1000, -0.25, 2 ** -250],
    // Beyond the ordinary.
    [0, 0.25, 0],
    [-0.5, 0.25, Number.NaN],
    [Number.NaN, 0.25, Number.NaN],
    [Number.POSITIVE_INFINITY, 0.25, Number.POSITIVE_INFINITY],
    [2 ** -1074, 0.5, 2 ** -537],
    [1e300, 2, Number.POSITIVE_INFINITY],
    [1e-300, 2, 0],
  ])('%d to the power of %d', (base, exponent, expected) => expect(power(base, exponent)).toBe(expected));
});
