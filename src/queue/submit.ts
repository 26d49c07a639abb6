/**
 * @module queue/submit
 * Submits, follows, retries and cancels jobs. Events of ended tasks only tell where to look: outcomes are read from the
 * store, and silent jobs are checked again.
 */
import { onAbort } from '../core/abort.js';
import { messageOf } from '../core/errors.js';
import type { QueueConnection } from './connect.js';
import {
  type DeadTask,
  type Outcome,
  pending,
  type QueueJob,
  readReason,
  type Task,
  type TaskQueue,
} from './job.js';
import { LostFile, type ResultsFolder } from './results-folder.js';
import type { Files } from './run-task.js';
import type { JobStore } from './store.js';

/** Milliseconds between checks of all open jobs: more for more jobs. */
const checkInterval = (open: number) => Math.min(30_000, 3000 + 10 * open);
const AT_ONCE = 100;

export interface SubmitTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  readonly files: Pick<ResultsFolder, 'read' | 'clear'>;
  /**
   * @param heard gets the job, and the reason if its task is not retried
   * @returns unsubscribes
   */
  readonly listen: (heard: (key: string, dead?: FailedOutcome) => void) => Promise<() => Promise<void>>;
  readonly retry: (jobs: readonly QueueJob[]) => Promise<void>;
  readonly clock: Clock;
}

type FailedOutcome = Extract<Outcome, { kind: 'failed' }>;

/** Time, replaceable in tests. */
export interface Clock {
  now(): number;
  /** Resolves after the time, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

type ScoredOutcome = Extract<Outcome, { kind: 'scored' }>;

export interface EndedJob {
  readonly job: QueueJob;
  readonly outcome:
    | FailedOutcome
    | { readonly kind: 'scored'; readonly line: string; readonly frames?: string };
}

/**
 * Submits jobs, follows those that the queue already has, and yields each as it ends. Requesting the next one forgets
 * an outcome: by then it must be on disk. A result whose file is lost counts as failed; its outcome stays, since the
 * folder may come back, and `retryFailed` scores the job again.
 * @throws the signal's reason; jobs then stay in the queue
 */
export async function* followJobs(
  jobs: readonly QueueJob[],
  tools: SubmitTools,
  { retryFailed, signal }: { readonly retryFailed: boolean; readonly signal: AbortSignal },
): AsyncGenerator<EndedJob, void, undefined> {
  const { queue, store, clock } = tools;
  const followed = new FollowedJobs(jobs, tools);
  const { open } = followed;
  const heard = new Set<string>();
  let woken = new AbortController();
  const stopListening = await tools.listen((key, dead) => {
    if (!open.has(key)) return;
    const wake = () => {
      heard.add(key);
      woken.abort();
    };
    if (dead) store.settle(key, dead).then(wake, () => {});
    else wake();
  });
  const forget = onAbort(signal, () => woken.abort());
  try {
    yield* followed.submit(retryFailed, signal);
    for (let checked = clock.now(); open.size > 0; ) {
      signal.throwIfAborted();
      if (heard.size === 0) {
        const next = checked + checkInterval(open.size);
        await clock.wait(Math.max(0, next - clock.now()), woken.signal);
      }
      woken = new AbortController();
      signal.throwIfAborted();
      if (clock.now() >= checked + checkInterval(open.size)) {
        checked = clock.now();
        for (const key of open.keys()) heard.add(key);
        // With fewer tasks than jobs, some are lost; the queue ignores jobs that it already has.
        if (pending(await queue.counts()) < open.size) await followed.addAgain();
      }
      const keys = [...heard];
      heard.clear();
      yield* followed.collect(keys);
    }
  } finally {
    forget();
    await stopListening();
  }
}

class FollowedJobs {
  readonly open: Map<string, QueueJob>;
  readonly #tools: SubmitTools;

  constructor(jobs: readonly QueueJob[], tools: SubmitTools) {
    this.open = new Map(jobs.map((job) => [job.key, job]));
    this.#tools = tools;
  }

