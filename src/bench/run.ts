/**
 * @module bench/run
 * Times every usable backend on generated videos and compares its numbers with the portable core's; results as text and
 * data. A worker makes the videos as files, which timed programs read.
 */
import { rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { onAbort } from '../core/abort.js';
import { ioError, messageOf, usageError } from '../core/errors.js';
import { makeFolders, makeScratchFolder, removeScratch, writeWhole } from '../files/folders.js';
import {
  AnyvmafError,
  type BackendName,
  formatReport,
  listBackends,
  probeBackend,
  type Report,
  score,
  type VideoFormat,
} from '../index.js';
import { aligned, grid } from '../report/sections.js';

export interface BenchShape {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Pairs scored by default. */
  readonly frames: number;
  /** Pairs scored with `full`. */
  readonly fullFrames: number;
}

export interface BenchOptions {
  /** Scores all frames of the largest shape, which takes minutes and 5 GB of disk. Default false. */
  readonly full?: boolean;
  /** Names of shapes to time. Default: all. */
  readonly shapes?: readonly string[];
  /** Backends to time besides the portable core. Default: all that work here. */
  readonly backends?: readonly BenchBackend[];
  /** Most worker threads of the core. Default: one per core of the machine. */
  readonly maxThreads?: number;
  /** Folder for one JSON report per shape and backend. Default: writes none. */
  readonly reports?: string;
  /** Folder for the videos, which are deleted afterwards. Default: the system's temporary folder. */
  readonly temporary?: string;
  /** Aborts the benchmark, which then rejects with the signal's reason and leaves no videos. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BenchProgress) => void;
}

export interface BenchProgress {
  /** Pairs made plus pairs scored. */
  readonly done: number;
  readonly total: number;
  readonly message: string;
}

/** Backends that can be timed. `cpu` is the core with SIMD. */
export type BenchBackend = Exclude<BackendName, 'wasm'>;

export interface BenchRun {
  /** `portable` is the core without SIMD, which defines the result. */
  readonly backend: 'portable' | BenchBackend;
  /** Mean VMAF; `null` if the run failed. */
  readonly mean: number | null;
  /** Wall-clock seconds of the whole call: reading, measuring, predicting. */
  readonly seconds: number | null;
  readonly fps: number | null;
  /** Largest difference of a frame's VMAF from the portable result; 0 is bit-exact. */
  readonly max_difference: number | null;
  /** The frame with that difference; `null` if there is none. */
  readonly max_difference_frame: number | null;
  /** Whether every metric that both have is bit-exact in every frame. */
  readonly identical: boolean | null;
  readonly error: string | null;
}

export interface BenchTest extends Omit<BenchShape, 'fullFrames'> {
  readonly runs: readonly BenchRun[];
}

/** As in the JSON. */
export interface BenchResult {
  readonly tests: readonly BenchTest[];
  readonly skipped: readonly { readonly backend: BenchBackend; readonly reason: string }[];
  readonly machine: ReturnType<typeof machineFacts>;
  /** Most worker threads of the core. */
  readonly threads: number;
  readonly model: string;
}

const MODEL = 'version=vmaf_v0.6.1';
const METRIC = 'vmaf';

/**
 * Runs the benchmark. A backend that fails has its error in the result; the others continue.
 * @throws {AnyvmafError} `usage` for an unknown shape, `io` if videos cannot be written, and errors of the
 * core; the signal's reason
 */
export async function runBenchmark(options: BenchOptions = {}): Promise<BenchResult> {
  const { full = false, signal, onProgress, reports } = options;
  const shapes = chooseShapes(options.shapes, full);
  const threads = options.maxThreads ?? availableParallelism();
  signal?.throwIfAborted();
  const { usable, skipped } = await chooseBackends(options);
  if (reports !== undefined) await written(reports, makeFolders(resolve(reports)));
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
      tests.push({ name, width, height, frames, runs });
      await Promise.all([rm(pair.reference), rm(pair.distorted)]);
    }
  } finally {
    await removeScratch(folder);
  }
  return { tests, skipped, machine: machineFacts(), threads, model: MODEL };
}

async function chooseBackends({ backends, signal }: BenchOptions) {
  const { details } = await listBackends({ signal });
  const usable: BenchBackend[] = [];
  const skipped: { readonly backend: BenchBackend; readonly reason: string }[] = [];
  for (const { backend, compiled_in: installed, advice } of details) {
    if (backends && !backends.includes(backend)) continue;
    signal?.throwIfAborted();
    const { runtime_healthy: healthy, error } = installed
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

type Timed = Awaited<ReturnType<typeof time>>;

async function time(
  { shape, pair, threads, options }: Job,
  backend: BenchRun['backend'],
  onFrames: (count: number) => void,
) {
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
    await written(file, writeWhole(file, formatReport(report, 'json', { precision: 'max' })));
  }
  return { report, seconds };
}

/** @throws {AnyvmafError} `io` if a file or folder cannot be written */
async function written(path: string, writing: Promise<unknown>): Promise<void> {
  try {
    await writing;
  } catch (cause) {
    const why = messageOf(cause);
    throw ioError(`The benchmark cannot write to ${path}: ${why}; choose another folder.`, { cause });
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
  const differences = { max_difference: null, max_difference_frame: null, identical: null };
  return { backend, mean: null, seconds: null, fps: null, ...differences, error };
}

function machineFacts() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
  };
}

