/**
 * @module queue/submit
 * The side of whoever has jobs: adds them, and follows what becomes of them. Messages of tasks that end only say where to
 * look; what became of a job is read, and a job of which nothing is heard is looked at again.
 */
import { onAbort } from '../core/abort.js';
import { pending } from './sweep.js';
import type { JobStore, Outcome, QueueJob, TaskQueue } from './types.js';

/** Milliseconds after which all open jobs are looked at: the more there are, the later. */
const lookAfter = (open: number) => Math.min(30_000, 3000 + 10 * open);
/** Jobs whose outcomes are read at once. */
const AT_ONCE = 100;

/** What a submitter works with. */
export interface SubmitTools {
  readonly queue: TaskQueue;
  readonly store: JobStore;
  /**
   * Starts to hear of jobs that may have ended.
   * @param heard gets the job, and why a task is not tried again
   * @returns stops it
   */
  readonly listen: (heard: (key: string, dead?: FailedOutcome) => void) => Promise<() => Promise<void>>;
  /** Makes jobs that failed open again, with what they lack. */
  readonly retry: (jobs: readonly QueueJob[]) => Promise<void>;
  readonly clock: Clock;
}

type FailedOutcome = Extract<Outcome, { kind: 'failed' }>;

/** Time, which tests may let pass. */
export interface Clock {
  now(): number;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** How to submit. */
export interface SubmitOptions {
  /** Score jobs again that failed before. */
  readonly retryFailed: boolean;
  readonly signal: AbortSignal;
}

/** A job that has ended. */
export interface EndedJob {
  readonly job: QueueJob;
  readonly outcome: Exclude<Outcome, { kind: 'taken' }>;
}

/**
 * Submits jobs and yields each as it ends. An outcome is forgotten when the next one is asked for: by then it must be on a
 * disk. Jobs that are known to the queue are followed and not submitted twice.
 * @throws the signal's reason; jobs then stay in the queue
 */
export async function* followJobs(
  jobs: readonly QueueJob[],
  tools: SubmitTools,
  { retryFailed, signal }: SubmitOptions,
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
    for (let looked = clock.now(); open.size > 0; ) {
      signal.throwIfAborted();
      if (heard.size === 0) {
        const next = looked + lookAfter(open.size);
        await clock.wait(Math.max(0, next - clock.now()), woken.signal);
      }
      woken = new AbortController();
      signal.throwIfAborted();
      if (clock.now() >= looked + lookAfter(open.size)) {
        looked = clock.now();
        for (const key of open.keys()) heard.add(key);
        // With fewer tasks than jobs, some are lost; those that are known are not added twice.
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

/** Jobs of a submitter that have not ended. */
class FollowedJobs {
  /** By key. */
  readonly open: Map<string, QueueJob>;
  readonly #tools: SubmitTools;

  constructor(jobs: readonly QueueJob[], tools: SubmitTools) {
    this.open = new Map(jobs.map((job) => [job.key, job]));
    this.#tools = tools;
  }

  /** Adds those that the queue does not know, and yields those that have ended before. */
  async *submit(retryFailed: boolean, signal: AbortSignal): AsyncGenerator<EndedJob, void, undefined> {
    const { queue, store } = this.#tools;
    const all = [...this.open.values()];
    for (let at = 0; at < all.length; at += AT_ONCE) {
      signal.throwIfAborted();
      const some = all.slice(at, at + AT_ONCE);
      const outcomes = await store.outcomes(some.map(({ key }) => key));
      const kindOf = (job: QueueJob) => outcomes[some.indexOf(job)]?.kind;
      const failed = retryFailed ? some.filter((job) => kindOf(job) === 'failed') : [];
      const taken = some.filter((job) => kindOf(job) === 'taken');
      if (failed.length > 0) await this.#tools.retry(failed);
      // Another file of results has it, but this one has not.
      if (taken.length > 0)
        await store.reopen(
          taken.map(({ key }) => key),
          true,
        );
      const fresh = some.filter((job) => kindOf(job) === undefined);
      await queue.add([...fresh, ...taken].map((job) => ({ kind: 'pair', job })));
      const ended = some.filter(
        (job) => kindOf(job) === 'scored' || (kindOf(job) === 'failed' && !retryFailed),
      );
      yield* this.collect(ended.map(({ key }) => key));
    }
  }

  /** Yields those of these jobs that have ended. */
  async *collect(keys: readonly string[]): AsyncGenerator<EndedJob, void, undefined> {
    const { queue, store } = this.#tools;
    const outcomes = await store.outcomes(keys);
    for (const [i, key] of keys.entries()) {
      const [job, outcome] = [this.open.get(key), outcomes[i]];
      if (!job || !outcome) continue;
      if (outcome.kind === 'taken') {
        await store.reopen([key], true);
        await queue.add([{ kind: 'pair', job }]);
        continue;
      }
      yield { job, outcome };
      this.open.delete(key);
      // A failure stays, so that it is not tried again unasked.
      if (outcome.kind === 'scored') await store.take([key]);
    }
  }

  /** Jobs that have been cut go on with the parts that they lack. */
  async addAgain(): Promise<void> {
    const { queue, store } = this.#tools;
    const all = [...this.open.values()];
    const outcomes = await store.outcomes(all.map(({ key }) => key));
    await queue.add(all.filter((_, i) => !outcomes[i]).map((job) => ({ kind: 'pair', job })));
  }
}
