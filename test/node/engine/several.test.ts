/**
 * @module test/node/engine/several
 * Several videos at once: against one reference, decoded once and only as far as needed, in batches, and as tables
 * for training.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyvmafError } from '../../../src/core/errors.js';
import type { FramePlanes } from '../../../src/core/frame.js';
import type { Origin } from '../../../src/core/origin.js';
import type { ScoreManyOptions, ScoreOptions } from '../../../src/engine/contract/types.js';
import type { DatasetOptions, DatasetPair } from '../../../src/engine/dataset.js';
import { scoreEach, scoreJobs } from '../../../src/engine/score-many.js';
import {
  compareModels,
  evaluateModel,
  score,
  scoreBatch,
  scoreMany,
  writeFeatures,
} from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import type { BatchJob, BatchOptions, BatchProgress, BatchResult, Report } from '../../../src/public.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import {
  comparable,
  type Decoding,
  EVERY_PLANE,
  file,
  ownSource,
  PSNR,
  results,
  SMALL,
  storedPair,
  streamOf,
  watchedPlatform,
  y4mPair,
} from '../../support/clips.js';
import { copyOf, encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';
import { tableOf } from '../../support/tiny.js';

/** With one decoder, because each takes seconds to refuse a file. */
const BY_ONE: ScoreOptions = { ...EVERY_PLANE, decoder: 'ffmpeg' };

describe.runIf(hasFfmpeg)(`several against one reference, ${needsFfmpeg}`, () => {
  const folder = testFolder();
  const master = () => encode({ codec: 'ffv1', size: '128x96', frames: 12 });
  const copies = () => [
    copyOf(master(), 'copy.mp4'),
    copyOf(master(), 'quarter.mp4', ['-vf', 'scale=64:48']),
    copyOf(master(), 'short.mp4', ['-frames:v', '7']),
  ];

  it.each(tier([true], [false, true]))('equal single runs, decoded once, preflight %s', async (preflight) => {
    const options = { ...EVERY_PLANE, preflight };
    const { platform, opened } = watchedPlatform(nodePlatform);
    const seen: number[] = [];
    const onReport = (_: unknown, index: number) => seen.push(index);
    const many = [...copies(), master()];
    const reports = await scoreEach(platform, master(), many, { ...options, onReport });
    expect(seen.sort()).toEqual([0, 1, 2, 3]);
    // Once for all four, and once as the last distorted video.
    expect(opened.filter(({ input }) => input === master())).toHaveLength(2);
    for (const [i, distorted] of copies().entries()) {
      const alone = await score({ reference: master(), distorted }, options);
      const together = reports[i];
      expect(together?.warnings).toEqual(alone.warnings);
      expect(together?.preflight).toEqual(alone.preflight);
      expect(together && results(together)).toEqual(results(alone));
    }
  });

  it('fail together, naming the video at fault', async () => {
    const bad = file(folder, 'bad.mp4', new TextEncoder().encode('\0\0\0\x20ftypisom'));
    const [one = ''] = copies();
    expect(await refusalOf('media', () => scoreMany(master(), [one, bad], BY_ONE))).toContain('bad.mp4');
  });

  it('continue without those that fail if onFailure is given', async () => {
    const bad = file(folder, 'bad.mp4', new TextEncoder().encode('\0\0\0\x20ftypisom'));
    const told: [string, number][] = [];
    const onFailure = (error: AnyvmafError, index: number) => told.push([error.message, index]);
    const two = copies().slice(1);
    const reports = await scoreMany(master(), [bad, ...two], { ...BY_ONE, onFailure });
    expect(told).toEqual([[expect.stringContaining('bad.mp4'), 0]]);
    expect(reports.map(({ distorted }) => distorted.name)).toEqual(two);
    told.length = 0;
    const stored = ['one.y4m', 'two.y4m', 'three.y4m'].map((name, seed) =>
      file(folder, name, y4mPair(SMALL, 3, seed).distorted),
    );
    expect(await scoreMany(bad, stored, { ...BY_ONE, onFailure })).toEqual([]);
    expect(told.map(([, index]) => index).sort()).toEqual([0, 1, 2]);
    // Errors of all and aborts are not failures of one video.
    told.length = 0;
    const nonsense = () => scoreMany(stored[0] ?? '', stored, { onFailure, features: ['nonsense'] });
    expect(await refusalOf('feature', nonsense)).toContain('nonsense');
    for (const [reference, distorted, tell] of [
      [master(), two, { onFailure }],
      [stored[0] ?? '', stored, {}],
    ] as const) {
      const stop = new AbortController();
      const onFrame = () => stop.abort(new Error('enough'));
      const options = { ...EVERY_PLANE, ...tell, signal: stop.signal, onFrame };
      await expect(scoreMany(reference, distorted, options)).rejects.toThrow('enough');
    }
    expect(told).toEqual([]);
  });

  it('refuse a stream as the reference', async () => {
    const stream = streamOf(y4mPair(SMALL, 3).reference);
    expect(await refusalOf('usage', () => scoreMany(stream, ['a.y4m', 'b.y4m']))).toContain('only once');
  });
});

