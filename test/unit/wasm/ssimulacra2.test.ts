/**
 * @module test/unit/wasm/ssimulacra2
 * SSIMULACRA 2.1 in perceptual.wasm: the reference's scores of stills, scores in double precision, and that both
 * implementations agree at all sizes around vectors, strips and scales.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Implementation } from '../../../src/core/module.js';
import { disturbed, format, type Picture, picture } from '../../support/metric.js';
import { PerceptualContext, readPng, runPerceptual, SRGB } from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { needsShared, sharedPath } from '../../support/shared.js';
import { tier } from '../../support/tier.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261126);
const FAST = [...SRGB, ...SRGB, 0, 0];
const EXACT = [...SRGB, ...SRGB, 1, 0];

const rgb = (width: number, height: number, bitDepth = 8) => format(width, height, bitDepth, '444');

function score(
  video: ReturnType<typeof rgb>,
  pair: readonly [Picture, Picture],
  options: readonly number[],
  implementation: Implementation = 'simd128',
): number {
  return runPerceptual(implementation, video, pair, 'ssimulacra2', options, 1)[0] ?? Number.NaN;
}

describe('ssimulacra2 of a picture made here', () => {
  /** Rings and stripes that differ by plane; the distorted one has 16 levels and a pattern. */
  const level = (x: number, y: number, plane: number) =>
    (((x * x + (3 + plane) * y * y) >> 3) + ((x * y) >> 2) * (plane + 1) + 40 * plane) & 255;
  const worse = (v: number, x: number, y: number) => Math.min(255, (v & ~15) + 8 + ((x * 5 + y * 3) % 7));

  // By an independent implementation: with the reference's float arithmetic, which equals the reference's SSE4 build on
  // the stills below, and in double precision.
  it.each([
    [64, 48, 77.29475178, 77.3156775],
    [61, 47, 76.7069706, 76.72912595],
    [9, 70, 92.7072676, 92.7072386],
    [8, 8, 91.86276542, 91.86271549],
    [130, 17, 88.97270542, 88.9805592],
  ])('%ix%i', (width, height, single, double) => {
    const video = rgb(width, height);
    const pair = [
      picture(video, level),
      picture(video, (x, y, plane) => worse(level(x, y, plane), x, y)),
    ] as const;
    expect(score(video, pair, EXACT)).toBeCloseTo(single, 7);
    expect(score(video, pair, FAST)).toBeCloseTo(double, 3);
  });

  // The lower score of two backgrounds: by the reference's SSE4 build, and by the double precision above.
  it.each([
    [64, 48, 79.63280987, 79.62606152],
    [61, 47, 79.24269895, 79.23451527],
    [8, 8, 94.8499543, 94.84992118],
    [130, 17, 90.13471775, 90.13223368],
  ])('%ix%i with alpha', (width, height, single, double) => {
    const video = rgb(width, height);
    const alpha = (x: number, y: number) => Math.min(255, 3 * x + 2 * y);
    const pair = [
      [...picture(video, level), ...picture(video, alpha).slice(0, 1)],
      [
        ...picture(video, (x, y, plane) => worse(level(x, y, plane), x, y)),
        ...picture(video, (x, y) => worse(alpha(x, y), x, y)).slice(0, 1),
      ],
    ] as const;
    expect(score(video, pair, EXACT).toFixed(8)).toBe(single.toFixed(8));
    expect(score(video, pair, FAST)).toBeCloseTo(double, 3);
    for (const options of [EXACT, FAST])
      expect(score(video, pair, options, 'portable')).toBe(score(video, pair, options));
  });

  it('is that without alpha where all is opaque', () => {
    const video = rgb(61, 47, 10);
    const pair = [
      picture(video, (x, y, plane) => 4 * level(x, y, plane)),
      picture(video, (x, y, plane) => 4 * worse(level(x, y, plane), x, y)),
    ] as const;
    const opaque = picture(video, () => 1023).slice(0, 1);
    const shown = [
      [...pair[0], ...opaque],
      [...pair[1], ...opaque],
    ] as const;
    expect(score(video, shown, EXACT)).toBe(score(video, pair, EXACT));
  });
});

