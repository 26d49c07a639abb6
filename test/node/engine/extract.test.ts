/**
 * @module test/node/engine/extract
 * Extracted pairs of frames are those that scoring compares: the same samples whether decoded from the start, from nearby or
 * in any order, with the same scaling, offset and pairing; sampled frames have the values of a whole run.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { lumaBytes, type VideoFormat } from '../../../src/core/frame.js';
import { scorePair } from '../../../src/engine/score.js';
import { extractFrames, type FramePair, score, scoreMany, scoreShard } from '../../../src/index.js';
import type { FrameSource } from '../../../src/media/types.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { parseLimit } from '../../../src/report/limits.js';
import { doubtOf, holdAgainst } from '../../../src/report/verdict.js';
import { sampleBytes, sampleSource, y4mFile, yuvFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { PairReader } from '../../../web/src/frames/serve.js';
import { ownSource, streamOf, watchedPlatform, y4mPair } from '../../support/clips.js';
import { copyOf, encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { planesFor } from '../../support/media.js';
import { tier } from '../../support/tier.js';

async function all(pairs: AsyncIterable<FramePair>): Promise<FramePair[]> {
  const found: FramePair[] = [];
  for await (const pair of pairs) found.push(pair);
  return found;
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

async function* asked(...numbers: number[]) {
  yield* numbers;
}

/** The message of the error that extraction ends in. */
async function sentence(pairs: AsyncIterable<FramePair>): Promise<string> {
  const error: unknown = await all(pairs).catch((thrown: unknown) => thrown);
  if (error instanceof AnyvmafError) return error.message;
  throw error instanceof Error ? error : new Error('nothing was refused');
}

const SMALL: VideoFormat = { width: 32, height: 18, bitDepth: 8, chroma: '420' };

const FORMATS: readonly VideoFormat[] = [
  { width: 34, height: 22, bitDepth: 8, chroma: '420' },
  { width: 33, height: 21, bitDepth: 10, chroma: '420' },
  { width: 34, height: 22, bitDepth: 12, chroma: '422' },
  { width: 34, height: 22, bitDepth: 16, chroma: '444' },
  { width: 34, height: 22, bitDepth: 9, chroma: '400' },
];

