/**
 * @module test/node/engine/engine
 * Runs of one pair: chunks, workers and kinds of input do not change the values; and what ends a run, warns or is refused.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ScoreOptions, ScoreRequest } from '../../../src/engine/contract/types.js';
import { type Progress, score } from '../../../src/index.js';
import type { VideoInput } from '../../../src/media/types.js';
import { y4mFile } from '../../../src/sample/files.js';
import {
  ALL_FEATURES,
  file,
  ownSource,
  results,
  SMALL,
  SMALL_10,
  storedPair,
  streamOf,
  y4mPair,
} from '../../support/clips.js';
import { testFolder } from '../../support/folders.js';
import { videoFormat } from '../../support/metric.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const folder = testFolder();
const FEATURES: ScoreOptions = { features: ALL_FEATURES, noPrediction: true, preflight: false };

describe('a chunked run equals a whole one', () => {
  const frames = 23;
  const pair = y4mPair(SMALL_10, frames);
  const { reference, distorted } = storedPair(folder, 'chunked', pair);
  const whole = score({ reference, distorted }, { ...FEATURES, threads: 0 });

  it('measures every frame, and motion looks back', async () => {
    const report = await whole;
    expect(report.frameCount).toBe(frames);
    const found = report.frames.map(({ frameNum }) => frameNum);
    expect(found).toEqual(Array.from({ length: frames }, (_, i) => i));
    const sad = report.frames.map(({ metrics }) => metrics.VMAF_integer_feature_motion_sad_score);
    // Only the first frame has no frame before it.
    expect(sad.findIndex((value) => value !== 0)).toBe(1);
    const wide = report.frames.map(({ metrics }) => metrics.VMAF_integer_feature_motion_sad_score_mffw_mma);
    expect(wide.findIndex((value) => value !== 0)).toBe(2);
  });

  /** Threads and frames per chunk. */
  type Cut = readonly [threads: number, chunkFrames?: number];
  const cuts = ([threads, chunkFrames]: Cut) =>
    chunkFrames === undefined ? { threads } : { threads, chunkFrames };
  const fileCuts: readonly Cut[] = [[1], [2, 3], [4, 100], [0, 2]];
  const moreFileCuts: readonly Cut[] = [[1, 1], [1, 5], [2], [2, 1], [3, 4]];

  it.each(tier(fileCuts, [...fileCuts, ...moreFileCuts]).map(cuts))('with files, %o', async (how) => {
    const report = await score({ reference, distorted }, { ...FEATURES, ...how });
    expect(results(report)).toEqual(results(await whole));
    // One chunk needs one worker.
    expect(report.threads).toBe(how.chunkFrames === 100 ? 1 : how.threads);
  });

  const streamCuts: readonly Cut[] = [[0], [2], [2, 1], [2, 1000]];
  it.each(tier(streamCuts, [...streamCuts, [1], [3, 3]]).map(cuts))('with streams, %o', async (how) => {
    const streams = { reference: streamOf(pair.reference), distorted: streamOf(pair.distorted) };
    const report = await score(streams, { ...FEATURES, ...how });
    expect(results(report)).toEqual(results(await whole));
    expect(report.reference.frameCount).toBe(frames);
  });

  const own = (side: 'reference' | 'distorted') => ownSource(pair.clip, side, frames);
  const inputs: [string, () => [VideoInput, VideoInput]][] = [
    ['bytes', () => [pair.reference, pair.distorted]],
    ['blobs', () => [new Blob([pair.reference]), new Blob([pair.distorted])]],
    ['file URLs', () => [pathToFileURL(reference), pathToFileURL(distorted).href]],
    ['own sources', () => [own('reference'), own('distorted')]],
    ['a file and a stream', () => [reference, streamOf(pair.distorted)]],
  ];
  it.each(inputs)('with %s, on two workers and in the calling thread', async (name, input) => {
    const some = name === 'own sources' ? [0, 2] : [2];
    for (const threads of tier(some, [0, 2])) {
      const [first, second] = input();
      const report = await score({ reference: first, distorted: second }, { ...FEATURES, threads });
      expect(results(report), `${threads} threads`).toEqual(results(await whole));
    }
  });

  it('when one source serves both videos, with one call at a time', async () => {
    let reading = 0;
    const source = ownSource(pair.clip, 'reference', frames, {
      seekable: true,
      frameCount: frames,
      onRead: async () => {
        expect(reading++).toBe(0);
        await new Promise((resolve) => setImmediate(resolve));
        reading--;
      },
    });
    for (const threads of [0, 2]) {
      const report = await score({ reference: source, distorted: source }, { ...FEATURES, threads });
      expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 72, max: 72 });
    }
  });

  it.each([0, 2])('keeps frames of a subsample as they are, %i threads', async (threads) => {
    const { frames: all, aggregate_metrics } = await whole;
    const report = await score({ reference, distorted }, { ...FEATURES, threads, subsample: 5 });
    const kept = all.filter(({ frameNum }) => [0, 5, 10, 15, 20].includes(frameNum));
    // psnr runs on every frame, so its aggregate equals the whole run's.
    expect(report).toMatchObject({ frames: kept, aggregate_metrics, frameCount: frames, subsample: 5 });
    expect(report.frames).toHaveLength(5);
  });

  it.each([
    { frames: 2 },
    // At 25 frames per second, of which every fourth is scored.
    { seconds: 8 / 25 },
  ])('counts all frames of a subsample, though it keeps only the last: %o', async (keep) => {
    const options = { ...FEATURES, threads: 0, subsample: 4, keep };
    const report = await score({ reference, distorted }, options);
    expect(report.frames).toHaveLength(2);
    expect(report.warnings.join()).toContain(`the last 2 of ${Math.ceil(frames / 4)} frames`);
    expect(frames % 4).not.toBe(0);
  });

  it('with skipped frames and a limit equals cut files', async () => {
    const header = pair.reference.indexOf(0x0a) + 1;
    const frame = (pair.reference.length - header) / frames;
    const cut = (bytes: Uint8Array, from: number, to: number) =>
      Buffer.concat([bytes.subarray(0, header), bytes.subarray(header + from * frame, header + to * frame)]);
    const files = { reference: cut(pair.reference, 4, 15), distorted: cut(pair.distorted, 1, 12) };
    const expected = results(await score(files, { ...FEATURES, threads: 0 }));
    const window = { skipReference: 4, skipDistorted: 1, frameCount: 11 };
    for (const how of tier<readonly Cut[]>([[0], [2, 3]], [[0], [2, 3], [3, 1]]).map(cuts))
      for (const request of [
        { reference, distorted },
        { reference: streamOf(pair.reference), distorted: streamOf(pair.distorted) },
      ]) {
        const report = await score(request, { ...FEATURES, ...how, ...window });
        expect(results(report)).toEqual(expected);
        expect(report).toMatchObject({ reference: { skipped: 4 }, warnings: [] });
      }
  });
});