  /** Adds jobs that the queue does not have, and yields those that ended before. */
  async *submit(retryFailed: boolean, signal: AbortSignal): AsyncGenerator<EndedJob, void, undefined> {
    const { queue, store } = this.#tools;
    const all = [...this.open.values()];
    for (let at = 0; at < all.length; at += AT_ONCE) {
      signal.throwIfAborted();
      const some = all.slice(at, at + AT_ONCE);
      const outcomes = await store.outcomes(some.map(({ key }) => key));
      const fresh = some.filter((_, i) => outcomes[i] === undefined);
      await queue.add(fresh.map((job) => ({ kind: 'pair', job })));
      const ended = some.filter((job) => !fresh.includes(job));
      const failed: QueueJob[] = [];
      yield* this.collect(
        ended.map(({ key }) => key),
        retryFailed ? failed : undefined,
      );
      if (failed.length > 0) await this.#tools.retry(failed);
    }
  }

  /** @param failed gets failed jobs instead of the caller */
  async *collect(keys: readonly string[], failed?: QueueJob[]): AsyncGenerator<EndedJob, void, undefined> {
    const { queue, store, files } = this.#tools;
    const outcomes = await store.outcomes(keys);
    for (const [i, key] of keys.entries()) {
      const [job, outcome] = [this.open.get(key), outcomes[i]];
      if (!job || !outcome) continue;
      if (outcome.kind === 'taken') {
        // Another results file has it.
        await store.reopen([key], true);
        await queue.add([{ kind: 'pair', job }]);
        continue;
      }
      const ended = outcome.kind === 'scored' ? await this.#read(job, outcome) : outcome;
      if (ended.kind === 'failed' && failed) {
        failed.push(job);
        continue;
      }
      yield { job, outcome: ended };
      this.open.delete(key);
      // A failure stays, so that only the user retries it.
      if (outcome.kind === 'failed' || ended.kind === 'failed') continue;
      const { line, frames } = outcome;
      await files.clear(key, true, frames ? [line, frames] : [line]);
      await store.take([key]);
    }
  }

  async #read({ key }: QueueJob, { line, frames }: ScoredOutcome): Promise<EndedJob['outcome']> {
    const { files } = this.#tools;
    try {
      const read = { kind: 'scored', line: await files.read(key, line) } as const;
      return frames ? { ...read, frames: await files.read(key, frames) } : read;
    } catch (error) {
      if (!(error instanceof LostFile)) throw error;
      return { kind: 'failed', code: error.code, message: messageOf(error) };
    }
  }

  /** Cut jobs resume with the parts that they lack. */
  async addAgain(): Promise<void> {
    const { queue, store } = this.#tools;
    const all = [...this.open.values()];
    const outcomes = await store.outcomes(all.map(({ key }) => key));
    await queue.add(all.filter((_, i) => !outcomes[i]).map((job) => ({ kind: 'pair', job })));
  }
}

const MOST_DEAD = 100_000;

/** All jobs, or those whose keys start with one of these. */
type Selection = 'all' | readonly string[];

const selects = (selection: Selection, id: string) =>
  selection === 'all' || selection.some((prefix) => id.startsWith(prefix));

/** Retries dead jobs. Keeps their measured parts unless these do not match. @returns the number of jobs */
export async function retryDead(
  connection: QueueConnection,
  files: Files,
  selection: Selection,
): Promise<number> {
  const dead = (await connection.dead(MOST_DEAD)).filter(({ taskId }) => selects(selection, taskId));
  const byKey = new Map<string, { readonly job: QueueJob; readonly tasks: DeadTask[] }>();
  for (const deadTask of dead) {
    if (!deadTask.task) continue;
    const { job } = deadTask.task;
    const known = byKey.get(job.key);
    if (known) known.tasks.push(deadTask);
    else byKey.set(job.key, { job, tasks: [deadTask] });
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
    const mismatched = tasks.some(({ reason }) => readReason(reason).code === 'mismatch');
    if (mismatched) await files.clear(job.key, true);
    await connection.remove(tasks.map(({ taskId }) => taskId));
    await connection.store.reopen([job.key], mismatched);
  }
  await connection.add(jobs.map(({ job }): Task => ({ kind: 'pair', job })));
}

/** Cancels jobs, and unless all are selected removes dead tasks; workers stop within seconds. @returns the jobs' number */
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
