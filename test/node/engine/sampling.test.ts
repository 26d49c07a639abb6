/**
 * @module test/node/engine/sampling
 * Scores of short runs instead of a whole video: how runs are drawn, how often the interval holds the true mean, and that
 * values are those of a whole run.
 */
import { describe, expect, it } from 'vitest';
import { checkSamples, drawRuns, mulberry, type Samples } from '../../../src/engine/sampling/choose.js';
import { intervalsOf } from '../../../src/engine/sampling/interval.js';
import { type FrameSource, score, scoreMany, scoreShard } from '../../../src/index.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

describe('drawRuns', () => {
  it.each([
    [10_000, 100, 8],
    [1601, 50, 8],
    [172_800, 48, 24],
  ])('spreads runs over %i pairs, each in its part, none over another', (total, length, runs) => {
    for (let seed = 0; seed < 200; seed++) {
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
  it.each(Object.keys(KINDS))(
    'holds the true mean in 93 to 97 of 100 draws: %s',
    (name) => {
      const kind = KINDS[name];
      if (!kind) throw new Error(name);
      let held = 0;
      let draws = 0;
      for (let n = 0; n < 8; n++) {
        const values = film(kind, 1000 + n);
        const truth = values.reduce((sum, value) => sum + value, 0) / FRAMES;
        for (let seed = 0; seed < 100; seed++) {
          const runs = [8, 16, 24][seed % 3] ?? 8;
          const drawn = drawRuns(FRAMES, 50, { runs, seconds: 2, seed: seed * 131 + n });
          if (!drawn) throw new Error('nothing drawn');
          const parts = drawn.starts.map((start) => values.subarray(start, start + 50));
          const mean = intervalsOf(parts, drawn.share, seed).find(({ statistic }) => statistic === 'mean');
          draws++;
          if (mean && mean.low <= truth && truth <= mean.high) held++;
        }
      }
      console.log(`${name}: ${held} of ${draws} (${((100 * held) / draws).toFixed(1)} %)`);
      expect(held / draws).toBeGreaterThanOrEqual(0.93);
      expect(held / draws).toBeLessThanOrEqual(0.97);
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

describe('sampling frames of a program', () => {
  it('reads those of its runs and what leads in to them, and no others', async () => {
    const read = new Set<number>();
    const source = (level: number): FrameSource => ({
      info: {
        ...{ name: 'made', container: 'frames', width: 48, height: 36, bitDepth: 8, chroma: '420' },
        ...{ frameCount: 5000, frameRate: { num: 25, den: 1 }, warnings: [] },
      },
      seekable: true,
      readFrame(index, { y }) {
        read.add(index);
        for (let i = 0; i < y.length; i++) y[i] = 40 + ((i * 7 + (i >> 4) * level + index) % 160);
        return true;
      },
      close() {},
    });
    const request = { reference: source(3), distorted: source(4) };
    const report = await score(request, { samples: { runs: 8, seconds: 1 }, threads: 0, preflight: false });
    expect(report.sampling).toMatchObject({ frames: 200, total: 5000 });
    const near = new Set(
      report.sampling?.starts.flatMap((start) => Array.from({ length: 25 + 3 + 3 }, (_, i) => start - 3 + i)),
    );
    expect([...read].filter((index) => !near.has(index))).toEqual([]);
    expect(read.size).toBeGreaterThanOrEqual(200);
  });
});

describe.runIf(hasFfmpeg)(`sampling a video (${needsFfmpeg})`, () => {
  const SAMPLES = { runs: 4, seconds: 0.4 };
  const reference = () => encode({ codec: 'h264', frames: 400, size: '96x64', extra: ['-crf', '8'] });
  const distorted = () => encode({ codec: 'h264', frames: 400, size: '96x64', extra: ['-crf', '42'] });
  const pair = () => ({ reference: reference(), distorted: distorted() });

  it.each(['ffmpeg', 'mediabunny'] as const)(
    'gives frames the values of a whole run, by %s',
    async (decoder) => {
      const options = { decoder, features: ['psnr'], threads: 0 } as const;
      const whole = await score(pair(), options);
      const report = await score(pair(), { ...options, samples: SAMPLES });
      expect(report.sampling).toMatchObject({ runs: 4, run_frames: 10, frames: 40, total: 400, level: 0.95 });
      expect(report.frames.map(({ frameNum }) => frameNum)).toEqual(
        report.sampling?.starts.flatMap((start) => Array.from({ length: 10 }, (_, i) => start + i)),
      );
      for (const { frameNum, metrics } of report.frames) {
        expect(metrics, `frame ${frameNum}`).toEqual(whole.frames[frameNum]?.metrics);
      }
      expect(report.frameCount).toBe(40);
      expect(report.warnings[0]).toMatch(
        /^Sampled: 4 runs of 10 frames were scored, 40 of 400 pairs \(10\.0 %\); pooled values are estimates of the whole\. With 95 % confidence the mean of vmaf of the whole lies between [\d.]+ and [\d.]+\.$/,
      );
      const mean = report.sampling?.intervals.find(
        ({ metric, statistic }) => metric === 'vmaf' && statistic === 'mean',
      );
      expect(mean?.low).toBeLessThanOrEqual(report.pooled_metrics.vmaf?.mean ?? Number.NaN);
      expect(mean?.high).toBeGreaterThanOrEqual(report.pooled_metrics.vmaf?.mean ?? Number.NaN);
    },
  );

  it('tells how far it is', async () => {
    const seen: number[] = [];
    await score(pair(), {
      ...{ samples: SAMPLES, threads: 0, preflight: false },
      onProgress: ({ framesDone, framesTotal }) => seen.push(framesDone, framesTotal ?? 0),
    });
    expect(seen).toEqual([10, 40, 20, 40, 30, 40, 40, 40]);
  });

  it('scores a short video whole, and says so', async () => {
    const short = encode({ codec: 'h264', frames: 30, size: '96x64' });
    const report = await score({ reference: short, distorted: short }, { samples: 'auto', threads: 0 });
    expect(report.sampling).toBeUndefined();
    expect(report.frames.length).toBe(30);
    expect(report.warnings).toContain(
      'Nothing was sampled: the video is so short that all of it was scored.',
    );
  });

  it('samples the part that a range names', async () => {
    const range = { unit: 'frames', start: 100, end: 300 } as const;
    const report = await score(pair(), {
      samples: { runs: 4, seconds: 0.2 },
      range,
      threads: 0,
      preflight: false,
    });
    const whole = await score(pair(), { range, threads: 0, preflight: false });
    expect(report.sampling).toMatchObject({ total: 200, frames: 20 });
    for (const { frameNum, metrics } of report.frames)
      expect(metrics).toEqual(whole.frames[frameNum]?.metrics);
  });

  it.each([
    [{ subsample: 2 }, /samples and subsample exclude each other/],
    [{ onFrame: () => {} }, /samples and onFrame exclude each other/],
    [{ keep: { frames: 5 } }, /samples and keep exclude each other/],
    [
      { samples: { runs: 8, seconds: 4 } },
      /has 400 pairs \(16\.0 s\) only, of which that is a quarter or more/,
    ],
    [{ samples: { runs: 5, seconds: 4 } }, /an even number of runs/],
  ])('refuses %j', async (options, message) => {
    await expect(score(pair(), { samples: SAMPLES, threads: 0, ...options })).rejects.toThrow(message);
  });

  it('is refused of streams and in shards', async () => {
    const stream = new Blob([new Uint8Array(10)]).stream();
    await expect(score({ reference: stream, distorted: distorted() }, { samples: 'auto' })).rejects.toThrow(
      /the reference is a stream, in which no runs can be sought/,
    );
    const options = { samples: 'auto' } as object;
    await expect(scoreShard(pair(), { number: 1, count: 2 }, options)).rejects.toThrow(
      /There is no option "samples"/,
    );
  });

  it('samples several encodes of a reference at the same places', async () => {
    const [a, b] = await scoreMany(reference(), [distorted(), reference()], {
      samples: SAMPLES,
      preflight: false,
    });
    expect(a?.sampling?.starts).toEqual(b?.sampling?.starts);
    expect(b?.pooled_metrics.vmaf?.mean).toBeGreaterThan(a?.pooled_metrics.vmaf?.mean ?? Number.NaN);
  });
});
