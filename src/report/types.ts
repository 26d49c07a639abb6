/**
 * @module report/types
 * The one result object: libvmaf's JSON log, then our own keys, which `schema` defines; and the check that a value is one.
 */

import { isObject, requireObject } from '../core/arguments.js';
import { type ErrorCode, usageError } from '../core/errors.js';
import type { ValueOf } from './kinds.js';
import type {
  inputs,
  MetricDistribution,
  models,
  outcome,
  PooledMetric,
  preparation,
  run,
} from './schema.js';

export type {
  MetricDistribution,
  NativeRun,
  PooledMetric,
  ReportInput,
  ReportMeasurer,
  ReportModel,
  ReportSampling,
  ReportSwap,
  ReportTinyModel,
  ReportTinyNotice,
  ReportTinyPart,
} from './schema.js';

/** The values of one frame, keyed by log name in the order in which libvmaf writes them. */
export interface FrameMetrics {
  readonly frameNum: number;
  /** A metric without a value in this frame has no key. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** The record of one of several encodes that could not be scored, in place of its report. */
export interface FailedEncode {
  /** Version of anyvmaf that tried. */
  readonly version: string;
  /** What the user called the two. */
  readonly reference: string;
  readonly distorted: string;
  readonly code: ErrorCode;
  /** A full sentence. */
  readonly message: string;
}

/** The facts of a run that are known with its first frame; lengths may still be unknown. */
export interface ReportHead extends ValueOf<typeof inputs>, ValueOf<typeof models>, ValueOf<typeof run> {
  /** Version of anyvmaf that wrote it. */
  readonly version: string;
  /** Metric names in libvmaf's order. */
  readonly metrics: readonly string[];
}

/** Everything a run gives. */
export interface Report extends ReportHead, ValueOf<typeof preparation>, ValueOf<typeof outcome> {
  /** Frames per second of wall-clock time, from the first frame to the last. */
  readonly fps: number;
  readonly frames: readonly FrameMetrics[];
  readonly pooled_metrics: Readonly<Record<string, PooledMetric | Record<string, never>>>;
  readonly aggregate_metrics: Readonly<Record<string, number>>;
  readonly distribution: Readonly<Record<string, MetricDistribution>>;
}

/** Which parts are lists, and which objects; the rest is text and numbers. */
const LISTS: readonly string[] = ['frames', 'metrics', 'models', 'warnings'];
const OBJECTS: readonly string[] = [
  'pooled_metrics',
  'aggregate_metrics',
  'distribution',
  'reference',
  'distorted',
];

/** What a summary, a page, JSON, NDJSON and XML say. */
export const WHOLE = [...LISTS, ...OBJECTS] as readonly (keyof Report)[];

/**
 * @param parts keys of a report that are read
 * @throws {AnyvmafError} `usage` for anything but a report with these parts, as those read from CSV, SUB and other
 * programs' logs are not
 */
export function requireParts(name: string, report: unknown, parts: readonly (keyof Report)[]): void {
  requireObject(name, report, 'a report');
  const members = new Map(Object.entries(report as object));
  const lacking = parts.filter((part) => !fits(part, members.get(part)));
  if (lacking.length === 0) return;
  throw usageError(
    `${name} has no ${lacking.join(', ')}, so it is not all of a report; pass what score gives, or of what readReport ` +
      'gives that for which isReport is true.',
  );
}

function fits(part: string, value: unknown): boolean {
  if (part === 'frames')
    return Array.isArray(value) && value.every((frame) => isObject(frame) && isObject(frame.metrics));
  if (part === 'metrics') return Array.isArray(value) && value.every((metric) => typeof metric === 'string');
  if (LISTS.includes(part)) return Array.isArray(value) && !value.includes(null);
  return isObject(value);
}