/** Small, HD and UHD; all 8 bit, 4:2:0. */
const SHAPES: readonly BenchShape[] = [
  { name: '576x324', width: 576, height: 324, frames: 48, fullFrames: 48 },
  { name: '1920x1080', width: 1920, height: 1080, frames: 5, fullFrames: 5 },
  { name: '3840x2160', width: 3840, height: 2160, frames: 4, fullFrames: 200 },
];

/** @throws {AnyvmafError} `usage` for an unknown shape */
export function chooseShapes(names: readonly string[] | undefined, full: boolean): readonly BenchShape[] {
  const known = SHAPES.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(`There is no benchmark ${unknown}; choose from ${known.join(', ')}.`);
  return SHAPES.filter(({ name }) => names === undefined || names.includes(name)).map((shape) => ({
    ...shape,
    frames: full ? shape.fullFrames : shape.frames,
  }));
}

/** Compares frame by frame. Differences are `null` if no frame has `metric` in both. */
export function compareReports(
  portable: Report,
  other: Report,
  metric: string,
): Pick<BenchRun, 'max_difference' | 'max_difference_frame' | 'identical'> {
  const others = new Map(other.frames.map(({ frameNum, metrics }) => [frameNum, metrics]));
  let worst: { readonly difference: number; readonly frame: number } | undefined;
  let identical = portable.frames.length === other.frames.length;
  for (const { frameNum, metrics } of portable.frames) {
    const found = others.get(frameNum) ?? {};
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
    max_difference: worst?.difference ?? null,
    max_difference_frame: worst && worst.difference > 0 ? worst.frame : null,
    identical,
  };
}

export interface MakerJob {
  readonly format: VideoFormat;
  readonly frames: number;
  readonly seed: number;
  readonly paths: PairPaths;
}

/** Y4M files. */
interface PairPaths {
  readonly reference: string;
  readonly distorted: string;
}

/**
 * @param onFrame receives the number of pairs made so far
 * @throws {AnyvmafError} `io` if they cannot be written; the signal's reason
 */
async function makePair(
  { name, width, height, frames }: BenchShape,
  folder: string,
  { signal, onFrame }: { readonly signal?: AbortSignal; readonly onFrame?: (made: number) => void },
): Promise<PairPaths> {
  signal?.throwIfAborted();
  const paths = {
    reference: join(folder, `${name}-reference.y4m`),
    distorted: join(folder, `${name}-distorted.y4m`),
  };
  const format: VideoFormat = { width, height, bitDepth: 8, chroma: '420' };
  const job: MakerJob = { format, frames, seed: 7, paths };
  // Without flags of this process, such as --import of a test runner.
  const worker = new Worker(new URL('./pair-maker.js', import.meta.url), { workerData: job, execArgv: [] });
  const forget = onAbort(signal, () => void worker.terminate());
  try {
    let failure: Error | undefined;
    await new Promise<void>((resolve) => {
      worker.on('message', (made: number) => onFrame?.(made));
      worker.on('error', (error) => {
        failure = error;
      });
      worker.on('exit', () => resolve());
    });
    signal?.throwIfAborted();
    if (!failure) return paths;
    const { message } = failure;
    throw ioError(`The benchmark cannot create its videos in ${folder}: ${message}.`, { cause: failure });
  } finally {
    forget();
  }
}

const HEAD = ['backend', 'VMAF mean', 'seconds', 'fps', 'largest difference from portable'] as const;

/** @returns tables, problems, and exit code 1 if a backend failed or the core with SIMD differs */
export function benchOutput(result: BenchResult) {
  const { tests, skipped, machine, threads, model } = result;
  const lines = [
    `${machine.cpu}, ${machine.cores} ${machine.cores === 1 ? 'core' : 'cores'}, ${machine.platform}, Node ${machine.node}`,
    `model ${model}, generated content, 8 bit 4:2:0, ${threads} ${threads === 1 ? 'worker' : 'workers'} at most`,
    ...tests.flatMap((test, i) => ['', ...testLines(test, i + 1)]),
    ...(skipped.length > 0
      ? ['', ...skipped.map(({ backend, reason }) => `SKIP ${backend}: ${reason}`)]
      : []),
  ];
  const problems = tests.flatMap(({ name, runs }) => runs.flatMap((run) => problem(name, run)));
  return {
    exitCode: problems.length === 0 ? 0 : 1,
    stdout: `${lines.join('\n')}\n`,
    stderr: problems.map((line) => `${line}\n`).join(''),
  };
}

function testLines({ name, frames, runs }: BenchTest, number: number): string[] {
  const rows = [HEAD, ...runs.map(cells)];
  const backends = aligned(rows.map(([backend = '']) => backend));
  const values = grid(rows.map((row) => row.slice(1)));
  const table = backends.map((backend, i) => `  ${backend}  ${values[i]}`.trimEnd());
  return [`Test ${number}: ${name}, ${frames} frames`, ...table];
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

function differenceText({ max_difference, max_difference_frame, identical }: BenchRun): string {
  if (max_difference === null) return '-';
  if (max_difference === 0) return identical ? 'none, in any metric' : 'none';
  return `${max_difference.toExponential(2)} in frame ${max_difference_frame}`;
}

function problem(shape: string, { backend, error, identical }: BenchRun): string[] {
  if (error !== null) return [`${shape} on ${backend}: ${error}`];
  if (backend !== 'cpu' || identical !== false) return [];
  return [`${shape} on cpu: its numbers differ from the portable core's, which is a bug; please report it.`];
}
