/**
 * @module test/node/engine/scorer
 * A scorer takes frames pair by pair and gives the result of a run; the model may change while it measures: frames before and
 * after equal runs with either model.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../src/core/frame.js';
import { requireSteerable, STEERED } from '../../../src/engine/live/steerable.js';
import {
  type RunObserver,
  Steering,
  type SwapOptions,
  type SwapOutcome,
} from '../../../src/engine/live/steering.js';
import { prepareRun } from '../../../src/engine/score.js';
import {
  createScorer,
  type Report,
  type ScoreOptions,
  type ScorerOptions,
  score,
} from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import type { FrameMetrics } from '../../../src/report/schema.js';
import { sampleSource } from '../../../src/sample/files.js';
import type { SampleClip } from '../../../src/sample/generator.js';
import { ALL_FEATURES, ownSource, results, SMALL, SMALL_10, y4mPair } from '../../support/clips.js';
import { planesFor } from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const MODELS = ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg'];
const EVERYTHING: ScorerOptions = { models: MODELS, features: ALL_FEATURES };

/** One side's frame in its own memory. */
async function planes(clip: SampleClip, side: 'reference' | 'distorted', index: number) {
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
    const scored = score(pair, { ...EVERYTHING, threads: 0, preflight: false });
    const pairAt = async (index: number) =>
      [await planes(pair.clip, 'reference', index), await planes(pair.clip, 'distorted', index)] as const;

    it('equals score, frame by frame and in the end', async () => {
      const expected = await scored;
      const told: FrameMetrics[] = [];
      const onFrame = (frame: FrameMetrics) => told.push(frame);
      const scorer = await createScorer(format, { ...EVERYTHING, threads, onFrame });
      const returned: FrameMetrics[] = [];
      for (let i = 0; i < frames; i++) {
        const [reference, distorted] = await pairAt(i);
        returned.push(...(await scorer.push(reference, distorted)));
        // The caller may reuse the planes.
        for (const plane of [reference.y, distorted.y]) plane.fill(0);
        expect(scorer.pushed).toBe(i + 1);
      }
      expect(returned).toEqual(expected.frames.slice(0, returned.length));
      // In the calling thread, only the five-frame window waits for a later frame.
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

    it('keeps the order of calls that are not awaited', async () => {
      const expected = await scored;
      const scorer = await createScorer(format, { ...EVERYTHING, threads });
      const pushes = [];
      for (let i = 0; i < frames; i++) pushes.push(scorer.push(...(await pairAt(i))));
      const report = await scorer.finish();
      expect(results(report)).toEqual(results(expected));
      const told = (await Promise.all(pushes)).flat();
      expect(told).toEqual(expected.frames.slice(0, told.length));
    });

    it('lists only every fourth frame if subsample is 4', async () => {
      const scorer = await createScorer(format, { ...EVERYTHING, threads, subsample: 4 });
      for (let i = 0; i < frames; i++) await scorer.push(...(await pairAt(i)));
      const report = await scorer.finish();
      const expected = await score(pair, { ...EVERYTHING, threads: 0, subsample: 4 });
      expect(results(report)).toEqual(results(expected));
      expect(report.frames.map(({ frameNum }) => frameNum)).toEqual([0, 4, 8]);
    });

    it('refuses planes of the wrong size and continues', async () => {
      using scorer = await createScorer(format, { features: ['psnr'], noPrediction: true, threads });
      const good = await planes(pair.clip, 'reference', 0);
      const bytes = SMALL.width * SMALL.height * (format.bitDepth > 8 ? 2 : 1);
      const cut = { ...good, y: good.y.subarray(1) };
      expect(await refusalOf('media', () => scorer.push(cut, good))).toMatch(
        new RegExp(`^The luma plane of the reference frame has ${bytes - 1} bytes, but .* needs ${bytes};`),
      );
      const sentence = await refusalOf('media', () => scorer.push(good, { y: good.y }));
      expect(sentence).toMatch(/^The Cb plane of the distorted .* 0 bytes/);
      await scorer.push(good, good);
      const report = await scorer.finish();
      expect(report.frameCount).toBe(1);
    });

    it('makes no report without a pair whose planes were transferred before they were copied', async () => {
      using scorer = await createScorer(format, { threads });
      const pushed = Array.from({ length: 3 }, () => planes(pair.clip, 'reference', 0));
      const [good, gone, late] = (await Promise.all(pushed)) as [FramePlanes, FramePlanes, FramePlanes];
      const transfer = ({ y }: FramePlanes) =>
        structuredClone(y.buffer, { transfer: [y.buffer as ArrayBuffer] });
      transfer(gone);
      expect(await refusalOf('usage', () => scorer.push(good, gone))).toContain(
        'distorted frame is detached',
      );
      await scorer.push(good, good);
      const lost = scorer.push(good, late);
      const outcome = expect(lost).rejects.toThrow('detached');
      // After its check.
      for (let ticks = 0; ticks < 2; ticks++) await Promise.resolve();
      transfer(late);
      await outcome;
      await expect(scorer.push(good, good)).rejects.toThrow('detached');
      await expect(scorer.finish()).rejects.toThrow('detached');
    });

    it('rejects waiting calls when it is closed', async () => {
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
  it('needs at least one pair, and cannot be used once finished or closed', async () => {
    const create = () => createScorer(SMALL, { threads: 0 });
    const empty = await create();
    const said = await refusalOf('media', () => empty.finish());
    expect(said).toBe('There are no frames to score: no pair was pushed.');
    const scorer = await create();
    const frame = planesFor(SMALL);
    await scorer.push(frame, frame);
    await scorer.finish();
    const sentence = await refusalOf('usage', () => scorer.push(frame, frame));
    expect(sentence).toBe('The scorer is finished; push needs a new one from createScorer.');
    await refusalOf('usage', () => scorer.finish());
    await scorer.close();
    await scorer.close();
    const closed = await create();
    await closed.close();
    expect(await refusalOf('usage', () => closed.push(frame, frame))).toMatch(/^The scorer is closed/);
  });

  it('measures a pair or refuses it, whenever it is closed during a push', async () => {
    const frame = planesFor(SMALL);
    for (let ticks = 0; ticks < 8; ticks++) {
      const scorer = await createScorer(SMALL, { threads: 0 });
      const pushing = Promise.allSettled([scorer.push(frame, frame)]);
      for (let i = 0; i < ticks; i++) await Promise.resolve();
      await scorer.close();
      const [pushed] = await pushing;
      if (pushed.status === 'rejected') expect(pushed.reason).toMatchObject({ code: 'usage' });
    }
  });

  it.each<[string, VideoFormat, string]>([
    ['width', { ...SMALL, width: 0 }, 'width 0'],
    ['bit depth', { ...SMALL, bitDepth: 17 }, 'bit depth 17'],
    ['size', { ...SMALL, width: 16 }, '16x54'],
  ])('refuses a format with an impossible %s', async (_, format, part) => {
    await expect(createScorer(format)).rejects.toThrow(part);
  });

  it('needs only luma if no chroma is measured, and takes names for its videos', async () => {
    const names = { reference: 'camera', distorted: 'encoder' };
    using scorer = await createScorer(SMALL, { threads: 0, models: ['version=vmaf_v0.6.1'], names });
    const y = new Uint8Array(SMALL.width * SMALL.height).fill(100);
    await scorer.push({ y }, { y });
    const report = await scorer.finish();
    // Identical flat pictures: every vif and adm feature is 1, motion 0.
    expect(report.frames[0]?.metrics.vmaf).toBeCloseTo(97.42804264261031, 9);
    expect([report.reference.name, report.distorted.name]).toEqual(['camera', 'encoder']);
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
    [SMALL_10, new Float32Array(98 * 54), 'is of type Float32Array, but at 10 bit it must be a Uint8Array'],
    [SMALL, new DataView(new ArrayBuffer(98 * 54)), 'is of type DataView, but at 8 bit'],
    [SMALL, new Array(98 * 54).fill(0), 'is an array of 5292, but at 8 bit'],
    [SMALL, null, 'is null, but at 8 bit'],
  ])('refuses planes of the wrong type', async (format, y, part) => {
    using scorer = await createScorer(format, { threads: 0 });
    const message = await refusalOf('usage', () => Reflect.apply(scorer.push, scorer, [{ y }, { y }]));
    expect(message).toContain(`The luma plane of the reference frame ${part}`);
  });

  it('counts the bytes of a plane, not its samples', async () => {
    using scorer = await createScorer(SMALL_10, { threads: 0 });
    // As many samples as the bytes needed: twice too large.
    const y = new Uint16Array(2 * 98 * 54);
    const sentence = await refusalOf('media', () => scorer.push({ y }, { y }));
    expect(sentence).toMatch(/^The luma plane of the reference frame has 21168 bytes, but .* needs 10584;/);
  });

  it('reports missing arguments', async () => {
    expect(await refusalOf('usage', () => Reflect.apply(createScorer, null, []))).toBe(
      'createScorer needs the format of its frames, but it is undefined; give an object with width, height, bitDepth ' +
        'and chroma.',
    );
    using scorer = await createScorer(SMALL, { threads: 0 });
    const y = new Uint8Array(98 * 54);
    for (const [args, role] of [
      [[], 'reference'],
      [[{ y }], 'distorted'],
    ] as const) {
      const message = await refusalOf('usage', () => Reflect.apply(scorer.push, scorer, args));
      expect(message).toContain(`but the ${role} frame is undefined`);
    }
  });

  it.each<[unknown, string]>([
    [{ frameCount: 3 }, 'There is no option "frameCount"; there are models, alsoModels, features'],
    [{ names: { reference: 1 } }, 'names.reference is 1, but it must be a string.'],
    [{ names: 'mine' }, 'names is "mine", but it must be an object.'],
  ])('refuses invalid options, %j', async (options, start) => {
    const message = await refusalOf('usage', () => Reflect.apply(createScorer, null, [SMALL, options]));
    expect(message.slice(0, start.length)).toBe(start);
  });

  it('starts no workers for small frames by default, and warns if it has nothing to measure', async () => {
    using scorer = await createScorer({ ...SMALL, width: 64 }, { models: [] });
    const y = new Uint8Array(64 * 54);
    await scorer.push({ y }, { y });
    const report = await scorer.finish();
    expect(report.threads).toBe(0);
    expect(report.warnings).toEqual([expect.stringMatching(/^No model or feature was requested, /)]);
  });
});

/** More frames than a scorer queues. */
const FRAMES = 320;
/** Changes at random frames in each way of measuring. */
const RUNS = tier(1, 50);
const OLD = 'version=vmaf_v0.6.1';
const NEG = 'version=vmaf_v0.6.1neg:name=neg';
const FLAGGED = 'version=vmaf_v0.6.1:disable_clip:name=unclipped';

const TINY: VideoFormat = { ...SMALL, width: 48, height: 32 };
const pair = y4mPair(TINY, FRAMES);
const random = seeded(tier(20_263, Date.now()));
let expected: Report;

beforeAll(async () => {
  expected = await score(pair, { models: [OLD, NEG, FLAGGED], threads: 0, preflight: false });
});

/** Requests a change at a frame boundary, and records the outcome. */
class Swapper implements RunObserver {
  readonly steering = new Steering(this);
  outcome: SwapOutcome | undefined;
  refusal: unknown;
  /** Resolves when there is an outcome or a refusal. */
  readonly answered: Promise<void>;
  #answer = () => {};
  #model: Awaited<ReturnType<Steering['prepare']>> | undefined;

  constructor(
    readonly at: number,
    readonly text: string,
    readonly options: SwapOptions,
  ) {
    this.answered = new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  planned(): void {
    this.steering.pause();
    void this.steering.prepare(this.text).then((model) => {
      this.#model = model;
      this.steering.resume();
    });
  }

  boundary(frame: number): void {
    if (frame !== this.at || !this.#model) return;
    try {
      this.outcome = this.steering.swap(this.#model, this.options);
    } catch (error) {
      this.refusal = error;
    }
    this.#answer();
  }

  frame(): void {}
  swapped(): void {}
  ended(): void {}
}

async function runWith(swapper: Swapper, options: ScoreOptions, from: 'stored' | 'passing'): Promise<Report> {
  const sides = { reference: pair.reference, distorted: pair.distorted };
  const source = (side: 'reference' | 'distorted') => ownSource(pair.clip, side, FRAMES);
  const own = { reference: source('reference'), distorted: source('distorted') };
  const request = from === 'stored' ? sides : own;
  const run = prepareRun(nodePlatform, request, { models: [OLD], preflight: false, ...options });
  requireSteerable(run)[STEERED](swapper.steering);
  return run.start();
}

it('a run that would check nothing is refused when it is prepared', () => {
  const request = { reference: pair.reference, distorted: pair.distorted };
  const prepare = () => prepareRun(nodePlatform, request, { strict: true, preflight: false });
  expect(prepare).toThrow(/strict is true, but preflight is false/);
});

/** Luma of a frame of the stored pair. */
function lumaOf(side: 'reference' | 'distorted', index: number): FramePlanes {
  const header = pair[side].indexOf(0x0a) + 1;
  const at = header + (index * (pair[side].length - header)) / FRAMES + 'FRAME\n'.length;
  return { y: pair[side].slice(at, at + TINY.width * TINY.height) };
}

async function pushWith(swapper: Swapper, threads: number, options: ScorerOptions = {}): Promise<Report> {
  const scorer = await createScorer(TINY, { models: [OLD], threads, ...options });
  requireSteerable(scorer)[STEERED](swapper.steering);
  for (let i = 0; i < FRAMES; i++) {
    // A scorer queues pairs: those after the change must not be queued yet.
    if (i === FRAMES / 2 && swapper.at < FRAMES / 4) await swapper.answered;
    await scorer.push(lumaOf('reference', i), lumaOf('distorted', i));
  }
  return scorer.finish();
}

/** Compares every frame with the run of all models. */
function check(report: Report, { frame, to }: SwapOutcome): void {
  expect(report.frames).toHaveLength(FRAMES);
  for (const { frameNum, metrics } of report.frames) {
    const all = expected.frames[frameNum]?.metrics ?? {};
    const [has, lacks] = frameNum < frame ? ['vmaf', to] : [to, 'vmaf'];
    expect(metrics[has], `${has} of frame ${frameNum}, changed at ${frame}, seed ${random.seed}`).toBe(
      all[has],
    );
    expect(metrics[lacks], `${lacks} of frame ${frameNum}`).toBeUndefined();
    for (const [name, value] of Object.entries(metrics)) expect(value, `${name} ${frameNum}`).toBe(all[name]);
  }
  expect(report.swaps).toEqual([{ frame, from: 'vmaf', to }]);
  expect(report.models.map(({ name }) => name)).toEqual(['vmaf', to]);
}

const running =
  (from: 'stored' | 'passing', how: ScoreOptions) =>
  (swapper: Swapper, options: ScoreOptions = {}) =>
    runWith(swapper, { ...how, ...options }, from);
const pushing =
  (threads: number) =>
  (swapper: Swapper, options: ScorerOptions = {}) =>
    pushWith(swapper, threads, options);

describe('a change of the model', () => {
  const cases = [
    ['a run on 2 threads', running('stored', { threads: 2, chunkFrames: 3 })],
    ['a run in the calling thread', running('stored', { threads: 0 })],
    ['a run whose frames pass through', running('passing', { threads: 2 })],
    ['a scorer without threads', pushing(0)],
    ['a scorer on 2 threads', pushing(2)],
  ] as const;

  it.each(cases)('to one with the same features is exact at any frame, in %s', async (_, run) => {
    for (let i = 0; i < RUNS; i++) {
      const at = random.int(0, FRAMES - 1);
      const swapper = new Swapper(at, FLAGGED, {});
      const report = await run(swapper);
      expect(swapper.refusal).toBeUndefined();
      expect(swapper.outcome).toMatchObject({ frame: at, from: 'vmaf', to: 'unclipped' });
      check(report, { frame: at, to: 'unclipped' } as SwapOutcome);
    }
  });

  it('after the last frame is refused, and the report is complete', async () => {
    const swapper = new Swapper(FRAMES - 1, FLAGGED, {});
    const report = await runWith(swapper, { threads: 2, chunkFrames: 3 }, 'stored');
    check(report, { frame: FRAMES - 1, to: 'unclipped' } as SwapOutcome);
    const { steering } = swapper;
    const late = await steering.prepare(OLD);
    expect(() => steering.swap(late)).toThrow(
      `All ${FRAMES} frames are scored; the new model would score no frame.`,
    );
  });

  const few = [cases[0], cases[3]] as const;
  it.each(tier<readonly (typeof cases)[number][]>(few, cases))(
    'to one whose features are measured from the start is exact, in %s',
    async (_, run) => {
      const at = random.int(0, FRAMES - 1);
      const swapper = new Swapper(at, NEG, {});
      const report = await run(swapper, { alsoModels: [NEG, 'vmaf_v0.6.1neg', 'vmaf_4k_v0.6.1'] });
      expect(swapper.refusal).toBeUndefined();
      expect(swapper.outcome).toMatchObject({ frame: at, from: 'vmaf', to: 'neg' });
      check(report, { frame: at, to: 'neg' } as SwapOutcome);
    },
  );

  it('followed by another at the same boundary is one change, and one to the current model is refused', async () => {
    const scorer = await createScorer(SMALL, { models: [OLD], threads: 0, keep: { frames: 4 } });
    const swapper = new Swapper(-1, OLD, {});
    requireSteerable(scorer)[STEERED](swapper.steering);
    swapper.steering.resume();
    const push = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const planes = { y: new Uint8Array(SMALL.width * SMALL.height).fill(90 + scorer.pushed) };
        await scorer.push(planes, planes);
      }
    };
    const change = async (text: string) => {
      const { steering } = swapper;
      return steering.swap(await steering.prepare(text));
    };
    await push(6);
    const { frame } = await change(FLAGGED);
    await change('version=vmaf_v0.6.1:enable_transform:name=transformed');
    const work = change('version=vmaf_v0.6.1:enable_transform:name=transformed');
    await expect(work).rejects.toThrow('The model "transformed" scores this run already.');
    await expect(change('version=vmaf_v0.6.1:disable_clip:name=integer_adm2')).rejects.toThrow(
      'The score "integer_adm2" of the new model has the name of a feature; give the model another with name=.',
    );
    await push(40);
    const report = await scorer.finish();
    expect(report.swaps).toEqual([{ frame, from: 'vmaf', to: 'transformed' }]);
    expect(report.models.map(({ name }) => name)).toEqual(['vmaf', 'transformed']);
    expect(report.metrics).not.toContain('unclipped');
    // Every frame kept has the score, but not every frame pooled.
    const found = report.frames.map(({ metrics }) => typeof metrics.transformed);
    expect(found).toEqual(Array.from(report.frames, () => 'number'));
    expect(report.pooled_metrics.transformed).toEqual({});
    expect(report.distribution.transformed).toBeUndefined();
    expect(report.pooled_metrics.integer_adm2).toHaveProperty('mean');
  });

  it('to one with further features is refused with what is missing, and how to measure it', async () => {
    const swapper = new Swapper(5, NEG, {});
    const report = await pushWith(swapper, 0);
    expect(swapper.outcome).toBeUndefined();
    expect(String(swapper.refusal)).toMatch(
      /vmaf_v0\.6\.1neg.* needs features that this run does not measure: .*; start the run with it in alsoModels/,
    );
    expect(report.swaps).toBeUndefined();
    const listed = report.frames.map(({ metrics }) => metrics.vmaf);
    expect(listed).toEqual(expected.frames.map(({ metrics }) => metrics.vmaf));
  });
});
