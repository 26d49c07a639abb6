/**
 * @module test/unit/wasm/perceptual
 * SSIMULACRA 2.1 and butteraugli: scores of the references and of programs in double precision, and the same bits in
 * portable C and SIMD128 at all sizes around vectors, strips and scales.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { Core, type Implementation } from '../../../src/core/module.js';
import { BUTTERAUGLI } from '../../../src/metrics/butteraugli.js';
import { coreCalls, doubles } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { disturbed, format, type Picture, picture } from '../../support/metric.js';
import { PerceptualContext, perceptual, readPng, runPerceptual, SRGB } from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

type Pair = readonly [Picture, Picture];

/** Sizes such as 1x40. */
const sizes = (text: string) =>
  text.split(' ').map((size) => size.split('x').map(Number) as [number, number]);

const FAST = [...SRGB, ...SRGB, 0, 0];
const EXACT = [...SRGB, ...SRGB, 1, 0];

function ssimulacra2(video: VideoFormat, pair: Pair, options: number[], one: Implementation = 'simd128') {
  return runPerceptual(one, video, pair, 'ssimulacra2', options, 1)[0] ?? Number.NaN;
}

/** A picture of a still of ../shared. */
const still = (name: string, side: 'ref' | 'dis') =>
  readPng(sharedPath(`golden/perceptual/${name}_${side}.png`) ?? '');

/** Rings and stripes that differ by plane; the distorted one has 16 levels and a pattern. */
const level = (x: number, y: number, plane: number) =>
  (((x * x + (3 + plane) * y * y) >> 3) + ((x * y) >> 2) * (plane + 1) + 40 * plane) & 255;
const worse = (v: number, x: number, y: number) => Math.min(255, (v & ~15) + 8 + ((x * 5 + y * 3) % 7));
const alpha = (x: number, y: number) => Math.min(255, 3 * x + 2 * y);

/** The pair of these. @param times what a sample of 8 bits is multiplied with */
const rings = (video: VideoFormat, times = 1): Pair => [
  picture(video, (x, y, plane) => times * level(x, y, plane)),
  picture(video, (x, y, plane) => times * worse(level(x, y, plane), x, y)),
];

/** The pair with alpha. */
function ringsWithAlpha(video: VideoFormat): Pair {
  const [reference, distorted] = rings(video);
  return [
    [...reference, ...picture(video, alpha).slice(0, 1)],
    [...distorted, ...picture(video, (x, y) => worse(alpha(x, y), x, y)).slice(0, 1)],
  ];
}

describe('ssimulacra2 of a picture made here', () => {
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
    const pair = rings(video);
    expect(ssimulacra2(video, pair, EXACT)).toBeCloseTo(single, 7);
    expect(ssimulacra2(video, pair, FAST)).toBeCloseTo(double, 3);
  });

  // The lower ssimulacra2 of two backgrounds: by the reference's SSE4 build, and by the double precision above.
  it.each([
    [64, 48, 79.63280987, 79.62606152],
    [61, 47, 79.24269895, 79.23451527],
    [8, 8, 94.8499543, 94.84992118],
    [130, 17, 90.13471775, 90.13223368],
  ])('%ix%i with alpha', (width, height, single, double) => {
    const video = rgb(width, height);
    const pair = ringsWithAlpha(video);
    expect(ssimulacra2(video, pair, EXACT).toFixed(8)).toBe(single.toFixed(8));
    expect(ssimulacra2(video, pair, FAST)).toBeCloseTo(double, 3);
    for (const options of [EXACT, FAST])
      expect(ssimulacra2(video, pair, options, 'portable')).toBe(ssimulacra2(video, pair, options));
  });

  it('is that without alpha where all is opaque', () => {
    const video = rgb(61, 47, 10);
    const pair = rings(video, 4);
    const opaque = (planes: Picture): Picture => [...planes, ...picture(video, () => 1023).slice(0, 1)];
    const shown = ssimulacra2(video, [opaque(pair[0]), opaque(pair[1])], EXACT);
    expect(shown).toBe(ssimulacra2(video, pair, EXACT));
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
    const [reference, distorted] = [still(name, 'ref'), still(name, 'dis')];
    expect([reference.format.width, reference.format.height]).toEqual(size);
    const pair = [reference.planes, distorted.planes] as const;
    const [exact, fast] = [EXACT, FAST].map((options) => ssimulacra2(reference.format, pair, options));
    expect(exact?.toFixed(8)).toBe(expected.sse4.toFixed(8));
    if (expected.own_f64 !== undefined) expect(Math.abs((fast ?? 0) - expected.own_f64)).toBeLessThan(0.001);
    if (expected.own_fir !== undefined) expect(Math.abs((fast ?? 0) - expected.own_fir)).toBeLessThan(0.01);
    // The reference's own builds differ by 1 on graphics, from rounding.
    expect(Math.abs((fast ?? 0) - expected.sse4)).toBeLessThan(1.5);
  });
});