interface Still {
  readonly size: readonly [number, number];
  readonly ssimulacra2: { readonly sse4: number; readonly own_f64?: number; readonly own_fir?: number };
}

const golden = sharedPath('golden/perceptual/values.json');

describe.skipIf(golden === undefined)(`ssimulacra2 of stills (${needsShared})`, () => {
  const { stills }: { stills: Record<string, Still> } = golden
    ? JSON.parse(readFileSync(golden, 'utf8'))
    : { stills: {} };

  it.each(Object.entries(stills))('%s', (name, { size, ssimulacra2: expected }) => {
    const [reference, distorted] = ['ref', 'dis'].map((side) =>
      readPng(sharedPath(`golden/perceptual/${name}_${side}.png`) ?? ''),
    );
    if (!reference || !distorted) throw new Error(`${name} has no pictures`);
    expect([reference.format.width, reference.format.height]).toEqual(size);
    const pair = [reference.planes, distorted.planes] as const;
    const [exact, fast] = [EXACT, FAST].map((options) => score(reference.format, pair, options));
    expect(exact?.toFixed(8)).toBe(expected.sse4.toFixed(8));
    if (expected.own_f64 !== undefined) expect(Math.abs((fast ?? 0) - expected.own_f64)).toBeLessThan(0.001);
    if (expected.own_fir !== undefined) expect(Math.abs((fast ?? 0) - expected.own_fir)).toBeLessThan(0.01);
    // The reference's own builds differ by 1 on graphics, from rounding.
    expect(Math.abs((fast ?? 0) - expected.sse4)).toBeLessThan(1.5);
  });
});

/** Noise, one level, black and white, a gradient. */
function ofKind(random: SeededRandom, kind: number, video: ReturnType<typeof rgb>): Picture {
  const top = 2 ** video.bitDepth - 1;
  const flat = random.int(0, top);
  return picture(video, (x, y, plane) => {
    if (kind === 0) return random.int(0, top);
    if (kind === 1) return flat;
    if (kind === 2) return random.int(0, 1) * top;
    return Math.min(top, Math.floor((top * (x + y + plane)) / (video.width + video.height)));
  });
}

describe('ssimulacra2', () => {
  it(`gives the same in both implementations at ${tier('many', 'all')} sizes, which share a context's memory (seed ${SEED})`, () => {
    const random = seeded(SEED);
    const sides = Array.from({ length: 70 }, (_, i) => i + 1);
    // Every remainder of vectors, then those around strips.
    const many = sides.filter((side) => side <= 24 || side % 16 <= 1 || side % 16 === 15 || side >= 69);
    for (const side of tier(many, sides)) {
      const other = random.int(1, 70);
      const video = side % 2 ? rgb(side, other, random.pick([8, 10, 16])) : rgb(other, side, 8);
      const contexts = (['portable', 'simd128'] as const).map((one) => new PerceptualContext(one, video));
      for (let kind = 0; kind < 4; kind++) {
        const reference = ofKind(random, kind, video);
        const distorted =
          kind % 2 ? disturbed(random, reference, video.bitDepth, 9) : ofKind(random, kind, video);
        const pair = { reference: [reference], distorted: [distorted] };
        // Modes take turns, so that each finds memory that the other has used.
        for (const options of [FAST, EXACT]) {
          const [portable, simd] = contexts.map((one) => one.run('ssimulacra2', pair, options, 1));
          expect(simd, `${video.width}x${video.height} kind ${kind} exact ${options.at(-1)}`).toEqual(
            portable,
          );
          expect(simd?.[0]).toBeLessThanOrEqual(100);
        }
      }
      for (const context of contexts) context.close();
    }
  }, 60_000);

  it(`gives equal pictures 100 and others less, at any size (seed ${SEED})`, () => {
    const random = seeded(SEED);
    const sizes = [
      [1, 1],
      [1, 40],
      [40, 1],
      [7, 7],
      [7, 200],
      [8, 8],
      [15, 16],
      [70, 33],
      [300, 4],
    ] as const;
    for (const [width, height] of sizes) {
      const video = rgb(width, height);
      const [one, other] = [
        picture(video, () => random.int(0, 120)),
        picture(video, () => random.int(130, 255)),
      ];
      for (const options of [FAST, EXACT]) {
        expect(score(video, [one, one], options), `${width}x${height}`).toBe(100);
        expect(score(video, [one, other], options), `${width}x${height}`).toBeLessThan(100);
      }
    }
  });

  it('does not depend on what was measured before', () => {
    const random = seeded(SEED);
    const video = rgb(67, 45);
    const context = new PerceptualContext('simd128', video);
    const [a, b, c] = [0, 2, 3].map((kind) => ofKind(random, kind, video));
    if (!a || !b || !c) throw new Error('no pictures');
    for (const options of [FAST, EXACT]) {
      const first = context.run('ssimulacra2', { reference: [a], distorted: [b] }, options, 1);
      context.run('ssimulacra2', { reference: [c], distorted: [a] }, options, 1);
      expect(context.run('ssimulacra2', { reference: [a], distorted: [b] }, options, 1)).toEqual(first);
    }
    context.close();
  });
});

