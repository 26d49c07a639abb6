/**
 * @module test/unit/wasm/butteraugli
 * Butteraugli against libjxl's butteraugli_main (aea3a06e) on still pictures, against an independent implementation in
 * double precision on pictures made here, and its portable C against SIMD128, to the last bit.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { Core, type Implementation } from '../../../src/core/module.js';
import { BUTTERAUGLI } from '../../../src/metrics/butteraugli.js';
import { coreCalls, doubles } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { disturbed, format, type Picture, picture } from '../../support/metric.js';
import { PerceptualContext, perceptual, readPng, runPerceptual, SRGB } from '../../support/perceptual.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { needsShared, sharedPath } from '../../support/shared.js';
import { tier } from '../../support/tier.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261126);

type Pair = readonly [Picture, Picture];

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

/** Maximum and 3-norm of butteraugli_main for 80 and for 203 cd/m2. */
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
      const [reference, distorted] = ['ref', 'dis'].map((side) =>
        readPng(sharedPath(`golden/perceptual/${name}_${side}.png`) ?? ''),
      );
      if (!reference || !distorted) throw new Error(`${name} is not there`);
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
  const level = (x: number, y: number, plane: number) =>
    (((x * x + (3 + plane) * y * y) >> 3) + ((x * y) >> 2) * (plane + 1) + 40 * plane) & 255;
  const worse = (v: number, x: number, y: number) => Math.min(255, (v & ~15) + 8 + ((x * 5 + y * 3) % 7));
  const alpha = (x: number, y: number) => Math.min(255, 3 * x + 2 * y);

  // Of an implementation in double precision: of each pixel the larger difference on black and on white.
  it.each([
    [64, 48, 3.3060575, 2.6075253],
    [61, 47, 3.5677175, 2.5963666],
    [8, 8, 2.3397751, 1.9326625],
    [130, 17, 3.3215407, 2.6946009],
  ])('of %ix%i is the larger one on black and on white', (width, height, maximum, norm) => {
    const video = rgb(width, height);
    const pair: Pair = [
      [...picture(video, level), ...picture(video, alpha).slice(0, 1)],
      [
        ...picture(video, (x, y, plane) => worse(level(x, y, plane), x, y)),
        ...picture(video, (x, y) => worse(alpha(x, y), x, y)).slice(0, 1),
      ],
    ];
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
    for (const [width, height] of [
      [1, 1],
      [7, 20],
      [8, 8],
      [33, 18],
      [64, 35],
    ] as const) {
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
