/**
 * @module queue/scoring-process
 * Scoring processes of a worker, one per running task: its own thread stays free to renew locks, and a crash or lack of
 * memory ends one task only.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { TimeLimitError } from '../core/abort.js';
import { AnyvmafError, type ErrorCode, internalError } from '../core/errors.js';
import type { QueueJob, Stored, Task } from './job.js';
import type { Scorer } from './run-task.js';

export interface ScoringRules {
  /** Real paths of readable folders. */
  readonly allow: readonly string[];
  /** Hosts of readable URLs and of results. */
  readonly hosts: readonly string[];
  /** Folder or URL of results. */
  readonly results?: string;
  readonly threads: number;
}

export type ScoringWork =
  | Exclude<Task, { kind: 'merge' }>
  | {
      readonly kind: 'merge';
      readonly job: QueueJob;
      readonly parts: readonly (readonly [number: number, part: Stored])[];
    };

export type ToScoring =
  | { readonly kind: 'rules'; readonly rules: ScoringRules }
  | { readonly kind: 'work'; readonly ticket: number; readonly work: ScoringWork }
  | { readonly kind: 'stop'; readonly ticket: number };

/** What a kind of work returns. */
type ScoringResults = { [Kind in keyof Scorer]: Awaited<ReturnType<Scorer[Kind]>> };
export type ScoringResult = ScoringResults[keyof Scorer];

export type FromScoring =
  | { readonly kind: 'progress'; readonly ticket: number; readonly frames: number }
  | { readonly kind: 'done'; readonly ticket: number; readonly result: ScoringResult }
  | {
      readonly kind: 'failed';
      readonly ticket: number;
      readonly code: ErrorCode;
      readonly message: string;
      /** The time limit was exceeded: do not retry. */
      readonly late?: boolean;
    };

const SCRIPT = new URL('./scoring-child.js', import.meta.url);
/** Milliseconds to stop before the process is killed. */
const GRACE = 1000;
/** Milliseconds without progress after which a run is aborted. */
const STUCK = 15 * 60_000;

interface Running {
  readonly ticket: number;
  readonly settle: (result: ScoringResult) => void;
  readonly fail: (error: unknown) => void;
  readonly progressed: (frames: number) => void;
}

export class ScoringProcesses implements Scorer {
  readonly #rules: ScoringRules;
  readonly #onFrames: (frames: number) => void;
  readonly #free: OneProcess[] = [];
  readonly #all = new Set<OneProcess>();

  /** @param onFrames called with newly measured frames */
  constructor(rules: ScoringRules, onFrames: (frames: number) => void) {
    this.#rules = rules;
    this.#onFrames = onFrames;
  }

  pair(job: QueueJob, signal: AbortSignal) {
    return this.#run({ kind: 'pair', job }, signal);
  }

  part(job: QueueJob, number: number, count: number, signal: AbortSignal) {
    return this.#run({ kind: 'part', job, number, count }, signal);
  }

  merge(job: QueueJob, parts: ReadonlyMap<number, Stored>, signal: AbortSignal) {
    return this.#run({ kind: 'merge', job, parts: [...parts] }, signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((child) => child.end()));
  }

  async #run<Kind extends ScoringWork['kind']>(
    work: ScoringWork & { readonly kind: Kind },
    signal: AbortSignal,
  ): Promise<ScoringResults[Kind]> {
    signal.throwIfAborted();
    let child = this.#free.pop();
    // It may have ended meanwhile.
    for (; child && !child.usable; child = this.#free.pop()) this.#all.delete(child);
    child ??= new OneProcess(this.#rules);
    this.#all.add(child);
    try {
      // The process answers with the result of this kind of work.
      return (await child.run(work, signal, this.#onFrames)) as ScoringResults[Kind];
    } finally {
      if (child.usable) this.#free.push(child);
      else this.#all.delete(child);
    }
  }
}

class OneProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #running: Running | undefined;
  #tickets = 0;
  #alive = true;
  #stopped = false;

  constructor(rules: ScoringRules) {
    this.#child = fork(SCRIPT, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (message: FromScoring) => this.#hear(message));
    this.#ended = new Promise((resolve) => {
      const end = (why: string) => {
        this.#alive = false;
        this.#running?.fail(internalError(`the scoring process ended: ${why}.`));
        resolve();
      };
      this.#child.on('error', (error) => end(error.message));
      this.#child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    this.#send({ kind: 'rules', rules });
  }

  get usable(): boolean {
    return this.#alive && !this.#stopped;
  }

  run(work: ScoringWork, signal: AbortSignal, onFrames: (frames: number) => void): Promise<ScoringResult> {
    const ticket = ++this.#tickets;
    return new Promise((resolve, reject) => {
      let frames = 0;
      const finish = () => {
        clearTimeout(watch);
        signal.removeEventListener('abort', stop);
        this.#running = undefined;
      };
      const fail = (error: unknown) => {
        finish();
        reject(error);
      };
      // Fail at once: a task that is given back must not wait.
      const stop = () => {
        fail(signal.reason);
        this.end(ticket).catch(() => {});
      };
      const watch = setTimeout(() => {
        fail(internalError(`aborted after ${STUCK / 60_000} minutes without progress.`));
        this.end().catch(() => {});
      }, STUCK);
      this.#running = {
        ticket,
        settle: (result) => {
          finish();
          resolve(result);
        },
        fail,
        progressed: (done) => {
          watch.refresh();
          onFrames(Math.max(0, done - frames));
          frames = done;
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#send({ kind: 'work', ticket, work });
    });
  }

  /** Ends the process; with a ticket, asks its work to stop first. */
  async end(ticket?: number): Promise<void> {
    this.#stopped = true;
    if (ticket === undefined) this.#child.disconnect?.();
    else this.#send({ kind: 'stop', ticket });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE);
    await this.#ended;
    clearTimeout(timer);
  }

  #send(message: ToScoring): void {
    // The exit event reports a process that has ended.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #hear(message: FromScoring): void {
    const running = this.#running;
    if (running?.ticket !== message.ticket) return;
    if (message.kind === 'progress') running.progressed(message.frames);
    else if (message.kind === 'done') running.settle(message.result);
    else if (message.late) running.fail(new TimeLimitError(message.message));
    else running.fail(new AnyvmafError(message.code, message.message));
  }
}