const MOVING = { codec: 'ffv1', source: 'mandelbrot', size: '64x48' } as const;

/** Frames of the reference: more than an offset search reads. */
const FRAMES = 330;

/** The most frames that an offset search decodes. */
const WINDOW = 300;

describe.runIf(hasFfmpeg)(`decodings of one reference, ${needsFfmpeg}`, () => {
  const master = () => encode({ ...MOVING, frames: FRAMES, rate: 30, extra: ['-g', '1'] });
  const copy = (name: string, ...options: string[]) => copyOf(master(), name, [...options, '-g', '15'], 20);
  const late = (frames: number) =>
    copy(`late${frames}.mp4`, '-vf', `trim=start_frame=${frames},setpts=PTS-STARTPTS`);
  const thinned = (every: number, rate: number) =>
    copy(`rate${rate}.mp4`, '-vf', `select='not(mod(n,${every}))',setpts=N/${rate}/TB`, '-r', String(rate));
  const smaller = () => copy('smaller.mp4', '-vf', 'scale=48:36');

  const pairs = {
    alike: () => [copy('a.mp4'), copy('b.mp4', '-vf', 'gblur=sigma=0.5')],
    late: () => [late(7), late(20), copy('a.mp4')],
    rates: () => [thinned(2, 15), thinned(3, 10), copy('a.mp4')],
    sizes: () => [smaller(), copy('a.mp4')],
  };

  /** Decodings of the reference for the score and for preflight, and their lengths. */
  async function decodings(distorted: readonly string[], options: ScoreManyOptions) {
    const { platform, opened } = watchedPlatform(nodePlatform);
    const reports = await scoreEach(platform, master(), distorted, { ...PSNR, ...options });
    const of = opened.filter(({ input }) => input === master());
    const looks = of.filter(({ request }) => request.damage === 'accept');
    const seconds = ({ request }: Decoding) => (request.time?.end ?? 0) - (request.time?.start ?? 0);
    return {
      reports,
      scored: of.filter((one) => !looks.includes(one)).map(({ frames }) => frames),
      searches: looks.filter(({ request }) => request.frames).map(({ frames }) => frames),
      glances: looks.filter(({ request }) => request.time).map(seconds),
    };
  }

  const kinds = [
    ['of other sizes', 'sizes', {}],
    ['with an offset', 'alike', { offset: 3 }],
    ['of other frame rates', 'rates', {}],
    ['a part that is long', 'alike', { range: { unit: 'frames', start: 100, end: 300 } }],
    ['of one kind', 'alike', {}],
    ['of other frame rates, which is known', 'rates', { frameRatePolicy: 'nearest' }],
  ] as const;
  it.each(kinds.slice(0, tier(2, kinds.length)))('one is enough: %s', async (_, kind, options) => {
    const { scored, searches, glances } = await decodings(pairs[kind](), options);
    expect(scored).toHaveLength(1);
    // Three frames tell whether a slightly smaller picture was cropped or scaled.
    expect(searches).toEqual(kind === 'sizes' ? [1, 1, 1] : []);
    expect(glances).toEqual([]);
  });

  /** One search for all pairs, and three short parts for interlacing. */
  function expectOneLook({ searches, glances }: Awaited<ReturnType<typeof decodings>>): void {
    expect(searches).toHaveLength(1);
    expect(searches[0]).toBeLessThanOrEqual(WINDOW);
    expect(glances.length).toBeLessThanOrEqual(3);
    for (const length of glances) expect(length).toBeLessThan(0.3);
  }

  const early = 'warnings are needed in advance';
  const looked = [
    [`${early}, and the offsets are searched`, 'alike', { strict: true, offset: 'auto' }, FRAMES],
    ['a short part is scored', 'rates', { range: { unit: 'frames', start: 200, end: 230 } }, 30],
    ['few frames are scored', 'alike', { frameCount: 30 }, 30],
    [early, 'alike', { strict: true }, FRAMES],
  ] as const;
  it.each(looked.slice(0, tier(2, looked.length)))(
    'one is enough beside one search of the first seconds: %s',
    async (_, kind, options, frames) => {
      const seen = await decodings(pairs[kind](), options);
      expect(seen.scored).toEqual([frames]);
      expectOneLook(seen);
    },
  );

  it('one begins at the earliest pair, after one search, and gives each the result of a single run', async () => {
    const options = { offset: 'auto' } as const;
    const seen = await decodings(pairs.late(), options);
    const { reports, scored } = seen;
    expect(scored).toEqual([FRAMES]);
    expectOneLook(seen);
    expect(reports.map(({ pairing }) => pairing?.frames.offset)).toEqual([7, 20, 0]);
    expect(reports.map(({ frameCount }) => frameCount)).toEqual([FRAMES - 7, FRAMES - 20, FRAMES]);
    for (const [i, distorted] of pairs.late().entries()) {
      if (i > tier(0, 2)) break;
      const alone = await score({ reference: master(), distorted }, { ...PSNR, ...options });
      const together = reports[i];
      expect(together && results(together)).toEqual(results(alone));
      expect(together?.preflight).toEqual(alone.preflight);
      expect(together?.warnings).toEqual(alone.warnings);
    }
  });

  it('one ends at the last pair', async () => {
    const options = { offset: 'auto', frameCount: 100 } as const;
    const { reports, scored } = await decodings([late(7), late(20)], options);
    expect(reports.map(({ frameCount }) => frameCount)).toEqual([100, 100]);
    // Frames 7 to 119.
    expect(scored).toEqual([113]);
  });
});

