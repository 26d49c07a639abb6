/**
 * @module test/unit/wasm/colour
 * The colour stage of perceptual.wasm: both implementations give the same bits, which are those of the definitions in
 * double precision within a few units of binary32.
 */
import { describe, expect, it } from 'vitest';
import type { ChromaFormat, VideoFormat } from '../../../src/core/frame.js';
import { format, type Picture, picture } from '../../support/metric.js';
import {
  type ColourNumbers,
  CURVES,
  definition,
  difference,
  LinearLight,
  linearLight,
  SRGB,
} from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const SEED = 20261126;
const CHROMA = ['400', '420', '422', '444'] as const;
const [GBR, BT709, BT601, BT2020_CL, ICTCP] = [0, 1, 2, 7, 8] as const;
const [LEFT, CENTRE, TOP_LEFT] = [0, 1, 2] as const;
const [BICUBIC, BILINEAR, NEAREST] = [0, 1, 2] as const;
const [SRGB_CURVE, LINEAR, PQ, HLG] = [0, 4, 6, 7] as const;
/** An error of R'G'B' grows in these. */
const STEEP: ReadonlySet<number> = new Set([PQ, HLG]);

function noise(random: SeededRandom, video: VideoFormat): Picture {
  const top = 2 ** video.bitDepth - 1;
  // Half of them span all codes, half the colours near grey that videos are made of.
  const near = random.int(0, 1) === 1;
  return picture(video, (_x, _y, plane) =>
    near && plane > 0 ? Math.round(top * (0.4 + 0.2 * random.next())) : random.int(0, top),
  );
}

/** A colour that `chroma` can have. */
function colour(random: SeededRandom, chroma: ChromaFormat): ColourNumbers {
  const whole = chroma === '444' || chroma === '400';
  const matrix = random.int(whole ? GBR : BT709, ICTCP);
  const last = matrix === BT2020_CL ? 5 : 7;
  const transfer = random.int(matrix === ICTCP ? PQ : 0, last);
  const [range, siting, upsampling] = [random.int(0, 1), random.int(0, 2), random.int(0, 2)];
  return [matrix, range, transfer, siting, upsampling, matrix === ICTCP ? 1 : random.int(0, 6)];
}

