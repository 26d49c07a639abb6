/**
 * @module bench/table
 * Benchmark results as text, and as the exit code and output of a program.
 */
import type { BenchResult, BenchRun, BenchTest } from './run.js';

/** Output of a program that runs the benchmark. */
export interface BenchOutput {
  /** 1 if a backend failed or the core's twins differ, else 0. */
  readonly exitCode: 0 | 1;
  /** The tables. */
  readonly stdout: string;
  /** Problems, one per line; empty if there are none. */
  readonly stderr: string;
}

const HEAD = ['backend', 'VMAF mean', 'seconds', 'fps', 'largest difference from portable'] as const;

export function benchOutput(result: BenchResult): BenchOutput {
  const { tests, skipped, machine, threads, model } = result;
  const lines = [
    `${machine.cpu}, ${machine.cores} ${machine.cores === 1 ? 'core' : 'cores'}, ${machine.platform}, Node ${machine.node}`,
    `model ${model}, generated content, 8 bit 4:2:0, ${threads} ${threads === 1 ? 'worker' : 'workers'} at most`,
    ...tests.flatMap((test, i) => ['', ...testLines(test, i + 1)]),
    ...(skipped.length > 0
      ? ['', ...skipped.map(({ backend, reason }) => `SKIP ${backend}: ${reason}`)]
      : []),
  ];
  const problems = tests.flatMap(({ shape, runs }) => runs.flatMap((run) => problem(shape.name, run)));
  return {
    exitCode: problems.length === 0 ? 0 : 1,
    stdout: `${lines.join('\n')}\n`,
    stderr: problems.map((line) => `${line}\n`).join(''),
  };
}

function testLines({ shape, runs }: BenchTest, number: number): string[] {
  const rows = [HEAD, ...runs.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [`Test ${number}: ${shape.name}, ${shape.frames} frames`, ...table.map((line) => `  ${line}`)];
}

function cells(run: BenchRun): string[] {
  if (run.error !== null) return [run.backend, 'failed', '', '', ''];
  return [
    run.backend,
    run.mean?.toFixed(6) ?? '-',
    run.seconds?.toFixed(2) ?? '-',
    run.fps?.toFixed(1) ?? '-',
    run.backend === 'portable' ? '' : differenceText(run),
  ];
}

function differenceText({ maxDifference, maxDifferenceFrame, identical }: BenchRun): string {
  if (maxDifference === null) return '-';
  if (maxDifference === 0) return identical ? 'none, in any metric' : 'none';
  return `${maxDifference.toExponential(2)} in frame ${maxDifferenceFrame}`;
}

function problem(shape: string, { backend, error, identical }: BenchRun): string[] {
  if (error !== null) return [`${shape} on ${backend}: ${error}`];
  if (backend === 'cpu' && identical === false) {
    return [
      `${shape} on cpu: its numbers differ from the portable core's, which is a bug; please report it.`,
    ];
  }
  return [];
}

/** JSON data with snake_case keys. */
export function benchData({ tests, skipped, machine, threads, model }: BenchResult) {
  return {
    tests: tests.map(({ shape, runs }) => ({
      ...shape,
      runs: runs.map(({ maxDifference, maxDifferenceFrame, ...run }) => ({
        backend: run.backend,
        mean: run.mean,
        seconds: run.seconds,
        fps: run.fps,
        max_difference: maxDifference,
        max_difference_frame: maxDifferenceFrame,
        identical: run.identical,
        error: run.error,
      })),
    })),
    skipped: [...skipped],
    machine,
    threads,
    model,
  };
}