const folder = testFolder();
const one = storedPair(folder, 'one', y4mPair(SMALL, 4, 1));
const two = storedPair(folder, 'two', y4mPair(SMALL, 4, 2));

async function all(jobs: readonly BatchJob[], options: BatchOptions = {}): Promise<readonly BatchResult[]> {
  const results: BatchResult[] = [];
  for await (const result of scoreBatch(jobs, { threads: 0, ...options })) results.push(result);
  return results.sort((a, b) => a.index - b.index);
}

describe('an own source that several runs read', () => {
  const own = (side: 'reference' | 'distorted', seed: number) => {
    const { clip } = y4mPair(SMALL, 4, seed);
    let [reading, open] = [false, true];
    const source = ownSource(clip, side, 4, { seekable: true, onClose: () => (open = false) });
    return {
      ...source,
      async readFrame(index: number, into: FramePlanes) {
        if (reading || !open) throw new Error(reading ? 'it is read already' : 'it is closed');
        reading = true;
        await new Promise((resolve) => setTimeout(resolve, 1));
        reading = false;
        return source.readFrame(index, into);
      },
    };
  };
  const means = (reports: readonly (Report | undefined)[]) =>
    reports.map((report) => report?.pooled_metrics.vmaf?.mean);
  const alone = () =>
    Promise.all(
      [1, 2].map((seed) => score({ reference: own('reference', 1), distorted: own('distorted', seed) })),
    );

  it('is read by one at a time, and closed after the last', async () => {
    const distorted = [own('distorted', 1), own('distorted', 2)];
    const many = await scoreMany(own('reference', 1), distorted, { threads: 0 });
    expect(means(many)).toEqual(means(await alone()));
  });

  it('is so in a batch too, also for jobs that run one after another', async () => {
    for (const together of [1, 2]) {
      const reference = own('reference', 1);
      const jobs = [1, 2].map((seed) => ({ reference, distorted: own('distorted', seed) }));
      const results = await all(jobs, { together });
      expect(means(results.map(({ report }) => report))).toEqual(means(await alone()));
    }
  });
});

it('an error of onFailure stops the other videos', async () => {
  const waiting = { threads: 0, gate: () => new Promise<void>(() => {}) };
  const onFailure = () => {
    throw new Error('told');
  };
  const videos = ['missing.y4m', two.distorted];
  await expect(scoreMany(one.reference, videos, { ...waiting, onFailure })).rejects.toThrow('told');
});