describe('frames of stored video', () => {
  it.each(FORMATS)('are those of the file: $bitDepth bit $chroma, $width wide', async (format) => {
    const { clip, ...request } = y4mPair(format, 8, 3);
    const pairs = await all(extractFrames(request, [6, 0, 6]));
    expect(pairs.map(({ index }) => index)).toEqual([0, 6]);
    for (const pair of pairs)
      for (const side of ['reference', 'distorted'] as const) {
        const { index, [side]: picture } = pair;
        const expected = planesFor(format);
        sampleSource(clip, side, 8).readFrame(index, expected);
        expect(picture.planes, `${side} ${index}`).toEqual(expected);
        expect(picture.format).toEqual(format);
        expect([picture.frame, picture.time]).toEqual([index, index / 25]);
      }
  });

  it('come in the order of an async iterable, whose numbers are checked one by one', async () => {
    const request = y4mPair(FORMATS[0] as VideoFormat, 8, 3);
    const pairs = await all(extractFrames(request, asked(6, 0, 6, 1)));
    expect(pairs.map(({ index }) => index)).toEqual([6, 0, 6, 1]);
    expect(await sentence(extractFrames(request, asked(2, -1)))).toContain('-1 is not a frame number');
    expect(await sentence(extractFrames(request, asked(8)))).toContain('frame 8 was requested');
  });

  it('are no longer awaited from an idle async iterable when the signal aborts', async () => {
    const stop = new AbortController();
    async function* one() {
      yield 1;
      await new Promise(() => {});
    }
    const pairs = extractFrames(y4mPair(SMALL, 3), one(), { signal: stop.signal });
    expect((await pairs.next()).value?.index).toBe(1);
    const next = pairs.next();
    setTimeout(() => stop.abort(new Error('enough')));
    await expect(next).rejects.toThrow('enough');
  });

  it('are counted from the first frame that is not skipped', async () => {
    const clip = makeSample(SMALL, { seed: 4 });
    const [first, second] = [yuvFile(clip, 'reference', 9), yuvFile(clip, 'distorted', 9)];
    const request = { reference: first, distorted: second, raw: SMALL };
    const [pair] = await all(extractFrames(request, [2], { skipReference: 3, skipDistorted: 1 }));
    expect([pair?.reference.frame, pair?.distorted.frame]).toEqual([5, 3]);
    expect(pair?.reference.time).toBeNull();
    const luma = (side: 'reference' | 'distorted', index: number) => {
      const [plane] = clip.frame(side, index);
      return plane && sampleBytes(plane);
    };
    expect(pair?.reference.planes.y).toEqual(luma('reference', 5));
    expect(pair?.distorted.planes.y).toEqual(luma('distorted', 3));
  });

  it('follow the offset and the range as scoring does', async () => {
    const request = y4mPair(SMALL, 12, 5);
    const range = { unit: 'frames', start: 4 } as const;
    const [pair] = await all(extractFrames(request, [1], { offset: 2, range }));
    expect([pair?.reference.frame, pair?.distorted.frame]).toEqual([5, 3]);
  });

  it('have pictures, a map of their difference, and facts', async () => {
    const request = y4mPair({ width: 64, height: 36, bitDepth: 8, chroma: '420' }, 2, 6);
    const [pair] = await all(extractFrames(request, [1]));
    expect(pair?.distorted.image({ maxSide: 32 })).toMatchObject({ width: 32, height: 18 });
    const png = Buffer.from((await pair?.reference.png()) ?? []);
    expect(png.toString('latin1', 1, 4)).toBe('PNG');
    expect(pair?.difference({ gain: 3 }).gain).toBe(3);
    expect(pair?.facts().difference.mean).toBeGreaterThan(1);
  });

  it('can come from the source of a caller, but not from a stream', async () => {
    const clip = makeSample(SMALL, { seed: 7 });
    const own = (side: 'reference' | 'distorted', seekable: boolean): FrameSource =>
      ownSource(clip, side, 5, { seekable, frameCount: 5 });
    const request = { reference: own('reference', true), distorted: own('distorted', true) };
    expect((await all(extractFrames(request, [1, 4]))).map(({ index }) => index)).toEqual([1, 4]);
    const stream = {
      reference: y4mFile(clip, 'reference', 5),
      distorted: streamOf(y4mFile(clip, 'distorted', 5)),
    };
    expect(await sentence(extractFrames(stream, [0]))).toMatch(/read only once.*give it as a file/);
  });
});

describe('invalid requests', () => {
  const clip = makeSample(SMALL, { seed: 8 });
  const request = { reference: y4mFile(clip, 'reference', 5), distorted: y4mFile(clip, 'distorted', 4) };

  it('beyond the end are refused with the number of frames', async () => {
    expect(await sentence(extractFrames(request, [1, 4]))).toMatch(/^frame 4 was requested.*only 4 frames/);
  });

  it.each([[[-1]], [[1.5]], [[Number.NaN]], [['3']], ['3'], [undefined]])(
    'frames %j are refused',
    async (frames) => {
      expect(await sentence(extractFrames(request, frames as number[]))).toMatch(/frame/);
    },
  );

  it('with options of scoring are refused', async () => {
    const options = { models: ['version=vmaf_v0.6.1'] } as object;
    expect(await sentence(extractFrames(request, [0], options))).toMatch(/no option "models"/);
  });

  it('read nothing once the signal aborts', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const pairs = extractFrames(request, [0, 1, 2], { signal: controller.signal });
    expect((await pairs.next()).done).toBe(false);
    controller.abort(reason);
    await expect(pairs.next()).rejects.toBe(reason);
    await expect(all(extractFrames(request, [0], { signal: controller.signal }))).rejects.toBe(reason);
  });

  it('close their sources when the caller stops early', async () => {
    let closed = 0;
    const own = (side: 'reference' | 'distorted') =>
      ownSource(clip, side, 5, { seekable: true, frameCount: 5, onClose: () => closed++ });
    const both = { reference: own('reference'), distorted: own('distorted') };
    for await (const { index } of extractFrames(both, [1, 2])) {
      expect(index).toBe(1);
      break;
    }
    expect(closed).toBe(2);
  });
});

