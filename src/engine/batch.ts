/**
 * @module engine/batch
 * Scores many pairs, each with its own options. Jobs that share a reference run together, so that it is decoded once.
 */
import { onAbort } from '../core/abort.js';
import { requireArray, requireObject } from '../core/arguments.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import { changed } from '../core/options.js';
import { showValue } from '../core/printable.js';
import { requireVideo } from '../media/open.js';
import { readsOnce } from '../media/pair.js';
import { folderOption } from '../metrics/options.js';
import type { Report } from '../report/types.js';
import { checkOptions, scoresAlone } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import type { Progress, ScoreOptions, ScoreRequest } from './contract/types.js';
import { scorePair } from './score.js';
import { scoreEach } from './score-many.js';

/** A pair of a batch. */
export interface BatchJob extends ScoreRequest {
  /** Overrides the options shared by all jobs. */
  readonly options?: Omit<ScoreOptions, 'gate' | 'onProgress' | 'onStart' | 'onFrame' | 'signal' | 'origin'>;
}

/** Progress of a batch. */
export interface BatchProgress {
  readonly jobsDone: number;
  /** Failed jobs, counted in `jobsDone` too. */
  readonly jobsFailed: number;
  readonly jobsTotal: number;
  /** Share of the batch that is done, 0..1; a running job counts by its frames. */
  readonly fraction: number;
  /** Estimated seconds left at the average speed so far; `null` until there is progress. */
  readonly secondsLeft: number | null;
}

/** Options of a batch; scoring options apply to all jobs. */
export interface BatchOptions extends Omit<ScoreOptions, 'onProgress' | 'onStart' | 'onFrame'> {
  /** Most jobs of one reference to run at the same time, 1..64. Default: the number of cores, at most 8. */
  readonly together?: number;
  /** Called at most about ten times a second for each running job. */
  readonly onProgress?: (progress: BatchProgress) => void;
}

/** Outcome of a job. */
export interface BatchResult {
  /** Index of the job. */
  readonly index: number;
  readonly report?: Report;
  /** Why there is no report. */
  readonly error?: AnyvmafError;
}

const MOST_TOGETHER = 64;
const USUAL_TOGETHER = 8;

/** Yields outcomes as jobs end. @throws {AnyvmafError} as the public `scoreBatch`; the signal's reason */
export async function* scoreJobs(
  platform: Platform,
  jobs: readonly BatchJob[],
  options: BatchOptions,
): AsyncGenerator<BatchResult, void, undefined> {
  requireArray('jobs', jobs, 'an array of jobs');
  for (const [i, job] of jobs.entries()) {
    requireObject(`jobs[${i}]`, job);
    if (job.options !== undefined) requireObject(`jobs[${i}].options`, job.options);
  }
  requireObject('options', options);
  const { together: asked, onProgress, signal, ...shared } = options;
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw usageError(`onProgress is ${showValue(onProgress)}, but it must be a function.`);
  }
  checkOptions({ ...shared, ...(signal && { signal }) }, 'batch');
  const together = asked ?? Math.min(USUAL_TOGETHER, Math.max(1, platform.parallelism));
  if (!Number.isInteger(together) || together < 1 || together > MOST_TOGETHER) {
    throw usageError(
      `together is ${showValue(together)}, but it must be a whole number from 1 to ${MOST_TOGETHER}.`,
    );
  }
  const stop = new AbortController();
  const forget = onAbort(signal, (reason) => stop.abort(reason));
  const counter = new Counter(jobs.length, onProgress);
  try {
    for (const group of groupsOf(jobs, shared, together)) {
      const work = (settle: Settle) =>
        runGroup({ platform, jobs, shared, group, signal: stop.signal, counter, settle });
      yield* ends(work, () => stop.abort(new AnyvmafError('aborted', 'The batch was aborted.')));
    }
  } finally {
    forget();
  }
}

type Shared = Omit<BatchOptions, 'together' | 'onProgress' | 'signal'>;
type Settle = (result: BatchResult) => void;

/** Groups jobs that run together: same reference, same options that affect reading. */
function groupsOf(
  jobs: readonly BatchJob[],
  shared: Shared,
  together: number,
): readonly (readonly number[])[] {
  const byReference = new Map<unknown, Map<string, number[]>>();
  const groups: number[][] = [];
  for (const [index, { reference, raw, options = {} }] of jobs.entries()) {
    const all = { ...shared, ...options };
    const alone = scoresAlone(all) || reference === undefined || reference === null || readsOnce(reference);
    const read = changed(all, ({ reads }) => reads).sort() as (keyof typeof all)[];
    const key = JSON.stringify([raw, read.map((name) => [name, all[name]])]);
    const ways = byReference.get(reference) ?? new Map<string, number[]>();
    byReference.set(reference, ways);
    const open = alone ? undefined : ways.get(key);
    if (open && open.length < together) {
      open.push(index);
      continue;
    }
    const group = [index];
    groups.push(group);
    ways.set(key, group);
  }
  return groups;
}

