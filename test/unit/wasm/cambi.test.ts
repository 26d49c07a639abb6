/**
 * @module test/unit/wasm/cambi
 * CAMBI in the core: banding that is and is not there, sizes it refuses, and that both implementations agree.
 */
import { describe, expect, it } from 'vitest';
import { format, type Picture, picture, runMetric, runTwins } from '../../support/metric.js';
import { type SeededRandom, seeded } from '../../support/random.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261125);

const DEFAULTS = {
  encWidth: 0,
  encHeight: 0,
  encBitdepth: 0,
  srcWidth: 0,
  srcHeight: 0,
  windowSize: 65,
  topk: 0.6,
  tviThreshold: 0.019,
  visLumThreshold: 0,
  maxLogContrast: 2,
  pq: 0,
  highResSpeedup: 0,
  fullRef: 0,
};

/** The options in the core's order. */
function options(changed: Partial<typeof DEFAULTS> = {}): number[] {
  return Object.values({ ...DEFAULTS, ...changed });
}

function measure(
  video: ReturnType<typeof format>,
  distorted: Picture,
  changed: Partial<typeof DEFAULTS> = {},
) {
  return runMetric('simd128', video, { reference: distorted, distorted }, 'cambi', options(changed));
}

/** Bands of `width` columns, each one level brighter than the one before, `noise` levels up and down. */
function bands(
  random: SeededRandom,
  video: ReturnType<typeof format>,
  width: number,
  noise: number,
): Picture {
  const unit = 2 ** (video.bitDepth - 8);
  const top = 2 ** video.bitDepth - 1;
  return picture(video, (x, y) => {
    const level = 60 + Math.floor(x / width) + Math.floor(y / (3 * width));
    return Math.min(top, Math.max(0, level * unit + random.int(-noise, noise)));
  });
}

describe('cambi', () => {
  it('finds no banding in a flat picture, nor in noise', () => {
    const random = seeded(SEED);
    const video = format(320, 240, 10, '400');
    expect(
      measure(
        video,
        picture(video, () => 400),
      )[0],
    ).toBe(0);
    expect(
      measure(
        video,
        picture(video, () => random.int(64, 940)),
      )[0],
    ).toBe(0);
  });

  it('finds banding in steps of one level, more than in steps of a quarter', () => {
    const random = seeded(SEED);
    const video = format(320, 240, 10, '400');
    const coarse = measure(video, bands(random, video, 24, 0))[0] ?? 0;
    expect(coarse).toBeGreaterThan(5);
    const fine = picture(video, (x, y) => 240 + Math.floor(x / 24) + Math.floor(y / 72));
    expect(measure(video, fine)[0]).toBeLessThan(coarse);
  });

  it('does not see steps below the visible luminance', () => {
    const random = seeded(SEED);
    const video = format(320, 240, 10, '400');
    // Level 74 of 8 bit is 296 of 10 bit and darker than 20 cd/m2, which code 320 and more reach.
    expect(measure(video, bands(random, video, 24, 0), { visLumThreshold: 250 })[0]).toBe(0);
  });

  it('measures the reference only on request', () => {
    const random = seeded(SEED);
    const video = format(320, 240, 8, '400');
    const steps = bands(random, video, 24, 0);
    const [distorted, nothing] = measure(video, steps);
    expect(nothing).toBeNaN();
    expect(measure(video, steps, { fullRef: 1 })).toEqual([distorted, distorted]);
  });

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

  it(`gives the same in both implementations (seed ${SEED})`, () => {
    const random = seeded(SEED);
    const rounds: readonly [number, Partial<typeof DEFAULTS>][] = [
      [8, {}],
      [8, { fullRef: 1, windowSize: 127 }],
      [8, { maxLogContrast: 5, topk: 0.1 }],
      [9, { windowSize: 15 }],
      [10, { encWidth: 231, encHeight: 190 }],
      [10, { encBitdepth: 8, pq: 1 }],
      [12, { maxLogContrast: 0 }],
      [16, { visLumThreshold: 2, topk: 0.01 }],
    ];
    for (const [bitDepth, changed] of rounds) {
      for (const noise of [0, 1, 3]) {
        const video = format(random.int(231, 330), random.int(190, 250), bitDepth, '400');
        const steps = bands(random, video, random.int(1, 40), noise);
        const pictures = { reference: bands(random, video, 9, 0), distorted: steps };
        const [portable, simd] = runTwins(video, pictures, 'cambi', options(changed));
        expect(simd, `${JSON.stringify({ video, changed, noise })}, seed ${SEED}`).toEqual(portable);
      }
    }
  });

  it('gives the same in both implementations for narrow pictures', () => {
    const random = seeded(SEED);
    for (const width of [17, 18, 19, 24, 33]) {
      const video = format(width, 230, 8, '400');
      const steps = bands(random, video, 5, 0);
      const [portable, simd] = runTwins(video, { reference: steps, distorted: steps }, 'cambi', options());
      expect(simd, `${width} columns, seed ${SEED}`).toEqual(portable);
    }
  });
});
