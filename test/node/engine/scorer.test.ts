import { describe, expect, it } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../src/core/frame.js';
import type { ScorerOptions } from '../../../src/engine/contract/types.js';
import { createScorer, score } from '../../../src/index.js';
import type { FrameMetrics } from '../../../src/report/types.js';
import { sampleSource } from '../../../src/sample/files.js';
import type { SampleClip } from '../../../src/sample/generator.js';
import { ALL_FEATURES, results, SMALL, SMALL_10, y4mPair } from '../../support/clips.js';
import { failure, planesFor } from '../../support/media.js';
import { tier } from '../../support/tier.js';

const MODELS = ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg'];
const EVERYTHING: ScorerOptions = { models: MODELS, features: ALL_FEATURES };

/** One side's frame in memory of its own. */
async function planes(
  clip: SampleClip,
  side: 'reference' | 'distorted',
  index: number,
): Promise<FramePlanes> {
  const frame = planesFor(clip.format);
  await sampleSource(clip, side, index + 1).readFrame(index, frame);
  return frame;
}

const KINDS = [
  { format: SMALL, threads: 0 },
  { format: SMALL_10, threads: 2 },
];

describe.each(tier(KINDS, [...KINDS, { format: SMALL_10, threads: 0 }, { format: SMALL, threads: 1 }]))(
  'a scorer of $format.bitDepth bit on $threads threads',
  ({ format, threads }) => {
    const frames = 11;
    const pair = y4mPair(format, frames);
    const scored = score(pair, { ...EVERYTHING, threads: 0 });
    const pairAt = async (index: number) =>
      [await planes(pair.clip, 'reference', index), await planes(pair.clip, 'distorted', index)] as const;

    it('gives what score gives, frame by frame and in the end', async () => {
      const expected = await scored;
      const told: FrameMetrics[] = [];
      const scorer = await createScorer(format, {
        ...EVERYTHING,
        threads,
        onFrame: (frame) => told.push(frame),
      });
      const returned: FrameMetrics[] = [];
      for (let i = 0; i < frames; i++) {
        const [reference, distorted] = await pairAt(i);
        returned.push(...(await scorer.push(reference, distorted)));
        // The planes are the caller's again.
        for (const plane of [reference.y, distorted.y]) plane.fill(0);
        expect(scorer.pushed).toBe(i + 1);
      }
      expect(returned).toEqual(expected.frames.slice(0, returned.length));
      // In the calling thread all is final that does not wait for a later frame: the five-frame window waits for one.
      if (threads === 0) expect(returned).toHaveLength(frames - 1);
      const report = await scorer.finish();
      expect(results(report)).toEqual(results(expected));
      expect(told).toEqual(expected.frames);
      expect(scorer.metrics).toEqual(expected.metrics);
      expect(report.models).toEqual(expected.models);
      expect(report).toMatchObject({ frameCount: frames, threads });
      const own = { name: 'reference', container: 'frames', frameCount: frames, skipped: 0 };
      expect(report.reference).toMatchObject(own);
    });

    it('keeps the order of calls that were not awaited', async () => {
      const expected = await scored;
      const scorer = await createScorer(format, { ...EVERYTHING, threads });
      const pushes = [];
      for (let i = 0; i < frames; i++) pushes.push(scorer.push(...(await pairAt(i))));
      const report = await scorer.finish();
      expect(results(report)).toEqual(results(expected));
      const told = (await Promise.all(pushes)).flat();
      expect(told).toEqual(expected.frames.slice(0, told.length));
    });

    it('lists only kept frames with subsample', async () => {
      const scorer = await createScorer(format, { ...EVERYTHING, threads, subsample: 4 });
      for (let i = 0; i < frames; i++) await scorer.push(...(await pairAt(i)));
      const report = await scorer.finish();
      const expected = await score(pair, { ...EVERYTHING, threads: 0, subsample: 4 });
      expect(results(report)).toEqual(results(expected));
      expect(report.frames.map(({ frameNum }) => frameNum)).toEqual([0, 4, 8]);
    });

    it('refuses planes of the wrong size and goes on', async () => {
      using scorer = await createScorer(format, { features: ['psnr'], noPrediction: true, threads });
      const good = await planes(pair.clip, 'reference', 0);
      const bytes = SMALL.width * SMALL.height * (format.bitDepth > 8 ? 2 : 1);
      const cut = { ...good, y: good.y.subarray(1) };
      expect(await failure(() => scorer.push(cut, good), 'media')).toMatch(
        new RegExp(`^The luma plane of the reference frame has ${bytes - 1} bytes, but .* needs ${bytes};`),
      );
      expect(await failure(() => scorer.push(good, { y: good.y }), 'media')).toMatch(
        /^The Cb plane of the distorted .* 0 bytes/,
      );
      await scorer.push(good, good);
      const report = await scorer.finish();
      expect(report.frameCount).toBe(1);
    });

    it('needs at least one pair', async () => {
      const scorer = await createScorer(format, { threads });
      expect(await failure(() => scorer.finish(), 'media')).toBe(
        'There are no frames to score: no pair was pushed.',
      );
    });

    it('is of no use once finished or closed', async () => {
      const scorer = await createScorer(format, { threads });
      const frame = await planes(pair.clip, 'reference', 0);
      await scorer.push(frame, frame);
      await scorer.finish();
      expect(await failure(() => scorer.push(frame, frame), 'usage')).toBe(
        'The scorer is finished; push needs a new one from createScorer.',
      );
      await failure(() => scorer.finish(), 'usage');
      await scorer.close();
      await scorer.close();
      const closed = await createScorer(format, { threads });
      await closed.close();
      expect(await failure(() => closed.push(frame, frame), 'usage')).toMatch(/^The scorer is closed/);
    });

    it('closed in the middle lets no call wait forever', async () => {
      const scorer = await createScorer(format, { threads });
      const frame = await planes(pair.clip, 'reference', 0);
      const calls = Array.from({ length: 20 }, () => scorer.push(frame, frame));
      calls.push(scorer.finish().then(() => []));
      const outcomes = Promise.allSettled(calls);
      await scorer.close();
      expect((await outcomes).at(-1)?.status).toBe('rejected');
    });
  },
);

