/**
 * @module report/json
 * Writes reports as JSON and as NDJSON.
 */
import { formatFixed } from '../core/printf.js';
import { jsonNumber, type Precision } from './format.js';
import { entriesOf, type Json, type JsonEntries, type NumberText, quote } from './kinds.js';
import { pooledMetric } from './pool.js';
import { failure, inputs, models, outcome, pooled, preparation, run, spread, trust } from './schema.js';
import { trustOf } from './trust.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from './types.js';

/** @throws {AnyvmafError} `usage` if the precision is invalid */
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
      // typeof, because a metric may share its name with an inherited property.
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

export function fpsText({ fps }: Report): string {
  return Number.isFinite(fps) ? formatFixed(fps, 2) : 'null';
}

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

export function distributionEntry({ metrics, distribution }: Report, number: NumberText): JsonEntries {
  const map = metrics.flatMap((name): JsonEntries => {
    const values = distribution[name];
    return values?.percentiles === undefined ? [] : [[name, spread.json(values, number)]];
  });
  return [['distribution', { map }]];
}

export function trustEntry(report: Report, number: NumberText): JsonEntries {
  return [['trust', trust.json(trustOf(report), number)]];
}

export function failureEntries({ version, reference, distorted, ...error }: FailedEncode): JsonEntries {
  const value = { version, reference: { name: reference }, distorted: { name: distorted }, error };
  return entriesOf(failure.fields, value, String);
}

/** On several lines, indented by two spaces per level except for the first line. */
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

export function compact(json: Json): string {
  if (typeof json === 'string') return json;
  if ('list' in json) return `[${json.list.map(compact).join(',')}]`;
  return `{${json.map.map(([key, value]) => `${quote(key)}:${compact(value)}`).join(',')}}`;
}

/** Writes a report while it is measured; every line ends with a line feed. */
export interface NdjsonLines {
  /** `version`, `reference`, `distorted`, `models`, `metrics` in order, what ran. */
  header(head: ReportHead): string;
  /** `frameNum`, `metrics`. */
  frame(frame: FrameMetrics, metrics: readonly string[]): string;
  /** `fps`, pooled and aggregate metrics, pairing and preflight, `distribution`, `frame_count`, `warnings`, `trust`. */
  summary(report: Report): string;
  /** Replaces the summary, or the whole file if nothing was scored: `version`, `reference`, `distorted`, `error`. */
  failure(failed: FailedEncode): string;
}

/** @throws {AnyvmafError} `usage` if the precision is invalid */
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

/** As {@link ndjsonLines}, for a finished report, line by line. */
export function* writeNdjson(report: Report, precision?: Precision): Generator<string, void, undefined> {
  const lines = ndjsonLines(precision);
  yield lines.header(report);
  for (const frame of report.frames) yield lines.frame(frame, report.metrics);
  yield lines.summary(report);
}

function line(type: string, entries: JsonEntries): string {
  return `${compact({ map: [['type', quote(type)], ...entries] })}\n`;
}
