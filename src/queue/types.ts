/**
 * @module queue/types
 * What a queue holds: jobs, the tasks that they are cut into, parts, and what became of a job. Nothing that is read from
 * Redis has these types before queue/payload has checked it.
 */
import type { ErrorCode } from '../core/errors.js';

/** A pair to score, as it is submitted. */
export interface QueueJob {
  /** The same for the same work: 32 hexadecimal digits. */
  readonly key: string;
  /** Identity, line and command line in its table, which its result repeats. */
  readonly id: string;
  readonly line: number;
  readonly args: readonly string[];
  /** The command line of scoring to run, with whole paths. */
  readonly run: readonly string[];
  /** Digits of numbers in the result, as for --precision. */
  readonly precision: string;
  /** Where the submitter will put the values per frame; absent if it does not want them. */
  readonly frames?: string;
  /** Seconds or frames of a part; a longer pair is cut. */
  readonly part: PartLength;
  /** From 1, the first, to 1000. */
  readonly priority: number;
  /** How often a task is tried. */
  readonly attempts: number;
}

/** How long the parts are into which a pair is cut. */
export interface PartLength {
  readonly unit: 'seconds' | 'frames';
  readonly length: number;
}

/** A step of a job. */
export type Task =
  /** Looks how long the pair is, and scores it or cuts it. */
  | { readonly kind: 'pair'; readonly job: QueueJob }
  | { readonly kind: 'part'; readonly job: QueueJob; readonly number: number; readonly count: number }
  /** Merges parts that are all there: only where the worker that ended last did not. */
  | { readonly kind: 'merge'; readonly job: QueueJob };

/** Text that is kept in Redis if it is short, else in a file of the folder of results. */
export type Stored =
  | { readonly text: string }
  | {
      /** Name in the folder of its job. */
      readonly file: string;
      readonly bytes: number;
      readonly sha256: string;
    };

/** What became of a job. */
export type Outcome =
  | {
      readonly kind: 'scored';
      /** Its line of results. */
      readonly line: Stored;
      /** The values per frame: a Parquet file in base64. */
      readonly frames?: Stored;
    }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  /** A submitter has it on its disk. */
  | { readonly kind: 'taken' };

/** Tasks of a queue by state. */
export interface QueueCounts {
  readonly waiting: number;
  /** To be tried again later. */
  readonly delayed: number;
  readonly active: number;
  /** Dead: not tried again by themselves. */
  readonly failed: number;
}

/** A task that is not tried again by itself. */
export interface DeadTask {
  readonly taskId: string;
  /** Absent if it is none of ours, or damaged. */
  readonly task?: Task;
  readonly reason: string;
  readonly attempts: number;
}

/** The tasks: BullMQ, or a stand-in of a test. */
export interface TaskQueue {
  /** Adds tasks; one that is known by its id already, in whatever state, is not added again. */
  add(tasks: readonly Task[]): Promise<void>;
  counts(): Promise<QueueCounts>;
}

/** What is known of jobs beside their tasks: Redis keys, or a stand-in of a test. */
export interface JobStore {
  outcomes(keys: readonly string[]): Promise<readonly (Outcome | undefined)[]>;
  /** Tells what became of a job. The first one counts. @returns whether this was the first */
  settle(key: string, outcome: Outcome): Promise<boolean>;
  /** A submitter has the outcome on its disk. */
  take(keys: readonly string[]): Promise<void>;
  /** Forgets outcomes; `parts` also what was measured. */
  reopen(keys: readonly string[], parts: boolean): Promise<void>;
  /** Looks before work: whether the job has ended, how it was cut, and whether a part is there. */
  begin(key: string, number?: number): Promise<Begun>;
  /** Tells into how many parts a pair is cut. The first one counts. @returns the number that counts */
  cut(job: QueueJob, count: number): Promise<number>;
  /** Keeps a part. The first one counts. */
  putPart(key: string, number: number, part: Stored): Promise<PutPart>;
  parts(key: string): Promise<{ readonly count?: number; readonly parts: ReadonlyMap<number, Stored> }>;
  /** Numbers of the parts that are there. */
  present(key: string): Promise<{ readonly count?: number; readonly numbers: ReadonlySet<number> }>;
  /** The job of a pair that was cut. */
  cutJob(key: string): Promise<QueueJob | undefined>;
  /** Forgets parts that cannot be read. @returns how often that has happened to this job */
  dropParts(key: string, numbers: readonly number[]): Promise<number>;
  /** Jobs that are cut and have not ended. */
  cutJobs(): Promise<readonly string[]>;
}

/** What {@link JobStore.begin} finds. */
export interface Begun {
  readonly settled: boolean;
  /** Parts into which it was cut. */
  readonly count?: number;
  readonly part: boolean;
}

/** What {@link JobStore.putPart} finds. */
export interface PutPart {
  /** Whether this one counts. */
  readonly kept: boolean;
  readonly settled: boolean;
  /** Parts that are there, of how many; `count` is absent if the job is not known any more. */
  readonly present: number;
  readonly count?: number;
}
