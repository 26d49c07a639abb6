/**
 * @module queue/run-task
 * Runs tasks, and repairs the effects of crashes, lost messages and lost Redis writes. Every step may run twice, on two
 * workers, or stop anywhere: the first result of a part or job counts, and completeness is checked, never assumed.
 */
import { ioError, usageError } from '../core/errors.js';
import {
  type DeadTask,
  pending,
  type QueueJob,
  readReason,
  type Stored,
  type Task,
  type TaskQueue,
} from './job.js';
import type { JobStore } from './store.js';

/** A job's line of results and its values per frame. */
export interface ScoredPair {
  readonly line: Stored;
  readonly frames?: Stored;
}

/** Measures outside the thread that renews locks. */
export interface Scorer {
  /** Scores a pair, or returns the number of parts to cut it into. */
  pair(job: QueueJob, signal: AbortSignal): Promise<ScoredPair | { readonly count: number }>;
  part(job: QueueJob, number: number, count: number, signal: AbortSignal): Promise<Stored>;
  /** @returns the parts that cannot be read, if any */
  merge(
    job: QueueJob,
    parts: ReadonlyMap<number, Stored>,
    signal: AbortSignal,
  ): Promise<ScoredPair | { readonly lost: readonly number[] }>;
}

export interface Files {
  discard(key: string, stored: Stored): Promise<void>;
  clear(key: string, all: boolean, known?: readonly Stored[]): Promise<void>;
}

export interface TaskTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  readonly scorer: Scorer;
  readonly files: Files;
}

export interface TaskEnd {
  /** Key of the job that the task settled. */
  readonly settled?: string;
}

/** Times that part files may be lost before a job fails. */
const MOST_LOSSES = 3;

/** @throws {AnyvmafError} the reason of failure; the signal's reason if aborted */
export async function runTask(task: Task, tools: TaskTools, signal: AbortSignal): Promise<TaskEnd> {
  const { store, queue } = tools;
  const { job } = task;
  const begun = await store.begin(job.key, task.kind === 'part' ? task.number : undefined);
  if (begun.settled) return {};
  switch (task.kind) {
    case 'pair': {
      if (begun.count !== undefined) return resume(job, begun.count, tools, signal);
      const scored = await tools.scorer.pair(job, signal);
      if (!('count' in scored)) return settle(job, scored, tools);
      // Another worker may have cut it differently.
      return resume(job, await store.cut(job, scored.count), tools, signal);
    }
    case 'part': {
      if (begun.part) return mergeParts(job, tools, signal, task.number);
      if (begun.count !== undefined && begun.count !== task.count) return {};
      const part = await tools.scorer.part(job, task.number, task.count, signal);
      const put = await store.putPart(job.key, task.number, part);
      if (!put.kept || put.settled) await tools.files.discard(job.key, part);
      if (put.settled) return {};
      // The whole job was forgotten: start it again.
      if (put.count === undefined) await queue.add([{ kind: 'pair', job }]);
      else if (put.present >= put.count) return mergeParts(job, tools, signal, task.number);
      return {};
    }
    case 'merge':
      return mergeParts(job, tools, signal);
  }
}

/** Adds missing parts; the queue ignores those that it already has. */
async function resume(job: QueueJob, count: number, tools: TaskTools, signal: AbortSignal): Promise<TaskEnd> {
  const { numbers } = await tools.store.present(job.key);
  if (numbers.size >= count) return mergeParts(job, tools, signal);
  const missing: Task[] = [];
  for (let number = 1; number <= count; number++)
    if (!numbers.has(number)) missing.push({ kind: 'part', job, number, count });
  await tools.queue.add(missing);
  return {};
}

/**
 * Merges the parts if they are complete.
 * @param own the part of this task
 * @throws {AnyvmafError} `mismatch` if parts do not match; `usage` if their files are lost again and again
 */
async function mergeParts(
  job: QueueJob,
  tools: TaskTools,
  signal: AbortSignal,
  own?: number,
): Promise<TaskEnd> {
  const { count, parts } = await tools.store.parts(job.key);
  if (count === undefined || parts.size < count) return {};
  const merged = await tools.scorer.merge(job, parts, signal);
  if (!('lost' in merged)) return settle(job, merged, tools, [...parts.values()]);
  const { lost } = merged;
  if ((await tools.store.dropParts(job.key, lost)) > MOST_LOSSES)
    throw usageError(
      `the files of ${lost.length} of ${count} parts cannot be read by the worker that merges them; give all workers ` +
        'the same folder with --results DIR.',
    );
  await tools.queue.add(lost.map((number) => ({ kind: 'part', job, number, count }) as const));
  // The queue ignored this task's own part, which it already has.
  if (own !== undefined && lost.includes(own))
    throw ioError(`the file of part ${own} is lost; the part must be measured again.`);
  return {};
}

async function settle(
  job: QueueJob,
  scored: ScoredPair,
  { store, files }: TaskTools,
  parts: readonly Stored[] = [],
): Promise<TaskEnd> {
  const first = await store.settle(job.key, { kind: 'scored', ...scored });
  // If not first, another worker's result may have a file of the same name.
  if (first) await files.clear(job.key, false, parts);
  return { settled: job.key };
}

interface SweepTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  readonly files: Files & { jobs(): Promise<readonly string[]> };
  /** The newest first. */
  dead(most: number): Promise<readonly DeadTask[]>;
}

const MOST_DEAD = 1000;

/** Repairs jobs; one process of a fleet runs it, about every minute. */
export async function sweep(
  tools: SweepTools,
): Promise<{ readonly merges: number; readonly resumed: number; readonly failed: number }> {
  const { queue, store } = tools;
  const failed = await tellDead(tools);
  const [open, counts] = [await store.cutJobs(), await queue.counts()];
  const tasks: Task[] = [];
  let [merges, resumed] = [0, 0];
  // Waiting and running parts are fine; with fewer tasks than jobs, some are lost.
  const idle = pending(counts) < open.length;
  for (const key of open) {
    const { count, numbers } = await store.present(key);
    const complete = count !== undefined && numbers.size >= count;
    if (!complete && !idle) continue;
    const job = await store.cutJob(key);
    if (!job) continue;
    if (complete) merges++;
    else resumed++;
    tasks.push({ kind: complete ? 'merge' : 'pair', job });
  }
  if (tasks.length > 0) await queue.add(tasks);
  await clearFiles(tools);
  return { merges, resumed, failed };
}

/** Settles jobs whose worker died before it reported a dead task. @returns their number */
async function tellDead({ store, dead }: SweepTools): Promise<number> {
  const known = (await dead(MOST_DEAD)).flatMap(({ task, reason }) =>
    task ? [{ key: task.job.key, reason }] : [],
  );
  const outcomes = await store.outcomes(known.map(({ key }) => key));
  let settled = 0;
  for (const [i, { key, reason }] of known.entries()) {
    if (outcomes[i]) continue;
    if (await store.settle(key, { kind: 'failed', ...readReason(reason) })) settled++;
  }
  return settled;
}

/** Removes files of ended jobs that a killed worker left. */
async function clearFiles({ store, files }: SweepTools): Promise<void> {
  const keys = await files.jobs();
  const outcomes = await store.outcomes(keys);
  for (const [i, key] of keys.entries()) {
    const outcome = outcomes[i];
    // Parts of a failed job are kept for a retry.
    if (!outcome || (outcome.kind === 'failed' && outcome.code !== 'aborted')) continue;
    await files.clear(key, outcome.kind !== 'scored');
  }
}
