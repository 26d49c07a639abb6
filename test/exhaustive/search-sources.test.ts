/**
 * @module test/exhaustive/search-sources
 * Searches with real encoders, of unusual sources: each gives a right answer or a clear error; and how often the measured value
 * of a whole encode lies inside the interval that samples of it predict. Needs ffmpeg.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SearchOptions, searchQuality } from '../../src/index.js';
import { type FilmPart, film, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { testFolder } from '../support/folders.js';
import { type SeededRandom, seeded } from '../support/random.js';
import { refusalOf } from '../support/refusals.js';

const FAST = { encoder: 'libx264', encoderOptions: { preset: 'ultrafast' } } as const;

const run = (tool: string, args: readonly string[]) =>
  execFileSync(tool, ['-v', 'error', ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

describe.skipIf(!hasFfmpeg)(`a search of an unusual source (${needsFfmpeg})`, () => {
  const folder = testFolder();

  /** Makes a source with ffmpeg's arguments after the input. */
  const make = (name: string, args: readonly string[], graph = 'testsrc2=s=96x64:r=25') => {
    const path = join(folder, name);
    run('ffmpeg', ['-nostdin', '-y', '-f', 'lavfi', '-i', graph, ...args, path]);
    return path;
  };
  const search = (source: string, options: Partial<SearchOptions> = {}) =>
    searchQuality(source, {
      ...FAST,
      range: { min: 24, max: 24 },
      targets: [{ atLeast: 50 }],
      cache: false,
      threads: 0,
      ...options,
    });
  const facts = (path: string, entries: string) =>
    run('ffprobe', [
      '-select_streams',
      'v',
      '-count_packets',
      '-show_entries',
      entries,
      '-of',
      'csv=p=0',
      path,
    ])
      .trim()
      .replace(/,+$/, '');

  it('of one frame is encoded whole', async () => {
    const still = make('still.mkv', ['-frames:v', '1', '-c:v', 'ffv1']);
    const { samples, final, predicted } = await search(still, { verify: true });
    expect(samples).toBeNull();
    expect(final?.pooled.vmaf?.mean).toBe(predicted.value);
    expect(predicted.interval99).toEqual([predicted.value, predicted.value]);
  });

  it('that is a picture of RGB is converted, by a matrix that the command names', async () => {
    const picture = make('still.png', ['-frames:v', '1']);
    const { command, predicted } = await search(picture);
    expect(command.join(' ')).toMatch(
      /-vf scale=out_color_matrix=bt709:out_range=limited\S* -colorspace bt709 -color_range tv/,
    );
    expect(predicted.value).toBeGreaterThan(50);
  });

  it('of odd size is encoded where the encoder can, and refused in its words where not', async () => {
    const full = make(
      'odd444.mkv',
      ['-frames:v', '6', '-pix_fmt', 'yuv444p', '-c:v', 'ffv1'],
      'mandelbrot=s=97x65:r=25',
    );
    const output = join(folder, 'odd.mp4');
    await search(full, { output });
    expect(facts(output, 'stream=width,height,pix_fmt')).toBe('97,65,yuv444p');
    const half = make(
      'odd420.mkv',
      ['-frames:v', '6', '-pix_fmt', 'yuv420p', '-c:v', 'ffv1'],
      'mandelbrot=s=97x65:r=25',
    );
    expect(await refusalOf('media', () => search(half))).toMatch(
      /libx264 could not encode .*odd420\.mkv.*divisible by 2/,
    );
  });

  it('keeps depth and colour of 10 bit and HDR', async () => {
    const colour = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
    const source = make('hdr.mp4', [
      ...['-frames:v', '8', '-pix_fmt', 'yuv420p10le', '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '4'],
      ...colour,
    ]);
    const output = join(folder, 'hdr-out.mkv');
    await search(source, { output });
    expect(facts(output, 'stream=pix_fmt,color_space,color_transfer,color_primaries')).toBe(
      'yuv420p10le,bt2020nc,smpte2084,bt2020',
    );
  });

  it('keeps full range, in samples and in the whole, and scores it as such', {
    timeout: 60_000,
  }, async () => {
    const args = ['-frames:v', '1500', '-vf', 'scale=out_range=full', '-color_range', 'pc'];
    const source = make('full.mp4', [...args, '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '6']);
    const output = join(folder, 'full-out.mkv');
    const { samples, predicted, final } = await search(source, { output });
    expect(samples).not.toBeNull();
    expect(facts(output, 'stream=color_range')).toBe('pc');
    expect(final?.pooled.vmaf?.mean).toBeGreaterThan(85);
    expect(Math.abs((final?.pooled.vmaf?.mean ?? 0) - predicted.value)).toBeLessThan(1);
  });

  it('keeps frames and times of a variable frame rate', async () => {
    const uneven = "setpts='(N+0.4*mod(N,3)*gt(N,4))/25/TB'";
    const args = ['-frames:v', '12', '-vf', uneven, '-vsync', 'vfr', '-c:v', 'ffv1'];
    const source = make('uneven.mkv', args);
    const output = join(folder, 'uneven-out.mkv');
    await search(source, { output });
    const times = (path: string) =>
      facts(path, 'packet=pts_time')
        .split(/[\s,]+/)
        .map(Number)
        .sort((a, b) => a - b);
    expect(times(output)).toHaveLength(12);
    times(output).forEach((time, i) => {
      expect(Math.abs(time - (times(source)[i] as number))).toBeLessThan(0.002);
    });
  });

  it('that is long is sampled frame for frame, and the samples predict the whole', async () => {
    const args = ['-frames:v', '1500', '-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3'];
    const long = make('long.mp4', args, 'mandelbrot=s=96x64:r=25');
    const { samples, predicted, final } = await search(long, { range: { min: 34, max: 34 }, verify: true });
    expect(samples?.length).toBeGreaterThanOrEqual(6);
    const mean = final?.pooled.vmaf?.mean ?? Number.NaN;
    expect(predicted.interval99[0]).toBeLessThanOrEqual(mean);
    expect(predicted.interval99[1]).toBeGreaterThanOrEqual(mean);
  });

  it('that cannot be read twice is refused, and nothing waits for it', async () => {
    const pipe = join(folder, 'pipe.mkv');
    execFileSync('mkfifo', [pipe]);
    await expect(search(pipe)).rejects.toMatchObject({ message: expect.stringMatching(/is a pipe/) });
  });

  it('writes an encode that is named without a folder where the command was started', async () => {
    const source = make('named.mkv', ['-frames:v', '4', '-c:v', 'ffv1']);
    const here = process.cwd();
    process.chdir(folder);
    try {
      const { final } = await search(source, { output: 'named-out.mkv' });
      expect(final?.file).toBe('named-out.mkv');
      expect(existsSync(join(folder, 'named-out.mkv'))).toBe(true);
    } finally {
      process.chdir(here);
    }
  });

  it('ends with an error where an encode outgrows the space allowed, and writes no file', async () => {
    const source = make(
      'noise.mkv',
      ['-frames:v', '24', '-c:v', 'ffv1'],
      'nullsrc=s=96x64:r=25,noise=alls=90:allf=t',
    );
    const output = join(folder, 'large.mkv');
    const task = search(source, { range: { min: 0, max: 0 }, scratchBytes: 70_000, output });
    expect(await refusalOf('io', () => task)).toMatch(/temporary files/);
    expect(existsSync(output)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
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
        // Between two values of the middle, so that some on both sides are left.
        const at = (value: number) =>
          all.points.find((point) => point.value === value)?.quality ?? Number.NaN;
        const quality = (at(22 + 2 * i) + at(23 + 2 * i)) / 2;
        const holds = (one: number) => (side === 'atLeast' ? one >= quality : one <= quality);
        const best = Math.max(...all.points.filter((one) => holds(one.quality)).map(({ value }) => value));
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