/** Noise, one level, black and white, a gradient. */
function ofKind(random: SeededRandom, kind: number, video: VideoFormat): Picture {
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
          const which = `${video.width}x${video.height} kind ${kind} exact ${options.at(-1)}`;
          expect(simd, which).toEqual(portable);
          expect(simd?.[0]).toBeLessThanOrEqual(100);
        }
      }
      for (const context of contexts) context.close();
    }
  }, 60_000);

  it(`gives equal pictures 100 and others less, at any size (seed ${SEED})`, () => {
    const random = seeded(SEED);
    for (const [width, height] of sizes('1x1 1x40 40x1 7x7 7x200 8x8 15x16 70x33 300x4')) {
      const video = rgb(width, height);
      const noise = (low: number, high: number) => picture(video, () => random.int(low, high));
      const [one, other] = [noise(0, 120), noise(130, 255)];
      for (const options of [FAST, EXACT]) {
        expect(ssimulacra2(video, [one, one], options), `${width}x${height}`).toBe(100);
        expect(ssimulacra2(video, [one, other], options), `${width}x${height}`).toBeLessThan(100);
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
    expect(ssimulacra2(video, [narrow, wide], [...colours, 0, 0])).toBeGreaterThan(99.9);
    // Taken for BT.709 it is other light.
    expect(ssimulacra2(video, [narrow, wide], [...SRGB, 1, 1, 0, 0, 0, 0, 0, 0])).toBeLessThan(80);
    const p3 = picture(video, (x, y, plane) => {
      const row = TO_P3[(plane + 1) % 3] ?? [];
      return 65535 * curve(row.reduce((sum, f, i) => sum + f * (light(x, y)[i] ?? 0), 0));
    });
    expect(ssimulacra2(video, [narrow, p3], [...SRGB, ...SRGB.with(5, 2), 0, 0])).toBeGreaterThan(99.9);
    expect(ssimulacra2(video, [narrow, p3], FAST)).toBeLessThan(97);
  });
});

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261126);

/** Maximum and 3-norm of a pair in RGB. */
function score(video: VideoFormat, pair: Pair, nits = 80, implementation: Implementation = 'simd128') {
  const options = [...SRGB, ...SRGB, nits];
  return runPerceptual(implementation, video, pair, 'butteraugli', options, 2);
}

/** Maximum, 3-norm and the difference of each pixel. */
function scoreWithMap(video: VideoFormat, pair: Pair, implementation: Implementation) {
  const core = new Core(perceptual);
  const context = new PerceptualContext(implementation, video, core);
  const bytes = 4 * video.width * video.height;
  const map = core.alloc(bytes);
  const pictures = { reference: [pair[0]], distorted: [pair[1]] };
  const options = [...SRGB, ...SRGB, 80];
  const args = ['frames', 'parameters', 'heatmaps'] as const;
  const values = context.run('butteraugli_map', pictures, options, 2, args, map);
  const differences = new Float32Array(core.memory.buffer.slice(map, map + bytes));
  context.close();
  return { values, differences };
}

const rgb = (width: number, height: number, bitDepth = 8) => format(width, height, bitDepth, '444');

/** How far a value is from what is expected, as a part of that. */
const relative = (value: number | undefined, expected: number) =>
  Math.abs((value ?? Number.NaN) - expected) / expected;

/** Slopes and steps, and the same in 16 levels with a pattern instead of what they lose. Planes are G, B and R. */
function madePair(video: VideoFormat): Pair {
  const channel = (plane: number) => (plane + 1) % 3;
  const slope = (x: number, y: number, c: number) =>
    (x * (3 + c) + y * (5 - c) + ((x >> 3) ^ (y >> 2)) * 16) & 255;
  return [
    picture(video, (x, y, plane) => slope(x, y, channel(plane))),
    picture(video, (x, y, plane) => {
      const c = channel(plane);
      return Math.min(255, (slope(x, y, c) & 0xf0) + ((x * y) % 7) * (c + 1));
    }),
  ];
}

const KINDS = ['noise', 'flat', 'saturated', 'gradient'] as const;

