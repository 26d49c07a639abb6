/**
 * @module queue/sweep
 * Repairs what lost messages, crashes and lost Redis writes leave: unmerged jobs, stalled tasks, unreported dead ones.
 */
import { readReason } from './payload.js';
import type { Files } from './run-task.js';
import type { DeadTask, JobStore, QueueCounts, Task, TaskQueue } from './types.js';

interface SweepTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  readonly files: Files & { jobs(): Promise<readonly string[]> };
  /** The newest first. */
  dead(most: number): Promise<readonly DeadTask[]>;
}

interface Swept {
  readonly merges: number;
  readonly resumed: number;
  readonly failed: number;
}

const MOST_DEAD = 1000;

/** One process of a fleet runs it, every minute or so. */
export async function sweep(tools: SweepTools): Promise<Swept> {
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

/** Tasks that wait, run or will be retried. */
export function pending({ waiting, delayed, active }: QueueCounts): number {
  return waiting + delayed + active;
}

/** Settles jobs whose worker died before reporting a dead task. @returns the number of jobs */
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
