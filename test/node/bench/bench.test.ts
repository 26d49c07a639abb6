/**
 * @module test/node/bench/bench
 * The benchmark as it ships, on its smallest pair: equal twins, reports where they are asked for, nothing left behind.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type BenchResult,
  type BenchRun,
  benchOutput,
  chooseShapes,
  compareReports,
  type runBenchmark as RunBenchmark,
} from '../../../src/bench/run.js';
import { type FrameMetrics, type Report, score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { built } from '../../support/built.js';
import { anyvmaf } from '../../support/cli.js';
import { testFolder } from '../../support/folders.js';
import { report } from '../../support/report.js';

const { runBenchmark }: { runBenchmark: typeof RunBenchmark } = await import(built('dist/bench/run.js'));

const folder = testFolder();

const SMALL = { shapes: ['576x324'], backends: ['cpu'], temporary: folder } as const;

describe('the benchmark', () => {
  it.each(['making 576x324', '576x324 on portable'])('stops while %s and leaves nothing', async (stage) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const before = readdirSync(folder);
    const onProgress = ({ message }: { readonly message: string }) => {
      if (message === stage) controller.abort(reason);
    };
    const running = runBenchmark({ ...SMALL, signal: controller.signal, onProgress });
    await expect(running).rejects.toBe(reason);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('says so when the videos cannot be made', async () => {
    const running = runBenchmark({ ...SMALL, temporary: join(folder, 'nowhere') });
    await expect(running).rejects.toMatchObject({ code: 'io' });
  });
});

describe('anyvmaf bench', () => {
  it('gives the scores of the generated pair, the same with and without SIMD, as JSON', async () => {
    let drawn = '';
    const reports = join(folder, 'reports');
    const args = ['bench', '--shape', '576x324', '--backend', 'cpu', '--json', '--reports', reports];
    const draw = (text: string) => {
      drawn += text;
    };
    const terminal = { canDraw: true, errorColumns: 80, draw };
    const { code, stdout, stderr } = await anyvmaf(args, { env: { TMPDIR: folder }, terminal });
    expect([code, stderr]).toEqual([0, '']);
    const { tests, model }: BenchResult = JSON.parse(stdout);
    expect(model).toBe('version=vmaf_v0.6.1');
    const written: Report = JSON.parse(readFileSync(join(reports, '576x324-cpu.json'), 'utf8'));
    const clip = makeSample({ width: 576, height: 324, bitDepth: 8, chroma: '420' }, { seed: 7 });
    const [reference, distorted] = [sampleSource(clip, 'reference', 4), sampleSource(clip, 'distorted', 4)];
    const expected = await score({ reference, distorted });
    // The last frame has another motion.
    expect(written.frames.slice(0, 3)).toEqual(expected.frames.slice(0, 3));
    const mean = written.pooled_metrics.vmaf?.mean;
    const same = { mean, max_difference: 0, identical: true, error: null };
    expect(tests).toMatchObject([
      {
        ...{ name: '576x324', width: 576, height: 324, frames: 48 },
        runs: [
          { backend: 'portable', ...same },
          { backend: 'cpu', ...same },
        ],
      },
    ]);
    for (const { seconds, fps } of tests[0]?.runs ?? [])
      expect((seconds ?? 0) * (fps ?? 0)).toBeCloseTo(48, 6);
    expect(readdirSync(reports).sort()).toEqual(['576x324-cpu.json', '576x324-portable.json']);
    expect(written.frames).toHaveLength(48);
    // Progress only rises, up to the end.
    const done = [...drawn.matchAll(/(\d+) %/g)].map(([, percent]) => Number(percent));
    expect(done.length).toBeGreaterThan(2);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done.at(-1)).toBe(100);
    expect(readdirSync(folder)).toEqual(['reports']);
  });

  it.each([
    [['clip.y4m'], /takes no videos/],
    [['--shape', '640x480'], /no benchmark 640x480/],
    [['--backend', 'vulkan'], /--backend is "vulkan", but it must be cpu, native-cpu/],
    [['--threads', '0'], /--threads is "0"/],
    [['--ful'], undefined],
    [['--fast'], /unknown option --fast/],
  ])('answers %j in a sentence', async (args, sentence) => {
    const { code, stderr, stdout } = await anyvmaf(['bench', ...args, ...(sentence ? [] : ['--help'])]);
    if (!sentence) expect([code, stdout.startsWith('Usage: anyvmaf bench')]).toEqual([0, true]);
    else {
      expect(code).toBe(1);
      expect(stderr).toMatch(sentence);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  });
});

const reportOf = (frames: readonly FrameMetrics[]): Report => report({ frames });
const frame = (frameNum: number, vmaf: number, adm2 = 0.5) => ({ frameNum, metrics: { vmaf, adm2 } });

describe('comparison', () => {
  const portable = reportOf([frame(0, 80), frame(1, 70), frame(2, 60)]);
  const same = { max_difference: 0, max_difference_frame: null, identical: true };
  const largest = { max_difference: 0.5, max_difference_frame: 1, identical: false };
  const elsewhere = { ...same, identical: false };
  const none = { max_difference: null, max_difference_frame: null, identical: false };

  it.each<[string, readonly FrameMetrics[], object]>([
    ['of equal reports finds nothing', [...portable.frames], same],
    ['names the frame with the largest difference', [frame(0, 80.25), frame(1, 69.5), frame(2, 60)], largest],
    [
      'sees a feature that differs',
      [frame(0, 80), frame(1, 70, 0.5000000000000001), frame(2, 60)],
      elsewhere,
    ],
    ['compares only what both have', [{ frameNum: 0, metrics: { vmaf: 80, more: 1 } }], elsewhere],
    ['finds missing frames', [], none],
  ])('%s', (_, frames, found) => {
    expect(compareReports(portable, reportOf(frames), 'vmaf')).toEqual(found);
  });
});

describe('shapes', () => {
  it("are the reference's three, the largest shortened unless all is asked for", () => {
    const of = (full: boolean) => chooseShapes(undefined, full).map(({ name, frames }) => [name, frames]);
    expect(of(true)).toEqual([
      ['576x324', 48],
      ['1920x1080', 5],
      ['3840x2160', 200],
    ]);
    expect(of(false).slice(0, 2)).toEqual(of(true).slice(0, 2));
    expect(of(false)[2]?.[1]).toBeLessThan(200);
  });
});

describe('output', () => {
  const good: BenchRun = {
    ...{ backend: 'cpu', mean: 77.1578961, seconds: 0.57, fps: 83.91 },
    ...{ max_difference: 0, max_difference_frame: null, identical: true, error: null },
  };
  const result = (runs: readonly BenchRun[]): BenchResult => ({
    tests: [{ name: '576x324', width: 576, height: 324, frames: 48, runs }],
    skipped: [{ backend: 'cuda', reason: 'Install a vmaf with CUDA.' }],
    machine: { cpu: 'CPU', cores: 2, platform: 'linux x64', node: '20.0.0' },
    threads: 2,
    model: 'version=vmaf_v0.6.1',
  });

  it('is a table per shape, with exit code 0 when all is well', () => {
    const { exitCode, stdout, stderr } = benchOutput(result([{ ...good, backend: 'portable' }, good]));
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Test 1: 576x324, 48 frames');
    expect(stdout).toMatch(/^ {2}cpu +77\.157896 +0\.57 +83\.9 +none, in any metric$/m);
    expect(stdout).toContain('SKIP cuda: Install a vmaf with CUDA.');
  });

  it('tells differences and failures, with exit code 1', () => {
    const different = { max_difference: 0.000123, max_difference_frame: 7, identical: false };
    const cuda: BenchRun = { ...good, backend: 'cuda', ...different };
    expect(benchOutput(result([good, cuda]))).toMatchObject({ exitCode: 0, stderr: '' });
    expect(benchOutput(result([good, cuda])).stdout).toMatch(/1\.23e-4 in frame 7/);
    const failed: BenchRun = { ...good, backend: 'hip', mean: null, error: 'vmaf crashed.' };
    const stderr = '576x324 on hip: vmaf crashed.\n';
    expect(benchOutput(result([good, failed]))).toMatchObject({ exitCode: 1, stderr });
    // The core with and without SIMD must agree.
    expect(benchOutput(result([{ ...good, identical: false }])).exitCode).toBe(1);
  });
});