/** A picture of one kind, and one that is near to it or another. */
function randomPair(random: SeededRandom, video: VideoFormat): Pair {
  const top = 2 ** video.bitDepth - 1;
  const draw = (): Picture => {
    const kind = random.pick(KINDS);
    const level = random.int(0, top);
    return picture(video, (x, y, plane) => {
      if (kind === 'noise') return random.int(0, top);
      if (kind === 'flat') return level;
      if (kind === 'saturated') return random.int(0, 1) * top;
      return Math.floor(((x * (plane + 1) + y * 3) * top) / 256) % (top + 1);
    });
  };
  const reference = draw();
  const near = random.int(0, 3) > 0;
  const distorted = near ? disturbed(random, reference, video.bitDepth, random.pick([1, 5, top])) : draw();
  return [reference, distorted];
}

/** Maximum and 3-norm of libjxl's butteraugli_main (aea3a06e) for 80 and for 203 cd/m2. */
const STILLS = {
  dark: { 80: [1.6249371767, 0.783353], 203: [2.621222496, 1.362431] },
  film: { 80: [6.2711381912, 2.527864], 203: [8.3051671982, 3.352309] },
  graphics: { 80: [5.2175149918, 1.694859], 203: [6.4674701691, 2.066956] },
  news: { 80: [20.4988880157, 13.534759], 203: [19.9728755951, 14.565755] },
  noise: { 80: [12.3028354645, 9.984679], 203: [14.3717603683, 11.34583] },
  odd: { 80: [8.1200504303, 4.147951], 203: [9.3136920929, 4.693457] },
  small: { 80: [5.2914094925, 3.058534], 203: [6.3293886185, 3.612477] },
  street: { 80: [12.7337341309, 3.633089], 203: [17.2013244629, 4.795858] },
} as const;

describe('butteraugli of libjxl', () => {
  it.skipIf(!sharedPath('golden/perceptual'))(`is met within 1e-5 on still pictures (${needsShared})`, () => {
    const wrong = Object.entries(STILLS).flatMap(([name, expected]) => {
      const [reference, distorted] = [still(name, 'ref'), still(name, 'dis')];
      return ([80, 203] as const).flatMap((nits) => {
        const [maximum, norm] = score(reference.format, [reference.planes, distorted.planes], nits);
        const off = Math.max(relative(maximum, expected[nits][0]), relative(norm, expected[nits][1]));
        return off <= 1e-5 ? [] : [`${name} at ${nits}: ${maximum}, ${norm}, off by ${off}`];
      });
    });
    expect(wrong).toEqual([]);
  });
});

describe('butteraugli of pictures with alpha', () => {
  // Of an implementation in double precision: of each pixel the larger difference on black and on white.
  it.each([
    [64, 48, 3.3060575, 2.6075253],
    [61, 47, 3.5677175, 2.5963666],
    [8, 8, 2.3397751, 1.9326625],
    [130, 17, 3.3215407, 2.6946009],
  ])('of %ix%i is the larger one on black and on white', (width, height, maximum, norm) => {
    const video = rgb(width, height);
    const pair = ringsWithAlpha(video);
    const found = score(video, pair);
    // The quotient for sRGB errs by as much in dark blends.
    expect(relative(found[0], maximum)).toBeLessThan(2e-5);
    expect(relative(found[1], norm)).toBeLessThan(2e-5);
    expect(score(video, pair, 80, 'portable')).toEqual(found);
    const { values, differences } = scoreWithMap(video, pair, 'simd128');
    expect([values, Math.max(...differences)]).toEqual([found, found[0]]);
  });
});

