/**
 * @module report/json
 * The JSON log: libvmaf's keys byte for byte (specification C.4), then ours. One difference: a frame's `null` ends its
 * line like any other value.
 */
import { formatFixed } from '../core/printf.js';
import { jsonNumber, type Precision } from './format.js';
import { entriesOf, type Json, type JsonEntries, type NumberText, quote } from './kinds.js';
import { pooledMetric } from './pool.js';
import { failure, inputs, models, outcome, pooled, preparation, run, spread, trust } from './schema.js';
import { trustOf } from './trust.js';
import type { FailedEncode, Report } from './types.js';

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
