/**
 * @module test/node/bench/compare
 * Reports are compared frame by frame, and results read as a program's output.
 */
import { describe, expect, it } from 'vitest';
import { chooseShapes, compareReports } from '../../../src/bench/run.js';
import { benchData, benchOutput } from '../../../src/bench/table.js';
import type { BenchResult, BenchRun } from '../../../src/bench/types.js';
import type { FrameMetrics, Report } from '../../../src/index.js';
import { report } from '../../support/report.js';

function reportOf(frames: readonly FrameMetrics[]): Report {
  return report({ frames });
}

const frame = (frameNum: number, vmaf: number, adm2 = 0.5): FrameMetrics => ({
  frameNum,
  metrics: { vmaf, adm2 },
});

describe('comparison', () => {
  const portable = reportOf([frame(0, 80), frame(1, 70), frame(2, 60)]);

  it('finds nothing between equal reports', () => {
    expect(compareReports(portable, reportOf([...portable.frames]), 'vmaf')).toEqual({
      maxDifference: 0,
      maxDifferenceFrame: null,
      identical: true,
    });
  });

  it('names the frame with the largest difference, whatever its sign', () => {
    const other = reportOf([frame(0, 80.25), frame(1, 69.5), frame(2, 60)]);
    expect(compareReports(portable, other, 'vmaf')).toEqual({
      maxDifference: 0.5,
      maxDifferenceFrame: 1,
      identical: false,
    });
  });

  it('sees a feature that differs where the score does not', () => {
    const other = reportOf([frame(0, 80), frame(1, 70, 0.5000000000000001), frame(2, 60)]);
    expect(compareReports(portable, other, 'vmaf')).toMatchObject({ maxDifference: 0, identical: false });
  });

  it('compares only what both have, and is not identical where frames are missing', () => {
    const other = reportOf([{ frameNum: 0, metrics: { vmaf: 80, more: 1 } }]);
    expect(compareReports(portable, other, 'vmaf')).toMatchObject({ maxDifference: 0, identical: false });
    expect(compareReports(portable, reportOf([]), 'vmaf')).toEqual({
      maxDifference: null,
      maxDifferenceFrame: null,
      identical: false,
    });
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

  it('are refused by an unknown name', () => {
    expect(() => chooseShapes(['640x480'], false)).toThrow(/no benchmark of 640x480; there are 576x324/);
  });
});

describe('output', () => {
  const good: BenchRun = {
    backend: 'cpu',
    mean: 77.1578961,
    seconds: 0.57,
    fps: 83.91,
    maxDifference: 0,
    maxDifferenceFrame: null,
    identical: true,
    error: null,
  };
  const result = (runs: readonly BenchRun[]): BenchResult => ({
    tests: [{ shape: { name: '576x324', width: 576, height: 324, frames: 48 }, runs }],
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
    const cuda: BenchRun = {
      ...good,
      backend: 'cuda',
      maxDifference: 0.000123,
      maxDifferenceFrame: 7,
      identical: false,
    };
    expect(benchOutput(result([good, cuda]))).toMatchObject({ exitCode: 0, stderr: '' });
    expect(benchOutput(result([good, cuda])).stdout).toMatch(/1\.23e-4 in frame 7/);
    const failed: BenchRun = { ...good, backend: 'hip', mean: null, error: 'vmaf crashed.' };
    expect(benchOutput(result([good, failed]))).toMatchObject({
      exitCode: 1,
      stderr: '576x324 on hip: vmaf crashed.\n',
    });
    // The core with and without SIMD must be one.
    expect(benchOutput(result([{ ...good, identical: false }])).exitCode).toBe(1);
  });

  it('is plain data as JSON', () => {
    const data = benchData(result([good]));
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
    expect(data.tests[0]?.runs[0]).toMatchObject({ backend: 'cpu', max_difference: 0, identical: true });
  });
});
