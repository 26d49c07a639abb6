/**
 * @module report/ndjson
 * One JSON object per line: a header, the frames, a summary. For logs that are read while they grow.
 */
import { formatFixed, jsonNumber, type Precision } from './format.js';
import { compact, type Json, quote } from './json-text.js';
import {
  distributionKey,
  failureKeys,
  inputKeys,
  type JsonEntries,
  modelKeys,
  outcomeKeys,
  POOLED_KEYS,
  pairingKeys,
  pooledMetric,
  runKeys,
} from './own-keys.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from './types.js';

/** Writes a report line by line, while it comes into being. Every line ends with a line feed. */
export interface NdjsonLines {
  /** `version`, `reference`, `distorted`, `models`, `metrics` in order, what ran. */
  header(head: ReportHead): string;
  /** `frameNum`, `metrics`. */
  frame(frame: FrameMetrics, metrics: readonly string[]): string;
  /**
   * `fps`, `pooled_metrics`, `aggregate_metrics`, `pairing` and `preflight` where the report has them, `distribution`,
   * `frame_count`, `warnings`, `trust`.
   */
  summary(report: Report): string;
  /** In place of the summary, and of all else where nothing was scored: `version`, `reference`, `distorted`, `error`. */
  failure(failed: FailedEncode): string;
}

/** @throws {AnyvmafError} `usage` when the precision is not one */
export function ndjsonLines(precision: Precision = 'legacy'): NdjsonLines {
  const number = jsonNumber(precision);
  return {
    header: (head) =>
      line('header', [
        ['version', quote(head.version)],
        ...inputKeys(head),
        ...modelKeys(head),
        ['metrics', { list: head.metrics.map(quote) }],
        ...runKeys(head),
      ]),

    frame({ frameNum, metrics: values }, metrics) {
      const entries: [string, Json][] = [];
      for (const name of metrics) {
        const value = values[name];
        if (typeof value === 'number') entries.push([name, number(value)]);
      }
      return line('frame', [
        ['frameNum', String(frameNum)],
        ['metrics', { map: entries }],
      ]);
    },

    summary(report) {
      const pooled = report.metrics.map((name): [string, Json] => {
        const metric = pooledMetric(report, name);
        return [name, { map: metric ? POOLED_KEYS.map((key) => [key, number(metric[key])] as const) : [] }];
      });
      const aggregates = Object.entries(report.aggregate_metrics);
      return line('summary', [
        ['fps', Number.isFinite(report.fps) ? formatFixed(report.fps, 2) : 'null'],
        ['pooled_metrics', { map: pooled }],
        ['aggregate_metrics', { map: aggregates.map(([name, value]) => [name, number(value)] as const) }],
        ...pairingKeys(report),
        ...distributionKey(report, number),
        ...outcomeKeys(report),
      ]);
    },

    failure: (failed) => line('failure', failureKeys(failed)),
  };
}

/**
 * A whole report, as {@link ndjsonLines} writes one that comes into being.
 * @returns the file line by line
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeNdjson(report: Report, precision?: Precision): Generator<string, void, undefined> {
  const lines = ndjsonLines(precision);
  yield lines.header(report);
  for (const frame of report.frames) yield lines.frame(frame, report.metrics);
  yield lines.summary(report);
}

function line(type: string, entries: JsonEntries): string {
  return `${compact({ map: [['type', quote(type)], ...entries] })}\n`;
}