describe('ssimulacra2 of wide primaries', () => {
  /** RGB of Display P3 of BT.709's: both by their chromaticities and D65. */
  const TO_P3: readonly (readonly number[])[] = [
    [0.822462, 0.177538, 0],
    [0.033194, 0.966806, 0],
    [0.017083, 0.072397, 0.91052],
  ];

  /** Of BT.709 in those of BT.2020 (BT.2087). */
  const TO_2020 = [
    [0.627404, 0.329283, 0.043313],
    [0.069097, 0.91954, 0.011362],
    [0.016391, 0.088013, 0.895595],
  ] as const;
  const curve = (v: number) => (v > 0.0031308 ? 1.055 * v ** (1 / 2.4) - 0.055 : 12.92 * v);

  it('finds the same light in RGB of BT.709 and in luma and chroma of BT.2020', () => {
    const video = rgb(64, 48, 16);
    const light = (x: number, y: number) =>
      [x / 80 + 0.1, y / 60 + 0.05, ((x + y) % 24) / 30 + 0.02] as const;
    const narrow = picture(video, (x, y, plane) => 65535 * curve(light(x, y)[(plane + 1) % 3] ?? 0));
    const wide = picture(video, (x, y, plane) => {
      const rgb709 = light(x, y);
      const [r, g, b] = TO_2020.map((row) => curve(row.reduce((sum, f, i) => sum + f * (rgb709[i] ?? 0), 0)));
      if (r === undefined || g === undefined || b === undefined) throw new Error('no colour');
      const luma = 0.2627 * r + 0.678 * g + 0.0593 * b;
      const planes = [luma, (b - luma) / 1.8814 + 32768 / 65535, (r - luma) / 1.4746 + 32768 / 65535];
      return 65535 * (planes[plane] ?? Number.NaN);
    });
    const colours = [...SRGB, 3, 1, 0, 0, 0, 1];
    expect(score(video, [narrow, wide], [...colours, 0, 0])).toBeGreaterThan(99.9);
    // Taken for BT.709 it is other light.
    expect(score(video, [narrow, wide], [...SRGB, 1, 1, 0, 0, 0, 0, 0, 0])).toBeLessThan(80);
    const p3 = picture(video, (x, y, plane) => {
      const row = TO_P3[(plane + 1) % 3] ?? [];
      return 65535 * curve(row.reduce((sum, f, i) => sum + f * (light(x, y)[i] ?? 0), 0));
    });
    expect(score(video, [narrow, p3], [...SRGB, ...SRGB.with(5, 2), 0, 0])).toBeGreaterThan(99.9);
    expect(score(video, [narrow, p3], FAST)).toBeLessThan(97);
  });
});
