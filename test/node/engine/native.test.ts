/**
 * @module test/node/engine/native
 * Scoring with a scripted program: its arguments and input, and every way in which it can fail. The program logs the mean luma of
 * each frame, which is known for the frames made here.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors.js';
import {
  AnyvmafError,
  describeNative,
  type FrameSource,
  listBackends,
  prepareRun,
  probeBackend,
  type ScoreOptions,
  score,
} from '../../../src/index.js';
import { watchMeasurement } from '../../../src/live/link.js';
import { privateTmp, testFolder } from '../../support/folders.js';
import { smallModel } from '../../support/models.js';
import { fakeVmaf, processesWith } from '../../support/programs.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const home = testFolder();
const { leftovers } = privateTmp('anyvmaf-native-');
afterEach(async () => {
  expect(leftovers()).toEqual([]);
  // Processes need time to end on a busy machine.
  await expect.poll(() => processesWith(home), { timeout: 10_000 }).toEqual([]);
});

const FORMAT = { width: 48, height: 34, bitDepth: 8, chroma: '420' } as const;
const FRAME = (48 * 34 * 3) / 2;

/** Raw frames, each of one value. */
function flat(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * FRAME);
  for (const [n, value] of values.entries()) bytes.fill(value, n * FRAME, (n + 1) * FRAME);
  return bytes;
}

const REFERENCE = [10, 20, 30, 40];
const DISTORTED = [11, 22, 33, 44];
const bytesRequest = { reference: flat(...REFERENCE), distorted: flat(...DISTORTED), raw: FORMAT };

/** Scores with an installed program; the message of its refusal. */
const run = (vmafBin: string, options: ScoreOptions = {}) =>
  score(bytesRequest, { backend: 'native-cpu', vmafBin, ...options });
const refused = (vmafBin: string, options: ScoreOptions = {}, code: ErrorCode = 'backend') =>
  refusalOf(code, () => run(vmafBin, options));

function files(): { reference: string; distorted: string; raw: typeof FORMAT } {
  const folder = join(home, "a 'hostile' na=me:, -r");
  mkdirSync(folder, { recursive: true });
  const [reference, distorted] = [join(folder, '-reference.yuv'), join(folder, 'distorted\n.yuv')];
  writeFileSync(reference, bytesRequest.reference);
  writeFileSync(distorted, bytesRequest.distorted);
  return { reference, distorted, raw: FORMAT };
}

