/**
 * @module test/gpu/device-runs
 * Whole runs on the software adapter: on workers, on this thread and by the command line, also with a device that is destroyed
 * during the run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScoreOptions } from '../../src/engine/contract/types.js';
import { scorePair } from '../../src/engine/score.js';
import { nodePlatform } from '../../src/platform/node/platform.js';
import { anyvmafProcess } from '../support/cli.js';
import { file, SMALL_10, storedPair, y4mPair } from '../support/clips.js';
import { testFolder } from '../support/folders.js';
import { noGpu, SWIFTSHADER } from '../support/gpu.js';
import { exhaustive, tier } from '../support/tier.js';

const FORMAT = { width: 480, height: 270, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 16;
const folder = testFolder();
const stored = storedPair(folder, 'wide', y4mPair(FORMAT, FRAMES));
const storedSmall = storedPair(folder, 'small', y4mPair(SMALL_10, 12));

describe.skipIf(noGpu)('a run on the software adapter', () => {
  // Only shaders that compile fast.
  const few: ScoreOptions = { noPrediction: true, features: ['psnr', 'float_ssim'] };
  const run = (more: ScoreOptions) => scorePair(nodePlatform, storedSmall, { ...few, ...more });
  const { reference, distorted } = storedSmall;
  const args = ['-r', reference, '-d', distorted, '--no_prediction', '--feature', 'psnr'];
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

  it('counts the frames of all samples', async () => {
    const long = storedPair(folder, 'long', y4mPair(SMALL_10, 40));
    const samples = { runs: 4, seconds: 0.04 };
    const report = await scorePair(nodePlatform, long, { ...few, samples, backend: 'webgpu' });
    const counts = report.measurers?.map(({ frames }) => frames) ?? [];
    expect(counts).toHaveLength(2);
    // Each sample also measures frames around it, but never all of them.
    for (const count of counts) expect(count).toBeGreaterThan(2 * report.frames.length);
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
      noPrediction: true,
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
