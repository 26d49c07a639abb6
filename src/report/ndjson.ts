/**
 * @module report/ndjson
 * One JSON object per line: a header, the frames, a summary. For logs that are read while they grow.
 */
import { formatFixed, jsonNumber, type Precision } from './format.js';
import { compact, type Json, quote } from './json-text.js';
import {
  distributionKey,
  type JsonEntries,
  outcomeKeys,
  POOLED_KEYS,
  pooledMetric,
  runKeys,
  subjectKeys,
} from './own-keys.js';
import type { Report } from './types.js';

/**
 * Lines of `type` `header` (`version`, `reference`, `distorted`, `models`, `metrics`, what ran), `frame` (`frameNum`,
 * `metrics`) and `summary` (`fps`, `pooled_metrics`, `aggregate_metrics`, `distribution`, `frame_count`, `warnings`).
 * @returns the file line by line
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeNdjson(
  report: Report,
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = jsonNumber(precision);
  yield line('header', [
    ['version', quote(report.version)],
    ...subjectKeys(report),
    ['metrics', { list: report.metrics.map(quote) }],
    ...runKeys(report),
  ]);
  for (const frame of report.frames) {
    const metrics: [string, Json][] = [];
    for (const name of report.metrics) {
      const value = frame.metrics[name];
      if (typeof value === 'number') metrics.push([name, number(value)]);
    }
    yield line('frame', [
      ['frameNum', String(frame.frameNum)],
      ['metrics', { map: metrics }],
    ]);
  }
  const pooled = report.metrics.map((name): [string, Json] => {
    const metric = pooledMetric(report, name);
    return [name, { map: metric ? POOLED_KEYS.map((key) => [key, number(metric[key])] as const) : [] }];
  });
  const aggregates = Object.entries(report.aggregate_metrics);
  yield line('summary', [
    ['fps', Number.isFinite(report.fps) ? formatFixed(report.fps, 2) : 'null'],
    ['pooled_metrics', { map: pooled }],
    ['aggregate_metrics', { map: aggregates.map(([name, value]) => [name, number(value)] as const) }],
    ...distributionKey(report, number),
    ...outcomeKeys(report),
  ]);
}

function line(type: string, entries: JsonEntries): string {
  return `${compact({ map: [['type', quote(type)], ...entries] })}\n`;
}
