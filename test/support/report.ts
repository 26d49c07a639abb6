/**
 * @module test/support/report
 * Reports to write and summarise, and results of a search, a ladder and a comparison.
 */
import type { CurveResult } from '../../src/index.js';
import type { InputPairing } from '../../src/media/pairing/types.js';
import { buildReport, type ReportParts } from '../../src/report/build.js';
import type {
  FrameMetrics,
  MetricDistribution,
  PooledMetric,
  Report,
  ReportModel,
} from '../../src/report/schema.js';

/** A minimal report with `parts` replaced. */
export function report(parts: Partial<Report> = {}): Report {
  const input = {
    container: 'yuv',
    width: 576,
    height: 324,
    bitDepth: 10,
    chroma: '420',
    frameCount: 2,
    skipped: 0,
  } as const;
  return {
    version: '9.9.9',
    fps: 14.02,
    frames: [],
    pooled_metrics: {},
    aggregate_metrics: {},
    reference: { ...input, name: 'ref.yuv' },
    distorted: { ...input, name: 'dis.yuv' },
    models: [],
    metrics: [],
    distribution: {},
    compat: 'libvmaf-3.2',
    backend_requested: 'wasm',
    backend_used: 'wasm',
    implementation: 'simd128',
    threads: 1,
    subsample: 1,
    frameCount: parts.frames?.length ?? 0,
    warnings: [],
    ...parts,
  };
}

/** A minimal report of consecutive frames, pooled as in a run. */
export function built(series: Readonly<Record<string, ArrayLike<number>>>, parts: Partial<ReportParts> = {}) {
  const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = report();
  const count = Math.max(0, ...Object.values(series).map(({ length }) => length));
  return buildReport({
    ...facts,
    frameNumbers: Array.from({ length: count }, (_, i) => i),
    series: Object.entries(series).map(([name, values]) => ({ name, values: Float64Array.from(values) })),
    frameCount: count,
    ...parts,
  });
}

/** A report with another name of the distorted video. */
export function called<R extends Report>(one: R, name: string): R {
  return { ...one, distorted: { ...one.distorted, name } };
}

/** A pairing by frame number. */
export function paired(distorted: Partial<InputPairing>): NonNullable<Report['pairing']> {
  const side = {
    decoder: 'mediabunny',
    decodedBy: 'a decoder',
    bitDepth: 8,
    chroma: '420',
    width: 1920,
    height: 1080,
    conversions: [],
  } as const;
  const none = { count: 0, frames: [] };
  return {
    reference: side,
    distorted: { ...side, ...distorted },
    width: 1920,
    height: 1080,
    bitDepth: 8,
    chroma: '420',
    scale: 'bicubic',
    frames: {
      policy: 'number',
      offset: 0,
      offsetRequested: 0,
      pairs: 250,
      missing: none,
      repeated: none,
      dropped: none,
    },
  };
}

/** The default model. */
export const vmafModel: ReportModel = {
  name: 'vmaf',
  source: 'vmaf_v0.6.1',
  features: ['integer_adm2', 'integer_motion2', 'integer_vif_scale0'],
  options: { disableClip: false, enableTransform: false },
};

/** A collection with libvmaf's keys. */
export const collectionModel: ReportModel = {
  ...vmafModel,
  source: 'vmaf_b_v0.6.3',
  collection: {
    members: 20,
    bagging: 'vmaf_bagging',
    stddev: 'vmaf_stddev',
    ciLow: 'vmaf_ci_p95_lo',
    ciHigh: 'vmaf_ci_p95_hi',
  },
};

export function pooled(min: number, max: number, mean: number, harmonic_mean: number): PooledMetric {
  return { min, max, mean, harmonic_mean };
}

export function spread(v: number): MetricDistribution {
  return { percentiles: { p1: v, p5: v, p10: v, p25: v, p50: v, p75: v, p90: v, p95: v, p99: v }, stddev: 0 };
}

/** Frames from 0 with one metric. */
export function frames(metric: string, values: readonly number[]): FrameMetrics[] {
  return values.map((value, frameNum) => ({ frameNum, metrics: { [metric]: value } }));
}

/** Two frames whose log libvmaf wrote in every format. */
export const printed: Report = report({
  metrics: ['psnr_y', 'psnr_cb', 'psnr_cr', 'ciede2000'],
  frames: [
    {
      frameNum: 0,
      metrics: { psnr_y: 34.786288, psnr_cb: 39.255496, psnr_cr: 41.375212, ciede2000: 35.736006 },
    },
    {
      frameNum: 1,
      metrics: { psnr_y: 31.908737, psnr_cb: 39.00693, psnr_cr: 41.281935, ciede2000: 34.083841 },
    },
  ],
  pooled_metrics: {
    psnr_y: pooled(31.908737, 34.786288, 33.347512, 33.287244),
    psnr_cb: pooled(39.00693, 39.255496, 39.131213, 39.130828),
    psnr_cr: pooled(41.281935, 41.375212, 41.328574, 41.328522),
    ciede2000: pooled(34.083841, 35.736006, 34.909924, 34.89092),
  },
  aggregate_metrics: { apsnr_y: 33.113422, apsnr_cb: 39.129435, apsnr_cr: 41.328323 },
});

const facts = { value: 20, bytes: 1000, kbps: 100, quality: 91, framesPerSecond: 25 };
const point = { ...facts, pooled: {}, cached: false };
const common = { source: 'a.mkv', samples: null, encodes: 1, cached: 0, version: 'ffmpeg 7' };
const measure = { metric: 'vmaf', statistic: 'mean' } as const;
export const rung = { ...point, width: 64, height: 48 };

export const SEARCH: CurveResult = {
  kind: 'search',
  ...common,
  encoder: 'libx264',
  parameter: 'crf',
  value: 20,
  targets: [{ ...measure, atLeast: 90 }],
  shortfall: null,
  unwritten: null,
  unfinished: null,
  warnings: [],
  points: [{ ...point, margin: 1 }],
  predicted: { value: 91, interval95: [90, 92], interval99: [89, 93] },
  predictedBytes: 1000,
  notMonotone: [],
  final: null,
  command: ['ffmpeg'],
};
export const LADDER: CurveResult = {
  kind: 'ladder',
  ...common,
  ...measure,
  encoder: 'libx264',
  parameter: 'crf',
  spacing: 'rate',
  warnings: [],
  frameRate: 25,
  curves: [{ width: 64, height: 48, points: [rung], notMonotone: [] }],
  hull: [rung],
  takeovers: [],
  rungs: [rung],
  command: ['ffmpeg'],
};
export const COMPARISON: CurveResult = {
  kind: 'comparison',
  ...common,
  ...measure,
  curves: [
    {
      name: 'a',
      encoder: 'libx264',
      version: 'ffmpeg 7',
      parameter: 'bitrate',
      points: [{ ...point, name: 'a', value: 1_500_000 }],
      notMonotone: [],
      atTargets: [{ target: 99, value: 20, kbps: 100, quality: 91, reached: false, kbpsAt: null }],
      framesPerSecond: null,
    },
  ],
  warnings: [],
  deltas: [{ anchor: 'a', test: 'b', rate: null, quality: null, refused: 'no range' }],
};