describe.runIf(hasFfmpeg)(`frames of encoded video (${needsFfmpeg})`, () => {
  /** Every luma plane, decoded from the start. */
  async function sequential(path: string, frames: number): Promise<readonly Uint8Array[]> {
    const pairs = await all(extractFrames({ reference: path, distorted: path }, upTo(frames)));
    return pairs.map(({ distorted }) => distorted.planes.y);
  }

  const MADE = [
    { codec: 'hevc', pixelFormat: 'yuv420p10le' },
    { codec: 'h264', pixelFormat: 'yuv420p' },
    { codec: 'vp9', pixelFormat: 'yuv420p' },
  ] as const;
  it.each(MADE.slice(0, tier(1, MADE.length)))(
    'are the same decoded from nearby as from the start: $codec $pixelFormat',
    async (made) => {
      const path = encode({ ...made, frames: 60, size: '96x64', extra: ['-g', '20'] });
      const expected = await sequential(path, 60);
      const sums = new Set(expected.map((plane) => plane.reduce((sum, value) => sum + value, 0)));
      expect(sums.size).toBeGreaterThan(30);
      for (const wanted of [[59], [0, 30, 58], [39, 41, 50]]) {
        const pairs = await all(extractFrames({ reference: path, distorted: path }, wanted));
        expect(pairs.map(({ index }) => index)).toEqual(wanted);
        for (const { index, reference, distorted } of pairs) {
          for (const { y } of [reference.planes, distorted.planes])
            expect(Buffer.compare(y, expected[index] ?? new Uint8Array()), `frame ${index}`).toBe(0);
          expect(reference.time).toBeCloseTo(index / 25, 3);
        }
      }
    },
  );

  it('are those that scoring compared, at two rates and sizes', async () => {
    const reference = encode({ codec: 'h264', frames: 60, rate: 50, size: '96x64', extra: ['-g', '10'] });
    const distorted = encode({ codec: 'h264', frames: 30, rate: 25, size: '48x32', extra: ['-g', '10'] });
    const request = { reference, distorted };
    const features = ['psnr'];
    const report = await score(request, { models: [], features, noPrediction: true, threads: 0 });
    for await (const pair of extractFrames(request, [3, 50])) {
      const { y } = pair.reference.planes;
      expect(y.length).toBe(lumaBytes({ width: 96, height: 64, bitDepth: 8, chroma: '420' }));
      expect(pair.distorted.frame).toBe(Math.floor(pair.index / 2)); // between two, the earlier
      let sum = 0;
      for (let i = 0; i < y.length; i++) sum += ((y[i] ?? 0) - (pair.distorted.planes.y[i] ?? 0)) ** 2;
      const psnr = 10 * Math.log10(255 ** 2 / (sum / y.length));
      expect(report.frames[pair.index]?.metrics.psnr_y).toBeCloseTo(psnr, 9);
    }
  });

  it('are found beside stored video', async () => {
    const distorted = encode({ codec: 'h264', frames: 60, size: '64x48', extra: ['-g', '10'] });
    const clip = makeSample({ width: 64, height: 48, bitDepth: 8, chroma: '420' }, { seed: 9 });
    const request = { reference: y4mFile(clip, 'reference', 60), distorted };
    const pairs = await all(extractFrames(request, [5, 58]));
    const [luma] = clip.frame('reference', 58);
    expect(pairs[1]?.reference.planes.y).toEqual(luma && sampleBytes(luma));
    const color = { matrix: 'bt601', range: 'limited', assumed: ['matrix', 'range'] };
    expect(pairs[1]?.distorted.color).toEqual(color);
  });

  it('have their matrix and range', async () => {
    const tagged = '-colorspace bt709 -color_range pc -color_primaries bt709 -color_trc bt709';
    const path = encode({ codec: 'h264', frames: 3, extra: tagged.split(' ') });
    const [pair] = await all(extractFrames({ reference: path, distorted: path }, [1]));
    expect(pair?.reference.color).toEqual({ matrix: 'bt709', range: 'full', assumed: [] });
  });
});

const FRAMES = 60;

const hash = ({ reference, distorted }: FramePair) => {
  const all = createHash('sha256');
  for (const { planes } of [reference, distorted])
    for (const plane of [planes.y, planes.cb, planes.cr]) all.update(plane ?? '');
  return all.digest('hex');
};

