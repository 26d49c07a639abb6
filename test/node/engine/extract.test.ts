/**
 * @module test/node/engine/extract
 * Single pairs of frames are those that scoring compares: the same samples whether decoded from the start, from near
 * by or in any order, with the same scaling, offset and pairing.
 */

import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { lumaBytes, type VideoFormat } from '../../../src/core/frame.js';
import { extractFrames, type FramePair, score } from '../../../src/index.js';
import type { FrameSource } from '../../../src/media/types.js';
import { sampleBytes, sampleSource, y4mFile, yuvFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { PairReader } from '../../../web/src/frames/reader.js';
import { ownSource, streamOf, y4mPair } from '../../support/clips.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { planesFor } from '../../support/media.js';
import { tier } from '../../support/tier.js';

async function all(pairs: AsyncIterable<FramePair>): Promise<FramePair[]> {
  const found: FramePair[] = [];
  for await (const pair of pairs) found.push(pair);
  return found;
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Numbers one by one. */
async function* asked(...numbers: number[]) {
  yield* numbers;
}

async function sentence(pairs: AsyncIterable<FramePair>): Promise<string> {
  const error: unknown = await all(pairs).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AnyvmafError) return error.message;
  throw error ?? new Error('nothing was refused');
}

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
    for (const { index, reference, distorted } of pairs) {
      for (const [side, picture] of [
        ['reference', reference],
        ['distorted', distorted],
      ] as const) {
        const expected = planesFor(format);
        sampleSource(clip, side, 8).readFrame(index, expected);
        expect(picture.planes, `${side} ${index}`).toEqual(expected);
        expect(picture.format).toEqual(format);
        // The file says 25 frames a second.
        expect([picture.frame, picture.time]).toEqual([index, index / 25]);
      }
    }
  });

  it('come in the order of an async iterable, whose numbers are checked one by one', async () => {
    const request = y4mPair(FORMATS[0] as VideoFormat, 8, 3);
    const pairs = await all(extractFrames(request, asked(6, 0, 6, 1)));
    expect(pairs.map(({ index }) => index)).toEqual([6, 0, 6, 1]);
    expect(await sentence(extractFrames(request, asked(2, -1)))).toContain('-1 is not a frame number');
    expect(await sentence(extractFrames(request, asked(8)))).toContain('frame 8 was requested');
  });

  it('are counted from the first that is not skipped', async () => {
    const format: VideoFormat = { width: 32, height: 18, bitDepth: 8, chroma: '420' };
    const clip = makeSample(format, { seed: 4 });
    const request = {
      reference: yuvFile(clip, 'reference', 9),
      distorted: yuvFile(clip, 'distorted', 9),
      raw: format,
    };
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
    const request = y4mPair({ width: 32, height: 18, bitDepth: 8, chroma: '420' }, 12, 5);
    const range = { unit: 'frames', start: 4 } as const;
    const [pair] = await all(extractFrames(request, [1], { offset: 2, range }));
    expect([pair?.reference.frame, pair?.distorted.frame]).toEqual([5, 3]);
  });

  it('have pictures, a map of their difference, and facts', async () => {
    const request = y4mPair({ width: 64, height: 36, bitDepth: 8, chroma: '420' }, 2, 6);
    const [pair] = await all(extractFrames(request, [1]));
    expect(pair?.distorted.image({ maxSide: 32 })).toMatchObject({ width: 32, height: 18 });
    expect([...((await pair?.reference.png()) ?? []).slice(1, 4)]).toEqual(
      [...'PNG'].map((c) => c.charCodeAt(0)),
    );
    expect(pair?.difference({ gain: 3 }).gain).toBe(3);
    // Blurred, quantised in blocks and noisy.
    expect(pair?.facts().difference.mean).toBeGreaterThan(1);
  });

  it('can come from a source of the caller, but not from what is read only once', async () => {
    const clip = makeSample({ width: 32, height: 18, bitDepth: 8, chroma: '420' }, { seed: 7 });
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

describe('what cannot be had', () => {
  const clip = makeSample({ width: 32, height: 18, bitDepth: 8, chroma: '420' }, { seed: 8 });
  const request = { reference: y4mFile(clip, 'reference', 5), distorted: y4mFile(clip, 'distorted', 4) };

  it('is refused with the number of frames there are', async () => {
    expect(await sentence(extractFrames(request, [1, 4]))).toMatch(
      /^frame 4 was requested.*only 4 frames in common/,
    );
  });

  it.each([[[-1]], [[1.5]], [[Number.NaN]], [['3']], ['3'], [undefined]])(
    'frames %j are refused',
    async (frames) => {
      expect(await sentence(extractFrames(request, frames as number[]))).toMatch(/frame/);
    },
  );

  it('options that mean nothing here are refused', async () => {
    const options = { models: ['version=vmaf_v0.6.1'] } as object;
    expect(await sentence(extractFrames(request, [0], options))).toMatch(/no option "models"/);
  });

  it('nothing is read once the signal aborts', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const pairs = extractFrames(request, [0, 1, 2], { signal: controller.signal });
    expect((await pairs.next()).done).toBe(false);
    controller.abort(reason);
    await expect(pairs.next()).rejects.toBe(reason);
    await expect(all(extractFrames(request, [0], { signal: controller.signal }))).rejects.toBe(reason);
  });

  it('closes its sources when the caller stops early', async () => {
    let closed = 0;
    const own = (side: 'reference' | 'distorted') =>
      ownSource(clip, side, 5, { seekable: true, frameCount: 5, onClose: () => closed++ });
    for await (const { index } of extractFrames(
      { reference: own('reference'), distorted: own('distorted') },
      [1, 2],
    )) {
      expect(index).toBe(1);
      break;
    }
    expect(closed).toBe(2);
  });
});

describe.runIf(hasFfmpeg)(`frames of encoded video (${needsFfmpeg})`, () => {
  /** Every luma plane as a run from the start hands it out. */
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
    'are the same decoded from near by as from the start: $codec $pixelFormat',
    async (made) => {
      const path = encode({ ...made, frames: 60, size: '96x64', extra: ['-g', '20'] });
      const expected = await sequential(path, 60);
      expect(
        new Set(expected.map((plane) => plane.reduce((sum, value) => sum + value, 0))).size,
      ).toBeGreaterThan(30);
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

  it('are what scoring compared: two rates, two sizes', async () => {
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

  it('beside stored video are found as well', async () => {
    const distorted = encode({ codec: 'h264', frames: 60, size: '64x48', extra: ['-g', '10'] });
    const clip = makeSample({ width: 64, height: 48, bitDepth: 8, chroma: '420' }, { seed: 9 });
    const request = { reference: y4mFile(clip, 'reference', 60), distorted };
    const pairs = await all(extractFrames(request, [5, 58]));
    const [luma] = clip.frame('reference', 58);
    expect(pairs[1]?.reference.planes.y).toEqual(luma && sampleBytes(luma));
    expect(pairs[1]?.distorted.color).toEqual({
      matrix: 'bt601',
      range: 'limited',
      assumed: ['matrix', 'range'],
    });
  });

  it('say by which matrix and range they were coded', async () => {
    const tagged = '-colorspace bt709 -color_range pc -color_primaries bt709 -color_trc bt709';
    const path = encode({ codec: 'h264', frames: 3, extra: tagged.split(' ') });
    const [pair] = await all(extractFrames({ reference: path, distorted: path }, [1]));
    expect(pair?.reference.color).toEqual({ matrix: 'bt709', range: 'full', assumed: [] });
  });

  it('are the same in any order as from the start, from files that stay open', async () => {
    const path = encode({ codec: 'h264', frames: 60, size: '64x48' });
    const request = { reference: path, distorted: path };
    const expected = await all(extractFrames(request, upTo(60)));
    for await (const pair of extractFrames(request, asked(10, 11, 59, 9, 9, 0)))
      expect(pair.distorted.planes, `${pair.index}`).toEqual(expected[pair.index]?.distorted.planes);
  });

  it('beyond the end are refused', async () => {
    const path = encode({ codec: 'h264', frames: 10, extra: ['-g', '10'] });
    expect(await sentence(extractFrames({ reference: path, distorted: path }, [10]))).toMatch(
      /frame 10 was requested.*only 10 frames/,
    );
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

  it('are the pairs with these numbers: forwards, backwards, near and far', async () => {
    const expected: string[] = [];
    for await (const pair of extractFrames(request(), upTo(FRAMES), {})) expected.push(hash(pair));
    // Counts how often files are opened.
    const opens = vi.fn(extractFrames);
    const reader = new PairReader(request(), {}, opens);
    const order = [10, 11, 12, 9, 40, 41, 59, 0, 2, 2, 58, 30];
    for (const index of order) {
      const pair = await reader.get(index, never);
      expect([pair.index, hash(pair)]).toEqual([index, expected[index]]);
    }
    // Jumps of seconds in long files came from opening them again.
    expect(opens).toHaveBeenCalledOnce();
    reader.close();
  });

  it('come when asked for at once, those that are given up included', async () => {
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

  it('that are not there are refused, and others still come', async () => {
    const reader = new PairReader(request(), {});
    await expect(reader.get(FRAMES, never)).rejects.toThrow(`frame ${FRAMES} was requested`);
    expect((await reader.get(1, never)).index).toBe(1);
    reader.close();
  });
});