describe('a batch', () => {
  it('fails only the job whose own source throws', async () => {
    const { clip } = y4mPair(SMALL, 4, 1);
    const onRead = (index: number) => {
      if (index === 2) throw new Error('camera lost');
    };
    const lost = { reference: one.reference, distorted: ownSource(clip, 'distorted', 4, { onRead }) };
    const results = await all([lost, one, two]);
    expect(results.map(({ error, report }) => error?.code ?? report?.frameCount)).toEqual(['io', 4, 4]);
    expect(results[0]?.error?.message).toContain('camera lost');
  });

  it('scores each job like a single run', async () => {
    const jobs: readonly BatchJob[] = [
      one,
      { ...two, options: { features: ['psnr'], subsample: 2 } },
      { ...one, distorted: two.distorted, options: { compat: 'libvmaf-3.0' } },
      { ...one, options: { frameCount: 2 } },
    ];
    const results = await all(jobs);
    expect(results.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    for (const [i, { options, ...request }] of jobs.entries()) {
      const alone = await score(request, { threads: 0, ...options });
      expect(results[i]?.report && comparable(results[i].report)).toEqual(comparable(alone));
    }
  });

  it('continues if jobs fail, whatever the error', async () => {
    const results = await all([
      one,
      { ...one, options: { maxThreads: 0 } },
      { ...one, options: { skipReference: 1n as never } },
      { ...one, distorted: 'missing.y4m' },
      { ...one, options: { models: ['version=none'] } },
      { ...one, options: { features: ['none'] } },
      { ...one, options: { features: [`cambi=heatmaps_path=${folder}`] } },
      two,
    ]);
    const codes = results.map(({ error }) => error?.code);
    expect(codes).toEqual([undefined, 'usage', 'usage', 'io', 'model', 'feature', 'usage', undefined]);
  });

  it('reports the progress of all jobs', async () => {
    const seen: BatchProgress[] = [];
    const onProgress = (progress: BatchProgress) => seen.push(progress);
    await all([one, two, { ...one, distorted: 'missing.y4m' }], { onProgress });
    const jobs = { jobsDone: 3, jobsFailed: 1, jobsTotal: 3 };
    expect(seen.at(-1)).toMatchObject({ ...jobs, fraction: 1, secondsLeft: 0 });
    const fractions = seen.map(({ fraction }) => fraction);
    expect(fractions.every((value) => value >= 0 && value <= 1)).toBe(true);
  });

  it('ends with the reason of its signal, and when its caller stops', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const running = (async () => {
      for await (const _ of scoreBatch([one, two, one, two], { threads: 0, signal: stop.signal }))
        stop.abort(reason);
    })();
    await expect(running).rejects.toBe(reason);
    const jobs = [one, { ...one, options: { subsample: 2 } }, two];
    for await (const { report } of scoreBatch(jobs, { threads: 0 })) {
      expect(report?.frameCount).toBe(4);
      break;
    }
  });

  it('fails only the job of an invalid video, also beside others of its reference', async () => {
    const results = await all([one, { ...one, distorted: true as never }]);
    expect(results.map(({ error, report }) => error?.code ?? report?.frameCount)).toEqual([4, 'usage']);
  });

  it('refuses a wrong number of jobs at a time', async () => {
    await expect(all([one], { together: 0 })).rejects.toThrow('together is 0');
  });
});

it.runIf(hasFfmpeg)(
  `a batch decodes the reference of several jobs once, whatever the options, ${needsFfmpeg}`,
  async () => {
    const master = encode({ codec: 'ffv1', source: 'mandelbrot', size: '96x64', frames: 20 });
    const { platform, opened } = watchedPlatform(nodePlatform);
    const options = { noPrediction: true, together: 4, preflight: false } as const;
    const jobs = [
      { reference: master, distorted: copyOf(master, 'a.mp4'), options: { features: ['psnr'] } },
      {
        reference: master,
        distorted: copyOf(master, 'b.mp4'),
        options: { subsample: 2, features: ['ciede'] },
      },
    ];
    const results: BatchResult[] = [];
    for await (const result of scoreJobs(platform, jobs, options)) results.push(result);
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(opened.filter(({ input }) => input === master)).toHaveLength(1);
  },
);

const sample = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { seed: 62 });
const reference = y4mFile(sample, 'reference', 5);
const distorted = y4mFile(sample, 'distorted', 5);

async function written(pairs: readonly DatasetPair[], options: DatasetOptions = {}) {
  const pieces: Uint8Array[] = [];
  const table = writeFeatures(pairs, { threads: 0, ...options });
  for (let next = await table.next(); ; next = await table.next()) {
    if (next.done)
      return { summary: next.value, file: Uint8Array.from(pieces.flatMap((piece) => [...piece])) };
    pieces.push(next.value);
  }
}

