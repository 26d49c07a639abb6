/**
 * @module engine/workers/worker-pool
 * The workers of one run: started together, failing together, terminated together.
 */
import { AnyvmafError } from '../../core/errors.js';
import { limitError } from '../../core/system-limits.js';
import { addTallies } from '../../tiny/content.js';
import type { TinySessionFacts } from '../results/tiny.js';
import type { FromWorker, ToWorker, WorkerHandle, WorkerSetup } from './protocol.js';

/** What a worker sends while it works. */
export type PoolMessage = Exclude<FromWorker, { kind: 'failed' | 'stopped' | 'sessions' }>;

/** A run's workers, numbered from 0. */
export class WorkerPool {
  readonly #workers: WorkerHandle[] = [];
  /** Facts of the sessions of picture models, by worker: the same, but each counts its own pictures. */
  readonly #sessions: (readonly TinySessionFacts[])[] = [];
  #stopped = 0;
  #failure: Error | null = null;
  readonly #failed: Promise<never>;
  #rejectFailed: (reason: Error) => void = () => {};
  #receive: (worker: number, message: PoolMessage) => void = () => {};
  /** Callers of {@link until}. */
  #waiting: (() => void)[] = [];

  constructor() {
    this.#failed = new Promise((_, reject) => {
      this.#rejectFailed = reject;
    });
    this.#failed.catch(() => {});
  }

  /**
   * Starts workers. To be called once.
   * @param startWorker makes one; when it throws, those made before are ended by {@link terminate}
   * @throws {AnyvmafError} `resource` when the system starts no more
   */
  start(startWorker: () => WorkerHandle, size: number, setup: WorkerSetup): void {
    for (let number = 0; number < size; number++) {
      const worker = this.#make(startWorker);
      this.#workers.push(worker);
      this.#listen(number, worker);
      worker.post({ kind: 'start', setup });
    }
  }

  #make(startWorker: () => WorkerHandle): WorkerHandle {
    try {
      return startWorker();
    } catch (error) {
      throw limitError(error, 'a worker cannot be started') ?? error;
    }
  }

  /** How many there are. */
  get size(): number {
    return this.#workers.length;
  }

  /** Facts of the sessions of picture models, counts of all workers together. */
  get sessions(): readonly TinySessionFacts[] {
    const [first = [], ...others] = this.#sessions.filter((sessions) => sessions !== undefined);
    return first.map((facts, i) => {
      if (!facts.content) return facts;
      const counts = others.flatMap((sessions) => sessions[i]?.content ?? []);
      return { ...facts, content: counts.reduce(addTallies, facts.content) };
    });
  }

  /** Names the one receiver of what workers send. */
  receive(listener: (worker: number, message: PoolMessage) => void): void {
    this.#receive = listener;
  }

  /** Sends to one worker. */
  post(worker: number, message: ToWorker, transfer?: ArrayBuffer[]): void {
    this.#workers[worker]?.post(message, transfer);
  }

  /**
   * What `work` gives.
   * @throws what stopped a worker, as soon as one fails, whatever `work` waits for
   */
  unlessFailed<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed]);
  }

  /** @throws what stopped a worker */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /**
   * Waits until a condition holds that only messages can bring about.
   * @throws what stopped a worker
   */
  async until(condition: () => boolean): Promise<void> {
    for (;;) {
      this.check();
      if (condition()) return;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Lets every worker release its memory and files, then terminates it. For a run that went well. */
  async stop(): Promise<void> {
    for (const worker of this.#workers) worker.post({ kind: 'stop' });
    // A failure now cannot affect the results, which are complete.
    await this.until(() => this.#stopped === this.size).catch(() => {});
    await this.terminate();
  }

  /** Terminates every worker at once; callers that still wait get an error. May be called twice. */
  async terminate(): Promise<void> {
    this.#fail(new AnyvmafError('aborted', 'The run was given up before it was done.'));
    this.#wake();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #listen(number: number, worker: WorkerHandle): void {
    worker.listen(
      (message) => {
        if (message.kind === 'failed') this.#fail(new AnyvmafError(message.code, message.message, message));
        else if (message.kind === 'stopped') this.#stopped++;
        else if (message.kind === 'sessions') this.#sessions[number] = message.sessions;
        else this.#take(number, message);
        this.#wake();
      },
      (how) => {
        const died = 'A worker died while measuring frames';
        this.#fail(limitError(how, died) ?? new AnyvmafError('internal', `${died}: ${how}`));
        this.#wake();
      },
    );
  }

  #take(number: number, message: PoolMessage): void {
    try {
      this.#receive(number, message);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(reason: Error): void {
    this.#failure ??= reason;
    this.#rejectFailed(this.#failure);
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
