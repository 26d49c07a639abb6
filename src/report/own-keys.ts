/**
 * @module report/own-keys
 * What a report says beyond libvmaf's log, as JSON under snake_case keys (docs/report.md).
 *
 * - `reference`, `distorted`: `name`, `container`, `width`, `height`, `bit_depth`, `chroma`, `frame_rate` (`"num/den"`,
 *   where known), `frame_count` (null where unknown), `skipped`;
 * - `models`: per model `name`, `source`, `features`, `options` {`disable_clip`, `enable_transform`} and, for a
 *   bootstrap collection, `collection` {`members`, `bagging`, `stddev`, `ci_p95_lo`, `ci_p95_hi`};
 * - `distribution`: per complete metric `percentiles` {`p1` .. `p99`} and `stddev`;
 * - `compat`, `backend_requested`, `backend_used`, `implementation`, `threads`, `subsample`, `frame_count`, `warnings`.
 */
import { type Json, quote } from './json-text.js';
import type { PooledMetric, Report, ReportInput, ReportModel } from './types.js';

/** Key and value, in the order in which they are written. */
export type JsonEntries = readonly (readonly [key: string, value: Json])[];

/** Pooled statistics in the order of the log. */
export const POOLED_KEYS = ['min', 'max', 'mean', 'harmonic_mean'] as const;

/** Percentiles in ascending order. */
export const PERCENTILE_KEYS = ['p1', 'p5', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99'] as const;

/** The pooled values of a metric, or `undefined` when one of its frames has none. */
export function pooledMetric(report: Report, name: string): PooledMetric | undefined {
  const pooled = report.pooled_metrics[name];
  return pooled !== undefined && isPooled(pooled) ? pooled : undefined;
}

function isPooled(pooled: PooledMetric | Record<string, never>): pooled is PooledMetric {
  return typeof pooled.mean === 'number';
}

/** A frame rate as `"num/den"`, or `undefined` when the container does not say. */
export function frameRateText({ frameRate }: ReportInput): string | undefined {
  return frameRate && `${frameRate.num}/${frameRate.den}`;
}

/** Who was compared with whom, and by which models. */
export function subjectKeys(report: Report): JsonEntries {
  return [
    ['reference', inputJson(report.reference)],
    ['distorted', inputJson(report.distorted)],
    ['models', { list: report.models.map(modelJson) }],
  ];
}

/**
 * Percentiles and standard deviation of every metric that has them.
 * @param number writes a measured value
 */
export function distributionKey(report: Report, number: (value: number) => string): JsonEntries {
  const metrics = report.metrics.flatMap((name): [string, Json][] => {
    const spread = report.distribution[name];
    if (spread?.percentiles === undefined) return [];
    const percentiles = PERCENTILE_KEYS.map((key) => [key, number(spread.percentiles[key])] as const);
    return [
      [
        name,
        { map: [['percentiles', { map: percentiles }] as const, ['stddev', number(spread.stddev)] as const] },
      ],
    ];
  });
  return [['distribution', { map: metrics }]];
}

/** What was asked for and what ran. */
export function runKeys(report: Report): JsonEntries {
  return [
    ['compat', quote(report.compat)],
    ['backend_requested', quote(report.backend_requested)],
    ['backend_used', quote(report.backend_used)],
    ['implementation', quote(report.implementation)],
    ['threads', String(report.threads)],
    ['subsample', String(report.subsample)],
  ];
}

/** How it ended. */
export function outcomeKeys(report: Report): JsonEntries {
  return [
    ['frame_count', String(report.frameCount)],
    ['warnings', { list: report.warnings.map(quote) }],
  ];
}

function inputJson(input: ReportInput): Json {
  const rate = frameRateText(input);
  return {
    map: [
      ['name', quote(input.name)],
      ['container', quote(input.container)],
      ['width', String(input.width)],
      ['height', String(input.height)],
      ['bit_depth', String(input.bitDepth)],
      ['chroma', quote(input.chroma)],
      ...(rate === undefined ? [] : [['frame_rate', quote(rate)] as const]),
      ['frame_count', String(input.frameCount)],
      ['skipped', String(input.skipped)],
    ],
  };
}

function modelJson(model: ReportModel): Json {
  const { collection } = model;
  const entries: [string, Json][] = [
    ['name', quote(model.name)],
    ['source', quote(model.source)],
    ['features', { list: model.features.map(quote) }],
    [
      'options',
      {
        map: [
          ['disable_clip', String(model.options.disableClip)],
          ['enable_transform', String(model.options.enableTransform)],
        ],
      },
    ],
  ];
  if (collection) {
    entries.push([
      'collection',
      {
        map: [
          ['members', String(collection.members)],
          ['bagging', quote(collection.bagging)],
          ['stddev', quote(collection.stddev)],
          ['ci_p95_lo', quote(collection.ciLow)],
          ['ci_p95_hi', quote(collection.ciHigh)],
        ],
      },
    ]);
  }
  return { map: entries };
}
