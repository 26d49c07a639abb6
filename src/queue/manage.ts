/**
 * @module queue/manage
 * Puts dead jobs of a queue back, and cancels jobs.
 */
import type { QueueConnection } from './connect.js';
import { readReason } from './payload.js';
import type { Files } from './run-task.js';
import type { DeadTask, QueueJob, Task } from './types.js';

const MOST_DEAD = 100_000;

/** All jobs, or those whose keys start with one of these. */
type Selection = 'all' | readonly string[];

const selects = (selection: Selection, id: string) =>
  selection === 'all' || selection.some((prefix) => id.startsWith(prefix));

/** Returns the number of jobs put back. Keeps their measured parts, unless these do not match. */
export async function retryDead(
  connection: QueueConnection,
  files: Files,
  selection: Selection,
): Promise<number> {
  const dead = (await connection.dead(MOST_DEAD)).filter(({ taskId }) => selects(selection, taskId));
  const byKey = new Map<string, { readonly job: QueueJob; readonly tasks: DeadTask[] }>();
  for (const one of dead) {
    if (!one.task) continue;
    const { job } = one.task;
    const known = byKey.get(job.key);
    if (known) known.tasks.push(one);
    else byKey.set(job.key, { job, tasks: [one] });
  }
  await reopen(connection, files, [...byKey.values()]);
  return byKey.size;
}

/** Reopens failed jobs, whether they have dead tasks or were cancelled. */
export async function retryJobs(
  connection: QueueConnection,
  files: Files,
  jobs: readonly QueueJob[],
): Promise<void> {
  const dead = await connection.dead(MOST_DEAD);
  await reopen(
    connection,
    files,
    jobs.map((job) => ({ job, tasks: dead.filter(({ taskId }) => taskId.startsWith(job.key)) })),
  );
}

async function reopen(
  connection: QueueConnection,
  files: Files,
  jobs: readonly { readonly job: QueueJob; readonly tasks: readonly DeadTask[] }[],
): Promise<void> {
  for (const { job, tasks } of jobs) {
    const apart = tasks.some(({ reason }) => readReason(reason).code === 'mismatch');
    if (apart) await files.clear(job.key, true);
    await connection.remove(tasks.map(({ taskId }) => taskId));
    await connection.store.reopen([job.key], apart);
  }
  await connection.add(jobs.map(({ job }): Task => ({ kind: 'pair', job })));
}

/**
 * Returns the number of jobs. Also removes selected dead tasks, unless all are selected. Workers stop within seconds.
 */
export async function cancelJobs(
  connection: QueueConnection,
  files: Files,
  selection: Selection,
): Promise<number> {
  const keys = new Set<string>();
  const ids: string[] = [];
  for await (const tasks of connection.open()) {
    for (const { taskId, task } of tasks) {
      if (!selects(selection, taskId)) continue;
      ids.push(taskId);
      if (task) keys.add(task.job.key);
    }
  }
  for (const key of await connection.store.cutJobs()) if (selects(selection, key)) keys.add(key);
  if (selection !== 'all') {
    const dead = await connection.dead(MOST_DEAD);
    ids.push(...dead.map(({ taskId }) => taskId).filter((id) => selects(selection, id)));
  }
  for (const key of keys) {
    const known = await connection.store.parts(key).catch(() => undefined);
    await connection.store.settle(key, { kind: 'failed', code: 'aborted', message: 'cancelled' });
    await files.clear(key, true, [...(known?.parts.values() ?? [])]);
  }
  await connection.remove(ids);
  return Math.max(keys.size, new Set(ids.map((id) => id.slice(0, 32))).size);
}