/** Yields results as they come until the work ends; `giveUp` aborts it if the consumer stops early. */
async function* ends(
  work: (settle: Settle) => Promise<void>,
  giveUp: () => void,
): AsyncGenerator<BatchResult, void, undefined> {
  const ready: BatchResult[] = [];
  let wake: () => void = () => {};
  let end: { readonly error?: unknown } | undefined;
  const settle = (result: BatchResult) => {
    ready.push(result);
    wake();
  };
  const finish = (outcome: { readonly error?: unknown }) => {
    end = outcome;
    wake();
  };
  const running = work(settle).then(
    () => finish({}),
    (error: unknown) => finish({ error }),
  );
  try {
    while (!end || ready.length > 0) {
      const next = ready.shift();
      if (next) yield next;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    if (!end) giveUp();
    await running;
  }
  if ('error' in end) throw end.error;
}

interface Group {
  readonly platform: Platform;
  readonly jobs: readonly BatchJob[];
  readonly shared: Shared;
  readonly group: readonly number[];
  readonly signal: AbortSignal;
  readonly counter: Counter;
  readonly settle: Settle;
}

async function runGroup(work: Group): Promise<void> {
  const { platform, jobs, shared, group, signal, counter, settle } = work;
  const done = (result: BatchResult) => {
    counter.done(result.index, result.error !== undefined);
    settle(result);
  };
  const fit = group.filter((index) => {
    const error = unfit({ ...shared, ...jobs[index]?.options }) ?? misnamed(jobs[index]);
    if (error) done({ index, error });
    return !error;
  });
  const [first] = fit;
  const reference = first === undefined ? undefined : jobs[first]?.reference;
  if (first === undefined) return;
  if (fit.length === 1 || reference === undefined) {
    for (const index of fit) done(await runAlone(work, index));
    return;
  }
  const { raw } = jobs[first] ?? {};
  const at = (place: number) => fit[place] ?? -1;
  await scoreEach(
    platform,
    reference,
    fit.map((index) => jobs[index]?.distorted ?? ''),
    {
      ...(raw && { raw }),
      ...(shared.gate && { gate: shared.gate }),
      signal,
      onProgress: (progress, place) => counter.running(at(place), progress),
      onReport: (report, place) => done({ index: at(place), report }),
      onFailure: (error, place) => done({ index: at(place), error }),
    },
    { each: fit.map((index) => ({ ...shared, ...jobs[index]?.options })), isolated: true },
  );
}

async function runAlone(
  { platform, jobs, shared, signal, counter }: Group,
  index: number,
): Promise<BatchResult> {
  const { options, ...request } = jobs[index] ?? { distorted: '' };
  try {
    const report = await scorePair(platform, request, {
      ...shared,
      ...options,
      signal,
      onProgress: (progress) => counter.running(index, progress),
    });
    return { index, report };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AnyvmafError) return { index, error };
    throw error;
  }
}

/** Returns an error if the job writes to a folder whose files other jobs would replace. */
function unfit({
  features = [],
  models = [],
}: Pick<ScoreOptions, 'features' | 'models'>): AnyvmafError | undefined {
  if (!Array.isArray(features) || !Array.isArray(models)) return undefined;
  const texts = [...features, ...models].filter((text) => typeof text === 'string');
  const folder = folderOption(texts);
  return folder === undefined
    ? undefined
    : usageError(
        `${folder} names a folder, whose files other jobs would replace; score this pair on its own.`,
      );
}

/** Checks the job's file names here, so that a bad one fails this job alone. */
function misnamed(job: BatchJob | undefined): AnyvmafError | undefined {
  try {
    for (const side of ['reference', 'distorted'] as const)
      if (typeof job?.[side] === 'string') requireVideo(side, job[side]);
    return undefined;
  } catch (error) {
    if (error instanceof AnyvmafError) return error;
    throw error;
  }
}

class Counter {
  readonly #total: number;
  readonly #report: BatchOptions['onProgress'];
  readonly #start = performance.now();
  /** Fractions done of the running jobs, 0..1. */
  readonly #running = new Map<number, number>();
  #done = 0;
  #failed = 0;

  constructor(total: number, report: BatchOptions['onProgress']) {
    this.#total = total;
    this.#report = report;
  }

  running(index: number, { framesDone, framesTotal }: Progress): void {
    if (framesTotal) this.#running.set(index, Math.min(1, framesDone / framesTotal));
    this.#tell();
  }

  done(index: number, failed: boolean): void {
    this.#running.delete(index);
    this.#done++;
    if (failed) this.#failed++;
    this.#tell();
  }

  #tell(): void {
    const begun = [...this.#running.values()].reduce((sum, share) => sum + share, 0);
    const fraction = this.#total > 0 ? Math.min(1, (this.#done + begun) / this.#total) : 1;
    const seconds = (performance.now() - this.#start) / 1000;
    this.#report?.({
      jobsDone: this.#done,
      jobsFailed: this.#failed,
      jobsTotal: this.#total,
      fraction,
      secondsLeft: fraction > 0 ? (seconds * (1 - fraction)) / fraction : null,
    });
  }
}