describe.skipIf(!hasFfmpeg)(`pairs in any order${hasFfmpeg ? '' : ` (${needsFfmpeg})`}`, () => {
  const request = () => ({
    reference: encode({ codec: 'h264', frames: FRAMES, size: '64x48' }),
    distorted: encode({ codec: 'h264', frames: FRAMES, size: '64x48', extra: ['-crf', '40'] }),
  });
  const never = new AbortController().signal;

  it('are the same forwards, backwards, near and far', async () => {
    const expected: string[] = [];
    for await (const pair of extractFrames(request(), upTo(FRAMES), {})) expected.push(hash(pair));
    // Counts openings.
    const opens = vi.fn(extractFrames);
    const reader = new PairReader(request(), {}, opens);
    const order = [10, 11, 12, 9, 40, 41, 59, 0, 2, 2, 58, 30];
    for (const index of order) {
      const pair = await reader.get(index, never);
      expect([pair.index, hash(pair)]).toEqual([index, expected[index]]);
    }
    expect(opens).toHaveBeenCalledOnce();
    reader.close();
  });

  it('can be requested at once, and some of them aborted', async () => {
    const reader = new PairReader(request(), {});
    const stop = new AbortController();
    const given = reader.get(50, stop.signal);
    const wanted = [3, 45, 4].map((index) => reader.get(index, never));
    stop.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    const pairs = await Promise.all(wanted);
    expect(pairs.map(({ index }) => index)).toEqual([3, 45, 4]);
    expect((await reader.get(50, never)).index).toBe(50);
    reader.close();
  });

  it('beyond the end are refused, and others still come', async () => {
    const reader = new PairReader(request(), {});
    await expect(reader.get(FRAMES, never)).rejects.toThrow(`frame ${FRAMES} was requested`);
    expect((await reader.get(1, never)).index).toBe(1);
    reader.close();
  });
});

it('sampling an own source reads only the frames of the runs and a few around them', async () => {
  const read = new Set<number>();
  const closed: number[] = [];
  const source = (level: number): FrameSource => ({
    info: {
      ...{ name: 'made', container: 'frames', width: 48, height: 36, bitDepth: 8, chroma: '420' },
      ...{ frameCount: 5000, frameRate: { num: 25, den: 1 }, warnings: [] },
    },
    seekable: true,
    readFrame(index, { y }) {
      read.add(index);
      if (closed.includes(level)) throw new Error('it is closed');
      for (let i = 0; i < y.length; i++) y[i] = 40 + ((i * 7 + (i >> 4) * level + index) % 160);
      return true;
    },
    close: () => void closed.push(level),
  });
  const request = { reference: source(3), distorted: source(4) };
  const report = await score(request, { samples: { runs: 8, seconds: 1 }, threads: 0, preflight: false });
  expect(report.sampling).toMatchObject({ frames: 200, total: 5000 });
  expect(closed.sort()).toEqual([3, 4]);
  const near = new Set(
    report.sampling?.starts.flatMap((start) => Array.from({ length: 25 + 3 + 3 }, (_, i) => start - 3 + i)),
  );
  expect([...read].filter((index) => !near.has(index))).toEqual([]);
  expect(read.size).toBeGreaterThanOrEqual(200);
});