describe('lengths that differ', () => {
  const long = y4mPair(SMALL, 9);
  const short = y4mFile(long.clip, 'distorted', 6);
  const reference = file(folder, 'nine.y4m', long.reference);
  const distorted = file(folder, 'six.y4m', short);

  it('are scored to the shorter one, with a warning', async () => {
    const report = await score({ reference, distorted }, { ...FEATURES, threads: 0 });
    const counts = `The reference ${reference} has 9 frames and the distorted ${distorted} has 6 frames`;
    const warnings = [`${counts}; only the first 6 pairs were scored.`];
    expect(report).toMatchObject({ frameCount: 6, reference: { frameCount: 9 }, warnings });
  });

  it.each([0, 2])('also of streams, %i threads', async (threads) => {
    const one = await score({ reference, distorted: streamOf(short) }, { ...FEATURES, threads });
    const ended = `The distorted ${one.distorted.name} ended after 6 frames, before the reference ${reference}`;
    const warnings = [`${ended}; only the first 6 pairs were scored.`];
    expect(one).toMatchObject({ frameCount: 6, distorted: { frameCount: 6 }, warnings });
    const request = { reference: short, distorted: streamOf(long.distorted) };
    const other = await score(request, { ...FEATURES, threads });
    expect(other.frameCount).toBe(6);
    expect(other.warnings[0]).toMatch(/^The reference .* ended after 6 frames, before the distorted /);
  });

  it('do not matter if fewer frames are requested', async () => {
    for (const frameCount of [5, 6]) {
      const report = await score({ reference, distorted }, { ...FEATURES, frameCount });
      expect(report.frameCount).toBe(frameCount);
      expect(report.warnings).toEqual([]);
    }
  });

  it('leave nothing to score if all frames are skipped', async () => {
    for (const input of [distorted, streamOf(short)]) {
      const run = () => score({ reference, distorted: input }, { ...FEATURES, skipDistorted: 6 });
      expect(await refusalOf('media', run)).toMatch(
        /^There are no frames to score: distorted .* has (6 frames|no frames left) \(6 skipped\)\.$/,
      );
    }
  });
});

