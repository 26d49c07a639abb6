/**
 * @module report/json
 * The JSON log: libvmaf's keys byte for byte (specification C.4), then ours. One difference: a frame's `null` ends its
 * line like any other value.
 */
import { formatFixed, jsonNumber, type Precision } from './format.js';
import { pretty, quote } from './json-text.js';
import {
  distributionKey,
  inputKeys,
  modelKeys,
  outcomeKeys,
  POOLED_KEYS,
  pairingKeys,
  pooledMetric,
  runKeys,
} from './own-keys.js';
import type { Report } from './types.js';

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
  const fps = Number.isFinite(report.fps) ? formatFixed(report.fps, 2) : 'null';
  yield `{\n  "version": ${quote(report.version)},\n  "fps": ${fps},\n  "frames": [`;
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
    const pooled = pooledMetric(report, name);
    const lines = pooled ? POOLED_KEYS.map((key) => `\n      "${key}": ${number(pooled[key])}`) : [];
    yield `${separator}    ${quote(name)}: {${lines.join(',')}\n    }`;
    separator = ',\n';
  }
  const aggregates = Object.entries(report.aggregate_metrics);
  const lines = aggregates.map(([name, value]) => `\n    ${quote(name)}: ${number(value)}`);
  yield `\n  },\n  "aggregate_metrics": {${lines.join(',')}\n  }`;
  const own = [
    ...inputKeys(report),
    ...pairingKeys(report),
    ...modelKeys(report),
    ...distributionKey(report, number),
    ...runKeys(report),
    ...outcomeKeys(report),
  ];
  for (const [key, value] of own) yield `,\n  ${quote(key)}: ${pretty(value, '  ')}`;
  yield '\n}\n';
}
