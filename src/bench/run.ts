/**
 * @module bench/run
 * Times every usable backend on generated videos and compares its numbers with those of the portable core.
 */
import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../core/errors.js';
import { makeScratchFolder, removeScratch, writeWhole } from '../files/scratch.js';
import { AnyvmafError, formatReport, listBackends, probeBackend, type Report, score } from '../index.js';
import { makePair, type PairPaths } from './pair.js';
import type { BenchBackend, BenchOptions, BenchResult, BenchRun, BenchShape, BenchTest } from './types.js';

const MODEL = 'version=vmaf_v0.6.1';
const METRIC = 'vmaf';

/**
 * Runs the benchmark. A backend that fails has its error in the result; the others go on.
 * @throws {AnyvmafError} `usage` for a shape that there is not, `io` when videos cannot be written, and what the core
 * throws; the signal's reason
 */
export async function runBenchmark(options: BenchOptions = {}): Promise<BenchResult> {
  const { full = false, signal, onProgress, reports } = options;
  const shapes = chooseShapes(options.shapes, full);
  const threads = options.maxThreads ?? availableParallelism();
  signal?.throwIfAborted();
  const { usable, skipped } = await chooseBackends(options);
  if (reports !== undefined) await made(reports, mkdir(reports, { recursive: true }));
  const stages = usable.length + 2;
  const total = shapes.reduce((sum, { frames }) => sum + frames * stages, 0);
  let before = 0;
  const tests: BenchTest[] = [];
  const { temporary = tmpdir() } = options;
  const folder = await makeScratchFolder('bench', temporary);
  try {
    for (const shape of shapes) {
      const { name, width, height, frames } = shape;
      const stage = (message: string) => {
        const start = before;
        before += frames;
        return (count: number) => onProgress?.({ done: start + Math.min(count, frames), total, message });
      };
      const pair = await makePair(shape, folder, { signal, onFrame: stage(`making ${name}`) });
      const job: Job = { shape, pair, threads, options };
      const portable = await time(job, 'portable', stage(`${name} on portable`));
      const runs: BenchRun[] = [runOf('portable', portable, portable, shape)];
      for (const backend of usable) {
        const onFrames = stage(`${name} on ${backend}`);
        try {
          runs.push(runOf(backend, await time(job, backend, onFrames), portable, shape));
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof AnyvmafError)) throw error;
          runs.push(failed(backend, error.message));
        }
        onFrames(frames);
      }
      tests.push({ shape: { name, width, height, frames }, runs });
      await Promise.all([rm(pair.reference), rm(pair.distorted)]);
    }
  } finally {
    await removeScratch(folder);
  }
  return { tests, skipped, machine: machine(), threads, model: MODEL };
}

/** Backends to time, those that do not work left out with the reason. */
async function chooseBackends({ backends, signal }: BenchOptions) {
  const { details } = await listBackends({ signal });
  const usable: BenchBackend[] = [];
  const skipped: { readonly backend: BenchBackend; readonly reason: string }[] = [];
  for (const { backend, compiled_in: there, advice } of details) {
    if (backends && !backends.includes(backend)) continue;
    signal?.throwIfAborted();
    const { runtime_healthy: healthy, error } = there
      ? await probeBackend(backend, { signal })
      : { runtime_healthy: false, error: advice };
    signal?.throwIfAborted();
    if (healthy) usable.push(backend);
    else skipped.push({ backend, reason: error ?? 'it does not work here' });
  }
  return { usable, skipped };
}

interface Job {
  readonly shape: BenchShape;
  readonly pair: PairPaths;
  readonly threads: number;
  readonly options: BenchOptions;
}

interface Timed {
  readonly report: Report;
  readonly seconds: number;
}

