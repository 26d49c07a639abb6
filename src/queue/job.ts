/**
 * @module queue/job
 * Jobs, tasks and outcomes of a queue: types, and checks of data from Redis, which anyone may have written. Pure.
 */
import { isObject, jsonOf } from '../core/arguments.js';
import { type AnyvmafError, type ErrorCode, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';

export interface QueueJob {
  /** Equal for equal work: 32 hexadecimal digits. */
  readonly key: string;
  /** Identity, line and command line in the table, repeated in the result. */
  readonly id: string;
  readonly line: number;
  readonly args: readonly string[];
  /** Command line of scoring to run, with absolute paths. */
  readonly run: readonly string[];
  /** Digits of numbers in the result, as for --precision. */
  readonly precision: string;
  /** Where the submitter writes the values per frame; absent for none. */
  readonly frames?: string;
  /** Longer pairs are cut. */
  readonly part: PartLength;
  /** 1 (first) to 1000. */
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
  | { readonly file: string; readonly bytes: number; readonly sha256: string };

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

type Source = Readonly<Record<string, unknown>>;

function refuse(what: string, why: string): AnyvmafError {
  return usageError(`${what} in the queue is invalid: ${why}; remove it from the queue`);
}

/** Copies own members; refuses unknown ones. */
function known(what: string, value: unknown, keys: readonly string[]): Source {
  if (!isObject(value)) throw refuse(what, 'it is not an object');
  const strange = Object.keys(value).find((key) => !keys.includes(key));
  if (strange !== undefined) throw refuse(what, `it has the unknown member ${shown(strange)}`);
  return Object.fromEntries(Object.entries(value));
}

function text(what: string, source: Source, key: string, most: number, form = /^[^\0\n\r]*$/): string {
  const value = source[key];
  if (typeof value === 'string' && value.length <= most && form.test(value)) return value;
  throw refuse(what, `its ${key} is malformed`);
}

function whole(what: string, source: Source, key: string, most: number, least = 1): number {
  const value = source[key];
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw refuse(what, `its ${key} is not a whole number from ${least} to ${most}`);
}

function texts(what: string, source: Source, key: string): readonly string[] {
  const value = source[key];
  if (!Array.isArray(value) || value.length > MOST_ARGS)
    throw refuse(what, `its ${key} is not a list of up to ${MOST_ARGS} items`);
  return value.map((_, i) => text(what, { [key]: value[i] }, key, MOST_ARG));
}

const HEX = /^[0-9a-f]{32}$/;

/** @throws {AnyvmafError} `usage` */
export function checkJob(value: unknown): QueueJob {
  const what = 'A job';
  const keys = ['key', 'id', 'line', 'args', 'run', 'precision', 'frames', 'part', 'priority', 'attempts'];
  const source = known(what, value, keys);
  return {
    key: text(what, source, 'key', 32, HEX),
    id: text(what, source, 'id', 32, HEX),
    line: whole(what, source, 'line', Number.MAX_SAFE_INTEGER),
    args: texts(what, source, 'args'),
    run: texts(what, source, 'run'),
    precision: text(what, source, 'precision', 8, /^(legacy|max|[1-9]|1[0-7])$/),
    ...(source.frames !== undefined && { frames: text(what, source, 'frames', MOST_ARG) }),
    part: checkLength(source.part),
    priority: whole(what, source, 'priority', MOST_PRIORITY),
    attempts: whole(what, source, 'attempts', MOST_ATTEMPTS),
  };
}

function checkLength(value: unknown): PartLength {
  const what = 'The length of parts';
  const source = known(what, value, ['unit', 'length']);
  const { unit, length } = source;
  if (unit === 'frames') return { unit, length: whole(what, source, 'length', 1e9) };
  if (unit === 'seconds' && typeof length === 'number' && length > 0 && length <= 1e6)
    return { unit, length };
  throw refuse(what, 'it is not a number of seconds or frames');
}

/** @throws {AnyvmafError} `usage` */
export function checkTask(value: unknown): Task {
  const what = 'A task';
  const source = known(what, value, ['kind', 'job', 'number', 'count']);
  const job = checkJob(source.job);
  if (source.kind === 'pair' || source.kind === 'merge') return { kind: source.kind, job };
  if (source.kind !== 'part') throw refuse(what, 'its kind is unknown');
  const count = whole(what, source, 'count', MOST_PARTS, 2);
  return { kind: 'part', job, number: whole(what, source, 'number', count), count };
}

/** @throws {AnyvmafError} `usage` */
export function checkStored(value: unknown): Stored {
  const what = 'A result';
  const source = known(what, value, ['text', 'file', 'bytes', 'sha256']);
  if (source.text !== undefined) return { text: text(what, source, 'text', INLINE_BYTES, /^/) };
  return {
    file: text(what, source, 'file', 100, /^[0-9a-z][0-9a-z-]*\.(json|parquet)$/),
    bytes: whole(what, source, 'bytes', MOST_FILE_BYTES, 0),
    sha256: text(what, source, 'sha256', 64, /^[0-9a-f]{64}$/),
  };
}

/** @throws {AnyvmafError} `usage` */
export function checkOutcome(value: unknown): Outcome {
  const what = 'A result';
  const source = known(what, value, ['kind', 'line', 'frames', 'code', 'message']);
  switch (source.kind) {
    case 'taken':
      return { kind: 'taken' };
    case 'scored': {
      const frames = source.frames === undefined ? undefined : checkStored(source.frames);
      return { kind: 'scored', line: checkStored(source.line), ...(frames && { frames }) };
    }
    case 'failed': {
      const code = CODES.find((known) => known === source.code);
      if (code === undefined) throw refuse(what, 'its code is unknown');
      return { kind: 'failed', code, message: text(what, source, 'message', MOST_MESSAGE, /^/) };
    }
  }
  throw refuse(what, 'its kind is unknown');
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
