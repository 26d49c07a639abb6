/**
 * @module report/types
 * The result of a run: libvmaf's JSON log, then our own keys, which report/schema defines.
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

/** Values of one frame, keyed by log name in the order in which libvmaf writes them. */
export interface FrameMetrics {
  readonly frameNum: number;
  /** A metric without a value in this frame has no key. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** An encode that could not be scored, in place of its report. */
export interface FailedEncode {
  /** Version of anyvmaf. */
  readonly version: string;
  /** As the user named the two. */
  readonly reference: string;
  readonly distorted: string;
  readonly code: ErrorCode;
  /** A full sentence. */
  readonly message: string;
}

/** Facts of a run that are known with its first frame; lengths may still be unknown. */
export interface ReportHead extends ValueOf<typeof inputs>, ValueOf<typeof models>, ValueOf<typeof run> {
  /** Version of anyvmaf. */
  readonly version: string;
  /** Metric names in libvmaf's order. */
  readonly metrics: readonly string[];
}

/** The result of a run. */
export interface Report extends ReportHead, ValueOf<typeof preparation>, ValueOf<typeof outcome> {
  /** Frames per second of wall-clock time, from the first frame to the last. */
  readonly fps: number;
  readonly frames: readonly FrameMetrics[];
  readonly pooled_metrics: Readonly<Record<string, PooledMetric | Record<string, never>>>;
  readonly aggregate_metrics: Readonly<Record<string, number>>;
  readonly distribution: Readonly<Record<string, MetricDistribution>>;
}

const LISTS: readonly string[] = ['frames', 'metrics', 'models', 'warnings'];
const OBJECTS: readonly string[] = [
  'pooled_metrics',
  'aggregate_metrics',
  'distribution',
  'reference',
  'distorted',
];

/** Parts that summaries, pages, JSON, NDJSON and XML need. */
export const WHOLE = [...LISTS, ...OBJECTS] as readonly (keyof Report)[];

/** @throws {AnyvmafError} `usage` if `parts` are missing, as in reports read from CSV, SUB and other programs' logs */
export function requireParts(name: string, report: unknown, parts: readonly (keyof Report)[]): void {
  requireObject(name, report, 'a report');
  const members = new Map(Object.entries(report as object));
  const lacking = parts.filter((part) => !fits(part, members.get(part)));
  if (lacking.length === 0) return;
  throw usageError(
    `${name} has no ${lacking.join(', ')}; pass a report from score(), or from readReport() if isReport() is true.`,
  );
}

function fits(part: string, value: unknown): boolean {
  if (part === 'frames')
    return Array.isArray(value) && value.every((frame) => isObject(frame) && isObject(frame.metrics));
  if (part === 'metrics') return Array.isArray(value) && value.every((metric) => typeof metric === 'string');
  if (LISTS.includes(part)) return Array.isArray(value) && !value.includes(null);
  return isObject(value);
}
