/**
 * @module test/node/engine/swap
 * Models that change while a measurement runs: frames before and after equal runs with either model.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import type { FramePlanes } from '../../../src/core/frame.js';
import type { SwapOutcome } from '../../../src/engine/contract/types.js';
import { requireSteerable, STEERED } from '../../../src/engine/live/steerable.js';
import { type RunObserver, Steering, type SwapOptions } from '../../../src/engine/live/steering.js';
import { prepareRun } from '../../../src/engine/score.js';
import {
  createScorer,
  type Report,
  type ScoreOptions,
  type ScorerOptions,
  score,
} from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { ownSource, SMALL, y4mPair } from '../../support/clips.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** More than a scorer takes ahead of what it measures: a change can be at a frame that comes. */
const FRAMES = 320;
/** Changes at random frames in each way of measuring. */
const RUNS = tier(1, 50);
const OLD = 'version=vmaf_v0.6.1';
const NEG = 'version=vmaf_v0.6.1neg:name=neg';
const FLAGGED = 'version=vmaf_v0.6.1:disable_clip:name=unclipped';

const pair = y4mPair(SMALL, FRAMES);
const random = seeded(tier(20_263, Date.now()));
let expected: Report;

beforeAll(async () => {
  expected = await score(pair, { models: [OLD, NEG, FLAGGED], threads: 0 });
});

/** Asks for a change at the boundary of a frame, and says what came of it. */
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
  const request =
    from === 'stored' ? sides : { reference: source('reference'), distorted: source('distorted') };
  const run = prepareRun(nodePlatform, request, { models: [OLD], ...options });
  requireSteerable(run)[STEERED](swapper.steering);
  return run.start();
}

/** Luma of a frame of the stored pair. */
function lumaOf(side: 'reference' | 'distorted', index: number): FramePlanes {
  const header = pair[side].indexOf(0x0a) + 1;
  const at = header + (index * (pair[side].length - header)) / FRAMES + 'FRAME\n'.length;
  return { y: pair[side].slice(at, at + SMALL.width * SMALL.height) };
}

async function pushWith(swapper: Swapper, threads: number, options: ScorerOptions = {}): Promise<Report> {
  const scorer = await createScorer(SMALL, { models: [OLD], threads, ...options });
  requireSteerable(scorer)[STEERED](swapper.steering);
  for (let i = 0; i < FRAMES; i++) {
    // A scorer takes pairs ahead of what it measures: those after the change must not be among them.
    if (i === FRAMES / 2 && swapper.at < FRAMES / 4) await swapper.answered;
    await scorer.push(lumaOf('reference', i), lumaOf('distorted', i));
  }
  return scorer.finish();
}

/** Compares every frame with the run that had all models. */
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

  it('that could score no frame any more is refused, and the report is whole', async () => {
    const swapper = new Swapper(FRAMES - 1, FLAGGED, {});
    const report = await runWith(swapper, { threads: 2, chunkFrames: 3 }, 'stored');
    check(report, { frame: FRAMES - 1, to: 'unclipped' } as SwapOutcome);
    const { steering } = swapper;
    const late = await steering.prepare(OLD);
    expect(() => steering.swap(late)).toThrow(
      `All ${FRAMES} frames are scored; the new model would score no frame.`,
    );
  });

  it.each(cases)('to one whose features are measured from the start is exact, in %s', async (_, run) => {
    const at = random.int(0, FRAMES - 1);
    const swapper = new Swapper(at, NEG, {});
    const report = await run(swapper, { alsoModels: [NEG] });
    expect(swapper.refusal).toBeUndefined();
    expect(swapper.outcome).toMatchObject({ frame: at, from: 'vmaf', to: 'neg' });
    check(report, { frame: at, to: 'neg' } as SwapOutcome);
  });

  it('that others follow at the same boundary is one change; to the model that scores it is refused', async () => {
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
    await expect(change('version=vmaf_v0.6.1:enable_transform:name=transformed')).rejects.toThrow(
      'The model "transformed" scores this run already.',
    );
    await expect(change('version=vmaf_v0.6.1:disable_clip:name=integer_adm2')).rejects.toThrow(
      'The score "integer_adm2" of the new model has the name of a feature; give the model another with name=.',
    );
    await push(40);
    const report = await scorer.finish();
    expect(report.swaps).toEqual([{ frame, from: 'vmaf', to: 'transformed' }]);
    expect(report.models.map(({ name }) => name)).toEqual(['vmaf', 'transformed']);
    expect(report.metrics).not.toContain('unclipped');
    // Every frame that is kept has the score, but not every frame that was pooled.
    expect(report.frames.map(({ metrics }) => typeof metrics.transformed)).toEqual(
      Array.from(report.frames, () => 'number'),
    );
    expect(report.pooled_metrics.transformed).toEqual({});
    expect(report.distribution.transformed).toBeUndefined();
    expect(report.pooled_metrics.integer_adm2).toHaveProperty('mean');
  });

  it('to one with further features is refused with what is missing, and how it is measured', async () => {
    const swapper = new Swapper(5, NEG, {});
    const report = await pushWith(swapper, 0);
    expect(swapper.outcome).toBeUndefined();
    expect(String(swapper.refusal)).toMatch(
      /vmaf_v0\.6\.1neg.* needs features that this run does not measure: .*; start the run with it in alsoModels/,
    );
    expect(report.swaps).toBeUndefined();
    expect(report.frames.map(({ metrics }) => metrics.vmaf)).toEqual(
      expected.frames.map(({ metrics }) => metrics.vmaf),
    );
  });
});
