/**
 * @module queue/scoring-process
 * Scoring processes of a worker, one per running task: its own thread stays free to renew locks, and a crash or lack of
 * memory ends one task only.
 */
import { fork } from 'node:child_process';
import { unlessAborted } from '../core/abort.js';
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
  | { readonly kind: 'work'; readonly work: ScoringWork; readonly rules: ScoringRules }
  /** Stop the work, then end. */
  | { readonly kind: 'stop' };

/** What a kind of work returns. */
type ScoringResults = { [Kind in keyof Scorer]: Awaited<ReturnType<Scorer[Kind]>> };
export type ScoringResult = ScoringResults[keyof Scorer];

export type FromScoring =
  | { readonly kind: 'progress'; readonly frames: number }
  | { readonly kind: 'done'; readonly result: ScoringResult }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      /** A retry would fail again. */
      readonly final: boolean;
    };

/** A retry would fail again, whatever the code. */
export class FinalError extends AnyvmafError {}

const SCRIPT = new URL('./scoring-child.js', import.meta.url);
/** Milliseconds to stop before the process is killed. */
const GRACE = 1000;
/** Milliseconds without progress after which a run is aborted. */
const STUCK = 15 * 60_000;

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
    child ??= new OneProcess();
    this.#all.add(child);
    try {
      // The process answers with the result of this kind of work.
      return (await child.run(
        { kind: 'work', work, rules: this.#rules },
        signal,
        this.#onFrames,
      )) as ScoringResults[Kind];
    } finally {
      if (child.usable) this.#free.push(child);
      else this.#all.delete(child);
    }
  }
}

/** Does one work at a time, and ends when a work is aborted. */
class OneProcess {
  readonly #child = fork(SCRIPT, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  readonly #ended: Promise<void>;
  /** Of the running work. */
  #hear: (message: FromScoring) => void = () => {};
  #fail: (error: AnyvmafError) => void = () => {};
  usable = true;

  constructor() {
    this.#child.on('message', (message: FromScoring) => this.#hear(message));
    this.#ended = new Promise((resolve) => {
      const end = (why: string) => {
        this.usable = false;
        this.#fail(internalError(`the scoring process ended: ${why}.`));
        resolve();
      };
      this.#child.on('error', (error) => end(error.message));
      this.#child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
  }

  async run(
    work: ToScoring,
    signal: AbortSignal,
    onFrames: (frames: number) => void,
  ): Promise<ScoringResult> {
    let frames = 0;
    let watch: NodeJS.Timeout | undefined;
    const answer = new Promise<ScoringResult>((resolve, reject) => {
      watch = setTimeout(() => {
        reject(internalError(`aborted after ${STUCK / 60_000} minutes without progress.`));
        void this.end();
      }, STUCK);
      this.#fail = reject;
      this.#hear = (message) => {
        if (message.kind === 'done') resolve(message.result);
        else if (message.kind === 'failed') {
          const { final, code, message: text } = message;
          reject(new (final ? FinalError : AnyvmafError)(code, text));
        } else {
          watch?.refresh();
          onFrames(Math.max(0, message.frames - frames));
          frames = message.frames;
        }
      };
    });
    this.#send(work);
    try {
      return await unlessAborted(signal, answer);
    } finally {
      clearTimeout(watch);
      // Its result must not live as long as the process.
      this.#hear = this.#fail = () => {};
      // Do not wait: a task that is given back must fail at once.
      if (signal.aborted) void this.end({ kind: 'stop' });
    }
  }

  /** Ends the process, at once or after a message. */
  async end(last?: ToScoring): Promise<void> {
    this.usable = false;
    if (last) this.#send(last);
    else this.#child.disconnect?.();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE);
    await this.#ended;
    clearTimeout(timer);
  }

  #send(message: ToScoring): void {
    // The exit event reports a process that has ended.
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}
