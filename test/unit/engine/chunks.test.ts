/**
 * @module test/unit/engine/chunks
 * How a video is cut into chunks for workers, and which short runs are drawn to estimate the whole of it.
 */
import { describe, expect, it } from 'vitest';
import type { ExtractionPlan } from '../../../src/engine/backends/types.js';
import { chooseThreads, cutChunks, usefulThreads } from '../../../src/engine/plan/chunks.js';
import { checkSamples, drawRuns, mulberry, type Samples } from '../../../src/engine/sampling/choose.js';
import { intervalsOf } from '../../../src/engine/sampling/interval.js';
import { planOf } from '../../support/finish.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** What vmaf_v0.6.1 measures. */
function plan(width: number, height: number): ExtractionPlan {
  return planOf(['vif', 'adm', 'motion'], { width, height, bitDepth: 8, chroma: '420' }).extraction;
}

describe('chunks', () => {
  it('follow each other without gap up to the last pair', () => {
    const random = seeded(20261);
    for (let round = 0; round < tier(40, 100); round++) {
      const total = random.int(0, 300);
      const workers = random.int(1, 20);
      const fixed = random.int(0, 1) ? random.int(1, 40) : undefined;
      const where = `seed ${random.seed}: ${total} pairs, ${workers} workers, size ${fixed}`;
      let next = 0;
      for (const { first, count } of cutChunks(total, workers, fixed)) {
        expect(first, where).toBe(next);
        expect(count, where).toBeGreaterThan(0);
        if (fixed) expect(count, where).toBeLessThanOrEqual(fixed);
        next += count;
      }
      expect(next, where).toBe(total);
    }
  });

  it('leave no worker idle for more than a frame at the end', () => {
    // Equal frames: hand the chunks to whoever is free first.
    for (const [total, workers] of [
      [48, 2],
      [100, 3],
      [500, 8],
    ] as const) {
      const ends = new Array<number>(workers).fill(0);
      for (const { count } of cutChunks(total, workers)) {
        const next = ends.indexOf(Math.min(...ends));
        ends[next] = (ends[next] ?? 0) + count;
      }
      expect(Math.max(...ends) - Math.min(...ends), `${total} on ${workers}`).toBeLessThanOrEqual(1);
    }
  });

  it('go on while the total is unknown', () => {
    const chunks = cutChunks(null, 2, 3);
    for (let i = 0; i < 1000; i++) expect(chunks.next().value).toEqual({ first: 3 * i, count: 3 });
  });
});

describe('threads', () => {
  it('are none for what is over before one has started', () => {
    expect(chooseThreads(8, plan(576, 324), 2)).toBe(0);
    expect(chooseThreads(8, plan(1920, 1080), 1)).toBe(0);
  });

  it('are all cores for a clip, and for a stream of unknown length', () => {
    expect(chooseThreads(8, plan(1920, 1080), 48)).toBe(8);
    expect(chooseThreads(8, plan(1920, 1080), null)).toBe(8);
  });

  it('are few for small frames of unknown length: 500 of them at 25.5 ns a sample, 60 ms a worker', () => {
    expect(chooseThreads(8, plan(160, 90), null)).toBe(3);
    expect(chooseThreads(64, plan(64, 64), null)).toBe(0);
  });

  it('asked for are only as many as get a chunk', () => {
    expect(usefulThreads(64, 3)).toBe(3);
    expect(usefulThreads(64, 100, 8)).toBe(13);
    expect(usefulThreads(2, 100, 8)).toBe(2);
    expect(usefulThreads(64, 0)).toBe(1);
    expect(usefulThreads(64, null, 8)).toBe(64);
    const random = seeded(20262);
    for (let round = 0; round < tier(60, 200); round++) {
      const [asked, total] = [random.int(1, 64), random.int(1, 300)];
      const workers = usefulThreads(asked, total);
      const where = `seed ${random.seed}: ${total} pairs, ${asked} asked for`;
      expect([...cutChunks(total, workers)].length, where).toBeGreaterThanOrEqual(workers);
    }
  });

  it('are no more than frames or cores', () => {
    expect(chooseThreads(64, plan(3840, 2160), 3)).toBe(3);
    expect(chooseThreads(1, plan(1920, 1080), 100)).toBe(1);
  });
});

