/**
 * @module test/gpu/device-runs
 * Whole runs on the software adapter: on workers and on this thread, aborted, with limits that are too low, and with a device
 * that is lost during the run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GpuKind } from '../../src/engine/backends/composite.js';
import { paddedBytes } from '../../src/engine/backends/webgpu/device.js';
import { openWebgpu } from '../../src/engine/backends/webgpu/measurer.js';
import type { ScoreOptions, ScoreRequest } from '../../src/engine/contract/types.js';
import { scorePair } from '../../src/engine/score.js';
import { nodePlatform } from '../../src/platform/node/platform.js';
import { anyvmafProcess } from '../support/cli.js';
import { file, ownSource, SMALL_10, storedPair, y4mPair } from '../support/clips.js';
import { testFolder } from '../support/folders.js';
import { noGpu, SWIFTSHADER, softwareGpu } from '../support/gpu.js';
import { CARD, platformWith, values } from '../support/gpu-engine.js';
import { refusalOf } from '../support/refusals.js';
import { exhaustive, tier } from '../support/tier.js';

const FORMAT = { width: 480, height: 270, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 16;
const folder = testFolder();
const pair = y4mPair(FORMAT, FRAMES);
const small = y4mPair(SMALL_10, 12);
const stored = storedPair(folder, 'wide', pair);
const storedSmall = storedPair(folder, 'small', small);
/** A run of unknown length, which counts as 500 frames and would take the core seconds. */
function long(ready?: Promise<void>): ScoreRequest {
  // Else the core would be done before shaders are compiled.
  const onRead = (index: number) => (index < 2 ? undefined : ready);
  const source = (side: 'reference' | 'distorted') =>
    ownSource(pair.clip, side, FRAMES, { frameCount: null, onRead });
  return { reference: source('reference'), distorted: source('distorted') };
}
// A shader that compiles fast, one with larger buffers, and a slow metric for the core.
const options: ScoreOptions = { noPrediction: true, features: ['motion', 'adm', 'ciede'] };
const core = await scorePair(nodePlatform, stored, { ...options, threads: 0 });

/** Bytes of luma; ADM needs more. */
const LUMA = paddedBytes(FORMAT, 8);

interface Device {
  /** Limit of a buffer in bytes. */
  readonly bytes?: number;
  /** Pairs after which it is destroyed. */
  readonly after?: number;
  /** Workers that open it before any measures, since a worker that opens it after the last pair does not count. */
  readonly workers?: number;
}

/** The software adapter, disguised as a card. */
function card({ bytes, after = Number.POSITIVE_INFINITY, workers = 1 }: Device) {
  const opened: GPUDevice[] = [];
  let isStaffed: () => void = () => {};
  const staffed = new Promise<void>((resolve) => {
    isStaffed = resolve;
  });
  let isReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const open = async (): Promise<GpuKind> => {
    const limits: Record<string, number> = bytes === undefined ? {} : { maxStorageBufferBindingSize: bytes };
    const kind = await openWebgpu(await softwareGpu(), { limits });
    return {
      adapter: CARD,
      problem: (call, format) => kind.problem(call, format),
      limit: (call, format) => kind.limit(call, format),
      close: () => kind.close(),
      async open(plan) {
        const measurer = await kind.open(plan);
        opened.push(measurer.device);
        setTimeout(isReady, 50);
        if (opened.length === workers) isStaffed();
        const measure = measurer.measure.bind(measurer);
        let pairs = 0;
        measurer.measure = (...args) => {
          const working = opened.length < workers ? staffed.then(() => measure(...args)) : measure(...args);
          if (++pairs > after) measurer.device.destroy();
          return working;
        };
        return measurer;
      },
    };
  };
  return { open, opened, ready };
}

const score = (
  device: Pick<ReturnType<typeof card>, 'open'>,
  more: ScoreOptions,
  request: ScoreRequest = stored,
) => scorePair(platformWith(device), request, { ...options, ...more });

/** Aborts a run at its first progress. */
function abortEarly(): Pick<ScoreOptions, 'signal' | 'onProgress'> {
  const stop = new AbortController();
  return { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) };
}

