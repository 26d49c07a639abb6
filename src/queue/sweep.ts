/**
 * @module queue/sweep
 * Repairs what a lost message, a crash at the worst moment or a Redis that forgot its last second left undone: jobs whose
 * parts are all there and that nobody merges, parts and pairs that nobody works on, dead tasks of which no submitter knows.
 */
import { readReason } from './payload.js';
import type { Files } from './run-task.js';
import type { DeadTask, JobStore, QueueCounts, Task, TaskQueue } from './types.js';

/** What a sweep looks at. */
export interface SweepTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  readonly files: Files & { jobs(): Promise<readonly string[]> };
  /** The newest dead tasks. */
  dead(most: number): Promise<readonly DeadTask[]>;
}

/** What a sweep did. */
export interface Swept {
  readonly merges: number;
  readonly resumed: number;
  readonly failed: number;
}

/** Dead tasks that one sweep looks at. */
const MOST_DEAD = 1000;

/** Looks once. One process in a fleet does, every minute or so. */
export async function sweep(tools: SweepTools): Promise<Swept> {
  const { queue, store } = tools;
  const failed = await tellDead(tools);
  const [open, counts] = [await store.cutJobs(), await queue.counts()];
  const tasks: Task[] = [];
  let [merges, resumed] = [0, 0];
  // Parts that wait or run are as they must be; with fewer tasks than jobs, some are lost.
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

/** Tasks that wait, run or are to be tried again. */
export function pending({ waiting, delayed, active }: QueueCounts): number {
  return waiting + delayed + active;
}

/** A worker's death leaves a dead task and nobody who tells: @returns how many jobs were told about */
async function tellDead({ store, dead }: SweepTools): Promise<number> {
  const known = (await dead(MOST_DEAD)).flatMap(({ task, reason }) =>
    task ? [{ key: task.job.key, reason }] : [],
  );
  const outcomes = await store.outcomes(known.map(({ key }) => key));
  let told = 0;
  for (const [i, { key, reason }] of known.entries()) {
    if (outcomes[i]) continue;
    if (await store.settle(key, { kind: 'failed', ...readReason(reason) })) told++;
  }
  return told;
}

/** Files of jobs that have ended: a worker may have been killed between writing and telling. */
async function clearFiles({ store, files }: SweepTools): Promise<void> {
  const keys = await files.jobs();
  const outcomes = await store.outcomes(keys);
  for (const [i, key] of keys.entries()) {
    const outcome = outcomes[i];
    // Parts of a failed job are there for a retry.
    if (!outcome || (outcome.kind === 'failed' && outcome.code !== 'aborted')) continue;
    await files.clear(key, outcome.kind !== 'scored');
  }
}