describe('the colour stage', () => {
  it('has the same bits in portable C and SIMD', () => {
    const random = seeded(SEED);
    for (let i = 0; i < tier(250, 10000); i++) {
      const chroma = random.pick(CHROMA);
      const video = format(random.int(1, 70), random.int(1, 9), random.int(8, 16), chroma);
      const side = { picture: noise(random, video), colour: colour(random, chroma) };
      const shown = random.int(0, 1) === 1;
      // By their bytes: a matcher takes microseconds for each sample.
      const [portable, simd] = (['portable', 'simd128'] as const).map((one) =>
        Buffer.concat(linearLight(one, video, side, shown).map(({ buffer }) => new Uint8Array(buffer))),
      );
      const which = `${JSON.stringify(video)} ${side.colour}, case ${i} of seed ${SEED}`;
      expect(simd?.equals(portable ?? Buffer.of()), which).toBe(true);
    }
  });

  it('is the definition within a millionth', () => {
    const random = seeded(SEED + 1);
    for (let i = 0; i < tier(250, 10000); i++) {
      const chroma = random.pick(CHROMA);
      const video = format(random.int(1, 40), random.int(1, 12), random.int(8, 16), chroma);
      const side = { picture: noise(random, video), colour: colour(random, chroma) };
      const shown = random.int(0, 1) === 1;
      const exact = definition(video, side.picture, side.colour, shown);
      const found = difference(linearLight('simd128', video, side, shown), exact);
      const [matrix, , transfer] = side.colour;
      const usual = STEEP.has(transfer) ? 4e-6 : 1.5e-6;
      // A matrix whose weights are up to 3.4, and the display of HLG, come after the curves.
      const bound = matrix === ICTCP || (shown && transfer === HLG) ? 1e-5 : usual;
      const which = `${JSON.stringify(video)} ${side.colour}, case ${i} of seed ${SEED + 1}`;
      expect(found, which).toBeLessThan(bound);
    }
  });

  it('has the relative precision of binary32 in dark light too', () => {
    const video = format(256, 256, 16, '400');
    const ramp = picture(video, (x, y) => 256 * y + x);
    for (const transfer of CURVES.keys()) {
      const [light] = linearLight('simd128', video, { picture: ramp, colour: [BT709, 1, transfer, 0, 0, 0] });
      const worst = light.reduce((most, v, code) => {
        const expected = CURVES[transfer]?.(code / 65535) ?? Number.NaN;
        // Light that no display makes does not count: 1e-12 of PQ is 1e-8 cd/m2.
        return expected > 1e-12 ? Math.max(most, Math.abs(v / expected - 1)) : most;
      }, 0);
      // libjxl's quotient for sRGB errs where it takes over from the line.
      const bound = transfer === SRGB_CURVE ? 1e-5 : transfer === PQ ? 3e-6 : 6e-7;
      expect(worst, `transfer ${transfer}`).toBeLessThan(bound);
    }
  });

  it('computes sRGB as libjxl does, to the bit', () => {
    const f = Math.fround;
    const P = [2.200248328e-4, 1.043637593e-2, 1.624820318e-1, 7.961564959e-1, 8.210152774e-1].map(f);
    const Q = [2.63184697e-1, 1.076976492, 4.98752835e-1, -5.512498495e-2, 6.521209011e-3].map(f);
    const series = (x: number, terms: readonly number[]) =>
      terms.reduceRight((sum, term) => f(f(sum * x) + term));
    const scale = f(1 / 255);
    const expected = Float32Array.from({ length: 256 }, (_, code) => {
      const x = f(code * scale);
      return x > f(0.04045) ? f(series(x, P) / series(x, Q)) : f(x * f(1 / f(12.92)));
    });
    const video = format(256, 1, 8, '444');
    const codes = picture(video, (x) => x);
    for (const one of ['portable', 'simd128'] as const)
      expect(linearLight(one, video, { picture: codes, colour: SRGB })).toEqual(Array(3).fill(expected));
  });

  it('puts chroma where it is sited', () => {
    // One blue-difference sample of 64 over the middle; by BT.709 in the full range, B' is luma + 1.8556 Cb.
    const video = format(12, 1, 8, '422');
    const impulse = picture(video, (x, _, plane) => (plane === 1 && x === 2 ? 192 : plane === 0 ? 0 : 128));
    const blue = (siting: number, upsampling: number) => {
      const colours: ColourNumbers = [BT709, 1, LINEAR, siting, upsampling, 0];
      const light = linearLight('simd128', video, { picture: impulse, colour: colours })[2];
      return Array.from(light, (v) => Math.round((v / 1.8556 / (64 / 255)) * 128) + 0);
    };
    expect(blue(LEFT, BICUBIC)).toEqual([0, -8, 0, 72, 128, 72, 0, -8, 0, 0, 0, 0]);
    expect(blue(TOP_LEFT, BILINEAR)).toEqual([0, 0, 0, 64, 128, 64, 0, 0, 0, 0, 0, 0]);
    expect(blue(CENTRE, BICUBIC)).toEqual([0, -3, -9, 29, 111, 111, 29, -9, -3, 0, 0, 0]);
    expect(blue(CENTRE, BILINEAR)).toEqual([0, 0, 0, 32, 96, 96, 32, 0, 0, 0, 0, 0]);
    expect(blue(LEFT, NEAREST)).toEqual([0, 0, 0, 0, 128, 128, 0, 0, 0, 0, 0, 0]);
  });

  it('converts a picture anew for another colour or serial only', () => {
    const random = seeded(SEED + 2);
    const video = format(16, 8, 8, '420');
    const [one, other] = [noise(random, video), noise(random, video)];
    const context = new LinearLight('simd128', video);
    const colours: ColourNumbers = [BT709, 0, 0, 0, 0, 0];
    const pair = (first: Picture, numbers: ColourNumbers, serial: number) => {
      const side = { picture: first, colour: numbers };
      return context.pair([side, side], [serial, serial]);
    };
    const first = pair(one, colours, 1);
    expect(pair(other, colours, 1)).toEqual(first);
    expect(pair(one, [BT601, 0, 0, 0, 0, 0], 1)).not.toEqual(first);
    expect(pair(other, colours, 2)).not.toEqual(first);
    expect(pair(one, colours, 3)).toEqual(first);
    context.close();
  });

  it('refuses colours that are none', () => {
    const video = format(16, 8, 8, '420');
    const context = new LinearLight('simd128', video);
    const grey = picture(video, () => 128);
    for (const wrong of [
      [GBR, 1, 0, 0, 0, 0],
      [ICTCP + 1, 0, 0, 0, 0, 0],
      [ICTCP, 0, 0, 0, 0, 1],
      [BT2020_CL, 0, PQ, 0, 0, 1],
      [1.5, 0, 0, 0, 0, 0],
      [1, 0, 8, 0, 0, 0],
      [1, 0, -1, 0, 0, 0],
      [1, 0, 0, 3, 0, 0],
      [1, 0, 0, 0, Number.NaN, 0],
      [1, 0, 0, 0, 0, 7],
    ] as const) {
      const side = { picture: grey, colour: wrong };
      expect(context.pair([side, side])).toBe(-22);
    }
    context.close();
  });
});