describe.skipIf(process.platform === 'win32')('a program that works', () => {
  it('gets all frames of both videos through pipes, in order, and every frame is reported', async () => {
    const fake = fakeVmaf(home, 'good');
    const told: number[] = [];
    const done: number[] = [];
    const report = await run(fake.path, {
      onFrame: ({ metrics }) => told.push(metrics.vmaf ?? 0),
      onProgress: ({ framesDone }) => done.push(framesDone),
    });
    expect([told, done.at(-1)]).toEqual([REFERENCE, 4]);
    expect(report.frames.map(({ metrics }) => metrics.vmaf)).toEqual(REFERENCE);
    expect(report.frames.map(({ metrics }) => metrics.distorted_luma)).toEqual(DISTORTED);
    expect(report.native).toEqual({
      flavour: 'vmaf',
      path: fake.path,
      version: '3.2.0',
      libvmaf: '3.2.0',
      decimals: 6,
      pooled: 'computed',
      input: 'pipes',
    });
    expect([report.backend_requested, report.backend_used]).toEqual(['native-cpu', 'native-cpu']);
    expect(report.implementation).toBe('vmaf 3.2.0');
    expect(report.frameCount).toBe(4);
    // (10 + 20 + 30 + 40) / 4
    expect(report.pooled_metrics.vmaf?.mean).toBe(25);
  });

  it('gets features by the names that libvmaf knows', async () => {
    const fake = fakeVmaf(home, 'good');
    await run(fake.path, { features: ['ssim=enable_db=true', 'ms_ssim', 'psnr'] });
    expect(fake.runs().at(-1)?.join(' ')).toContain(
      '--feature float_ssim=enable_db=true --feature float_ms_ssim --feature psnr',
    );
  });

  it('gets a model with CAMBI, which measures no small pictures', async () => {
    const fake = fakeVmaf(home, 'good');
    const path = join(home, 'banding.json');
    const names = ['VMAF_integer_feature_adm2_score', 'Cambi_feature_cambi_score'];
    writeFileSync(path, JSON.stringify(smallModel({ feature_names: names })));
    const raw = { ...FORMAT, width: 256, height: 216 };
    const frame = new Uint8Array((256 * 216 * 3) / 2).fill(7);
    const models = [`path=${path}:cambi.window_size=63`];
    const own = { backend: 'native-cpu', vmafBin: fake.path, models } as const;
    const report = await score({ reference: frame, distorted: frame, raw }, own);
    expect(report.pooled_metrics.vmaf?.mean).toBe(7);
  });

  it('reads stored files itself, whatever their names', async () => {
    const fake = fakeVmaf(home, 'good');
    const request = files();
    const report = await score(request, { backend: 'native-cpu', vmafBin: fake.path, threads: 3 });
    expect(report.native?.input).toBe('files');
    expect(report.frames.map(({ metrics }) => metrics.vmaf)).toEqual(REFERENCE);
    expect(fake.runs().at(-1)).toEqual([
      ...['--reference', request.reference, '--distorted', request.distorted],
      ...['--width', '48', '--height', '34', '--pixel_format', '420', '--bitdepth', '8'],
      ...['--model', 'version=vmaf_v0.6.1:name=vmaf', '--threads', '3', '--frame_cnt', '4'],
      ...['--gpumask', '4294967295', '--quiet', '--json', '--output', 'log.json'],
    ]);
  });

  it('gets interlaced Y4M, which it does not read itself, through pipes', async () => {
    const fake = fakeVmaf(home, 'good');
    const y4m = (name: string, values: readonly number[]) => {
      const frames = values.map((value) => `FRAME\n${String.fromCharCode(value).repeat(FRAME)}`);
      const path = join(home, name);
      writeFileSync(path, `YUV4MPEG2 W48 H34 F25:1 It C420\n${frames.join('')}`);
      return path;
    };
    const request = {
      reference: y4m('reference.y4m', REFERENCE),
      distorted: y4m('distorted.y4m', DISTORTED),
    };
    const report = await score(request, { backend: 'native-cpu', vmafBin: fake.path });
    expect(report.native?.input).toBe('pipes');
    expect(report.frames.map(({ metrics }) => metrics.vmaf)).toEqual(REFERENCE);
  });

  it('scores the frames that both have, and warns which video ended first', async () => {
    const fake = fakeVmaf(home, 'good');
    const frames = (count: number, name: string): FrameSource => ({
      info: { ...FORMAT, name, container: 'frames', frameCount: null, warnings: [] },
      seekable: false,
      async readFrame(index, into) {
        if (index >= count) return false;
        into.y.fill(index + 1);
        return true;
      },
      close() {},
    });
    const request = { reference: frames(2, 'short'), distorted: frames(300, 'long') };
    const report = await score(request, { backend: 'native-cpu', vmafBin: fake.path });
    expect(report.frames.map(({ metrics }) => metrics.vmaf)).toEqual([1, 2]);
    expect(report.frameCount).toBe(2);
    expect(report.warnings.join()).toMatch(/reference short ended after 2 frames, before the distorted long/);
  });

  it('gets a built-in model that it lacks as a file', async () => {
    const fake = fakeVmaf(home, 'good');
    const models = ['version=vmaf_4k_v0.6.1:name=uhd'];
    // The scripted program logs only vmaf, so that the probe misses this score.
    expect(await refused(fake.path, { models }, 'model')).toMatch(/no finite score "uhd"/);
    expect(fake.runs().at(-1)?.join(' ')).toMatch(/--model path=model0\.json:name=uhd/);
  });
});

