/** Batches: every job has its result, failures stay alone, and references are decoded once. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scoreJobs } from '../../../src/engine/batch.js';
import { score, scoreBatch } from '../../../src/index.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import type { BatchJob, BatchOptions, BatchProgress, BatchResult } from '../../../src/public.js';
import { file, SMALL, scratchFolder, y4mPair } from '../../support/clips.js';
import { watchedPlatform } from '../../support/decodings.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { comparable } from '../../support/shards.js';

const folder = scratchFolder();
const videos = (seed: number) => {
  const { reference, distorted } = y4mPair(SMALL, 4, seed);
  return {
    reference: file(folder, `${seed}-r.y4m`, reference),
    distorted: file(folder, `${seed}-d.y4m`, distorted),
  };
};
const [one, two] = [videos(1), videos(2)];

async function all(jobs: readonly BatchJob[], options: BatchOptions = {}): Promise<readonly BatchResult[]> {
  const results: BatchResult[] = [];
  for await (const result of scoreBatch(jobs, { threads: 0, ...options })) results.push(result);
  return results.sort((a, b) => a.index - b.index);
}

describe('a batch', () => {
  it('scores each job as a run of its own does', async () => {
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

  it('goes on when jobs fail, whatever their error', async () => {
    const results = await all([
      one,
      { ...one, distorted: 'missing.y4m' },
      { ...one, options: { models: ['version=none'] } },
      { ...one, options: { features: ['none'] } },
      { ...one, options: { features: [`cambi=heatmaps_path=${folder}`] } },
      two,
    ]);
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'io',
      'model',
      'feature',
      'usage',
      undefined,
    ]);
  });

  it('says how far all jobs are', async () => {
    const seen: BatchProgress[] = [];
    await all([one, two, { ...one, distorted: 'missing.y4m' }], {
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.at(-1)).toMatchObject({
      jobsDone: 3,
      jobsFailed: 1,
      jobsTotal: 3,
      fraction: 1,
      secondsLeft: 0,
    });
    const fractions = seen.map(({ fraction }) => fraction);
    expect(fractions.every((value) => value >= 0 && value <= 1)).toBe(true);
  });

  it('ends with the reason of its signal, and when nobody wants more', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const running = (async () => {
      for await (const _ of scoreBatch([one, two, one, two], { threads: 0, signal: stop.signal }))
        stop.abort(reason);
    })();
    await expect(running).rejects.toBe(reason);
    for await (const { report } of scoreBatch([one, { ...one, options: { subsample: 2 } }, two], {
      threads: 0,
    })) {
      expect(report?.frameCount).toBe(4);
      break;
    }
  });

  it('refuses a wrong number of jobs at a time', async () => {
    await expect(all([one], { together: 0 })).rejects.toThrow('together is 0');
  });
});

describe.runIf(hasFfmpeg)(`a batch of encodes, ${needsFfmpeg}`, () => {
  it('decodes the reference of several jobs once, whatever their options', async () => {
    const master = encode({ codec: 'ffv1', source: 'mandelbrot', size: '96x64', frames: 20 });
    const copy = (name: string) =>
      ffmpeg(join(encodeFolder(), name), ['-i', `file:${master}`, '-c:v', 'libx264', '-preset', 'ultrafast']);
    const { platform, opened } = watchedPlatform(nodePlatform);
    const jobs = [
      { reference: master, distorted: copy('a.mp4'), options: { features: ['psnr'] } },
      { reference: master, distorted: copy('b.mp4'), options: { subsample: 2, features: ['ciede'] } },
    ];
    const results: BatchResult[] = [];
    const options = { noPrediction: true, together: 4, preflight: false } as const;
    for await (const result of scoreJobs(platform, jobs, options)) results.push(result);
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(opened.filter(({ input }) => input === master)).toHaveLength(1);
  });
});