describe('drawRuns', () => {
  it.each([
    [10_000, 100, 8],
    [1601, 50, 8],
    [172_800, 48, 24],
  ])('spreads runs over %i pairs, each in its part, none over another', (total, length, runs) => {
    for (let seed = 0; seed < tier(40, 200); seed++) {
      const drawn = drawRuns(total, length, { runs, seconds: 1, seed });
      expect(drawn?.starts.length).toBe(runs);
      for (const [i, start] of (drawn?.starts ?? []).entries()) {
        const part = i >> 1;
        expect(start).toBeGreaterThanOrEqual(Math.floor((part * total * 2) / runs));
        expect(start + length).toBeLessThanOrEqual(Math.ceil(((part + 1) * total * 2) / runs));
        if (i > 0) expect(start).toBeGreaterThanOrEqual((drawn?.starts[i - 1] ?? 0) + length);
      }
    }
  });

  it('gives every pair about the same chance', () => {
    const seen = new Float64Array(4000);
    for (let seed = 0; seed < 20_000; seed++) {
      for (const start of drawRuns(4000, 50, { runs: 8, seconds: 1, seed })?.starts ?? [])
        for (let i = start; i < start + 50; i++) seen[i] = (seen[i] ?? 0) + 1;
    }
    expect(Math.min(...seen)).toBeGreaterThan(0.1 * 20_000 * 0.85);
    expect(Math.max(...seen)).toBeLessThan(0.1 * 20_000 * 1.15);
  });

  it('draws nothing where it would be a quarter of the video', () => {
    expect(drawRuns(3199, 100, { runs: 8, seconds: 1, seed: 1 })).toBeUndefined();
    expect(drawRuns(3200, 100, { runs: 8, seconds: 1, seed: 1 })).toBeDefined();
  });

  it('draws the same runs by the same seed only', () => {
    const of = (seed: number) => drawRuns(9000, 100, { runs: 8, seconds: 1, seed })?.starts;
    expect(of(7)).toEqual(of(7));
    expect(of(7)).not.toEqual(of(8));
  });

  it.each([
    [{ runs: 7, seconds: 4 }],
    [{ runs: 2, seconds: 4 }],
    [{ runs: 1002, seconds: 4 }],
    [{ runs: 8, seconds: 0 }],
    [{ runs: 8, seconds: Number.NaN }],
    [{ runs: 8, seconds: 4, seed: -1 }],
    ['some' as Samples],
    [null as unknown as Samples],
  ])('refuses %j', (samples) => {
    expect(() => checkSamples(samples)).toThrow(/^samples/);
  });
});

/** A long series of scores: scenes of random length, each around a level of its own. */
interface Kind {
  readonly scene: number;
  readonly spread: number;
  /** Mean level by the share of the film that is over. */
  readonly level: (at: number) => number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'short scenes': { scene: 100, spread: 6, level: () => 80 },
  'long scenes': { scene: 1500, spread: 6, level: () => 78 },
  'a film that gets worse': { scene: 100, spread: 4, level: (at) => 90 - 20 * at },
  'a film with hard parts': { scene: 200, spread: 5, level: (at) => 78 + 8 * Math.sin(12 * at) },
};

const FRAMES = 60_000;

function film({ scene, spread, level }: Kind, seed: number): Float64Array {
  const random = mulberry(seed);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let left = 0;
  let base = 0;
  return Float64Array.from({ length: FRAMES }, (_, i) => {
    if (left-- <= 0) {
      left = Math.floor(-Math.log(1 - random()) * scene);
      base = level(i / FRAMES) + spread * gauss();
    }
    return Math.max(0, Math.min(100, base + 2 * gauss()));
  });
}

describe('intervalsOf', () => {
  it.each([
    // The 97.5 % quantiles of Student's t for 4, 8 and 12 degrees of freedom.
    [8, 2.776],
    [16, 2.306],
    [24, 2.179],
  ])('is as wide as the %i runs differ, by the t of as many degrees of freedom as parts', (count, t) => {
    // The two runs of each part differ by 2, so that drawing two of them anew has a variance of 2^2 / 8.
    const runs = Array.from({ length: count }, (_, i) => new Float64Array(10).fill(70 + i + (i & 1)));
    const mean = 70 + (count - 1) / 2 + 0.5;
    const half = t * Math.sqrt(2 * (1 - 0.19)) * Math.sqrt(0.5 / (count / 2));
    const [found] = intervalsOf(runs, 0.19, 1);
    expect(((found?.high ?? 0) + (found?.low ?? 0)) / 2).toBeCloseTo(mean, 9);
    const ratio = ((found?.high ?? 0) - (found?.low ?? 0)) / 2 / half;
    // A thousand draws know a deviation to a few percent.
    expect(Math.abs(ratio - 1)).toBeLessThan(0.06);
  });

  it.each(tier(['a film with hard parts'], Object.keys(KINDS)))(
    'holds the true mean in about 95 of 100 draws: %s',
    (name) => {
      const kind = KINDS[name];
      if (!kind) throw new Error(name);
      const [films, perFilm, least, most] = tier([2, 30, 0.88, 1], [8, 100, 0.93, 0.97]);
      let held = 0;
      for (let n = 0; n < films; n++) {
        const values = film(kind, 1000 + n);
        const truth = values.reduce((sum, value) => sum + value, 0) / FRAMES;
        for (let seed = 0; seed < perFilm; seed++) {
          const runs = [8, 16, 24][seed % 3] ?? 8;
          const drawn = drawRuns(FRAMES, 50, { runs, seconds: 2, seed: seed * 131 + n });
          if (!drawn) throw new Error('nothing drawn');
          const parts = drawn.starts.map((start) => values.subarray(start, start + 50));
          const mean = intervalsOf(parts, drawn.share, seed).find(({ statistic }) => statistic === 'mean');
          if (mean && mean.low <= truth && truth <= mean.high) held++;
        }
      }
      const share = held / (films * perFilm);
      expect(share).toBeGreaterThanOrEqual(least);
      expect(share).toBeLessThanOrEqual(most);
    },
    240_000,
  );

  it('has no width where nothing varies', () => {
    const runs = Array.from({ length: 8 }, () => new Float64Array(10).fill(91));
    for (const { low, high } of intervalsOf(runs, 0.1, 1)) expect([low, high]).toEqual([91, 91]);
  });

  it('names the mean and percentiles', () => {
    const runs = Array.from({ length: 8 }, (_, i) => Float64Array.from({ length: 20 }, (_, n) => i + n));
    expect(intervalsOf(runs, 0.1, 1).map(({ statistic }) => statistic)).toEqual([
      'mean',
      'p1',
      'p5',
      'p10',
      'p50',
    ]);
  });
});
