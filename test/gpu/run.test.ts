/**
 * @module test/gpu/run
 * Whole runs with a real device, the software adapter: on workers, in this thread, when it is aborted and when it is lost.
 */
import { describe, expect, it } from 'vitest';
import type { Platform } from '../../src/engine/contract/platform.js';
import type { ScoreOptions, ScoreRequest } from '../../src/engine/contract/types.js';
import { scorePair } from '../../src/engine/score.js';
import { nodePlatform } from '../../src/platform/node/platform.js';
import { anyvmaf } from '../support/cli.js';
import { file, SMALL_10, scratchFolder, y4mPair } from '../support/clips.js';
import { noGpu, SWIFTSHADER } from '../support/gpu.js';

const folder = scratchFolder();
const FRAMES = 12;
const pair = y4mPair(SMALL_10, FRAMES);
const request: ScoreRequest = {
  reference: file(folder, 'r.y4m', pair.reference),
  distorted: file(folder, 'd.y4m', pair.distorted),
};
// Shaders that are compiled soon: each metric has its own tests.
const options: ScoreOptions = { noPrediction: true, features: ['psnr', 'motion', 'float_ssim'] };
const frames = async (more: ScoreOptions, platform: Platform = nodePlatform) =>
  scorePair(platform, request, { ...options, ...more });

describe.skipIf(noGpu)('a run on the software adapter', () => {
  process.env.VK_ICD_FILENAMES = SWIFTSHADER;

  it.each([
    ['webgpu', 0],
    ['webgpu', 1],
    ['hybrid', 1],
  ] as const)('gives what the core gives: %s with %i threads', async (backend, threads) => {
    const core = await frames({ threads: 0 });
    const report = await frames({ backend, threads, chunkFrames: 3 });
    expect(report.frames).toEqual(core.frames);
    expect(report.backend_used).toBe(backend);
    expect(report.measurers?.[0]).toMatchObject({
      backend: 'webgpu',
      extractors: ['psnr', 'motion'],
      adapter: { software: true },
    });
    expect(report.measurers?.at(-1)).toEqual({ backend: 'cpu', extractors: ['float_ssim'], frames: FRAMES });
  });

  it.each([0, 1])('is given up at once, and this process goes on, with %i threads', async (threads) => {
    const stop = new AbortController();
    const running = frames({
      backend: 'webgpu',
      threads,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
  });

  /** Node with a device that is destroyed after some pairs. */
  const losing = (after: number): Platform => ({
    ...nodePlatform,
    gpu: {
      here: true,
      driver: true,
      advice: '',
      async open() {
        const kind = await nodePlatform.gpu?.open();
        if (!kind) throw new Error('there is no GPU');
        return {
          ...kind,
          adapter: kind.adapter,
          lost: kind.lost,
          problem: (call, format) => kind.problem(call, format),
          close: () => kind.close(),
          async open(plan) {
            const measurer = await kind.open(plan);
            const measure = measurer.measure.bind(measurer);
            let pairs = 0;
            measurer.measure = (...args) => {
              const working = measure(...args);
              if (++pairs > after && 'device' in measurer) (measurer.device as GPUDevice).destroy();
              return working;
            };
            return measurer;
          },
        };
      },
    },
  });

  it('ends with a clear error when the device is lost', async () => {
    await expect(frames({ backend: 'webgpu', threads: 0 }, losing(4))).rejects.toMatchObject({
      code: 'backend',
      message: expect.stringMatching(/^The GPU (was lost|stopped)/),
    });
  });

  it('lets the process of the command line end', async () => {
    const { reference, distorted } = request;
    const args = ['-r', String(reference), '-d', String(distorted), '--no_prediction', '--feature', 'psnr'];
    const { code, stderr } = await anyvmaf([...args, '--backend', 'webgpu']);
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('without a driver', () => {
  it.skipIf(process.platform !== 'linux')('a run that asks for a GPU is refused in a sentence', async () => {
    const { reference, distorted } = request;
    const args = ['-r', String(reference), '-d', String(distorted), '--backend', 'webgpu'];
    const { code, stderr } = await anyvmaf(args, { env: { VK_ICD_FILENAMES: '/nowhere.json' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^anyvmaf: There is no GPU here that WebGPU can use/m);
  });
});
