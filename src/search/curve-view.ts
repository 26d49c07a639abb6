/**
 * @module search/curve-view
 * Results of searches, ladders and comparisons as curves to draw.
 */
import type { CurvePoint, CurveSet } from '../report/view/curves.js';
import type { CompleteTarget } from './targets.js';
import type { ComparisonResult, LadderPoint, LadderResult, SearchResult } from './types.js';

/** A result whose points can be drawn. */
export type CurveResult = SearchResult | LadderResult | ComparisonResult;

/** What a result shows as curves of quality over rate. */
export function curvesOf(result: CurveResult): CurveSet {
  if (result.kind === 'ladder') return ladderCurves(result);
  if (result.kind === 'comparison') return comparedCurves(result);
  return searchCurve(result);
}

function ladderCurves(result: LadderResult): CurveSet {
  const { curves, hull, rungs, parameter, metric } = result;
  const named = (point: LadderPoint) =>
    at(point, `${point.height}p ${parameter} ${valueText(parameter, point.value)}`);
  return {
    quality: qualityName(result),
    limits: limitsOf(metric),
    curves: curves.map(({ width, height, points }) => ({
      name: `${width}x${height}`,
      points: byRate(points).map((point) => at(point, `${parameter} ${valueText(parameter, point.value)}`)),
    })),
    hull: hull.map(named),
    chosen: rungs.map(named),
  };
}

function comparedCurves(result: ComparisonResult): CurveSet {
  return {
    quality: qualityName(result),
    limits: limitsOf(result.metric),
    curves: result.curves.map(({ name, parameter, points }) => ({
      name,
      points: byRate(points).map((point) => at(point, `${parameter} ${valueText(parameter, point.value)}`)),
    })),
    hull: [],
    chosen: [],
  };
}

function searchCurve(result: SearchResult): CurveSet {
  const { encoder, parameter, points, targets, value } = result;
  const [target] = targets as readonly [CompleteTarget];
  const placed = byRate(points).map((point) => ({
    value: point.value,
    ...at(point, `${parameter} ${valueText(parameter, point.value)}`),
  }));
  return {
    quality: qualityName(target),
    limits: limitsOf(target.metric),
    curves: [{ name: encoder, points: placed }],
    hull: [],
    chosen: placed.filter((point) => point.value === value),
    target: target.atLeast ?? target.atMost,
  };
}

/** A name for what is measured: `vmaf` or `vmaf, p5`. */
export function qualityName({ metric, statistic }: Pick<LadderResult, 'metric' | 'statistic'>): string {
  return statistic === 'mean' ? metric : `${metric}, ${statistic.replace('_', ' ')}`;
}

/** A value of a parameter: as it is or, of bit rates, in kilobits per second. */
export function valueText(parameter: string, value: number): string {
  return parameter === 'bitrate' ? `${Math.round(value / 1000)} kb/s` : String(value);
}

function at({ kbps, quality }: { kbps: number; quality: number }, label: string): CurvePoint {
  return { kbps, quality, label };
}

function byRate<Point extends { readonly kbps: number }>(points: readonly Point[]): readonly Point[] {
  return [...points].sort((a, b) => a.kbps - b.kbps);
}

/** Scores of VMAF's models end at 0 and 100. */
function limitsOf(metric: string): readonly [number, number] | undefined {
  return metric.startsWith('vmaf') ? [0, 100] : undefined;
}