it.each([
  ['files', false, 3],
  // Streams are distributed two pairs at a time.
  ['one stream', true, 2],
])('no more workers start than there is work for: %s', async (_, streamed, workers) => {
  const pair = y4mPair(SMALL, 3);
  const { reference, distorted } = storedPair(folder, 'three', pair);
  const other = streamed ? streamOf(pair.distorted) : distorted;
  const report = await score({ reference, distorted: other }, { ...FEATURES, threads: 6 });
  expect(report).toMatchObject({ frameCount: 3, threads: workers });
});

describe('truncated videos', () => {
  const pair = y4mPair(SMALL, 6);
  const cut = pair.distorted.slice(0, -100);
  const distorted = file(folder, 'truncated.y4m', cut);

  it.each([
    ['files', () => distorted, 0],
    ['files on workers', () => distorted, 2],
    ['streams', () => streamOf(cut), 0],
    ['streams on workers', () => streamOf(cut), 2],
  ])('are errors that name the frame: %s', async (_, input, threads) => {
    const seen: number[] = [];
    const run = score(
      { reference: pair.reference, distorted: input() },
      { ...FEATURES, threads, onProgress: ({ framesDone }) => seen.push(framesDone) },
    );
    expect(await refusalOf('media', () => run)).toMatch(/frame 5 of .* is incomplete/);
    // Progress reports no missing frame, and none twice.
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    expect(seen.every((framesDone) => framesDone <= 5)).toBe(true);
  });

  it.each([
    ['a stream and a file', 2, (whole: Uint8Array) => [streamOf(whole), distorted] as const],
    ['a file and a stream', 0, (whole: Uint8Array) => [whole, streamOf(cut)] as const],
    ['two streams', 2, (whole: Uint8Array) => [streamOf(whole), streamOf(cut)] as const],
    ['two files', 0, (whole: Uint8Array) => [whole, distorted] as const],
  ])('are fine if the other ends before the incomplete frame: %s', async (_, some, input) => {
    for (const threads of tier([some], [0, 2])) {
      // The distorted video has 5 whole frames and a part of another.
      const [reference, second] = input(y4mFile(pair.clip, 'reference', 5));
      const report = await score({ reference, distorted: second }, { ...FEATURES, threads });
      expect(report.frameCount, `${threads} threads`).toBe(5);
    }
  });

  it('are fine up to the incomplete frame', async () => {
    const report = await score({ reference: pair.reference, distorted }, { ...FEATURES, frameCount: 5 });
    expect(report.frameCount).toBe(5);
  });

  it('files that shrink during the run are errors from the worker that reads them', async () => {
    const reference = file(folder, 'shrinks.y4m', pair.reference);
    const request = { reference, distorted: file(folder, 'whole.y4m', pair.distorted) };
    const onFrame = () => writeFileSync(reference, pair.reference.subarray(0, 200));
    const run = score(request, { ...FEATURES, threads: 1, chunkFrames: 1, onFrame });
    expect(await refusalOf('media', () => run)).toContain('shrinks.y4m');
  });
});