describe.runIf(hasFfmpeg)(`sampling a video (${needsFfmpeg})`, () => {
  const SAMPLES = { runs: 4, seconds: 0.4 };
  const QUICK = { features: ['psnr', 'motion'], noPrediction: true };
  const reference = () => encode({ codec: 'h264', frames: 240, size: '96x64', extra: ['-crf', '8'] });
  const distorted = () => encode({ codec: 'h264', frames: 240, size: '96x64', extra: ['-crf', '42'] });
  const pair = () => ({ reference: reference(), distorted: distorted() });

  it.each(tier(['ffmpeg'] as const, ['ffmpeg', 'mediabunny'] as const))(
    'gives frames the values of a whole run, and reports progress, with %s',
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
      for (const { frameNum, metrics } of report.frames)
        expect(metrics, `frame ${frameNum}`).toEqual(whole.frames[frameNum]?.metrics);
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

  it('has one JOD, pooled from Q, with an interval for gates', async () => {
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
    const held = (bound: number) => {
      const results = holdAgainst(report, parseLimit(`cvvdp>=${bound.toFixed(9)}`));
      return results.map((result) => [result.passed, doubtOf(report, result)]);
    };
    expect(held(jod + 0.01)).toEqual([[false, undefined]]);
    expect(held((low + jod) / 2)).toEqual([[true, { low, high }]]);
    expect(held(low - 0.01)).toEqual([[true, undefined]]);
  });

  it('scores all of a short video, with a warning', async () => {
    const short = encode({ codec: 'h264', frames: 30, size: '96x64' });
    const report = await score({ reference: short, distorted: short }, { samples: 'auto', threads: 0 });
    expect(report.sampling).toBeUndefined();
    expect(report.frames.length).toBe(30);
    const message = 'Nothing was sampled: the video is too short, so all of it was scored.';
    expect(report.warnings).toContain(message);
  });

  const RANGE = { unit: 'frames', start: 40, end: 200 } as const;
  it.each([
    ['within a range', { range: RANGE }, 160],
    ['the frames of an encode with a lower frame rate', { pairBy: 'distorted' }, 240],
  ] as const)('samples %s', async (_, pairing, total) => {
    const options = { ...pairing, threads: 0, preflight: false, ...QUICK };
    const faster = encode({ codec: 'h264', frames: 480, size: '96x64', rate: 50 });
    const request = 'pairBy' in pairing ? { reference: faster, distorted: distorted() } : pair();
    const report = await score(request, { ...options, samples: { runs: 4, seconds: 0.2 } });
    const whole = await score(request, options);
    expect(report.sampling).toMatchObject({ total, frames: 20, run_frames: 5 });
    for (const { frameNum, metrics } of report.frames)
      expect(metrics).toEqual(whole.frames[frameNum]?.metrics);
    expect(report.pairing).toEqual({
      ...whole.pairing,
      frames: { ...whole.pairing?.frames, pairs: 20 },
    });
  });

  it.each([
    [{ subsample: 2 }, /samples and subsample exclude each other/],
    [{ onFrame: () => {} }, /samples and onFrame exclude each other/],
    [{ keep: { frames: 5 } }, /samples and keep exclude each other/],
    [{ features: ['cambi=heatmaps_path=maps'] }, /samples and heatmaps_path exclude each other/],
    [
      { samples: { runs: 8, seconds: 4 } },
      /has only 240 pairs \(9\.6 s\), and the samples would cover a quarter or more of it/,
    ],
  ])('refuses %j', async (options, message) => {
    await expect(score(pair(), { samples: SAMPLES, threads: 0, ...options })).rejects.toThrow(message);
  });

  it('refuses streams and shards', async () => {
    const stream = new Blob([new Uint8Array(10)]).stream();
    const run = score({ reference: stream, distorted: distorted() }, { samples: 'auto' });
    await expect(run).rejects.toThrow(/the reference is a stream, which cannot seek/);
    const options = { samples: 'auto' } as object;
    await expect(scoreShard(pair(), { number: 1, count: 2 }, options)).rejects.toThrow(/no option "samples"/);
  });

  it('searches the whole video for the offset once, and reports its confidence', async () => {
    const reference = encode({ codec: 'ffv1', source: 'mandelbrot', frames: 240, size: '96x64' });
    const distorted = copyOf(reference, 'late-240.mp4', ['-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS']);
    const { opened, platform } = watchedPlatform(nodePlatform);
    const options = { samples: SAMPLES, offset: 'auto', threads: 0, ...QUICK } as const;
    const { pairing } = await scorePair(platform, { reference, distorted }, options);
    expect(pairing?.frames).toMatchObject({ offset: 7, offsetRequested: 'auto', offsetState: 'found' });
    expect(pairing?.frames.offsetConfidence).toBeGreaterThan(0.9);
    const long = opened.filter(({ frames }) => frames > 60);
    expect(long.map(({ input }) => input)).toEqual([reference, distorted]);
  });

  it('checks the frames that it scores: skipped ones are no offset', async () => {
    const reference = encode({ codec: 'ffv1', source: 'mandelbrot', frames: 240, size: '96x64' });
    const distorted = copyOf(reference, 'late-240.mp4', ['-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS']);
    const codes = async (skipReference: number) => {
      const options = { samples: SAMPLES, skipReference, threads: 0, ...QUICK } as const;
      const { preflight = [] } = await score({ reference, distorted }, options);
      return preflight.map(({ code }) => code);
    };
    expect(await codes(7)).not.toContain('offset');
    expect(await codes(0)).toContain('offset');
  });

  it('samples several encodes of a reference at the same places', async () => {
    const [a, b] = await scoreMany(reference(), [distorted(), reference()], {
      ...{ samples: SAMPLES, preflight: false, threads: 0, ...QUICK },
    });
    expect(a?.sampling?.starts).toEqual(b?.sampling?.starts);
    expect(b?.pooled_metrics.psnr_y?.mean).toBeGreaterThan(a?.pooled_metrics.psnr_y?.mean ?? Number.NaN);
  });
});