describe.skipIf(process.platform === 'win32')('the choice', () => {
  it('takes a GPU that works for auto, and names it', async () => {
    const fake = fakeVmaf(home, 'gpu');
    const report = await run(fake.path, { backend: 'auto' });
    expect([report.backend_requested, report.backend_used]).toEqual(['auto', 'cuda']);
    const last = fake.runs().at(-1) ?? [];
    expect(last.filter((arg) => arg.startsWith('--no_'))).toEqual(['--no_sycl', '--no_hip', '--no_metal']);
    const other = await run(fake.path, { backend: 'auto', hipDevice: 0, cpumask: 1 });
    expect(other.warnings).toContain('hipDevice has no effect: the backend cuda measured.');
    expect(other.warnings.join()).not.toContain('cpumask');
  });

  it('uses the exclusive option and full precision if the tool has them', async () => {
    const fake = fakeVmaf(home, 'exclusive');
    const report = await score(bytesRequest, { backend: 'hip', hipDevice: 1, vmafBin: fake.path });
    expect(report.native?.decimals).toBeNull();
    expect(fake.runs().at(-1)?.join(' ')).toMatch(/--backend hip --hip_device 1 --precision max/);
  });

  it('falls back to the own core only for auto, with a warning', async () => {
    const fake = fakeVmaf(home, 'gpu-broken');
    const report = await run(fake.path, { backend: 'auto', threads: 0 });
    expect([report.backend_used, report.implementation]).toEqual(['cpu', 'simd128']);
    expect(report.warnings.join()).toMatch(/cuda was not used: .*device initialisation/);
  });

  it('takes the own core for auto if no GPU is advertised, without a run', async () => {
    const fake = fakeVmaf(home, 'good-auto');
    const report = await run(fake.path, { backend: 'auto', threads: 0, cpumask: 1 });
    expect(report.backend_used).toBe('cpu');
    expect(report.warnings).toContain('cpumask has no effect: no installed program measured.');
    expect(fake.runs()).toEqual([]);
  });

  it('takes the own core for auto if the run is watched, and refuses a named program', async () => {
    const { path: vmafBin } = fakeVmaf(home, 'gpu');
    const watched = async (backend: 'auto' | 'cuda') => {
      const run = await prepareRun(bytesRequest, { backend, vmafBin, threads: 0 });
      watchMeasurement(run, { alarms: [] });
      return run.start();
    };
    const report = await watched('auto');
    expect(report.backend_used).toBe('cpu');
    expect(report.warnings.join()).toMatch(/cuda was not used: it reports frames only at the end/);
    expect(await refusalOf('usage', () => watched('cuda'))).toMatch(/cannot be watched/);
  });

  it('refuses a named backend that is broken, and lists those available', async () => {
    const fake = fakeVmaf(home, 'gpu-broken');
    const message = await refused(fake.path, { backend: 'cuda' });
    expect(message).toMatch(/cuda does not work here: .*exited with status 100.*device initialisation/);
    expect(message).toMatch(/Available: cpu \(this package's own core\), native-cpu/);
  });

  it('refuses a backend that the tool was not built with', async () => {
    const fake = fakeVmaf(home, 'good');
    const wanted = /metal is not available: vmaf .* was built without it.*Install a vmaf built with Metal/;
    expect(await refused(fake.path, { backend: 'metal' })).toMatch(wanted);
  });

  it('refuses a run that the tool made on another backend', async () => {
    const fake = fakeVmaf(home, 'liar');
    expect(await refused(fake.path, { backend: 'cuda' })).toMatch(/ran on cpu instead of cuda/);
  });

  it.each([
    [{ compat: 'libvmaf-3.0' }, /the backend native-cpu does not support compat/],
    [{ implementation: 'portable' }, /does not support implementation/],
    [{ chunkFrames: 4 }, /does not support chunkFrames/],
    [{ syclDevice: 0 }, /syclDevice is 0, but the backend is native-cpu, not sycl/],
    [{ vmafBin: '' }, /vmafBin is "", but it must be the path of a program/],
    [{ backend: undefined }, /no native backend is requested/],
    [{ backend: 'wasm' }, /no native backend is requested/],
    [{ backend: 'gpu' }, /backend is "gpu", but it must be auto, cpu, wasm, native-cpu, cuda/],
  ])('refuses %o', async (options, expected) => {
    expect(await refused('vmaf', options as ScoreOptions, 'usage')).toMatch(expected);
  });

  it.each([
    [{ features: ['psnr=nope=/x'] }, /psnr extractor has no option "nope"/],
    [{ features: ['psnrr'] }, /no feature extractor "psnrr"/],
    [{ models: ['version=vmaf_v0.6.1:adm.nope=3'] }, /no option "nope"/],
  ])('refuses %j as the own core does', async (options, message) => {
    expect(await refused(fakeVmaf(home, 'good').path, options, 'feature')).toMatch(message);
    await expect(score(bytesRequest, options)).rejects.toThrow(message);
  });

  it('refuses formats that the tool does not take, by name', async () => {
    const fake = fakeVmaf(home, 'good');
    const raw = { ...FORMAT, chroma: '400' } as const;
    const grey = () => score({ ...bytesRequest, raw }, { backend: 'native-cpu', vmafBin: fake.path });
    await expect(grey()).rejects.toThrow(/cannot score 48x34 4:0:0 8 bit: it supports only 4:2:0, 4:2:2 and/);
  });
});

describe.skipIf(process.platform === 'win32')('a program that fails', () => {
  it.each([
    // A hanging probe is ended too, sooner.
    ...tier([], [['hang-help', /did not answer within 5 s/] as const]),
    ['crash-help', /exited with status \d+|was ended by SIGSEGV|neither vmaf/],
    ['garbage', /is neither vmaf nor an ffmpeg/],
    ['crash', /exited with status 139|SIGSEGV/],
    ['flood', /exited with status 9/],
    ['no-log', /succeeded but wrote no log/],
    ['garbage-log', /wrote a log that is not JSON/],
    ['null-score', /returned no finite score "vmaf" for a grey frame/],
  ] as const)('is refused: %s', async (mode, expected) => {
    expect(await refused(fakeVmaf(home, mode).path)).toMatch(expected);
  });

  it('is refused when it is not executable, a folder, or not there', async () => {
    const plain = join(home, 'plain');
    writeFileSync(plain, 'text');
    for (const [path, expected] of [
      [plain, /is not executable by this user/],
      [home, /is not a file/],
      [join(home, 'nowhere'), /does not exist/],
    ] as const)
      expect(await refused(path)).toMatch(expected);
  });

  it('is refused if it logs fewer frames than it was given or crashes after its probe', async () => {
    expect(await refused(fakeVmaf(home, 'short').path)).toMatch(/scored 3 frames, but was given 4/);
    expect(await refused(fakeVmaf(home, 'late-crash').path)).toMatch(/exited with status 139|SIGSEGV/);
  });

  it('is ended with all its processes when the caller aborts, with the reason', async () => {
    const fake = fakeVmaf(home, 'late-hang');
    const stop = new AbortController();
    const reason = new Error('enough');
    const scoring = run(fake.path, { signal: stop.signal });
    scoring.catch(() => {});
    // The probe is one run, the videos are the second.
    while (fake.runs().length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort(reason);
    await expect(scoring).rejects.toBe(reason);
  });

  it('is ended if reading a video throws, with that error', async () => {
    const fake = fakeVmaf(home, 'good');
    const source: FrameSource = {
      info: { ...FORMAT, name: 'broken', container: 'frames', frameCount: null, warnings: [] },
      seekable: false,
      async readFrame(index) {
        if (index < 3) return true;
        throw new AnyvmafError('media', 'frame 3 is damaged.');
      },
      close() {},
    };
    const request = { reference: source, distorted: bytesRequest.distorted, raw: FORMAT };
    const reading = () => score(request, { backend: 'native-cpu', vmafBin: fake.path });
    expect(await refusalOf('media', reading)).toBe('frame 3 is damaged.');
  });
});

describe.skipIf(process.platform === 'win32')('the list of backends', () => {
  it('has what a tool was built with', async () => {
    const list = await listBackends({ vmafBin: fakeVmaf(home, 'gpu').path });
    const gpus = { cuda: true, sycl: true, hip: true, metal: true };
    expect(list).toMatchObject({ cpu: true, ...gpus, native_cpu: true });
  });

  it('has only the own core if nothing is installed, with advice', async () => {
    const list = await listBackends({ vmafBin: join(home, 'nowhere') });
    const gpus = { cuda: false, sycl: false, hip: false, metal: false };
    expect(list).toMatchObject({ cpu: true, ...gpus, native_cpu: false });
    // The package webgpu is installed for tests.
    const there = list.details.filter(({ advice }) => advice === null);
    expect(there.map(({ backend }) => backend)).toEqual(['cpu', 'webgpu', 'hybrid']);
    expect(list.native.error).toMatch(/nowhere does not exist/);
  });

  it('has a description of the tool', async () => {
    const { path } = fakeVmaf(home, 'gpu');
    expect(await describeNative({ vmafBin: path })).toEqual({
      binary_path: path,
      version: '3.2.0',
      build_flags: { cpu: true, cuda: true, sycl: true, hip: true, metal: true },
      flavour: 'vmaf',
      error: null,
    });
  });

  it('has probes that report every outcome', async () => {
    const works = await probeBackend('cuda', { vmafBin: fakeVmaf(home, 'gpu').path });
    // The scripted score is the mean luma of the grey frame.
    const healthy = { compiled_in: true, runtime_healthy: true, score: 128, error: null };
    expect(works).toMatchObject({ backend: 'cuda', ...healthy });
    expect(works.latency_ms).toBeGreaterThan(0);
    const broken = await probeBackend('cuda', { vmafBin: fakeVmaf(home, 'gpu-broken').path });
    expect(broken).toMatchObject({ compiled_in: true, runtime_healthy: false, score: null });
    const absent = await probeBackend('cuda', { vmafBin: fakeVmaf(home, 'good').path });
    expect(absent).toMatchObject({ compiled_in: false, runtime_healthy: false, latency_ms: null });
    const hung = await probeBackend('native-cpu', { vmafBin: fakeVmaf(home, 'hang').path, timeout: 300 });
    expect(hung.error).toMatch(/did not answer within 0\.3 s and was ended/);
  });

  it('has our core, which scores a grey frame like libvmaf 3.2.0, and no backends of other names', async () => {
    const { runtime_healthy, score: found } = await probeBackend('cpu');
    expect(runtime_healthy).toBe(true);
    expect(found?.toFixed(6)).toBe('97.428043');
    await refusalOf('usage', () => probeBackend('vulkan' as 'cuda'));
  });
});