async function time(
  { shape, pair, threads, options }: Job,
  backend: BenchRun['backend'],
  onFrames: (count: number) => void,
): Promise<Timed> {
  const { signal, reports } = options;
  const started = performance.now();
  const report = await score(pair, {
    models: [MODEL],
    ...(backend === 'portable' ? { backend: 'cpu', implementation: 'portable' } : { backend }),
    maxThreads: threads,
    onProgress: ({ framesDone }) => onFrames(framesDone),
    ...(signal && { signal }),
  });
  const seconds = (performance.now() - started) / 1000;
  if (reports !== undefined) {
    const file = join(reports, `${shape.name}-${backend}.json`);
    await made(file, writeWhole(file, formatReport(report, 'json', { precision: 'max' })));
  }
  return { report, seconds };
}

/** @throws {AnyvmafError} `io` where a file or folder cannot be made */
async function made<T>(path: string, making: Promise<T>): Promise<T> {
  try {
    return await making;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AnyvmafError('io', `The benchmark cannot write to ${path}: ${why}; choose another folder.`, {
      cause: error,
    });
  }
}

function runOf(
  backend: BenchRun['backend'],
  { report, seconds }: Timed,
  portable: Timed,
  { frames }: BenchShape,
): BenchRun {
  return {
    backend,
    mean: report.pooled_metrics[METRIC]?.mean ?? null,
    seconds,
    fps: frames / seconds,
    ...compareReports(portable.report, report, METRIC),
    error: null,
  };
}

function failed(backend: BenchBackend, error: string): BenchRun {
  const nothing = { mean: null, seconds: null, fps: null, maxDifference: null, maxDifferenceFrame: null };
  return { backend, ...nothing, identical: null, error };
}

function machine(): BenchResult['machine'] {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
  };
}

/** Small, high definition, ultra high definition; all 8 bit, 4:2:0. */
const SHAPES: readonly BenchShape[] = [
  { name: '576x324', width: 576, height: 324, frames: 48, fullFrames: 48 },
  { name: '1920x1080', width: 1920, height: 1080, frames: 5, fullFrames: 5 },
  { name: '3840x2160', width: 3840, height: 2160, frames: 4, fullFrames: 200 },
];

/**
 * The shapes of these names with the frames that are to be scored.
 * @throws {AnyvmafError} `usage` for a name that none has
 */
export function chooseShapes(names: readonly string[] | undefined, full: boolean): readonly BenchShape[] {
  const known = SHAPES.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw usageError(`There is no benchmark of ${unknown}; there are ${known.join(', ')}.`);
  }
  return SHAPES.filter(({ name }) => names === undefined || names.includes(name)).map((shape) => ({
    ...shape,
    frames: full ? shape.fullFrames : shape.frames,
  }));
}

/**
 * Compares frame by frame.
 * @param metric the score to compare
 * @returns differences of null where no frame has the score in both
 */
export function compareReports(
  portable: Report,
  other: Report,
  metric: string,
): Pick<BenchRun, 'maxDifference' | 'maxDifferenceFrame' | 'identical'> {
  const theirs = new Map(other.frames.map(({ frameNum, metrics }) => [frameNum, metrics]));
  let worst: { readonly difference: number; readonly frame: number } | undefined;
  let identical = portable.frames.length === other.frames.length;
  for (const { frameNum, metrics } of portable.frames) {
    const found = theirs.get(frameNum) ?? {};
    const shared = Object.keys(metrics).filter((name) => name in found);
    if (shared.length === 0 || shared.some((name) => !Object.is(metrics[name], found[name])))
      identical = false;
    const [a, b] = [metrics[metric], found[metric]];
    if (a === undefined || b === undefined) continue;
    const difference = Object.is(a, b) ? 0 : Math.abs(a - b);
    if (!worst || difference > worst.difference || Number.isNaN(difference))
      worst = { difference, frame: frameNum };
  }
  return {
    maxDifference: worst?.difference ?? null,
    maxDifferenceFrame: worst && worst.difference > 0 ? worst.frame : null,
    identical,
  };
}
