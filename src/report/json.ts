/**
 * @module report/json
 * Reports as JSON, and as JSON lines of frames.
 */
import { formatFixed } from '../core/printf.js';
import { jsonNumber, type Precision } from './format.js';
import { entriesOf, type Json, type JsonEntries, type NumberText, quote } from './kinds.js';
import { pooledMetric } from './pool.js';
import { failure, inputs, models, outcome, pooled, preparation, run, spread, trust } from './schema.js';
import { trustOf } from './trust.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from './types.js';

/**
 * @returns the file in pieces, one or more per frame
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeJson(
  report: Report,
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = jsonNumber(precision);
  const keys = report.metrics.map((name) => [name, `        ${quote(name)}: `] as const);
  yield `{\n  "version": ${quote(report.version)},\n  "fps": ${fpsText(report)},\n  "frames": [`;
  let separator = '\n';
  for (const frame of report.frames) {
    let piece = `${separator}    {\n      "frameNum": ${frame.frameNum},\n      "metrics": {`;
    let lineEnd = '\n';
    for (const [name, key] of keys) {
      const value = frame.metrics[name];
      // typeof, because a metric may bear the name of something that every object inherits.
      if (typeof value !== 'number') continue;
      piece += lineEnd + key + number(value);
      lineEnd = ',\n';
    }
    yield `${piece}\n      }\n    }`;
    separator = ',\n';
  }
  yield `\n  ],\n  "pooled_metrics": {`;
  separator = '\n';
  for (const name of report.metrics) {
    const entries = entriesOf(pooled.fields, pooledMetric(report, name) ?? {}, number);
    const lines = entries.map(([key, value]) => `\n      "${key}": ${pretty(value)}`);
    yield `${separator}    ${quote(name)}: {${lines.join(',')}\n    }`;
    separator = ',\n';
  }
  const aggregates = Object.entries(report.aggregate_metrics);
  const lines = aggregates.map(([name, value]) => `\n    ${quote(name)}: ${number(value)}`);
  yield `\n  },\n  "aggregate_metrics": {${lines.join(',')}\n  }`;
  const own = [
    ...[inputs, preparation, models].flatMap(({ fields }) => entriesOf(fields, report, number)),
    ...distributionEntry(report, number),
    ...[run, outcome].flatMap(({ fields }) => entriesOf(fields, report, number)),
    ...trustEntry(report, number),
  ];
  for (const [key, value] of own) yield `,\n  ${quote(key)}: ${pretty(value, '  ')}`;
  yield '\n}\n';
}

/** Frames per second. */
export function fpsText({ fps }: Report): string {
  return Number.isFinite(fps) ? formatFixed(fps, 2) : 'null';
}

/** Statistics of every metric, and values of the whole run. */
export function pooledEntries(report: Report, number: NumberText): JsonEntries {
  const statistics = report.metrics.map((name) => {
    const map = entriesOf(pooled.fields, pooledMetric(report, name) ?? {}, number);
    return [name, { map }] as const;
  });
  const aggregates = Object.entries(report.aggregate_metrics).map(
    ([name, value]) => [name, number(value)] as const,
  );
  return [
    ['pooled_metrics', { map: statistics }],
    ['aggregate_metrics', { map: aggregates }],
  ];
}

/** Percentiles and standard deviation of every metric that has them. */
export function distributionEntry({ metrics, distribution }: Report, number: NumberText): JsonEntries {
  const map = metrics.flatMap((name): JsonEntries => {
    const values = distribution[name];
    return values?.percentiles === undefined ? [] : [[name, spread.json(values, number)]];
  });
  return [['distribution', { map }]];
}

/** Whether the report's numbers can be believed. */
export function trustEntry(report: Report, number: NumberText): JsonEntries {
  return [['trust', trust.json(trustOf(report), number)]];
}

/** All there is of an encode that could not be scored: its name, and why not. */
export function failureEntries({ version, reference, distorted, ...error }: FailedEncode): JsonEntries {
  const value = { version, reference: { name: reference }, distorted: { name: distorted }, error };
  return entriesOf(failure.fields, value, String);
}

/** On several lines, indented by two blanks per level; the first line is not indented. */
export function pretty(json: Json, indent = ''): string {
  if (typeof json === 'string') return json;
  const inner = `${indent}  `;
  if ('list' in json) {
    if (json.list.length === 0) return '[]';
    return `[\n${json.list.map((item) => inner + pretty(item, inner)).join(',\n')}\n${indent}]`;
  }
  if (json.map.length === 0) return '{}';
  const entries = json.map.map(([key, value]) => `${inner}${quote(key)}: ${pretty(value, inner)}`);
  return `{\n${entries.join(',\n')}\n${indent}}`;
}

/** On one line, without blanks. */
export function compact(json: Json): string {
  if (typeof json === 'string') return json;
  if ('list' in json) return `[${json.list.map(compact).join(',')}]`;
  return `{${json.map.map(([key, value]) => `${quote(key)}:${compact(value)}`).join(',')}}`;
}

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

    summary: (report) =>
      line('summary', [
        ['fps', fpsText(report)],
        ...pooledEntries(report, number),
        ...entriesOf(preparation.fields, report, number),
        ...distributionEntry(report, number),
        ...entriesOf(outcome.fields, report, number),
        ...trustEntry(report, number),
      ]),

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
