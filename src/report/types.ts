/**
 * @module report/types
 * The one result object: libvmaf's JSON log, then our own keys, which `schema` defines.
 */
import type { ErrorCode } from '../core/errors.js';
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