describe.skipIf(noGpu)('a run on the software adapter', () => {
  // Only shaders that compile fast.
  const few: ScoreOptions = { noPrediction: true, features: ['psnr', 'float_ssim'] };
  const run = (more: ScoreOptions) => scorePair(nodePlatform, storedSmall, { ...few, ...more });
  const { reference, distorted } = storedSmall;
  const args = ['-r', reference, '-d', distorted, '--no_prediction', '--feature', 'psnr'];
  const inThread: ScoreOptions = { backend: 'webgpu', threads: 0, features: ['motion', 'ciede'] };
  const earlier = process.env.VK_ICD_FILENAMES;
  beforeAll(() => {
    process.env.VK_ICD_FILENAMES = SWIFTSHADER;
  });
  afterAll(() => {
    if (earlier === undefined) delete process.env.VK_ICD_FILENAMES;
    else process.env.VK_ICD_FILENAMES = earlier;
  });

  it.each(
    tier(
      [
        ['webgpu', 0],
        ['hybrid', 1],
      ] as const,
      [
        ['webgpu', 0],
        ['webgpu', 1],
        ['hybrid', 1],
      ] as const,
    ),
  )('equals the core: %s with %i threads', async (backend, threads) => {
    const expected = await run({ threads: 0 });
    const report = await run({ backend, threads, chunkFrames: 3 });
    expect(report.frames).toEqual(expected.frames);
    expect(report.backend_used).toBe(backend);
    const gpu = { backend: 'webgpu', extractors: ['psnr'], adapter: { software: true } };
    expect(report.measurers?.[0]).toMatchObject(gpu);
    expect(report.measurers?.at(-1)).toEqual({ backend: 'cpu', extractors: ['float_ssim'], frames: 12 });
  });

  it('is aborted at once with a worker', async () => {
    await expect(run({ backend: 'webgpu', threads: 1, ...abortEarly() })).rejects.toThrow('enough');
  });

  it('is aborted at once on this thread', async () => {
    const stopped = score(card({}), { ...inThread, ...abortEarly() }, storedSmall);
    await expect(stopped).rejects.toThrow('enough');
  });

  it('fails with a clear error when the device is lost', async () => {
    const running = score(card({ after: 4 }), inThread, storedSmall);
    expect(await refusalOf('backend', () => running)).toMatch(/^The GPU (was lost|stopped)/);
  });

  it('lets the command line exit', async () => {
    const { code, stderr } = await anyvmafProcess([...args, '--backend', 'webgpu'], {
      env: { VK_ICD_FILENAMES: SWIFTSHADER },
    });
    expect([code, stderr]).toEqual([0, '']);
  });

  it.skipIf(process.platform !== 'linux')('is refused with a message without a driver', async () => {
    const { code, stderr } = await anyvmafProcess([...args, '--backend', 'webgpu'], {
      env: { VK_ICD_FILENAMES: '/nowhere.json' },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^anyvmaf: WebGPU found no GPU that it can use/m);
  });
});

describe.skipIf(noGpu)('a device whose limits are too low', () => {
  it.each([LUMA, 1024])('fails a run with the backend webgpu: %i bytes', async (bytes) => {
    expect(await refusalOf('backend', () => score(card({ bytes }), { backend: 'webgpu' }))).toMatch(
      /^The picture is too large for the GPU: \w+ of 480x270 4:2:0 8 bit needs a buffer of .*; use the backend hybrid/,
    );
  });

  it.each([['auto', 'sent'] as const, ...tier([], [['hybrid', stored] as const])])(
    'leaves metrics that are too large to the core with the backend %s',
    async (backend, request) => {
      const device = card({ bytes: LUMA });
      const pairs = request === 'sent' ? long(device.ready) : request;
      const report = await score(device, { backend, threads: 1 }, pairs);
      expect(values(report)).toEqual(values(core));
      expect(report.measurers?.[0]).toMatchObject({ backend: 'webgpu', extractors: ['motion'] });
      const why = /^The core measured adm instead of the GPU: adm of 480x270 .* needs a buffer of/;
      expect(report.warnings.filter((text) => why.test(text))).toHaveLength(1);
    },
  );

  it('is not used by the backend auto if everything is too large', async () => {
    const report = await score(card({ bytes: 1024 }), { backend: 'auto', threads: 1 }, long());
    expect(values(report)).toEqual(values(core));
    expect(report).toMatchObject({ backend_used: 'cpu' });
    expect(report.measurers).toBeUndefined();
  });

  it('fails a hybrid run in which it would measure nothing', async () => {
    expect(
      await refusalOf('backend', () => score(card({ bytes: 1024 }), { backend: 'hybrid', threads: 1 })),
    ).toMatch(/^The GPU supports none of this run's metrics \(.*binds at most/);
  });
});

describe.skipIf(noGpu)('a device destroyed during the run', () => {
  const LOST = /^The GPU stopped during the run and the core took over; the result is the same: /;
  const features = ['motion', 'ciede'];
  const plain = scorePair(nodePlatform, stored, { ...options, features, threads: 0 });

  it.each([
    ['auto', 3, 'sent'] as const,
    ...tier([], [
      ['hybrid', 0, stored],
      ['hybrid', 3, stored],
      ['hybrid', 3, 'sent'],
    ] as const),
  ])('changes no values with the backend %s: after %i pairs', async (backend, after, request) => {
    const device = card({ after });
    const pairs = request === 'sent' ? long(device.ready) : request;
    const report = await score(device, { backend, features, threads: 1 }, pairs);
    expect(values(report)).toEqual(values(await plain));
    expect(report.warnings.filter((text) => LOST.test(text))).toHaveLength(1);
  });
});

describe.skipIf(noGpu)('the command line with a device destroyed during the run', () => {
  /** Destroys a thread's device after some submissions. */
  const hook = `
    import { globals } from '${import.meta.resolve('webgpu')}';
    const { GPUAdapter, GPUQueue } = globals;
    const { requestDevice } = GPUAdapter.prototype;
    const { submit } = GPUQueue.prototype;
    let device;
    let submitted = 0;
    GPUAdapter.prototype.requestDevice = async function (...args) {
      device = await requestDevice.apply(this, args);
      return device;
    };
    GPUQueue.prototype.submit = function (...args) {
      submit.apply(this, args);
      if (++submitted === 4) device.destroy();
    };`;
  const path = file(folder, 'hook.mjs', new TextEncoder().encode(hook));
  const env = { VK_ICD_FILENAMES: SWIFTSHADER, NODE_OPTIONS: `--import ${path}` };
  const args = ['-r', stored.reference, '-d', stored.distorted, '--no_prediction', '--feature', 'psnr', '-q'];

  it('measures the rest with the core, with the backend hybrid', async () => {
    const report = join(folder, 'report.json');
    const more = ['--feature', 'ciede', '--backend', 'hybrid', '--threads', '1', '--json', '-o', report];
    const { code } = await anyvmafProcess([...args, ...more], { env });
    expect(code).toBe(0);
    const { frames, warnings } = JSON.parse(readFileSync(report, 'utf8'));
    expect(frames).toHaveLength(FRAMES);
    const core = await scorePair(nodePlatform, stored, {
      ...options,
      features: ['psnr', 'ciede'],
      threads: 0,
    });
    for (const [i, { metrics }] of frames.entries()) {
      expect(Object.keys(metrics).length).toBeGreaterThan(1);
      for (const [name, value] of Object.entries(metrics))
        expect(value, name).toBeCloseTo(core.frames[i]?.metrics[name] as number, 5);
    }
    expect(warnings).toContainEqual(expect.stringMatching(/^The GPU stopped during the run/));
  });

  it.skipIf(!exhaustive)('fails with the backend webgpu', async () => {
    const { code, stderr } = await anyvmafProcess([...args, '--backend', 'webgpu'], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^anyvmaf: The GPU (was lost|stopped)/m);
  });
});

describe.skipIf(noGpu)('several workers with a device each', () => {
  it('equal the core', async () => {
    const device = card({ workers: 2 });
    const features = ['motion', 'ciede'];
    const report = await score(device, { backend: 'webgpu', features, threads: 2, chunkFrames: 3 });
    expect(values(report)).toEqual(
      values(await scorePair(nodePlatform, stored, { ...options, features, threads: 0 })),
    );
    expect(device.opened).toHaveLength(2);
    expect(report.threads).toBe(2);
    expect(report.measurers?.[0]).toMatchObject({ extractors: ['motion'], frames: FRAMES });
  });
});
