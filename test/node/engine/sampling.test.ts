import { describe, expect, it } from 'vitest';
import { scorePair } from '../../../src/engine/score.js';
import { type FrameSource, score, scoreMany, scoreShard } from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { doubtOf, holdAgainst } from '../../../src/report/held.js';
import { parseLimit } from '../../../src/report/limits.js';
import { watchedPlatform } from '../../support/decodings.js';
import { copyOf, encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

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
  /** Motion looks at the frames around. */
  const QUICK = { features: ['psnr', 'motion'], noPrediction: true };
  const reference = () => encode({ codec: 'h264', frames: 240, size: '96x64', extra: ['-crf', '8'] });
  const distorted = () => encode({ codec: 'h264', frames: 240, size: '96x64', extra: ['-crf', '42'] });
  const pair = () => ({ reference: reference(), distorted: distorted() });

  it.each(tier(['ffmpeg'] as const, ['ffmpeg', 'mediabunny'] as const))(
    'gives frames the values of a whole run, and tells how far it is, by %s',
    async (decoder) => {
      const options = { decoder, features: ['psnr'], threads: 0 } as const;
      const whole = await score(pair(), { ...options, preflight: false });
      const seen: number[] = [];
      const report = await score(pair(), {
        ...{ ...options, samples: SAMPLES },
        onProgress: ({ framesDone, framesTotal }) => seen.push(framesDone, framesTotal ?? 0),
      });
      expect(seen).toEqual([10, 40, 20, 40, 30, 40, 40, 40]);
      expect(report.sampling).toMatchObject({ runs: 4, run_frames: 10, frames: 40, total: 240, level: 0.95 });
      expect(report.frames.map(({ frameNum }) => frameNum)).toEqual(
        report.sampling?.starts.flatMap((start) => Array.from({ length: 10 }, (_, i) => start + i)),
      );
      for (const { frameNum, metrics } of report.frames) {
        expect(metrics, `frame ${frameNum}`).toEqual(whole.frames[frameNum]?.metrics);
      }
      expect(report.frameCount).toBe(40);
      expect(report.warnings[0]).toMatch(
        /^Sampled: 4 runs of 10 frames were scored, 40 of 240 pairs \(16\.7 %\); pooled values are estimates of the whole\. With 95 % confidence the mean of vmaf of the whole lies between [\d.]+ and [\d.]+\.$/,
      );
      const mean = report.sampling?.intervals.find(
        ({ metric, statistic }) => metric === 'vmaf' && statistic === 'mean',
      );
      expect(mean?.low).toBeLessThanOrEqual(report.pooled_metrics.vmaf?.mean ?? Number.NaN);
      expect(mean?.high).toBeGreaterThanOrEqual(report.pooled_metrics.vmaf?.mean ?? Number.NaN);
    },
  );

  it('has one JOD, pooled from Q, with an interval by which a gate is judged', async () => {
    const options = { features: ['cvvdp'], noPrediction: true, threads: 0 } as const;
    const report = await score(pair(), { ...options, samples: SAMPLES, preflight: false });
    const squares = report.frames.map(({ metrics: { cvvdp_q: q = Number.NaN } }) => q * q);
    const root = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / squares.length);
    const jod = report.aggregate_metrics.cvvdp ?? Number.NaN;
    // The formula of ColorVideoVDP 0.5.6.
    expect(jod).toBeCloseTo(10 - 0.0439569391310215 * root ** 0.9302042722702026, 3);
    const { low = Number.NaN, high = Number.NaN } =
      report.sampling?.intervals.find(({ metric }) => metric === 'cvvdp') ?? {};
    expect(low < jod && jod < high && high <= 10).toBe(true);
    const held = (bound: number) =>
      holdAgainst(report, parseLimit(`cvvdp>=${bound.toFixed(9)}`)).map((result) => [
        result.passed,
        doubtOf(report, result),
      ]);
    expect(held(jod + 0.01)).toEqual([[false, undefined]]);
    expect(held((low + jod) / 2)).toEqual([[true, { low, high }]]);
    expect(held(low - 0.01)).toEqual([[true, undefined]]);
  });

  it('scores a short video whole, and says so', async () => {
    const short = encode({ codec: 'h264', frames: 30, size: '96x64' });
    const report = await score({ reference: short, distorted: short }, { samples: 'auto', threads: 0 });
    expect(report.sampling).toBeUndefined();
    expect(report.frames.length).toBe(30);
    expect(report.warnings).toContain(
      'Nothing was sampled: the video is too short, so all of it was scored.',
    );
  });

  it('samples the part that a range names', async () => {
    const range = { unit: 'frames', start: 40, end: 200 } as const;
    const report = await score(pair(), {
      ...{ samples: { runs: 4, seconds: 0.2 }, range, threads: 0, preflight: false, ...QUICK },
    });
    const whole = await score(pair(), { range, threads: 0, preflight: false, ...QUICK });
    expect(report.sampling).toMatchObject({ total: 160, frames: 20 });
    for (const { frameNum, metrics } of report.frames)
      expect(metrics).toEqual(whole.frames[frameNum]?.metrics);
  });

  it.each([
    [{ subsample: 2 }, /samples and subsample exclude each other/],
    [{ onFrame: () => {} }, /samples and onFrame exclude each other/],
    [{ keep: { frames: 5 } }, /samples and keep exclude each other/],
    [
      { samples: { runs: 8, seconds: 4 } },
      /has only 240 pairs \(9\.6 s\), and the samples would cover a quarter or more of it/,
    ],
    [{ samples: { runs: 5, seconds: 4 } }, /an even number of runs/],
  ])('refuses %j', async (options, message) => {
    await expect(score(pair(), { samples: SAMPLES, threads: 0, ...options })).rejects.toThrow(message);
  });

  it('is refused of streams and in shards', async () => {
    const stream = new Blob([new Uint8Array(10)]).stream();
    await expect(score({ reference: stream, distorted: distorted() }, { samples: 'auto' })).rejects.toThrow(
      /the reference is a stream, which cannot seek/,
    );
    const options = { samples: 'auto' } as object;
    await expect(scoreShard(pair(), { number: 1, count: 2 }, options)).rejects.toThrow(
      /There is no option "samples"/,
    );
  });

  it('searches the offset of the whole once, and says how sure it is', async () => {
    const reference = encode({ codec: 'ffv1', source: 'mandelbrot', frames: 240, size: '96x64' });
    const distorted = copyOf(reference, 'late-240.mp4', ['-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS']);
    const { opened, platform } = watchedPlatform(nodePlatform);
    const { pairing } = await scorePair(
      platform,
      { reference, distorted },
      { samples: SAMPLES, offset: 'auto', threads: 0, ...QUICK },
    );
    expect(pairing?.frames).toMatchObject({ offset: 7, offsetRequested: 'auto', offsetState: 'found' });
    expect(pairing?.frames.offsetConfidence).toBeGreaterThan(0.9);
    const long = opened.filter(({ frames }) => frames > 60);
    expect(long.map(({ input }) => input)).toEqual([reference, distorted]);
  });

  it('samples several encodes of a reference at the same places', async () => {
    const [a, b] = await scoreMany(reference(), [distorted(), reference()], {
      ...{ samples: SAMPLES, preflight: false, ...QUICK },
    });
    expect(a?.sampling?.starts).toEqual(b?.sampling?.starts);
    expect(b?.pooled_metrics.psnr_y?.mean).toBeGreaterThan(a?.pooled_metrics.psnr_y?.mean ?? Number.NaN);
  });
});
