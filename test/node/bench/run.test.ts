/**
 * @module test/node/bench/run
 * The benchmark as it ships, on its smallest pair: the core's two twins give the same, reports are written where they
 * are asked for, and nothing is left, also when it is stopped.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { runBenchmark as RunBenchmark } from '../../../src/bench/run.js';
import type { BenchProgress } from '../../../src/bench/types.js';
import { score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { built } from '../../support/built.js';
import { anyvmaf } from '../../support/cli.js';

const { runBenchmark }: { runBenchmark: typeof RunBenchmark } = await import(built('dist/bench/run.js'));

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SMALL = { shapes: ['576x324'], backends: ['cpu'], temporary: folder } as const;

describe('the benchmark', () => {
  it('gives the scores of the generated pair, the same with and without SIMD', async () => {
    const told: BenchProgress[] = [];
    const reports = join(folder, 'reports');
    const result = await runBenchmark({ ...SMALL, reports, onProgress: (progress) => told.push(progress) });
    const clip = makeSample({ width: 576, height: 324, bitDepth: 8, chroma: '420' }, { seed: 7 });
    const expected = await score({
      reference: sampleSource(clip, 'reference', 48),
      distorted: sampleSource(clip, 'distorted', 48),
    });
    const [test] = result.tests;
    expect(test?.shape).toEqual({ name: '576x324', width: 576, height: 324, frames: 48 });
    expect(
      test?.runs.map(({ backend, mean, maxDifference, identical, error }) => [
        backend,
        mean,
        maxDifference,
        identical,
        error,
      ]),
    ).toEqual(
      ['portable', 'cpu'].map((backend) => [backend, expected.pooled_metrics.vmaf?.mean, 0, true, null]),
    );
    for (const { seconds, fps } of test?.runs ?? []) expect((seconds ?? 0) * (fps ?? 0)).toBeCloseTo(48, 6);
    expect(readdirSync(reports).sort()).toEqual(['576x324-cpu.json', '576x324-portable.json']);
    expect(JSON.parse(readFileSync(join(reports, '576x324-cpu.json'), 'utf8')).frames).toHaveLength(48);
    // Progress only ever rises, up to the end.
    const done = told.map((progress) => progress.done);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done.at(-1)).toBe(told.at(-1)?.total);
    expect(readdirSync(folder)).toEqual(['reports']);
  });

  it.each(['making 576x324', '576x324 on portable'])('stops while %s and leaves nothing', async (stage) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const before = readdirSync(folder);
    await expect(
      runBenchmark({
        ...SMALL,
        signal: controller.signal,
        onProgress: ({ message }) => {
          if (message === stage) controller.abort(reason);
        },
      }),
    ).rejects.toBe(reason);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('says so when the videos cannot be made', async () => {
    await expect(runBenchmark({ ...SMALL, temporary: join(folder, 'nowhere') })).rejects.toMatchObject({
      code: 'io',
    });
  });
});

describe('anyvmaf bench', () => {
  it('prints the tables, or JSON', async () => {
    const args = ['bench', '--shape', '576x324', '--backend', 'cpu', '--json'];
    const { code, stdout, stderr } = await anyvmaf(args, { env: { TMPDIR: folder } });
    expect([code, stderr]).toEqual([0, '']);
    const { tests, model } = JSON.parse(stdout);
    expect(model).toBe('version=vmaf_v0.6.1');
    expect(tests[0].runs).toMatchObject([
      { backend: 'portable', max_difference: 0 },
      { backend: 'cpu', max_difference: 0, identical: true },
    ]);
  });

  it.each([
    [['clip.y4m'], /takes no videos/],
    [['--shape', '640x480'], /no benchmark of 640x480/],
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
