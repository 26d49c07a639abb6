/**
 * @module test/node/engine/excess
 * A run whose samples need more bits than the video has says so, whoever reads the frames, and one whose samples do not
 * says nothing.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { createScorer, score } from '../../../src/index.js';
import type { Report } from '../../../src/report/types.js';
import { file, SMALL_10, scratchFolder, streamOf } from '../../support/clips.js';

const folder = scratchFolder();
const FRAMES = 6;
const { width, height } = SMALL_10;
const LUMA = width * height;
const FRAME = LUMA + 2 * (width >> 1) * (height >> 1);

/** Raw frames of 10 bits; `set` puts samples into them by their place in the file. */
function raw(set: Readonly<Record<number, number>> = {}, length = FRAMES * FRAME): Uint8Array<ArrayBuffer> {
  const samples = Uint16Array.from({ length }, (_, i) => (i * 37) % 1024);
  for (const [at, sample] of Object.entries(set)) samples[Number(at)] = sample;
  return new Uint8Array(samples.buffer);
}

const good = file(folder, 'good.yuv', raw());
const bad = raw({ [4 * FRAME + 999]: 4080, [5 * FRAME]: 5000 });
const badFile = file(folder, 'bad.yuv', bad);
const WARNING =
  'Frame 4 of the distorted video has a luma sample of 4080, but 10 bits hold 0 to 1023, so its values mean nothing; ';
const options = { features: ['psnr'], noPrediction: true };

function told({ warnings }: Pick<Report, 'warnings'>): string[] {
  return warnings.filter((warning) => warning.includes('bits hold'));
}

describe('samples that need more bits than the video has', () => {
  it.each([
    ['here', { threads: 0 }],
    ['on workers, in chunks of two', { threads: 2, chunkFrames: 2 }],
    ['in portable code', { threads: 0, implementation: 'portable' }],
  ] as const)('are told once, with the first frame that has one, measured %s', async (_, more) => {
    const report = await score(
      { reference: good, distorted: badFile, raw: SMALL_10 },
      { ...options, ...more },
    );
    expect(told(report)).toEqual([expect.stringContaining(WARNING)]);
  });

  it('are told of a stream', async () => {
    const request = { reference: good, distorted: streamOf(bad), raw: SMALL_10 };
    expect(told(await score(request, options))).toEqual([expect.stringContaining(WARNING)]);
  });

  it('are told of both videos, and of chroma where it is read', async () => {
    const distorted = raw({ [LUMA + 3]: 1024 });
    const reference = raw({ [FRAME + LUMA + (width >> 1) * (height >> 1)]: 65_535 });
    const request = { reference, distorted, raw: SMALL_10 };
    expect(told(await score(request, { ...options, threads: 0 }))).toEqual([
      expect.stringMatching(/^Frame 0 of the distorted video has a Cb sample of 1024, /),
      expect.stringMatching(/^Frame 1 of the reference video has a Cr sample of 65535, /),
    ]);
    const luma = { features: ['float_psnr'], noPrediction: true, threads: 0 };
    expect(told(await score(request, luma))).toEqual([]);
  });

  it('are told by a scorer that is fed', async () => {
    const scorer = await createScorer(SMALL_10, { ...options, threads: 0 });
    const y = new Uint16Array(LUMA).fill(512);
    const chroma = new Uint16Array((width >> 1) * (height >> 1)).fill(512);
    const frame = { y, cb: chroma, cr: chroma };
    await scorer.push(frame, frame);
    await scorer.push({ ...frame, y: new Uint16Array(LUMA).fill(1024) }, frame);
    expect(told(await scorer.finish())).toEqual([
      expect.stringMatching(/^Frame 1 of the reference video has a luma sample of 1024, /),
    ]);
  });

  it('are not looked for in a picture that no metric reads', async () => {
    const chroma = new Uint16Array((width >> 1) * (height >> 1)).fill(512);
    const [within, beyond] = [512, 1024].map((value) => ({
      y: new Uint16Array(LUMA).fill(value),
      cb: chroma,
      cr: chroma,
    }));
    if (!within || !beyond) throw new Error('two pictures');
    const push = async (reference: typeof within, distorted: typeof within) => {
      const scorer = await createScorer(SMALL_10, { ...options, features: ['motion'], threads: 0 });
      await scorer.push(reference, distorted);
      return told(await scorer.finish());
    };
    // Motion is of the reference alone.
    expect(await push(within, beyond)).toEqual([]);
    expect(await push(beyond, within)).toEqual([expect.stringContaining('of the reference video')]);
  });

  it('do not exist at 8 and 16 bits, nor in a video that keeps its range', async () => {
    const bytes = raw({ 0: 65_535 });
    for (const bitDepth of [8, 16]) {
      const format: VideoFormat = { ...SMALL_10, bitDepth };
      expect(told(await score({ reference: bytes, distorted: bytes, raw: format }, options))).toEqual([]);
    }
    expect(told(await score({ reference: good, distorted: good, raw: SMALL_10 }, options))).toEqual([]);
  });

  /** As long as CAMBI needs a side to be. */
  const wide = { ...SMALL_10, width: 216, height: 32 };

  it.each([
    ['distorted', 'one of the last', { [216 * 32 - 2]: 1024 }, 'cambi', 'luma sample of 1024'],
    ['reference', 'the first', { 0: 65_535 }, 'cambi=full_ref=true', 'luma sample of 65535'],
  ])(
    'of the %s video, %s, make CAMBI refuse, which has no value then',
    async (side, _, set, feature, found) => {
      const frame = 1.5 * wide.width * wide.height;
      const [within, beyond] = [raw({}, frame), raw(set, frame)];
      const videos = { reference: within, distorted: within, [side]: beyond, raw: wide };
      const scoring = score(videos, { features: [feature], noPrediction: true, threads: 0 });
      await expect(scoring).rejects.toMatchObject({
        code: 'media',
        message: expect.stringContaining(
          `The cambi extractor has no value here: the ${side} video has a ${found}, but 10 bits hold 0 to 1023; check`,
        ),
      });
    },
  );
});
