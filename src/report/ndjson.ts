/**
 * @module report/ndjson
 * One JSON object per line: a header, the frames, a summary. For logs that are read while they grow.
 */
import { jsonNumber, type Precision } from './format.js';
import { compact, distributionEntry, failureEntries, fpsText, trustEntry } from './json.js';
import { entriesOf, type JsonEntries, quote } from './kinds.js';
import { pooledMetric } from './pool.js';
import { inputs, models, outcome, pooled, preparation, run } from './schema.js';
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
        ...entriesOf(inputs.fields, head, number),
        ...entriesOf(models.fields, head, number),
        ['metrics', { list: head.metrics.map(quote) }],
        ...entriesOf(run.fields, head, number),
      ]),

    frame({ frameNum, metrics: values }, metrics) {
      const map = metrics.flatMap((name): JsonEntries => {
        const value = values[name];
        return typeof value === 'number' ? [[name, number(value)]] : [];
      });
      return line('frame', [
        ['frameNum', String(frameNum)],
        ['metrics', { map }],
      ]);
    },

    summary(report) {
      const statistics = report.metrics.map((name) => {
        const map = entriesOf(pooled.fields, pooledMetric(report, name) ?? {}, number);
        return [name, { map }] as const;
      });
      const aggregates = Object.entries(report.aggregate_metrics);
      return line('summary', [
        ['fps', fpsText(report)],
        ['pooled_metrics', { map: statistics }],
        ['aggregate_metrics', { map: aggregates.map(([name, value]) => [name, number(value)] as const) }],
        ...entriesOf(preparation.fields, report, number),
        ...distributionEntry(report, number),
        ...entriesOf(outcome.fields, report, number),
        ...trustEntry(report, number),
      ]);
    },

    failure: (failed) => line('failure', failureEntries(failed)),
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