describe('a scorer', () => {
  it.each<[string, VideoFormat, string]>([
    ['width', { ...SMALL, width: 0 }, 'width 0'],
    ['bit depth', { ...SMALL, bitDepth: 17 }, 'bit depth 17'],
    ['size', { ...SMALL, width: 16 }, '16x54'],
  ])('refuses a format with an impossible %s', async (_, format, part) => {
    await expect(createScorer(format)).rejects.toThrow(part);
  });

  it('needs only luma when no chroma is measured', async () => {
    using scorer = await createScorer(SMALL, { threads: 0, models: ['version=vmaf_v0.6.1'] });
    const y = new Uint8Array(SMALL.width * SMALL.height).fill(100);
    await scorer.push({ y }, { y });
    const report = await scorer.finish();
    // Identical flat pictures: every vif and adm feature is 1, motion 0.
    expect(report.frames[0]?.metrics.vmaf).toBeCloseTo(97.42804264261031, 9);
  });

  it('takes samples of more than 8 bit as a Uint16Array too, also as a view of a larger one', async () => {
    const clip = y4mPair(SMALL_10, 2).clip;
    const bytes = [await planes(clip, 'reference', 0), await planes(clip, 'distorted', 0)] as const;
    const words = bytes.map(({ y }) => {
      const larger = new Uint16Array(y.length / 2 + 3);
      new Uint8Array(larger.buffer).set(y, 6);
      return { y: larger.subarray(3) };
    });
    const reports = [];
    for (const [reference, distorted] of [bytes, words]) {
      if (!reference || !distorted) throw new Error('a pair has two sides');
      using scorer = await createScorer(SMALL_10, { threads: 0 });
      await scorer.push(reference, distorted);
      reports.push(results(await scorer.finish()));
    }
    expect(reports[1]).toEqual(reports[0]);
  });

  it.each<[VideoFormat, unknown, string]>([
    [SMALL, new Uint16Array(98 * 54), 'is of type Uint16Array, but at 8 bit it must be a Uint8Array.'],
    [
      SMALL_10,
      new Float32Array(98 * 54),
      'is of type Float32Array, but at 10 bit it must be a Uint8Array with two',
    ],
    [SMALL, new DataView(new ArrayBuffer(98 * 54)), 'is of type DataView, but at 8 bit'],
    [SMALL, new Array(98 * 54).fill(0), 'is an array of 5292, but at 8 bit'],
    [SMALL, null, 'is null, but at 8 bit'],
  ])('refuses planes of the wrong type', async (format, y, part) => {
    using scorer = await createScorer(format, { threads: 0 });
    const message = await failure(() => Reflect.apply(scorer.push, scorer, [{ y }, { y }]), 'usage');
    expect(message).toContain(`The luma plane of the reference frame ${part}`);
  });

  it('counts the bytes of a plane, not its samples', async () => {
    using scorer = await createScorer(SMALL_10, { threads: 0 });
    // As many samples as bytes are needed: twice too large.
    const y = new Uint16Array(2 * 98 * 54);
    expect(await failure(() => scorer.push({ y }, { y }), 'media')).toMatch(
      /^The luma plane of the reference frame has 21168 bytes, but .* needs 10584;/,
    );
  });

  it('says what is missing', async () => {
    expect(await failure(() => Reflect.apply(createScorer, null, []), 'usage')).toBe(
      'createScorer needs the format of its frames, but it is undefined; give an object with width, height, bitDepth ' +
        'and chroma.',
    );
    using scorer = await createScorer(SMALL, { threads: 0 });
    const y = new Uint8Array(98 * 54);
    for (const [args, role] of [
      [[], 'reference'],
      [[{ y }], 'distorted'],
    ] as const) {
      const message = await failure(() => Reflect.apply(scorer.push, scorer, args), 'usage');
      expect(message).toContain(`but the ${role} frame is undefined`);
    }
  });

  it.each<[unknown, string]>([
    [{ frameCount: 3 }, 'There is no option "frameCount"; there are models, alsoModels, features'],
    [{ names: { reference: 1 } }, 'names.reference is 1, but it must be a string.'],
    [{ names: 'mine' }, 'names is "mine", but it must be an object.'],
  ])('refuses options that are none, %j', async (options, start) => {
    const message = await failure(() => Reflect.apply(createScorer, null, [SMALL, options]), 'usage');
    expect(message.slice(0, start.length)).toBe(start);
  });

  it('starts no workers for small frames by itself, and says when it has nothing to do', async () => {
    using scorer = await createScorer({ ...SMALL, width: 64 }, { models: [] });
    const y = new Uint8Array(64 * 54);
    await scorer.push({ y }, { y });
    const report = await scorer.finish();
    expect(report.threads).toBe(0);
    expect(report.warnings).toEqual([expect.stringMatching(/^No model or feature was requested, /)]);
  });

  it('names its two videos as asked', async () => {
    using scorer = await createScorer(SMALL, {
      threads: 0,
      names: { reference: 'camera', distorted: 'encoder' },
      features: ['psnr=enable_chroma=false'],
      noPrediction: true,
    });
    const y = new Uint8Array(SMALL.width * SMALL.height);
    await scorer.push({ y }, { y });
    const report = await scorer.finish();
    expect([report.reference.name, report.distorted.name]).toEqual(['camera', 'encoder']);
  });
});
