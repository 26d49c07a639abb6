/**
 * @module test/unit/wasm/ciede
 * CIEDE2000 in the core: published colour differences cannot be fed in as video, so facts about it, and that both
 * implementations agree.
 */
import { describe, expect, it } from 'vitest';
import { disturbed, format, type Picture, picture, runMetric, runTwins } from '../../support/metric.js';
import { seeded } from '../../support/random.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261124);
const CHROMA = ['420', '422', '444'] as const;

/** Mean difference of two pictures. */
function mean(video: Parameters<typeof runMetric>[1], reference: Picture, distorted: Picture): number {
  return runMetric('simd128', video, { reference, distorted }, 'ciede')[0] ?? Number.NaN;
}

describe('ciede', () => {
  it('finds no difference between equal pictures', () => {
    const random = seeded(SEED);
    const video = format(35, 21, 8, '422');
    const noise = picture(video, () => random.int(0, 255));
    expect(mean(video, noise, noise)).toBe(0);
  });

  it('takes black to white as 100 levels of lightness over its weight at 50', () => {
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
    const last = distorted[1];
    if (!last) throw new Error('a chroma plane');
    last[last.length - 1] = 90;
    // The last sample of 9x8 covers columns 16..18 and rows 14..16.
    const [luma = new Uint8Array(), cb = new Uint8Array(), cr = new Uint8Array()] = reference;
    const everywhere = [luma, cb.map(() => 90), cr];
    expect(mean(video, reference, distorted) * (19 * 17)).toBeCloseTo(
      9 * mean(video, reference, everywhere),
      4,
    );
  });

  it(`gives the same in both implementations (seed ${SEED})`, () => {
    const random = seeded(SEED);
    for (const bitDepth of [8, 10, 12, 16]) {
      for (let round = 0; round < 12; round++) {
        const video = format(random.int(17, 90), random.int(17, 60), bitDepth, random.pick(CHROMA));
        const top = 2 ** bitDepth - 1;
        const kind = random.int(0, 3);
        const reference = picture(video, (x, y, plane) => {
          if (kind === 0) return random.int(0, top);
          if (kind === 1) return random.int(0, 1) * top;
          if (kind === 2) return Math.round((top / 2) * (1 + Math.sin((x + 3 * plane) / 9 + y / 5)));
          // Nearly grey: hues of colours that hardly have one.
          return plane === 0 ? random.int(0, top) : (top + 1) / 2 + random.int(-1, 1);
        });
        const distorted = disturbed(random, reference, bitDepth, random.pick([1, 4, top]));
        const [portable, simd] = runTwins(video, { reference, distorted }, 'ciede');
        expect(simd, `${JSON.stringify(video)} kind ${kind}, seed ${SEED}`).toEqual(portable);
      }
    }
  });
});
