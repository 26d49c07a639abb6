/**
 * @module queue/types
 * Types of a queue: jobs, tasks, parts and outcomes. Data from Redis has these types only after queue/payload's
 * checks.
 */
import type { ErrorCode } from '../core/errors.js';

export interface QueueJob {
  /** Equal for equal work: 32 hexadecimal digits. */
  readonly key: string;
  /** Identity, line and command line in its table, repeated in its result. */
  readonly id: string;
  readonly line: number;
  readonly args: readonly string[];
  /** Command line of scoring to run, with absolute paths. */
  readonly run: readonly string[];
  /** Digits of numbers in the result, as for --precision. */
  readonly precision: string;
  /** Where the submitter puts the values per frame; absent if not wanted. */
  readonly frames?: string;
  /** Longer pairs are cut. */
  readonly part: PartLength;
  /** From 1, the first, to 1000. */
  readonly priority: number;
  /** Attempts per task. */
  readonly attempts: number;
}

export interface PartLength {
  readonly unit: 'seconds' | 'frames';
  readonly length: number;
}

export type Task =
  /** Reads the length of the pair, and scores or cuts it. */
  | { readonly kind: 'pair'; readonly job: QueueJob }
  | { readonly kind: 'part'; readonly job: QueueJob; readonly number: number; readonly count: number }
  /** Merges complete parts if the worker that ended last did not. */
  | { readonly kind: 'merge'; readonly job: QueueJob };

/** Text kept in Redis if short, else in a file of the results folder. */
export type Stored =
  | { readonly text: string }
  | {
      readonly file: string;
      readonly bytes: number;
      readonly sha256: string;
    };

export type Outcome =
  | {
      readonly kind: 'scored';
      readonly line: Stored;
      /** Values per frame: a Parquet file in base64. */
      readonly frames?: Stored;
    }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  /** On a submitter's disk. */
  | { readonly kind: 'taken' };

export interface QueueCounts {
  readonly waiting: number;
  /** To be retried later. */
  readonly delayed: number;
  readonly active: number;
  readonly failed: number;
}

/** A task that is not retried automatically. */
export interface DeadTask {
  readonly taskId: string;
  /** Absent for a foreign or damaged task. */
  readonly task?: Task;
  readonly reason: string;
  readonly attempts: number;
}

/** BullMQ, or a fake in tests. */
export interface TaskQueue {
  /** Ignores tasks whose ids the queue already has, in any state. */
  add(tasks: readonly Task[]): Promise<void>;
  counts(): Promise<QueueCounts>;
}

/** State of jobs besides their tasks: Redis, or a fake in tests. */
export interface JobStore {
  outcomes(keys: readonly string[]): Promise<readonly (Outcome | undefined)[]>;
  /** The first outcome counts. @returns whether this was the first */
  settle(key: string, outcome: Outcome): Promise<boolean>;
  /** Marks outcomes as being on a submitter's disk. */
  take(keys: readonly string[]): Promise<void>;
  /** Forgets outcomes; with `parts` also measured parts. */
  reopen(keys: readonly string[], parts: boolean): Promise<void>;
  /** Before work: whether the job has ended, how it was cut, and whether the part is there. */
  begin(key: string, number?: number): Promise<Begun>;
  /** The first number of parts counts. @returns the number that counts */
  cut(job: QueueJob, count: number): Promise<number>;
  /** The first one counts. */
  putPart(key: string, number: number, part: Stored): Promise<PutPart>;
  parts(key: string): Promise<{ readonly count?: number; readonly parts: ReadonlyMap<number, Stored> }>;
  present(key: string): Promise<{ readonly count?: number; readonly numbers: ReadonlySet<number> }>;
  /** The job of a pair that was cut. */
  cutJob(key: string): Promise<QueueJob | undefined>;
  /** Forgets unreadable parts. @returns how often that has happened to this job */
  dropParts(key: string, numbers: readonly number[]): Promise<number>;
  /** Jobs that are cut and have not ended. */
  cutJobs(): Promise<readonly string[]>;
}

export interface Begun {
  readonly settled: boolean;
  readonly count?: number;
  readonly part: boolean;
}

export interface PutPart {
  readonly kept: boolean;
  readonly settled: boolean;
  /** Parts present and in all; `count` is absent if the job was forgotten. */
  readonly present: number;
  readonly count?: number;
}
