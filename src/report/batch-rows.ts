/**
 * @module report/batch-rows
 * What pages and summaries of a batch show of a line of its results.
 */
import { isObject } from '../core/arguments.js';

/** A job that has ended. Texts are empty where there is nothing. */
export interface BatchRow {
  readonly line: number;
  readonly reference: string;
  readonly distorted: string;
  readonly metric: string;
  readonly mean: string;
  readonly low: string;
  readonly frames: string;
  /** That measuring took. */
  readonly seconds: number;
  readonly state: 'scored' | 'failed' | 'below';
  /** Of an error. */
  readonly code: string;
  readonly notes: readonly string[];
}

/** @param text of a line: a JSON object */
export function batchRow(text: string): BatchRow {
  const line = members(JSON.parse(text));
  const [job, error, gate, trust] = [line.job, line.error, line.gate, line.trust].map(members);
  const first = Array.isArray(line.models) ? members(line.models[0]).name : undefined;
  const metric = typeof first === 'string' ? first : Object.keys(members(line.pooled_metrics))[0];
  const pooled = members(members(line.pooled_metrics)[metric ?? '']);
  const low = members(members(members(line.distribution)[metric ?? '']).percentiles).p1;
  const failed = line.error !== undefined;
  const seconds = Number(line.frame_count) / Number(line.fps);
  const notes = [error?.message, trust?.cause, ...(Array.isArray(gate?.notes) ? gate.notes : [])];
  return {
    line: Number(job?.line),
    reference: words(members(line.reference).name),
    distorted: words(members(line.distorted).name),
    metric: failed ? '' : (metric ?? ''),
    mean: digits(pooled.mean),
    low: digits(low),
    frames: words(line.frame_count),
    seconds: Number.isFinite(seconds) ? seconds : 0,
    state: failed ? 'failed' : gate?.passed === false ? 'below' : 'scored',
    code: words(error?.code),
    notes: notes.filter((note) => typeof note === 'string'),
  };
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function words(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function digits(value: unknown): string {
  return typeof value === 'number' ? value.toFixed(2) : '';
}