describe('callbacks', () => {
  const frames = 20;
  const pair = y4mPair(SMALL, frames);

  it.each([0, 2])(
    'get frames in order, and progress that grows to the total, %i threads',
    async (threads) => {
      const [told, steps]: [unknown[], Progress[]] = [[], []];
      const report = await score(pair, {
        ...{ ...FEATURES, threads, chunkFrames: 2 },
        onFrame: (frame) => told.push(frame),
        onProgress: (progress) => steps.push(progress),
      });
      expect(told).toEqual(report.frames);
      expect(told).toHaveLength(frames);
      expect(steps.at(-1)).toMatchObject({ framesDone: frames, framesTotal: frames, secondsLeft: 0 });
      const counts = steps.map(({ framesDone }) => framesDone);
      expect(counts).toEqual([...counts].sort((a, b) => a - b));
    },
  );

  it('end the run with the errors that they throw', async () => {
    const mine = new Error('mine');
    const onFrame = () => {
      throw mine;
    };
    for (const threads of [0, 2])
      await expect(score(pair, { ...FEATURES, threads, onFrame })).rejects.toBe(mine);
  });
});

it('a run without anything to measure counts the pairs, lists nothing and warns', async () => {
  const pair = y4mPair(SMALL, 5);
  for (const threads of [0, 1]) {
    const report = await score(pair, { noPrediction: true, threads });
    expect(report).toMatchObject({ frameCount: 5, frames: [], metrics: [], pooled_metrics: {} });
  }
  for (const options of [{ models: [] }, { noPrediction: true }]) {
    const { warnings } = await score(pair, options);
    expect(warnings).toEqual([expect.stringMatching(/^No model or feature was requested, .*\.$/)]);
  }
  const features = await score(pair, { models: [], features: ['psnr'] });
  expect(features.warnings).toEqual([]);
});

describe('invalid options', () => {
  const names = { reference: 'a.y4m', distorted: 'b.y4m' };

  it.each<[unknown, string]>([
    [{ threads: -1 }, 'threads is -1, but it must be'],
    [{ threads: 1.5 }, 'threads is 1.5, but it must be'],
    [{ threads: 1e9 }, 'threads is 1000000000, but it must be'],
    [{ chunkFrames: 0 }, 'chunkFrames is 0, but it must be'],
    [{ subsample: Number.NaN }, 'subsample is NaN, but it must be'],
    [{ frameCount: -3 }, 'frameCount is -3, but it must be'],
    [{ skipReference: 0.5 }, 'skipReference is 0.5, but it must be'],
    [{ skipDistorted: Number.POSITIVE_INFINITY }, 'skipDistorted is Infinity, but it must be'],
    [{ compat: 'libvmaf-9' }, 'compat is "libvmaf-9", but it must be libvmaf-3.2 or libvmaf-3.0.'],
    [{ features: 'psnr' }, 'features is "psnr", but it must be an array of strings.'],
    [null, 'options is null, but it must be an object.'],
    ['threads', 'options is "threads", but it must be an object.'],
    [{ theads: 2 }, 'There is no option "theads"; there are models, alsoModels, features, '],
    [{ names: {} }, 'There is no option "names"; there are models, '],
    [{ noPrediction: 'yes' }, 'noPrediction is "yes", but it must be true or false.'],
    [{ models: '' }, 'models is "", but it must be an array of strings.'],
    [{ models: null }, 'models is null, but it must be an array of strings.'],
    [{ features: [1] }, 'features is an array of 1, but it must be an array of strings.'],
    [{ threads: Object.create(null) }, 'threads is an object, but it must be a whole number'],
    [{ onFrame: true }, 'onFrame is true, but it must be a function.'],
    [{ onProgress: {} }, 'onProgress is an object, but it must be a function.'],
    [{ signal: {} }, 'signal is an object, but it must be an AbortSignal.'],
  ])('%j', async (options, start) => {
    const message = await refusalOf('usage', () => Reflect.apply(score, null, [names, options]));
    expect(message.slice(0, start.length)).toBe(start);
  });

  it.each<[unknown[], string]>([
    [[], 'score needs a request, but it is undefined; give an object with reference and distorted.'],
    [['a.y4m', {}], 'score needs a request, but it is "a.y4m"; give an object with reference and distorted.'],
    [[{ reference: 'a.y4m' }], 'The request has no distorted; give it two videos, reference and distorted.'],
    [[{ distorted: 'a.y4m' }], 'The request has no reference; give it two videos, reference and distorted.'],
    [
      [{ reference: 'a', distorted: 'b', raw: true }],
      'raw is the format of raw videos, but it is true; give an object with width, height, bitDepth and chroma.',
    ],
  ])('invalid requests, %j', async (args, message) => {
    expect(await refusalOf('usage', () => Reflect.apply(score, null, args))).toBe(message);
  });

  it('a missing file is reported before a missing model', async () => {
    const absent = { reference: 'no-such.y4m', distorted: 'none.y4m' };
    const run = () => score(absent, { models: ['version=no_such_model'] });
    expect(await refusalOf('io', run)).toContain('no-such.y4m');
  });
});

