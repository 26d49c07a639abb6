/**
 * @module test/unit/wasm/psnr-hvs
 * PSNR-HVS in the core: what it gives for pictures worked out by hand, and that both implementations agree.
 */
import { describe, expect, it } from 'vitest';
import { disturbed, format, picture, runMetric, runTwins } from '../../support/metric.js';
import { seeded } from '../../support/random.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261123);

describe('psnr_hvs', () => {
  it('gives no error for equal pictures', () => {
    const random = seeded(SEED);
    const video = format(33, 29, 8, '444');
    const noise = picture(video, () => random.int(0, 255));
    expect(runMetric('simd128', video, { reference: noise, distorted: noise }, 'psnr_hvs')).toEqual([
      0, 0, 0,
    ]);
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

  it(`gives the same in both implementations (seed ${SEED})`, () => {
    const random = seeded(SEED);
    for (const bitDepth of [8, 9, 10, 12]) {
      for (let round = 0; round < 24; round++) {
        const video = format(
          random.int(17, 140),
          random.int(17, 40),
          bitDepth,
          random.pick(['420', '422', '444'] as const),
        );
        const top = 2 ** bitDepth - 1;
        const kind = random.int(0, 3);
        const level = random.int(0, top);
        const reference = picture(video, (x, y, plane) => {
          if (kind === 0) return random.int(0, top);
          if (kind === 1) return random.int(0, 1) * top;
          if (kind === 2) return Math.round((top / 2) * (1 + Math.sin((x + plane) / 9 + y / 5)));
          return level;
        });
        const distorted = disturbed(random, reference, bitDepth, random.pick([1, 4, top]));
        const [portable, simd] = runTwins(video, { reference, distorted }, 'psnr_hvs');
        expect(simd, `${JSON.stringify(video)} kind ${kind}, seed ${SEED}`).toEqual(portable);
      }
    }
  });

  it('gives the same at the largest samples of 12 bits, where 16 bits no longer hold a transform', () => {
    const video = format(40, 24, 12, '444');
    const reference = picture(video, () => 4095);
    const distorted = picture(video, (x, y) => ((x + y) % 5 === 0 ? 4095 : 4064));
    const [portable, simd] = runTwins(video, { reference, distorted }, 'psnr_hvs');
    expect(simd).toEqual(portable);
  });
});
