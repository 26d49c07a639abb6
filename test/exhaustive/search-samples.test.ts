/**
 * @module test/exhaustive/search-samples
 * How often the measured value of a whole encode lies inside the interval that samples of it predict: forty searches with the
 * perceptual metrics as targets, on films whose scenes differ far more than those of real ones. Needs ffmpeg.
 */
import { describe, expect, it } from 'vitest';
import { type SearchOptions, searchQuality } from '../../src/index.js';
import { hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { type FilmPart, film } from '../support/films.js';
import { type SeededRandom, seeded } from '../support/random.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261127);
const [RATE, SECONDS] = [25, 120];

/** Scenes by their kind, no two of them alike. */
const SCENES: readonly ((random: SeededRandom) => Omit<FilmPart, 'frames'>)[] = [
  (random) => ({
    source: 'testsrc2',
    filter: `noise=alls=${random.int(1, 14)}:all_seed=${random.int(1, 999)}`,
  }),
  (random) => ({ source: `mandelbrot=start_scale=${(0.02 + random.next()).toFixed(3)}` }),
  // As good as still.
  (random) => ({
    source: `gradients=seed=${random.int(1, 999)}:speed=0.00001`,
    filter: 'noise=alls=6:all_seed=2',
  }),
  (random) => ({
    source: `gradients=seed=${random.int(1, 999)}:speed=${(0.005 + 0.05 * random.next()).toFixed(4)}`,
  }),
  (random) => ({ source: 'smptehdbars', filter: `rotate=a=t*${(0.1 + random.next()).toFixed(2)}` }),
  (random) => ({
    source: 'color=gray',
    filter: `noise=alls=${random.int(10, 60)}:allf=t:all_seed=3,gblur=0.8`,
  }),
  (random) => ({ source: `sierpinski=seed=${random.int(1, 999)}`, filter: 'eq=contrast=0.5' }),
];

/** Films of scenes of some seconds each, and which kinds they have. */
const FILMS: readonly {
  readonly seconds: readonly [least: number, most: number];
  readonly kinds: readonly number[];
}[] = [
  { seconds: [2, 5], kinds: [0, 1, 2, 3, 4, 5, 6] },
  { seconds: [4, 9], kinds: [0, 1, 3, 4, 6] },
  { seconds: [1, 3], kinds: [1, 4, 5] },
  { seconds: [5, 12], kinds: [0, 2, 3, 6] },
  { seconds: [2, 8], kinds: [0, 1, 5, 6] },
];

/** Two targets of each metric, for each film. */
const TARGETS: SearchOptions['targets'] = [
  { metric: 'ssimulacra2', atLeast: 60 },
  { metric: 'butteraugli_3norm', atMost: 2.5 },
  { metric: 'xpsnr_min', atLeast: 36 },
  { metric: 'cvvdp', atLeast: 9.5 },
  { metric: 'ssimulacra2', atLeast: 80 },
  { metric: 'butteraugli_3norm', atMost: 1.2 },
  { metric: 'xpsnr_min', atLeast: 42 },
  { metric: 'cvvdp', atLeast: 9.8 },
];

function makeFilm({ seconds: [least, most], kinds }: (typeof FILMS)[number], random: SeededRandom): string {
  const parts: FilmPart[] = [];
  for (let left = SECONDS * RATE; left > 0; ) {
    const frames = Math.min(left, random.int(least * RATE, most * RATE));
    const scene = SCENES[random.pick(kinds)];
    if (scene) parts.push({ ...scene(random), frames });
    left -= frames;
  }
  return film({ parts, size: '80x44', rate: String(RATE) });
}

describe.skipIf(!hasFfmpeg)(`samples of a film (${needsFfmpeg}, seed ${SEED})`, () => {
  it('predict an interval that holds the value of the whole encode in 95 % of searches', {
    timeout: 7_200_000,
  }, async () => {
    const random = seeded(SEED);
    const outside: string[] = [];
    let searches = 0;
    for (const [i, one] of FILMS.entries()) {
      const source = makeFilm(one, random);
      for (const target of TARGETS) {
        const { value, samples, predicted, final } = await searchQuality(source, {
          encoder: 'libx264',
          encoderOptions: { preset: 'ultrafast' },
          range: { min: 16, max: 44, step: 4 },
          targets: [target],
          verify: true,
          cache: false,
          threads: 0,
        });
        expect(samples?.length ?? 0).toBeGreaterThan(10);
        const whole = final?.qualities[0] ?? Number.NaN;
        const [low, high] = predicted.interval95;
        searches++;
        const line = `film ${i}, ${JSON.stringify(target)}, CRF ${value}: ${whole.toFixed(4)} in ${low.toFixed(4)} to ${high.toFixed(4)}`;
        if (process.env.ANYVMAF_SHOW) console.log(line);
        if (!(low <= whole && whole <= high)) outside.push(line);
      }
    }
    expect(searches).toBe(40);
    expect(outside.length, outside.join('\n')).toBeLessThanOrEqual(searches * 0.05);
  });
});