const builtIn = new URL('../../../model/vmaf_v0.6.1.json', import.meta.url);
it('the range of scores is in the report unless it is 0 to 100', async () => {
  const model = JSON.parse(readFileSync(builtIn, 'utf8'));
  model.model_dict.score_clip = [0, 110];
  const wide = file(folder, 'wide.json', new TextEncoder().encode(JSON.stringify(model)));
  const report = await score(y4mPair(SMALL, 2), {
    models: ['version=vmaf_v0.6.1', `path=${wide}:name=wide`],
  });
  expect(report.models.map(({ scoreRange }) => scoreRange)).toEqual([undefined, [0, 110]]);
});

describe('pictures below the smallest size', () => {
  it('are scored from 17x17 on', async () => {
    const tiny = y4mPair({ width: 17, height: 17, bitDepth: 8, chroma: '420' }, 3);
    const report = await score(tiny, { features: ALL_FEATURES });
    expect(report.frames).toHaveLength(3);
    expect(report.warnings).toContainEqual(expect.stringContaining('only 17x17'));
  });
});

describe('a run in pieces', () => {
  const frames = 9;
  const pair = y4mPair(videoFormat(176, 112), frames);
  const { reference, distorted } = storedPair(folder, 'pieces', pair);
  const speed = ['speed_temporal', 'speed_temporal=speed_use_ref_diff=true'];
  const features = ['float_motion=motion_add_uv=true', ...speed, 'xpsnr', 'xpsnr=fps=50', 'float_ssim'];
  const run = (how: ScoreOptions, request: ScoreRequest = { reference, distorted }) =>
    score(request, { ...FEATURES, features, ...how });
  const whole = run({ threads: 0 });
  const apart = { threads: 2, chunkFrames: 1 };

  it('equals a whole one: files, and streams sent to two workers', async () => {
    expect(results(await run({ threads: 0, chunkFrames: 2 }))).toEqual(results(await whole));
    expect(results(await run(apart))).toEqual(results(await whole));
    const streams = { reference: streamOf(pair.reference), distorted: streamOf(pair.distorted) };
    expect(results(await run(apart, streams))).toEqual(results(await whole));
  });

  it('measures metrics that look back on frames that subsampling leaves out', async () => {
    const all = (await whole).frames.filter(({ frameNum }) => frameNum % 3 === 0);
    expect((await run({ threads: 0, subsample: 3 })).frames).toEqual(all);
  });
});
