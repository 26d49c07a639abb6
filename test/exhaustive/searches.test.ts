/**
 * @module test/exhaustive/searches
 * Searches and shots with real encoders: cuts of a film, joined shots of odd sizes, searches by other metrics, and how often the
 * value of the whole encode lies in the interval predicted from samples. Needs ffmpeg.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { detectShots, type SearchOptions, searchQuality, tuneShots } from '../../src/index.js';
import { canJoin, counters, type FilmPart, film, hasFfmpeg, needsFfmpeg, probed } from '../support/encode.js';
import { testFolder } from '../support/folders.js';
import { type SeededRandom, seeded } from '../support/random.js';

const FAST = {
  encoder: 'libx264',
  encoderOptions: { preset: 'ultrafast' },
  threads: 0,
  cache: false,
} as const;

describe.skipIf(!hasFfmpeg)(`shots of films (${needsFfmpeg})`, () => {
  const folder = testFolder();

  it('are found at every cut, also in the dark, and not in fades and flashes', async () => {
    const dark = 'lutyuv=y=val/5+16';
    const source = film({
      parts: [
        { source: 'testsrc2', frames: 30, filter: 'drawbox=color=white:t=fill:enable=between(n\\,12\\,13)' },
        { source: 'mandelbrot', frames: 25 },
        { source: 'testsrc2', frames: 40, filter: 'fade=out:10:10,fade=in:22:10' },
        { source: 'mandelbrot', frames: 20, filter: dark },
        { source: 'smptehdbars', frames: 20, filter: dark },
      ],
    });
    const { shots } = await detectShots(source, { minSeconds: 0.2 });
    expect(shots.map(({ first }) => first)).toEqual([0, 30, 55, 95, 115]);
  });

  it.skipIf(!canJoin())('are joined with odd sizes, by an encoder with hidden packets', async () => {
    const parts = [
      { source: 'testsrc2', frames: 12 },
      { source: 'mandelbrot', frames: 9, filter: 'noise=alls=12:all_seed=5' },
    ];
    const odd = film({ parts, counted: true, filter: 'scale=129:73:flags=neighbor' });
    const output = join(folder, 'odd.mp4');
    await tuneShots(odd, {
      ...FAST,
      encoder: 'libvpx-vp9',
      encoderOptions: { deadline: 'realtime', 'cpu-used': '8' },
      minSeconds: 0.2,
      range: { min: 26, max: 26 },
      targets: [{ atLeast: 1 }],
      output,
    });
    expect(probed(output, 'stream=width,height')).toContain('width=129|height=73');
    expect(counters(output)).toEqual(Array.from({ length: 21 }, (_, i) => i));
  });
});

describe.skipIf(!hasFfmpeg)(`a search of an unusual source or by other metrics (${needsFfmpeg})`, () => {
  const folder = testFolder();

  /** Makes a source with ffmpeg's arguments after the input. */
  const make = (name: string, args: readonly string[], graph = 'testsrc2=s=96x64:r=25') => {
    const path = join(folder, name);
    const words = ['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i', graph, ...args, path];
    execFileSync('ffmpeg', words, { stdio: 'pipe' });
    return path;
  };
  const search = (source: string, options: Partial<SearchOptions> = {}) =>
    searchQuality(source, { ...FAST, range: { min: 24, max: 24 }, targets: [{ atLeast: 50 }], ...options });

  it('of one RGB picture converts it, with the matrix in the command', async () => {
    const { command, samples, predicted } = await search(make('still.png', ['-frames:v', '1']));
    expect(command.join(' ')).toMatch(
      /-vf scale=out_color_matrix=bt709:out_range=limited\S* -colorspace bt709 -color_range tv/,
    );
    expect([samples, predicted.value > 50]).toEqual([null, true]);
  });

  const SOURCES = [
    'testsrc2=s=160x96:r=25',
    'mandelbrot=s=160x96:r=25',
    'testsrc2=s=160x96:r=25,noise=alls=12:all_seed=5',
    'mandelbrot=s=160x96:r=25,gblur=sigma=2',
    'life=s=160x96:r=25:seed=7:mold=10:death_color=#204060:life_color=#e0d0b0,gblur=sigma=1',
    'gradients=s=160x96:r=25:seed=3:speed=0.05,noise=alls=4:all_seed=9',
  ];

  it.each([
    ['ssimulacra2', 'atLeast'],
    ['butteraugli_3norm', 'atMost'],
    ['xpsnr_min', 'atLeast'],
    ['cvvdp', 'atLeast'],
  ] as const)(
    'finds by %s the value of the full grid on six sources',
    { timeout: 300_000 },
    async (metric, side) => {
      const range = { min: 16, max: 40, step: 1 };
      const targetOf = (bound: number) =>
        side === 'atLeast' ? { metric, atLeast: bound } : { metric, atMost: bound };
      const answers: unknown[] = [];
      const right: unknown[] = [];
      for (const [i, graph] of SOURCES.entries()) {
        const source = make(
          `grid-${i}.mkv`,
          ['-frames:v', '6', '-pix_fmt', 'yuv420p', '-c:v', 'ffv1'],
          graph,
        );
        const all = await search(source, { range, all: true, targets: [targetOf(0)] });
        // Between two middle values, so that there are some on both sides.
        const at = (value: number) =>
          all.points.find((point) => point.value === value)?.quality ?? Number.NaN;
        const quality = (at(22 + 2 * i) + at(23 + 2 * i)) / 2;
        const holds = (value: number) => (side === 'atLeast' ? value >= quality : value <= quality);
        const best = Math.max(...all.points.flatMap((point) => (holds(point.quality) ? point.value : [])));
        const found = await search(source, { range, targets: [targetOf(quality)] });
        answers.push([graph, found.value, found.shortfall]);
        right.push([graph, best, null]);
        expect(found.encodes).toBeLessThanOrEqual(9);
      }
      expect(answers).toEqual(right);
    },
  );
});

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261127);
const [RATE, SECONDS] = [25, 120];

/** Random scenes, by kind. */
const SCENES: readonly ((random: SeededRandom) => Omit<FilmPart, 'frames'>)[] = [
  (random) => ({
    source: 'testsrc2',
    filter: `noise=alls=${random.int(1, 14)}:all_seed=${random.int(1, 999)}`,
  }),
  (random) => ({ source: `mandelbrot=start_scale=${(0.02 + random.next()).toFixed(3)}` }),
  // Almost a still.
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

/** Videos of scenes of some seconds each, with their kinds. */
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

/** Two targets of each metric, for each video. */
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

describe.skipIf(!hasFfmpeg)(`samples of a video (${needsFfmpeg}, seed ${SEED})`, () => {
  it('predict an interval that contains the value of the whole encode in 95 % of searches', {
    timeout: 7_200_000,
  }, async () => {
    const random = seeded(SEED);
    const outside: string[] = [];
    let searches = 0;
    for (const [i, film] of FILMS.entries()) {
      const source = makeFilm(film, random);
      for (const target of TARGETS) {
        const { value, samples, predicted, final } = await searchQuality(source, {
          ...FAST,
          ...{ range: { min: 16, max: 44, step: 4 }, targets: [target], verify: true },
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