describe('a table of videos', () => {
  const folder = testFolder();

  it("has every frame's features exactly as scored", async () => {
    const pair = { reference, distorted, key: 'sample', clip: 'one' };
    const { file, summary } = await written([pair], { teacher: 'version=vmaf_v0.6.1', features: ['psnr'] });
    const columns =
      'key clip frame mos adm2 vif_scale0 vif_scale1 vif_scale2 vif_scale3 motion2 psnr_y psnr_cb psnr_cr teacher';
    expect(summary).toMatchObject({ rows: 5, pairs: 1, columns: columns.split(' ') });
    const { frames } = await score({ reference, distorted }, { threads: 0, features: ['psnr'] });
    const table = await tableOf(file);
    for (const [column, name] of [
      ['adm2', 'integer_adm2'],
      ['vif_scale0', 'integer_vif_scale0'],
      ['vif_scale3', 'integer_vif_scale3'],
      ['motion2', 'integer_motion2'],
      ['psnr_y', 'psnr_y'],
      ['teacher', 'vmaf'],
      ['mos', 'vmaf'],
    ] as const)
      expect([...(await table.numbers(column))], column).toEqual(frames.map(({ metrics }) => metrics[name]));
    expect(await table.texts('key')).toEqual(Array(5).fill('sample'));
  });

  it('distinguishes encodes of one name also from one whose name ends in a number', async () => {
    const pairs = ['a.y4m', 'a.y4m', 'a_2.y4m'].map((name) => ({
      reference,
      distorted: new File([new Uint8Array(distorted)], name),
      key: 'k',
    }));
    const { file } = await written(pairs);
    expect(new Set(await (await tableOf(file)).texts('clip'))).toEqual(new Set(['a', 'a_3', 'a_2']));
  });

  it('has the scores of the teacher, not of the models of a preset', async () => {
    const clip = makeSample({ width: 240, height: 216, bitDepth: 8, chroma: '420' });
    const pair = { reference: y4mFile(clip, 'reference', 1), distorted: y4mFile(clip, 'distorted', 1) };
    const options = { aomCtc: 'v1.0', teacher: 'version=vmaf_4k_v0.6.1:name=uhd' } as const;
    const { file } = await written([{ ...pair, key: 'sample' }], options);
    const { frames } = await score(pair, { models: [options.teacher], threads: 0 });
    expect([...(await (await tableOf(file)).numbers('teacher'))]).toEqual([frames[0]?.metrics.uhd]);
  });

  it('has several pairs one after another, each with its opinion score', async () => {
    const { file, summary } = await written([
      { reference, distorted, key: 7, mos: 2.5 },
      { reference, distorted: reference, key: 8, mos: 5 },
    ]);
    expect(summary.columns).not.toContain('teacher');
    const table = await tableOf(file);
    expect(await table.texts('key')).toEqual([...Array(5).fill('7'), ...Array(5).fill('8')]);
    expect([...(await table.numbers('mos'))]).toEqual([...Array(5).fill(2.5), ...Array(5).fill(5)]);
    expect([...(await table.numbers('frame'))]).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });

  it('distinguishes encodes of the same name', async () => {
    const { file } = await written([
      { reference, distorted: new File([new Uint8Array(distorted)], 'a.y4m'), key: 'k' },
      { reference, distorted: new File([new Uint8Array(distorted)], 'a.y4m'), key: 'k' },
    ]);
    expect(new Set(await (await tableOf(file)).texts('clip'))).toEqual(new Set(['a', 'a_2']));
  });

  it('reads foreign files only in allowed folders', async () => {
    const path = join(folder, 'a.y4m');
    writeFileSync(path, reference);
    const origin: Origin = { by: 'foreign', folders: [join(folder, 'other')] };
    const run = written([{ reference: path, distorted: path }], { origin });
    await expect(run).rejects.toThrow('allowed folders');
  });

  it.each([
    ['no pair', [], /There are no pairs/],
    ['no key', [{ reference, distorted }], /key of pair 1 is missing/],
    [
      'mos of some',
      [
        { reference, distorted, key: 1, mos: 3 },
        { reference, distorted, key: 1 },
      ],
      /Pair 2 has no mos/,
    ],
    ['an invalid mos', [{ reference, distorted, key: 1, mos: Number.NaN }], /mos of pair 1 is NaN/],
    ['a key between numbers', [{ reference, distorted, key: 1.5 }], /key of pair 1 is 1\.5/],
  ] as const)('is refused for %s', async (_, pairs, message) => {
    await expect(written(pairs)).rejects.toThrow(message);
  });
});

it('evaluation by the public API reports errors of options and files', async () => {
  const bytes = new TextEncoder().encode('no table');
  await expect(evaluateModel('m.onnx', bytes)).rejects.toThrow(/the table is not a Parquet file/);
  await expect(evaluateModel('m.onnx', 'absent.parquet')).rejects.toThrow(/absent\.parquet/);
  await expect(evaluateModel('m.onnx', bytes, { resamples: -1 })).rejects.toThrow(/resamples is -1/);
  const wrong = { split: 'tets' } as unknown as Parameters<typeof evaluateModel>[2];
  await expect(compareModels(['m.onnx'], bytes, wrong)).rejects.toThrow(/did you mean test/);
});