describe('butteraugli', () => {
  /** Of an implementation in double precision with an exact logarithm: the reference first, then the other way round. */
  const MADE = [
    { size: [61, 47], nits: 80, expected: [2.711874, 1.951845], back: [2.5593958, 1.881622] },
    { size: [61, 47], nits: 1000, expected: [5.6598494, 3.583914], back: [5.192667, 3.454494] },
    { size: [24, 33], nits: 203, expected: [3.4384501, 2.624724], back: [3.1632826, 2.482753] },
    { size: [15, 15], nits: 80, expected: [2.6004245, 2.20733], back: [2.3306598, 2.048323] },
    { size: [9, 12], nits: 203, expected: [3.0512234, 2.477096], back: [2.5811791, 2.255078] },
  ] as const;

  it('equals an implementation in double precision within 3e-5, also where a picture has one scale only', () => {
    const wrong = MADE.flatMap(({ size, nits, expected, back }) => {
      const video = rgb(size[0], size[1]);
      const [a, b] = madePair(video);
      const values = [...score(video, [a, b], nits), ...score(video, [b, a], nits)];
      const off = Math.max(...[...expected, ...back].map((value, i) => relative(values[i], value)));
      return off <= 3e-5 ? [] : [`${size} at ${nits}: ${values}, off by ${off}`];
    });
    expect(wrong).toEqual([]);
  });

  it('is 0 for equal pictures', () => {
    const random = seeded(SEED);
    for (const size of [3, 8, 15, 40]) {
      const [reference] = randomPair(random, rgb(size, size + 1));
      expect(score(rgb(size, size + 1), [reference, reference]), `seed ${SEED}`).toEqual([0, 0]);
    }
  });

  it('takes a small picture for one whose borders go on', () => {
    const video = rgb(5, 6);
    const pair = madePair(video);
    const grown = pair.map((planes) =>
      planes.map((samples) => {
        const at = (x: number, y: number) =>
          samples[Math.min(5, Math.max(0, y - 1)) * 5 + Math.min(4, Math.max(0, x - 1))] ?? 0;
        return Uint8Array.from({ length: 64 }, (_, i) => at(i % 8, i >> 3));
      }),
    );
    const whole = scoreWithMap(rgb(8, 8), [grown[0] ?? [], grown[1] ?? []], 'simd128').differences;
    const inside = Array.from({ length: 30 }, (_, i) => whole[(Math.floor(i / 5) + 1) * 8 + (i % 5) + 1]);
    expect([...scoreWithMap(video, pair, 'simd128').differences]).toEqual(inside);
  });

  it('grows with the luminance of white, and hardly with bit depth', () => {
    const video = rgb(40, 30);
    const pair = madePair(video);
    const [low = 0, high = 0] = [80, 203].map((nits) => score(video, pair, nits)[0]);
    expect(high).toBeGreaterThan(low);
    // 8 bits become 10 with an error of at most an eighth of a step.
    const [a, b] = pair.map((planes) =>
      planes.map((samples) => Uint16Array.from(samples, (v) => Math.round((v * 1023) / 255))),
    );
    expect(relative(score(rgb(40, 30, 10), [a ?? [], b ?? []])[0], low)).toBeLessThan(0.02);
  });

  it('takes the luminance of PQ from the pictures', () => {
    const pq = [0, 1, 6, 0, 0, 1];
    const pair = madePair(rgb(16, 16));
    const scores = [80, 1000].map((nits) =>
      runPerceptual('simd128', rgb(16, 16), pair, 'butteraugli', [...pq, ...pq, nits], 2),
    );
    expect(scores[0]).toEqual(scores[1]);
  });

  it('gives a map whose maximum is the score', () => {
    const random = seeded(SEED);
    for (const [width, height] of sizes('1x1 7x20 8x8 33x18 64x35')) {
      const video = rgb(width, height);
      const { values, differences } = scoreWithMap(video, randomPair(random, video), 'simd128');
      expect(Math.max(...differences), `${width}x${height}, seed ${SEED}`).toBe(values[0]);
      expect(values[1]).toBeLessThanOrEqual((values[0] ?? 0) * 1.000001);
    }
  });

  it(`gives the same bits in portable C and SIMD128 (seed ${SEED})`, () => {
    const random = seeded(SEED);
    const wrong: string[] = [];
    for (let i = 0; i < tier(70, 1000); i++) {
      const video = rgb(1 + (i % 70), random.int(1, 70), random.pick([8, 8, 10, 16]));
      const pair = randomPair(random, video);
      const [c, simd] = (['portable', 'simd128'] as const).map((one) => scoreWithMap(video, pair, one));
      const equal =
        c?.values.join() === simd?.values.join() && c?.differences.join() === simd?.differences.join();
      const finite = c?.values.every(Number.isFinite) && c.differences.every(Number.isFinite);
      if (!equal || !finite)
        wrong.push(`${video.width}x${video.height}, ${video.bitDepth} bits: ${c?.values}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('the butteraugli extractor', () => {
  const instance = parseFeature('butteraugli=intensity_target=203');
  const colour = {
    ...({ matrix: 'gbr', range: 'full', transfer: 'srgb' } as const),
    ...({ siting: 'left', upsampling: 'bicubic' } as const),
  };
  const scored = { ...rgb(24, 33), colours: { reference: colour, distorted: colour } };

  it('calls perceptual.wasm with both colours and the luminance of white', () => {
    const variant = BUTTERAUGLI.measure(instance, scored, 'libvmaf-3.2');
    const [call] = variant ? coreCalls(BUTTERAUGLI, [variant], scored) : [];
    expect(call).toMatchObject({ run: 'butteraugli', module: 'perceptual', fields: 2, chroma: true });
    expect(call?.parameters).toEqual(doubles([...SRGB, ...SRGB, 203]));
  });
});
