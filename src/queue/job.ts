/**
 * @module queue/job
 * Jobs, tasks and outcomes of a queue: types, and checks of data from Redis, which anyone may have written. Pure.
 */
import { isObject, jsonOf } from '../core/arguments.js';
import { type ErrorCode, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import {
  among,
  exact,
  fitting,
  isAbove0,
  list,
  optional,
  type Refuse,
  type Shape,
  type Shaped,
  text,
  upTo,
  variants,
  whole,
} from '../core/shapes.js';

/** Longest text kept in Redis; longer ones become files. */
export const INLINE_BYTES = 128 * 1024;
/** Largest file of results to read. */
const MOST_FILE_BYTES = 400 * 1024 * 1024;
export const MOST_PARTS = 10_000;
export const MOST_PRIORITY = 1000;
export const MOST_ATTEMPTS = 100;
const MOST_ARGS = 300;
export const MOST_ARG = 4096;
const MOST_MESSAGE = 4000;

const CODES: readonly ErrorCode[] = [
  'usage',
  'io',
  'media',
  'mismatch',
  'model',
  'feature',
  'backend',
  'resource',
  'aborted',
  'internal',
];

const HEX = text(32, /^[0-9a-f]{32}$/, '32 hexadecimal digits');
const line = upTo(MOST_ARG, /^[^\0\n\r]*$/);
const lines = list(line, `a list of up to ${MOST_ARGS} items`, 0, MOST_ARGS);

export interface PartLength {
  readonly unit: 'seconds' | 'frames';
  readonly length: number;
}

const partLength = variants('unit', {
  frames: exact({ unit: among(['frames']), length: whole(1, 1e9) }),
  seconds: exact({
    unit: among(['seconds']),
    length: fitting<number>('a number above 0 up to 1000000', (value) => isAbove0(value) && value <= 1e6),
  }),
}) as Shape<PartLength>;

const queueJob = exact({
  /** Equal for equal work: 32 hexadecimal digits. */
  key: HEX,
  /** Identity, line and command line in its table, repeated in its result. */
  id: HEX,
  line: whole(1, Number.MAX_SAFE_INTEGER),
  args: lines,
  /** Command line of scoring to run, with absolute paths. */
  run: lines,
  /** Digits of numbers in the result, as for --precision. */
  precision: text(8, /^(legacy|max|[1-9]|1[0-7])$/, 'a precision'),
  /** Where the submitter puts the values per frame; absent if not wanted. */
  frames: optional(line),
  /** Longer pairs are cut. */
  part: partLength,
  /** From 1, the first, to 1000. */
  priority: whole(1, MOST_PRIORITY),
  /** Attempts per task. */
  attempts: whole(1, MOST_ATTEMPTS),
});

export interface QueueJob extends Shaped<typeof queueJob> {}

const task = variants('kind', {
  /** Reads the length of the pair, and scores or cuts it. */
  pair: exact({ kind: among(['pair']), job: queueJob }),
  part: exact({
    kind: among(['part']),
    job: queueJob,
    number: whole(1, MOST_PARTS),
    count: whole(2, MOST_PARTS),
  }),
  /** Merges complete parts if the worker that ended last did not. */
  merge: exact({ kind: among(['merge']), job: queueJob }),
});

export type Task = Shaped<typeof task>;

const inline = exact({ text: upTo(INLINE_BYTES) });
const file = exact({
  file: text(100, /^[0-9a-z][0-9a-z-]*\.(json|parquet)$/, 'the name of a file'),
  bytes: whole(0, MOST_FILE_BYTES),
  sha256: text(64, /^[0-9a-f]{64}$/, '64 hexadecimal digits'),
});

/** Text kept in Redis if short, else in a file of the results folder. */
export type Stored = Shaped<typeof inline> | Shaped<typeof file>;

const stored: Shape<Stored> = (path, value, refuse) =>
  (isObject(value) && value.text !== undefined ? inline : file)(path, value, refuse);

const outcome = variants('kind', {
  scored: exact({
    kind: among(['scored']),
    line: stored,
    /** Values per frame: a Parquet file in base64. */
    frames: optional(stored),
  }),
  failed: exact({ kind: among(['failed']), code: among(CODES), message: upTo(MOST_MESSAGE) }),
  /** On a submitter's disk. */
  taken: exact({ kind: among(['taken']) }),
});

export type Outcome = Shaped<typeof outcome>;

const refusing =
  (what: string): Refuse =>
  (path, _, expected) =>
    usageError(
      `${what} in the queue is invalid: ${path === '' ? 'it' : `its ${shown(path)}`} is not ${expected}; remove it from the queue`,
    );

/** @throws {AnyvmafError} `usage` */
export function checkJob(value: unknown): QueueJob {
  return queueJob('', value, refusing('A job'));
}

/** @throws {AnyvmafError} `usage` */
export function checkTask(value: unknown): Task {
  const refuse = refusing('A task');
  const found = task('', value, refuse);
  if (found.kind === 'part') whole(1, found.count)('number', found.number, refuse);
  return found;
}

/** @throws {AnyvmafError} `usage` */
export function checkStored(value: unknown): Stored {
  return stored('', value, refusing('A result'));
}

/** @throws {AnyvmafError} `usage` */
export function checkOutcome(value: unknown): Outcome {
  return outcome('', value, refusing('A result'));
}

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

/** Text that is not JSON is checked as `undefined`. */
export const parsed = <T>(json: string, check: (value: unknown) => T): T => check(jsonOf(json));

/** Equal for the same step of a job. */
export function taskId(task: Task): string {
  const { key } = task.job;
  return task.kind === 'part' ? `${key}-${task.number}-${task.count}` : `${key}-${task.kind}`;
}

/** Formats an error for the queue. */
export function reasonText(code: ErrorCode, message: string): string {
  return `${code}: ${message}`.slice(0, MOST_MESSAGE);
}

/** Parses {@link reasonText}; any other text becomes an internal error. */
export function readReason(reason: string): { readonly code: ErrorCode; readonly message: string } {
  const [, name, message] = /^([a-z]+): (.*)$/s.exec(reason) ?? [];
  const code = CODES.find((known) => known === name);
  if (code !== undefined && message !== undefined) return { code, message: message.slice(0, MOST_MESSAGE) };
  if (/stalled/.test(reason))
    return { code: 'internal', message: 'every worker that scored it died or stopped responding' };
  return { code: 'internal', message: shown(reason, MOST_MESSAGE) };
}

/** Tasks that wait, run or will be retried. */
export const pending = ({ waiting, delayed, active }: QueueCounts): number => waiting + delayed + active;
