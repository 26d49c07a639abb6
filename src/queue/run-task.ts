/**
 * @module queue/run-task
 * What a worker does with a task. Every step may be done twice, by two workers, or be cut off anywhere: the first result of a
 * part or job counts, and what is complete is counted and checked, never assumed.
 */
import { AnyvmafError } from '../core/errors.js';
import type { JobStore, QueueJob, Stored, Task, TaskQueue } from './types.js';

/** A job's line of results, and its values per frame. */
export interface ScoredPair {
  readonly line: Stored;
  readonly frames?: Stored;
}

/** Measures; never in the thread that renews locks. */
export interface Scorer {
  /** Scores a pair, or says into how many parts it is to be cut. */
  pair(job: QueueJob, signal: AbortSignal): Promise<ScoredPair | { readonly count: number }>;
  part(job: QueueJob, number: number, count: number, signal: AbortSignal): Promise<Stored>;
  /** @returns the parts that cannot be read, if there are some */
  merge(
    job: QueueJob,
    parts: ReadonlyMap<number, Stored>,
    signal: AbortSignal,
  ): Promise<ScoredPair | { readonly lost: readonly number[] }>;
}

/** Removes files of results. */
export interface Files {
  discard(key: string, stored: Stored): Promise<void>;
  clear(key: string, all: boolean, known?: readonly Stored[]): Promise<void>;
}

/** What a worker works with. */
export interface TaskTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  readonly scorer: Scorer;
  readonly files: Files;
}

/** How a task ended. */
export interface TaskEnd {
  /** The job that it settled, whose submitter is to be told. */
  readonly settled?: string;
}

/** Times that files of parts may be lost before a job fails. */
const MOST_LOSSES = 3;

/**
 * Runs a task.
 * @throws {AnyvmafError} why it cannot be done; the signal's reason
 */
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
      // Another worker may have cut it otherwise.
      return resume(job, await store.cut(job, scored.count), tools, signal);
    }
    case 'part': {
      if (begun.part) return mergeIfComplete(job, tools, signal, task.number);
      if (begun.count !== undefined && begun.count !== task.count) return {};
      const part = await tools.scorer.part(job, task.number, task.count, signal);
      const put = await store.putPart(job.key, task.number, part);
      if (!put.kept || put.settled) await tools.files.discard(job.key, part);
      if (put.settled) return {};
      if (put.count === undefined) {
        // All of the job was forgotten: let it begin anew.
        await queue.add([{ kind: 'pair', job }]);
        return {};
      }
      return isComplete(put) ? mergeParts(job, tools, signal, task.number) : {};
    }
    case 'merge':
      return mergeIfComplete(job, tools, signal);
  }
}

const isComplete = ({ present, count }: { present: number; count?: number }) =>
  count !== undefined && present >= count;

/** Adds the parts that are missing; those that are known in the queue are not added again. */
async function resume(job: QueueJob, count: number, tools: TaskTools, signal: AbortSignal): Promise<TaskEnd> {
  const { numbers } = await tools.store.present(job.key);
  if (numbers.size >= count) return mergeParts(job, tools, signal);
  const missing: Task[] = [];
  for (let number = 1; number <= count; number++)
    if (!numbers.has(number)) missing.push({ kind: 'part', job, number, count });
  await tools.queue.add(missing);
  return {};
}

async function mergeIfComplete(
  job: QueueJob,
  tools: TaskTools,
  signal: AbortSignal,
  own?: number,
): Promise<TaskEnd> {
  const { count, numbers } = await tools.store.present(job.key);
  return isComplete({ present: numbers.size, count }) ? mergeParts(job, tools, signal, own) : {};
}

/**
 * @param own the part whose task this is
 * @throws {AnyvmafError} `mismatch` if parts do not belong together; `usage` if their files are lost again and again
 */
async function mergeParts(
  job: QueueJob,
  tools: TaskTools,
  signal: AbortSignal,
  own?: number,
): Promise<TaskEnd> {
  const { count, parts } = await tools.store.parts(job.key);
  // Another worker was quicker.
  if (count === undefined || parts.size < count) return {};
  const merged = await tools.scorer.merge(job, parts, signal);
  if (!('lost' in merged)) return settle(job, merged, tools, [...parts.values()]);
  const { lost } = merged;
  if ((await tools.store.dropParts(job.key, lost)) > MOST_LOSSES) {
    throw new AnyvmafError(
      'usage',
      `the files of ${lost.length} of ${count} parts cannot be read by the worker that merges them; give all workers ` +
        'the same folder with --results DIR.',
    );
  }
  await tools.queue.add(lost.map((number) => ({ kind: 'part', job, number, count }) as const));
  // This task is known to the queue, which did not add it.
  if (own !== undefined && lost.includes(own))
    throw new AnyvmafError('io', `the file of part ${own} is lost, so that it has to be measured again.`);
  return {};
}

async function settle(
  job: QueueJob,
  scored: ScoredPair,
  { store, files }: TaskTools,
  parts: readonly Stored[] = [],
): Promise<TaskEnd> {
  const first = await store.settle(job.key, { kind: 'scored', ...scored });
  // What another worker settled may be in a file of the same name.
  if (first) await files.clear(job.key, false, parts);
  return { settled: job.key };
}
