/**
 * @module report/batch
 * Writes a batch job as one line of JSON, and reads such lines for pages and summaries.
 */
import { isObject } from '../core/arguments.js';
import { withoutAccess } from '../core/printable.js';
import { valueTextOf } from './facts.js';
import { entriesOf, type JsonEntries, quote, readFields } from './kinds.js';
import { ranking } from './ranking.js';
import { type FailedEncode, inputs, models, outcome, preparation, type Report, run } from './schema.js';
import type { Table } from './sections.js';
import {
  compact,
  distributionEntry,
  failureEntries,
  fpsText,
  jsonNumber,
  type Precision,
  pooledEntries,
  trustEntry,
} from './write.js';

export interface BatchJobFacts {
  /** Stable as long as neither the job's line nor its files change. */
  readonly id: string;
  /** Line in the table, from 1. */
  readonly line: number;
  /** Arguments of the equivalent scoring command. */
  readonly args: readonly string[];
}

export interface BatchGate {
  readonly failUnder?: number;
  /** Bounds on pooled values: `vmaf.p5>=80`. */
  readonly limits?: readonly string[];
  readonly passed: boolean;
  /** Why it failed, or other notes; full sentences. */
  readonly notes: readonly string[];
}

export interface BatchExtras {
  readonly precision: Precision;
  readonly gate?: BatchGate;
  readonly frames?: string;
}

/** Line of a scored job, without line feed. */
export function reportLine(job: BatchJobFacts, report: Report, extras: BatchExtras): string {
  const { precision, gate, frames } = extras;
  const number = jsonNumber(precision);
  const map: JsonEntries = [
    ['job', jobJson(job)],
    ['version', quote(report.version)],
    ['fps', fpsText(report)],
    ...pooledEntries(report, number),
    ...[inputs, preparation, models].flatMap(({ fields }) => entriesOf(fields, report, number)),
    ['metrics', { list: report.metrics.map(quote) }],
    ...distributionEntry(report, number),
    ...[run, outcome].flatMap(({ fields }) => entriesOf(fields, report, number)),
    ...trustEntry(report, number),
    ...(gate ? [['gate', gateJson(gate)] as const] : []),
    ...(frames === undefined ? [] : [['frames_file', quote(frames)] as const]),
  ];
  return compact({ map });
}

/** Line of a failed job, without line feed. */
export function failureLine(job: BatchJobFacts, failed: FailedEncode): string {
  return compact({ map: [['job', jobJson(job)], ...failureEntries(failed)] });
}

function jobJson({ id, line, args }: BatchJobFacts) {
  const map: JsonEntries = [
    ['id', quote(id)],
    ['line', String(line)],
    ['args', { list: args.map((arg) => quote(withoutAccess(arg))) }],
  ];
  return { map };
}

function gateJson({ failUnder, limits, passed, notes }: BatchGate) {
  const map: JsonEntries = [
    ...(failUnder === undefined ? [] : [['fail_under', String(failUnder)] as const]),
    ...(limits ? [['limits', { list: limits.map(quote) }] as const] : []),
    ['passed', String(passed)],
    ['notes', { list: notes.map(quote) }],
  ];
  return { map };
}

/** A finished job; missing values are empty strings, `seconds` is the time spent measuring. */
export type BatchRow = ReturnType<typeof batchRow>;

/** @param text one result line: a JSON object */
export function batchRow(text: string) {
  const line = members(JSON.parse(text));
  const [job, error, gate, trust] = [line.job, line.error, line.gate, line.trust].map(members);
  const metrics = Object.keys(members(line.pooled_metrics));
  const known = readFields(models.fields, line);
  const by = ranking({ metrics, ...known });
  const metric = by?.metric ?? metrics[0];
  const pooled = members(members(line.pooled_metrics)[metric ?? '']);
  const { p1, p99 } = members(members(members(line.distribution)[metric ?? '']).percentiles);
  const low = by?.worse === 'high' ? p99 : p1;
  const digits = (value: unknown) =>
    typeof value === 'number' ? valueTextOf(known, metric ?? '', value) : '';
  const failed = line.error !== undefined;
  const state: 'scored' | 'failed' | 'below' = failed
    ? 'failed'
    : gate?.passed === false
      ? 'below'
      : 'scored';
  const seconds = Number(line.frame_count) / Number(line.fps);
  const notes = [error?.message, trust?.cause, ...(Array.isArray(gate?.notes) ? gate.notes : [])];
  return {
    line: Number(job?.line),
    reference: textOf(members(line.reference).name),
    distorted: textOf(members(line.distorted).name),
    metric: failed ? '' : (metric ?? ''),
    mean: digits(pooled.mean),
    low: digits(low),
    frames: textOf(line.frame_count),
    seconds: Number.isFinite(seconds) ? seconds : 0,
    state,
    code: textOf(error?.code),
    notes: notes.filter((note) => typeof note === 'string'),
  };
}

export function batchTable(rows: readonly BatchRow[]): Table {
  const code = (text: string) => (text === '' ? '–' : { code: text });
  return {
    heads: ['line', 'encode', 'reference', 'metric', 'mean', 'worst 1 %', 'frames', 'notes'],
    texts: [1, 2, 3, 7],
    rows: rows.map(({ line, distorted, reference, metric, mean, low, frames, notes }) => [
      ...[`${line}`, code(distorted), code(reference), code(metric)],
      ...[mean, low, frames].map((text) => text || '–'),
      notes.join(' '),
    ]),
    tones: rows.map(({ state }) => (state === 'scored' ? 'good' : 'warn')),
  };
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
