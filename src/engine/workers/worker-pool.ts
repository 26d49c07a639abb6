/**
 * @module engine/workers/worker-pool
 * The workers of one run: they start, fail and end together.
 */
import { AnyvmafError, internalError } from '../../core/errors.js';
import { limitError } from '../../core/system-limits.js';
import type { GpuState } from '../backends/composite.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { FromWorker, ToWorker, WorkerHandle, WorkerSetup } from '../contract/platform.js';

type PoolMessage = Exclude<FromWorker, { kind: 'failed' | 'stopped' | 'sessions' }>;
/** @param measured pairs measured since the worker's last message */
type Receiver = (worker: number, message: PoolMessage, measured: number) => void;

/** Chunks that a GPU takes at once: it idles briefly at the end of each batch. */
export const GPU_SHARE = 4;

/** Milliseconds that a worker may take to close its GPU. */
const GPU_END_TIME = 10_000;

interface PoolWorker {
  readonly handle: WorkerHandle;
  /** Measured pairs, and those of them without records so far. */
  measured: number;
  counted: number;
  share: number;
  stopped: boolean;
  /** Sessions of picture models: equal for all workers, except for the counts of pictures. */
  sessions: readonly TinySessionFacts[];
}

/** A run's workers, numbered from 0. */
export class WorkerPool {
  readonly #workers: PoolWorker[] = [];
  readonly #gpus = new Map<number, GpuState | null>();
  #failure: { readonly reason: unknown } | undefined;
  readonly #failed: Promise<never>;
  #rejectFailed: (reason: unknown) => void = () => {};
  #receive: Receiver = () => {};
  #observe: () => void = () => {};
  /** Callers of {@link until}. */
  #waiting: (() => void)[] = [];

  constructor() {
    this.#failed = new Promise((_, reject) => {
      this.#rejectFailed = reject;
    });
    this.#failed.catch(() => {});
  }

  /** @throws {AnyvmafError} `resource` if the system starts no more workers; call {@link terminate} for the others */
  start(startWorker: () => WorkerHandle, size: number, setup: WorkerSetup): void {
    for (let started = 0; started < size; started++) {
      const handle = this.#make(startWorker);
      const share = setup.gpu ? 0 : 1;
      const worker = { handle, measured: 0, counted: 0, share, stopped: false, sessions: [] };
      const number = this.#workers.push(worker) - 1;
      if (setup.gpu) this.#gpus.set(number, null);
      this.#listen(number, worker);
      handle.post({ kind: 'start', setup });
    }
  }

  #make(startWorker: () => WorkerHandle): WorkerHandle {
    try {
      return startWorker();
    } catch (error) {
      throw limitError(error, 'a worker cannot be started') ?? error;
    }
  }

  get size(): number {
    return this.#workers.length;
  }

  /** GPU states by worker, for workers with a GPU; `null` until a worker reports. */
  get gpus(): ReadonlyMap<number, GpuState | null> {
    return this.#gpus;
  }

  measured(worker: number): number {
    return this.#workers[worker]?.measured ?? 0;
  }

  /** Chunks that a worker takes at once: 0 while it takes none, 1 with the core, {@link GPU_SHARE} with a GPU. */
  share(worker: number): number {
    return this.#workers[worker]?.share ?? 0;
  }

  setShare(number: number, share: number): void {
    const worker = this.#workers[number];
    if (worker) worker.share = share;
  }

  /** Sessions of picture models, with the counts of all workers. */
  get sessions(): readonly TinySessionFacts[] {
    return joinSessions(this.#workers.map(({ sessions }) => sessions));
  }

  receive(listener: Receiver): void {
    this.#receive = listener;
  }

  /** Sets the only observer, called after a message is counted, before the receiver. */
  observe(listener: () => void): void {
    this.#observe = listener;
  }

  post(worker: number, message: ToWorker, transfer?: ArrayBuffer[]): void {
    this.#workers[worker]?.handle.post(message, transfer);
  }

  /** Awaits `work`. @throws the error of a stopped worker, at once */
  unlessFailed<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed]);
  }

  /** @throws the error of a stopped worker */
  check(): void {
    if (this.#failure) throw this.#failure.reason;
  }

  /** Waits until messages make a condition true. @throws the error of a stopped worker */
  async until(condition: () => boolean): Promise<void> {
    for (;;) {
      this.check();
      if (condition()) return;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** After a successful run: lets workers release memory and files, then terminates them. */
  async stop(): Promise<void> {
    for (const { handle } of this.#workers) handle.post({ kind: 'stop' });
    // The results are complete: ignore failures.
    const stopped = ({ stopped }: PoolWorker, number: number) => stopped || this.#gpus.get(number) === null;
    await this.until(() => this.#workers.every(stopped)).catch(() => {});
    await this.terminate();
  }

  /** Terminates all workers; waiting callers get an error. Idempotent. */
  async terminate(): Promise<void> {
    this.fail(new AnyvmafError('aborted', 'The run was aborted before it was done.'));
    await Promise.all([...this.#gpus.keys()].map((number) => this.#closeGpu(number)));
    await Promise.all(this.#workers.map(({ handle }) => handle.terminate()));
  }

  async #closeGpu(number: number): Promise<void> {
    const worker = this.#workers[number];
    if (!worker || worker.stopped) return;
    worker.handle.post({ kind: 'abort' });
    const late = performance.now() + GPU_END_TIME;
    while (!worker.stopped && performance.now() < late) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, late - performance.now());
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #listen(number: number, worker: PoolWorker): void {
    worker.handle.listen(
      (message) => {
        if (message.kind === 'failed') this.fail(new AnyvmafError(message.code, message.message, message));
        else if (message.kind === 'stopped') worker.stopped = true;
        else if (message.kind === 'sessions') worker.sessions = message.sessions;
        else {
          const measured = this.#count(number, worker, message);
          this.#observe();
          this.#take(number, message, measured);
        }
        this.#wake();
      },
      (how) => {
        const died = 'A worker died while measuring frames';
        worker.stopped = true;
        this.fail(limitError(how, died) ?? internalError(`${died}: ${how}`));
      },
    );
  }

  /** @returns newly measured pairs */
  #count(number: number, worker: PoolWorker, message: PoolMessage): number {
    if (message.kind === 'gpu') {
      const known = this.#gpus.get(number);
      this.#gpus.set(number, message.state);
      if (!known && message.state.adapter) worker.share = GPU_SHARE;
      // The core has taken over.
      if (message.state.lost !== null) worker.share = Math.min(1, worker.share);
      return 0;
    }
    const isWhole = message.kind === 'records';
    const count = isWhole ? message.count - worker.counted : message.pairs;
    worker.counted = isWhole ? 0 : worker.counted + count;
    worker.measured += count;
    return count;
  }

  #take(number: number, message: PoolMessage, measured: number): void {
    try {
      this.#receive(number, message, measured);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Ends the run with the first reason. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#rejectFailed(this.#failure.reason);
    this.#wake();
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

/** Sessions of the first non-empty list, with the tallies of all. @param lists for the same models */
export function joinSessions(lists: readonly (readonly TinySessionFacts[])[]): readonly TinySessionFacts[] {
  const [first = [], ...others] = lists.filter((sessions) => sessions.length > 0);
  return first.map((facts, i) => {
    if (!facts.content) return facts;
    const tallies = others.flatMap((sessions) => sessions[i]?.content ?? []);
    const content = tallies.reduce(
      (a, b) => ({ frames: a.frames + b.frames, flat: a.flat + b.flat, noise: a.noise + b.noise }),
      facts.content,
    );
    return { ...facts, content };
  });
}
