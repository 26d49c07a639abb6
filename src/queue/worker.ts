/**
 * @module queue/worker
 * Takes tasks, scores them in processes of its own, and gives back those that it cannot finish. Serves its counters
 * in the text format of Prometheus.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Job, Worker } from 'bullmq';
import { TimeLimitError, withinSeconds } from '../core/abort.js';
import { AnyvmafError, type ErrorCode, ioError, messageOf } from '../core/errors.js';
import { version } from '../core/version.js';
import type { QueueConnection } from './connect.js';
import { checkTask, type QueueCounts, readReason, reasonText, type Task } from './job.js';
import type { ResultsFolder } from './results-folder.js';
import { runTask, sweep, type TaskEnd } from './run-task.js';
import { FinalError, ScoringProcesses, type ScoringRules } from './scoring-process.js';

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

/** Workers that may die or fall silent on a task, which may be the cause, before it is dead. */
const MOST_LOST = 5;
/** Milliseconds between checks for cancelled jobs. */
const CANCEL_CHECK = 5000;
/** Milliseconds between sweeps of a fleet. */
const SWEEP = 60_000;
/** Errors that a retry would repeat. */
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
    this.#scorer = new ScoringProcesses(settings.rules, (frames) => {
      this.metrics.frames += frames;
    });
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

  /** Stops. Running tasks return to the queue at once and do not count as failures. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    const closing = this.#worker.close();
    for (const running of this.#running.keys()) running.abort(new GivenBack('the worker stops'));
    await Promise.all([closing, this.#scorer.close()]);
  }

  async #run(job: Job, token: string): Promise<TaskEnd> {
    const queue = this.#connection;
    const { UnrecoverableError, WaitingError } = queue.errors;
    let task: Task;
    try {
      task = checkTask(job.data);
    } catch (error) {
      throw new UnrecoverableError(reasonText('usage', messageOf(error)));
    }
    const controller = new AbortController();
    this.#running.set(controller, task);
    this.metrics.active++;
    const begun = performance.now();
    const end = (outcome: TaskOutcome) =>
      this.metrics.ended(task.kind, outcome, (performance.now() - begun) / 1000);
    try {
      // The task arrived while the worker stops.
      if (this.#stopping) throw new GivenBack('the worker stops');
      const { maxSeconds } = this.#settings;
      const late = `it took longer than ${maxSeconds} s, the limit of this worker (--max-seconds)`;
      const tools = { queue, store: queue.store, scorer: this.#scorer, files: this.#files };
      const ended = await withinSeconds(maxSeconds, new TimeLimitError(late), controller.signal, (signal) =>
        runTask(task, tools, signal),
      );
      if (ended.settled !== undefined) this.metrics.settled++;
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
      const final = FINAL.has(code) || error instanceof FinalError || error instanceof TimeLimitError;
      throw final ? new UnrecoverableError(reason) : new Error(reason);
    } finally {
      this.metrics.active--;
      this.#running.delete(controller);
    }
  }

  /** Settles the job of a task that is not retried. A sweep does if this crashes. */
  async #tellFailure(job: Job | undefined, error: Error): Promise<void> {
    const { code, message } = readReason(error.message);
    if (!job || this.#stopping) return;
    const dead = await job.isFailed();
    this.#settings.say(`${dead ? 'failed' : 'failed, will retry'}: ${job.id}: ${message}`);
    if (!dead) return;
    const { key } = checkTask(job.data).job;
    await this.#connection.store.settle(key, { kind: 'failed', code, message });
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

type TaskOutcome = 'done' | 'failed' | 'given_back' | 'cancelled';

const PREFIX = 'anyvmaf_worker';

/** Counters, by their labels. */
class WorkerMetrics {
  readonly #tasks = new Map<string, number>();
  readonly #seconds = new Map<string, number>();
  readonly #errors = new Map<string, number>();
  frames = 0;
  settled = 0;
  active = 0;

  ended(kind: Task['kind'], outcome: TaskOutcome, seconds: number): void {
    increase(this.#tasks, `kind="${kind}",outcome="${outcome}"`);
    increase(this.#seconds, `kind="${kind}"`, seconds);
  }

  failed(code: ErrorCode): void {
    increase(this.#errors, `code="${code}"`);
  }

  /** @param queue absent if the server does not answer */
  text(queue: QueueCounts | undefined, concurrency: number): string {
    const lines: string[] = [];
    const family = (
      name: string,
      type: 'counter' | 'gauge',
      help: string,
      values: Iterable<readonly [string, number]>,
    ) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, value] of values) lines.push(`${name}${labels && `{${labels}}`} ${value}`);
    };
    family('anyvmaf_build_info', 'gauge', 'Version of anyvmaf.', [[`version="${version}"`, 1]]);
    family(`${PREFIX}_tasks_total`, 'counter', 'Tasks that ended on this worker.', this.#tasks);
    const duration = 'Total duration of ended tasks in seconds.';
    family(`${PREFIX}_task_seconds_total`, 'counter', duration, this.#seconds);
    family(`${PREFIX}_errors_total`, 'counter', 'Failed attempts by error code.', this.#errors);
    family(`${PREFIX}_frames_total`, 'counter', 'Frame pairs measured.', [['', this.frames]]);
    family(`${PREFIX}_jobs_settled_total`, 'counter', 'Jobs settled by this worker.', [['', this.settled]]);
    family(`${PREFIX}_tasks_active`, 'gauge', 'Running tasks.', [['', this.active]]);
    family(`${PREFIX}_concurrency`, 'gauge', 'Tasks that may run at once.', [['', concurrency]]);
    family('anyvmaf_queue_up', 'gauge', 'Whether the queue server answers.', [['', queue ? 1 : 0]]);
    if (queue) {
      const states = Object.entries(queue).map(([state, count]) => [`state="${state}"`, count] as const);
      family('anyvmaf_queue_tasks', 'gauge', 'Tasks in the whole queue by state.', states);
    }
    return `${lines.join('\n')}\n`;
  }
}

function increase(counts: Map<string, number>, labels: string, by = 1): void {
  counts.set(labels, (counts.get(labels) ?? 0) + by);
}

export interface MetricsAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws {AnyvmafError} `io` if the port cannot be used */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  text: () => Promise<string>,
): Promise<MetricsServer> {
  const server: Server = createServer((request, response) => {
    const isScrape = request.url === '/metrics' && /^(GET|HEAD)$/.test(request.method ?? '');
    if (!isScrape) {
      response.writeHead(request.url === '/metrics' ? 405 : 404, { 'content-type': 'text/plain' });
      response.end('GET /metrics\n');
      return;
    }
    text().then(
      (body) => {
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
        response.end(body);
      },
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) =>
      reject(ioError(`cannot serve metrics at ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
