/**
 * @module test/gpu/gpu
 * Runs on a fake GPU, alone and beside workers: the report equals the core's, whatever happens to the GPU.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { FromWorker, WorkerHandle } from '../../src/engine/contract/platform.js';
import type { ScoreOptions, ScoreRequest } from '../../src/engine/contract/types.js';
import { scorePair } from '../../src/engine/score.js';
import { BackendProbe } from '../../src/engine/workers/dispatch.js';
import { WorkerPool } from '../../src/engine/workers/worker-pool.js';
import { nodePlatform } from '../../src/platform/node/platform.js';
import type { Report } from '../../src/report/schema.js';
import { ALL_FEATURES, ownSource, SMALL_10, storedPair, y4mPair } from '../support/clips.js';
import { testFolder } from '../support/folders.js';
import { CARD, type FakeGpuOptions, FakeGpus, platformWith, values } from '../support/gpu-engine.js';
import { refusalOf } from '../support/refusals.js';
import { tier } from '../support/tier.js';

const FRAMES = 23;
const pair = y4mPair(SMALL_10, FRAMES);
const stored: ScoreRequest = storedPair(testFolder(), 'small', pair);
const fed = (): ScoreRequest => ({
  reference: ownSource(pair.clip, 'reference', FRAMES),
  distorted: ownSource(pair.clip, 'distorted', FRAMES),
});
const features = [...ALL_FEATURES, 'float_ssim'];
const core = await scorePair(nodePlatform, stored, { features, threads: 0 });
const coreSampled = await scorePair(nodePlatform, stored, { features, threads: 0, subsample: 3 });

const run = (gpus: FakeGpus, options: ScoreOptions, request = stored): Promise<Report> =>
  scorePair(platformWith(gpus), request, { features, ...options });

const EACH: readonly (readonly [string, ScoreOptions])[] = [
  ['on one worker', {}],
  ['in the calling thread', { threads: 0 }],
  ['in chunks of one', { chunkFrames: 1, threads: 1 }],
  ['in chunks of three', { chunkFrames: 3, threads: 2 }],
];

describe('a run on a GPU', () => {
  it.each(EACH)('equals the core %s', async (_, options) => {
    const gpus = new FakeGpus();
    const report = await run(gpus, { backend: 'webgpu', ...options });
    expect(values(report)).toEqual(values(core));
    expect(gpus.state).toMatchObject({ measured: FRAMES, opened: gpus.state.closed });
    expect(report).toMatchObject({ backend_requested: 'webgpu', backend_used: 'webgpu' });
    expect(report.measurers).toEqual([
      { backend: 'webgpu', extractors: ['adm', 'motion', 'vif'], frames: FRAMES, adapter: CARD },
      { backend: 'cpu', extractors: ['psnr', 'float_ssim'], frames: FRAMES },
    ]);
    expect(report.warnings).toContain(
      'The core measured psnr instead of the GPU: there is no shader for it.',
    );
  });

  it('has several pairs in flight, also with frames sent to workers', async () => {
    const gpus = new FakeGpus();
    const report = await run(gpus, { backend: 'webgpu' }, fed());
    expect(values(report)).toEqual(values(core));
    expect(gpus.state.most).toBe(3);
  });

  it('subsamples as the core does', async () => {
    const report = await run(new FakeGpus(), { backend: 'webgpu', subsample: 3 });
    expect(values(report)).toEqual(values(coreSampled));
  });

  it('needs no core if the GPU supports all metrics', async () => {
    const gpus = new FakeGpus({ metrics: ['vif', 'adm', 'motion', 'psnr', 'float_ssim'] });
    const report = await run(gpus, { backend: 'webgpu' });
    expect(values(report)).toEqual(values(core));
    expect(report.measurers).toHaveLength(1);
    expect(report.threads).toBe(1);
  });

  it.each([
    ['the calling thread', 0],
    ['a worker', 1],
  ])('is refused in %s if the GPU supports no metric', async (_, threads) => {
    const gpus = new FakeGpus({ metrics: [] });
    await expect(
      scorePair(platformWith(gpus), stored, {
        backend: 'webgpu',
        threads,
        noPrediction: true,
        features: ['psnr'],
      }),
    ).rejects.toThrow(
      "The GPU supports none of this run's metrics (psnr: there is no shader for it); use the backend cpu.",
    );
    expect(gpus.state).toMatchObject({ opened: 1, closed: 1 });
  });

  it.each([undefined, 0])(
    'is refused if the picture is too large for a shader, threads %s',
    async (threads) => {
      const gpus = new FakeGpus({ tooLarge: ['adm'] });
      expect(
        await refusalOf('backend', () =>
          run(gpus, { backend: 'webgpu', ...(threads !== undefined && { threads }) }),
        ),
      ).toBe(
        'The picture is too large for the GPU: adm needs more memory; use the backend hybrid or auto, in which the core ' +
          'measures what is too large, or use the backend cpu.',
      );
      expect(gpus.state).toMatchObject({ measured: 0, opened: gpus.state.closed });
    },
  );

  it('uses several workers if the core has much to do', async () => {
    const gpus = new FakeGpus({ delay: 5 });
    const { clip } = y4mPair({ width: 480, height: 270, bitDepth: 8, chroma: '420' }, FRAMES);
    const heavy = (): ScoreRequest => ({
      reference: ownSource(clip, 'reference', FRAMES),
      distorted: ownSource(clip, 'distorted', FRAMES),
    });
    const options = { noPrediction: true, features: ['motion', 'ciede'] };
    const report = await run(gpus, { ...options, backend: 'webgpu', threads: 3 }, heavy());
    const expected = await scorePair(nodePlatform, heavy(), { ...options, threads: 0 });
    expect(values(report)).toEqual(values(expected));
    expect(gpus.state.opened).toBeGreaterThan(1);
    expect(gpus.state).toMatchObject({ measured: FRAMES, opened: gpus.state.closed });
    expect(report.threads).toBe(gpus.state.opened);
    expect(report.measurers?.[0]).toMatchObject({ backend: 'webgpu', frames: FRAMES });
  });

  it('is refused without a GPU', async () => {
    const platform = { ...nodePlatform };
    delete platform.gpu;
    expect(
      await refusalOf('backend', () => scorePair(platform, stored, { backend: 'webgpu', threads: 0 })),
    ).toBe('A GPU cannot be used here; use the backend cpu.');
  });
});

describe('a run on a GPU and workers', () => {
  it.each([
    ['that read files', stored, undefined],
    ['that read in chunks of two', stored, 2],
    ['that are sent frames', 'fed', undefined],
  ] as const)('equals the core, on workers %s', async (_, request, chunkFrames) => {
    const gpus = new FakeGpus({ delay: 8 });
    const report = await run(
      gpus,
      { backend: 'hybrid', threads: 2, ...(chunkFrames && { chunkFrames }) },
      request === 'fed' ? fed() : request,
    );
    expect(values(report)).toEqual(values(core));
    expect(report).toMatchObject({ backend_used: 'hybrid', threads: 3 });
    expect(gpus.state.measured).toBeGreaterThan(0);
    expect(gpus.state.measured).toBeLessThan(FRAMES);
    const [gpu, workers, rest] = report.measurers ?? [];
    expect(gpu).toMatchObject({ backend: 'webgpu', frames: gpus.state.measured });
    expect(workers).toMatchObject({ backend: 'cpu', frames: FRAMES - gpus.state.measured });
    expect(rest?.frames).toBe(FRAMES);
  });

  it('leaves metrics to the core for which pictures are too large', async () => {
    const report = await run(new FakeGpus({ tooLarge: ['adm'] }), { backend: 'hybrid', threads: 1 });
    expect(values(report)).toEqual(values(core));
    expect(report.measurers?.[0]).toMatchObject({ extractors: ['motion', 'vif'] });
    expect(report.warnings).toContain('The core measured adm instead of the GPU: adm needs more memory.');
  });

  it('is refused if every picture is too large', async () => {
    const gpus = new FakeGpus({ tooLarge: ['adm', 'motion', 'vif'] });
    expect(await refusalOf('backend', () => run(gpus, { backend: 'hybrid', threads: 1 }))).toMatch(
      /^The GPU supports none of this run's metrics \(.*needs more memory/,
    );
  });

  it('needs a worker', async () => {
    await expect(run(new FakeGpus(), { backend: 'hybrid', threads: 0 })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('a lost GPU', () => {
  const LOST: readonly (readonly [string, FakeGpuOptions])[] = [
    ['before the first pair', { lostAfter: 0 }],
    ['in the middle', { lostAfter: 7 }],
    [
      'in the middle, with its frames',
      { lostAfter: 7, frames: true, metrics: ['vif', 'adm', 'motion', 'psnr', 'float_ssim'] },
    ],
  ];

  it.each(LOST)('fails a run with the backend webgpu: %s', async (_, options) => {
    const gpus = new FakeGpus(options);
    expect(await refusalOf('backend', () => run(gpus, { backend: 'webgpu' }))).toMatch(
      /^The GPU stopped measuring: the device is gone; use the backend auto/,
    );
    expect(gpus.state.closed).toBe(gpus.state.opened);
  });

  it.each(
    LOST.flatMap(([when, options], i) => {
      const chunks = [undefined, 1, 2];
      return tier([chunks[i % 3]], chunks).map(
        (chunkFrames) => [when, chunkFrames ?? 'many', options, chunkFrames] as const,
      );
    }),
  )('changes no values of a hybrid run: %s, chunks of %s', async (_, __, options, chunkFrames) => {
    const gpus = new FakeGpus(options);
    const report = await run(gpus, { backend: 'hybrid', threads: 1, ...(chunkFrames && { chunkFrames }) });
    expect(values(report)).toEqual(values(core));
    expect(report.warnings).toContain(
      'The GPU stopped during the run and the core took over; the result is the same: the device is gone.',
    );
    expect(report.measurers?.[0]?.frames ?? 0).toBe(Math.min(gpus.state.measured, options.lostAfter ?? 0));
  });

  it('is reported as lost before the rest of its chunk is measured', async () => {
    const platform = platformWith(new FakeGpus({ lostAfter: 2 }));
    const messages: FromWorker[] = [];
    const startWorker = () => {
      const worker = platform.startWorker();
      const listen: WorkerHandle['listen'] = (onMessage, onDeath) =>
        worker.listen((message) => {
          messages.push(message);
          onMessage(message);
        }, onDeath);
      return { ...worker, listen };
    };
    const options = { backend: 'hybrid', threads: 1, chunkFrames: 4, features } as const;
    const report = await scorePair({ ...platform, startWorker }, stored, options);
    expect(values(report)).toEqual(values(core));
    const lost = messages.findIndex((message) => message.kind === 'gpu' && message.state.lost !== null);
    const done = messages.findIndex((message) => message.kind === 'records' && message.first === 0);
    expect(lost).toBeGreaterThan(0);
    expect(done).toBeGreaterThan(lost);
  });

  it('is closed when the run is aborted', async () => {
    const gpus = new FakeGpus({ delay: 20 });
    const stop = new AbortController();
    const running = run(gpus, {
      backend: 'webgpu',
      signal: stop.signal,
      onProgress: ({ framesDone }) => {
        if (framesDone >= 1) stop.abort(new Error('enough'));
      },
    });
    await expect(running).rejects.toThrow('enough');
    expect(gpus.state).toMatchObject({ opened: 1, closed: 1 });
  });
});

describe('the backend auto', () => {
  it('opens no GPU for a short run', async () => {
    const gpus = new FakeGpus();
    const report = await run(gpus, { backend: 'auto' });
    expect(gpus.state.opened).toBe(0);
    expect(report).toMatchObject({ backend_used: 'cpu', warnings: core.warnings });
    expect(report.measurers).toBeUndefined();
  });
});

describe('the backend auto, of a run expected to be long', () => {
  // A run of unknown length counts as 500 frames, which would take a worker seconds at this size.
  const large = y4mPair({ width: 960, height: 540, bitDepth: 8, chroma: '420' }, 6);
  const long = (onRead?: (index: number) => Promise<void>): ScoreRequest => {
    const extras = { frameCount: null, ...(onRead && { onRead }) };
    return {
      reference: ownSource(large.clip, 'reference', 6, extras),
      distorted: ownSource(large.clip, 'distorted', 6, extras),
    };
  };
  /** Slow enough for the GPU to open before the last frames. */
  const slowly = (): ScoreRequest =>
    long((index) => new Promise((resolve) => setTimeout(resolve, index < 2 ? 0 : 50)));
  let plain: Report;
  beforeAll(async () => {
    plain = await scorePair(nodePlatform, long(), { backend: 'cpu', threads: 1 });
  });

  it('uses a GPU', async () => {
    const gpus = new FakeGpus();
    const report = await scorePair(platformWith(gpus), long(), { backend: 'auto', threads: 1 });
    expect(report.frames).toEqual(plain.frames);
    expect(gpus.state).toMatchObject({ opened: 1, closed: 1 });
    expect(report.backend_used).toBe(gpus.state.measured > 0 ? 'webgpu' : 'cpu');
  });

  it('leaves to the core what is too large for the GPU', async () => {
    const gpus = new FakeGpus({ tooLarge: ['adm'] });
    const report = await scorePair(platformWith(gpus), slowly(), { backend: 'auto', threads: 1 });
    expect(report.frames).toEqual(plain.frames);
    expect(report.measurers?.[0]).toMatchObject({ backend: 'webgpu', extractors: ['motion', 'vif'] });
    expect(report.warnings).toContain('The core measured adm instead of the GPU: adm needs more memory.');
  });

  it('gives the values of the core if the GPU is lost', async () => {
    const gpus = new FakeGpus({ lostAfter: 0 });
    const report = await scorePair(platformWith(gpus), slowly(), { backend: 'auto', threads: 1 });
    expect(report.frames).toEqual(plain.frames);
    expect(report.warnings).toContain(
      'The GPU stopped during the run and the core took over; the result is the same: the device is gone.',
    );
  });

  it.each([
    ['there is no GPU', { missing: true }],
    ['every picture is too large for it', { tooLarge: ['adm', 'motion', 'vif'] }],
    ['it is software', { adapter: { ...CARD, software: true } }],
    ['it supports no metric', { metrics: [] }],
  ])('gives the report of the core if %s', async (_, options) => {
    const gpus = new FakeGpus(options);
    const report = await scorePair(platformWith(gpus), long(), { backend: 'auto', threads: 1 });
    const facts = ({ fps: _fps, backend_requested: _asked, ...rest }: Report) => rest;
    expect(facts(report)).toEqual(facts(plain));
    expect(gpus.state.measured).toBe(0);
  });
});

