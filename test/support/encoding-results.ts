/**
 * @module test/support/encoding-results
 * Results of a search, a ladder and a comparison as they are made, small and by hand.
 */
import type { CurveResult } from '../../src/index.js';

const point = {
  value: 20,
  bytes: 1000,
  kbps: 100,
  quality: 91,
  framesPerSecond: 25,
  pooled: {},
  cached: false,
};
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
