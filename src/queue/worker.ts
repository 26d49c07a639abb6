/**
 * @module queue/worker
 * Takes tasks, scores them in processes of its own, and gives back those it cannot finish.
 */
import type { Job, Worker } from 'bullmq';
import { TimeLimitError, withinSeconds } from '../core/abort.js';
import { AnyvmafError, type ErrorCode, messageOf } from '../core/errors.js';
import type { QueueConnection } from './connect.js';
import { WorkerMetrics } from './metrics.js';
import { checkTask, readReason, reasonText } from './payload.js';
import type { ResultsFolder } from './results-folder.js';
import { runTask, type TaskEnd } from './run-task.js';
import type { ScoringRules } from './scoring-process.js';
import { ScoringProcesses } from './scoring-process.js';
import { sweep } from './sweep.js';
import type { Task } from './types.js';

interface WorkerSettings {
  readonly name: string;
  readonly concurrency: number;
  /** Seconds after which a silent worker loses its tasks to others. */
  readonly lease: number;
  readonly rules: ScoringRules;
  /** Time limit of a task in seconds. */
  readonly maxSeconds: number;
  readonly say: (sentence: string) => void;
}

/** Workers that may die or fall silent on one task before it is dead: it may be the cause. */
const MOST_LOST = 5;
/** Milliseconds between checks for cancelled jobs. */
const CANCEL_CHECK = 5000;
/** Milliseconds between sweeps of a fleet. */
const SWEEP = 60_000;

/** Errors that no retry avoids. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['usage', 'media', 'mismatch', 'model', 'feature']);

class GivenBack extends Error {}
class Cancelled extends Error {}

export class QueueWorker {
  readonly metrics = new WorkerMetrics();
  readonly #connection: QueueConnection;
  readonly #settings: WorkerSettings;
  readonly #files: ResultsFolder;
  readonly #scorer: ScoringProcesses;
  readonly #worker: Worker;
  readonly #running = new Map<AbortController, Task>();
  readonly #timers: readonly NodeJS.Timeout[];
  #stopping = false;

  constructor(connection: QueueConnection, files: ResultsFolder, settings: WorkerSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#files = files;
    this.#scorer = new ScoringProcesses(settings.rules, this.metrics.measured);
    const lease = settings.lease * 1000;
    this.#worker = connection.worker((job, token) => this.#run(job, token), {
      name: settings.name,
      concurrency: settings.concurrency,
      lockDuration: lease,
      stalledInterval: lease,
      maxStalledCount: MOST_LOST,
    });
    this.#worker.on('failed', (job, error) => {
      this.#tellFailure(job, error).catch(() => {});
    });
    this.#timers = [
      setInterval(() => void this.#stopCancelled().catch(() => {}), CANCEL_CHECK),
      setInterval(() => void this.#sweep().catch(() => {}), Math.min(SWEEP, 4 * lease)),
    ];
  }

  /** Stops; running tasks go back to the queue at once and do not count as failures. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    const closing = this.#worker.close();
    for (const running of this.#running.keys()) running.abort(new GivenBack('the worker stops'));
    await Promise.all([closing, this.#scorer.close()]);
  }

  async #run(job: Job, token: string): Promise<TaskEnd> {
    const { UnrecoverableError, WaitingError } = this.#connection.errors;
    let task: Task;
    try {
      task = checkTask(job.data);
    } catch (error) {
      throw new UnrecoverableError(reasonText('usage', error instanceof Error ? error.message : ''));
    }
    const own = new AbortController();
    this.#running.set(own, task);
    this.metrics.active++;
    const begun = performance.now();
    const end = (outcome: Parameters<WorkerMetrics['ended']>[1]) =>
      this.metrics.ended(task.kind, outcome, (performance.now() - begun) / 1000);
    try {
      // The task arrived while the worker stops.
      if (this.#stopping) throw new GivenBack('the worker stops');
      const ended = await withinSeconds(
        this.#settings.maxSeconds,
        new TimeLimitError(
          `it took longer than ${this.#settings.maxSeconds} s, the limit of this worker (--max-seconds)`,
        ),
        own.signal,
        (signal) => runTask(task, this.#tools(), signal),
      );
      if (ended.settled !== undefined) this.metrics.settled();
      end('done');
      return ended;
    } catch (error) {
      if (error instanceof Cancelled) {
        end('cancelled');
        // Notify the submitters that follow the job.
        return { settled: task.job.key };
      }
      if (error instanceof GivenBack) {
        end('given_back');
        await job.moveToWait(token);
        throw new WaitingError();
      }
      end('failed');
      const code = error instanceof AnyvmafError ? error.code : 'internal';
      const reason = reasonText(code, messageOf(error));
      this.metrics.failed(code);
      throw FINAL.has(code) || error instanceof TimeLimitError
        ? new UnrecoverableError(reason)
        : new Error(reason);
    } finally {
      this.metrics.active--;
      this.#running.delete(own);
    }
  }

  #tools() {
    return {
      queue: this.#connection,
      store: this.#connection.store,
      scorer: this.#scorer,
      files: this.#files,
    };
  }

  /** Settles the job of a task that is not retried. If this crashes, a sweep repairs it. */
  async #tellFailure(job: Job | undefined, error: Error): Promise<void> {
    const { code, message } = readReason(error.message);
    if (!job || this.#stopping) return;
    const dead = await job.isFailed();
    this.#settings.say(`${dead ? 'failed' : 'failed, will retry'}: ${job.id}: ${message}`);
    if (!dead) return;
    const task = checkTask(job.data);
    await this.#connection.store.settle(task.job.key, { kind: 'failed', code, message });
  }

  async #stopCancelled(): Promise<void> {
    const running = [...this.#running];
    if (running.length === 0) return;
    const outcomes = await this.#connection.store.outcomes(running.map(([, { job }]) => job.key));
    for (const [i, [own]] of running.entries())
      if (outcomes[i]) own.abort(new Cancelled('the job has ended'));
  }

  async #sweep(): Promise<void> {
    const { store } = this.#connection;
    if (this.#stopping || !(await store.elected('sweep', Math.min(SWEEP, 4000 * this.#settings.lease) - 500)))
      return;
    const swept = await sweep({
      queue: this.#connection,
      store,
      files: this.#files,
      dead: (most) => this.#connection.dead(most),
    });
    if (swept.merges + swept.resumed > 0)
      this.#settings.say(`repaired ${swept.merges} merges and ${swept.resumed} stalled pairs`);
  }
}