describe('a probe of GPU and core', () => {
  /** A pool of two workers with simulated progress. */
  function probe() {
    let now = 0;
    const workers: ((message: Parameters<Parameters<WorkerPool['receive']>[0]>[1]) => void)[] = [];
    const pool = new WorkerPool();
    const startWorker = () => ({
      post: () => {},
      listen: (onMessage: (message: never) => void) => void workers.push(onMessage as never),
      terminate: async () => {},
    });
    const setup = { gpu: 'tried' } as never;
    pool.start(startWorker, 1, setup);
    pool.start(startWorker, 1, {} as never);
    const decided = new BackendProbe(pool, () => now);
    const state = { adapter: CARD, calls: [0], others: {}, pairs: 0, lost: null };
    return {
      pool,
      decided,
      opens: () => workers[0]?.({ kind: 'gpu', state }),
      measures(worker: number, pairs: number, after: number, lost: string | null = null) {
        now += after;
        workers[worker]?.({ kind: 'progress', pairs, buffers: [] });
        if (worker === 0) workers[0]?.({ kind: 'gpu', state: { ...state, pairs: 64, lost } });
      },
    };
  }

  it('gives the GPU no pairs until it is open', () => {
    const { pool, opens } = probe();
    expect([pool.share(0), pool.share(1)]).toEqual([0, 1]);
    opens();
    expect([pool.share(0), pool.share(1)]).toEqual([4, 1]);
  });

  it.each([
    ['the GPU', 100, 20, [4, 0]],
    ['the workers', 30, 90, [0, 1]],
  ] as const)('chooses %s if faster', (_, gpu, core, shares) => {
    const { pool, decided, opens, measures } = probe();
    opens();
    measures(0, 10, 100);
    measures(1, core, 500);
    expect(decided.result).toBeUndefined();
    measures(0, gpu, 500);
    expect(decided.result).toEqual({ gpu, core });
    expect([pool.share(0), pool.share(1)]).toEqual(shares);
  });

  it('gives all workers a share again when the GPU is lost', () => {
    const { pool, opens, measures } = probe();
    opens();
    measures(0, 10, 100);
    measures(0, 100, 1000);
    expect([pool.share(0), pool.share(1)]).toEqual([4, 0]);
    measures(0, 1, 10, 'it is gone');
    expect([pool.share(0), pool.share(1)]).toEqual([1, 1]);
  });
});
