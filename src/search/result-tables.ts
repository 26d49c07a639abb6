/**
 * @module search/result-tables
 * What the results of searches, ladders and comparisons say, as tables of texts: for terminals, pages and documents.
 */

import { counted } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import { type CurveResult, qualityName, valueText } from './curve-view.js';
import type { CompleteTarget } from './targets.js';
import type {
  ComparedCurve,
  ComparisonResult,
  CurveDelta,
  LadderPoint,
  LadderResult,
  SearchResult,
} from './types.js';

/** A table: the first column names its rows, all others are numbers. */
export interface ResultTable {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The title of the table that has everything. */
export const ALL_POINTS = 'All points';

/** A result in a line. */
export function titleOf(result: CurveResult): string {
  if (result.kind === 'ladder')
    return `${counted(result.rungs.length, 'rung')} for ${result.source} with ${result.encoder}`;
  if (result.kind === 'comparison') return `${result.curves.length} encoders on ${result.source}`;
  const { encoder, parameter, value, targets, source } = result;
  const [{ metric, statistic, atLeast, atMost }] = targets as readonly [CompleteTarget];
  return `${encoder} ${parameter} ${valueText(parameter, value)} for ${qualityName({ metric, statistic })} of ${atLeast ?? atMost} on ${source}`;
}

/** Everything that a result says, the answer first. */
export function resultTables(result: CurveResult): readonly [ResultTable, ...ResultTable[]] {
  if (result.kind === 'ladder') return ladderTables(result);
  if (result.kind === 'comparison') return comparisonTables(result);
  return [searchTable(result)];
}

function searchTable({ parameter, points, targets }: SearchResult): ResultTable {
  return {
    title: 'Points',
    heads: [parameter, qualityName(targets[0] as CompleteTarget), 'kb/s', 'frames/s', 'above the target'],
    rows: points.map((point) => [
      valueText(parameter, point.value),
      quality(point.quality),
      rate(point.kbps),
      speed(point.framesPerSecond),
      quality(point.margin),
    ]),
  };
}

function ladderTables(result: LadderResult): readonly [ResultTable, ...ResultTable[]] {
  const { rungs, takeovers, curves, parameter, hull } = result;
  const name = qualityName(result);
  const heads = ['size', parameter, name, 'kb/s'];
  const row = (point: LadderPoint) => [
    sizeText(point),
    valueText(parameter, point.value),
    quality(point.quality),
    rate(point.kbps),
  ];
  const onHull = new Set(hull.map((point) => `${sizeText(point)} ${point.value}`));
  return [
    {
      title: 'Rungs',
      heads: ['rung', ...heads, 'from the one below'],
      rows: rungs.map((point, i) => [
        String(i + 1),
        ...row(point),
        i === 0 ? '' : `${(point.kbps / (rungs[i - 1] as LadderPoint).kbps).toFixed(2)}x`,
      ]),
    },
    {
      title: 'Where each size takes over',
      heads: ['size', 'from kb/s', `at ${name}`],
      rows: takeovers.map((one) => [sizeText(one), rate(one.kbps), quality(one.quality)]),
    },
    {
      title: ALL_POINTS,
      heads: [...heads, 'frames/s', 'on the hull'],
      rows: curves.flatMap(({ points }) =>
        points.map((point) => [
          ...row(point),
          speed(point.framesPerSecond),
          onHull.has(`${sizeText(point)} ${point.value}`) ? 'yes' : '',
        ]),
      ),
    },
  ];
}

function comparisonTables(result: ComparisonResult): readonly [ResultTable, ...ResultTable[]] {
  const { curves, deltas } = result;
  const name = qualityName(result);
  const wanted = curves.some(({ atTargets }) => atTargets.length > 0);
  const summary: ResultTable = {
    title: 'Encoders',
    heads: ['encoder', 'BD-rate', `BD-${name}`, `over ${name}`, 'frames/s'],
    rows: curves.map((curve, i) => [curve.name, ...deltaCells(deltas[i - 1]), speed(curve.framesPerSecond)]),
  };
  const points: ResultTable = {
    title: ALL_POINTS,
    heads: ['encoder', 'parameter', 'value', name, 'kb/s', 'frames/s'],
    rows: curves.flatMap((curve) =>
      curve.points.map((point) => [
        curve.name,
        curve.parameter,
        valueText(curve.parameter, point.value),
        quality(point.quality),
        rate(point.kbps),
        speed(point.framesPerSecond),
      ]),
    ),
  };
  return wanted ? [summary, targetTable(curves, name), points] : [summary, points];
}

function deltaCells(delta: CurveDelta | undefined): readonly [string, string, string] {
  if (!delta) return ['anchor', '', ''];
  if (!delta.rate || !delta.quality) return ['no common range', '', ''];
  const { from, to } = delta.rate.range;
  return [
    `${signed(delta.rate.value, 1)} %`,
    signed(delta.quality.value, 2),
    [from, to].map((end) => end.toFixed(to < 20 ? 2 : 0)).join(' to '),
  ];
}

/** What each encoder needs for each quality, beside the one that needs least. */
function targetTable(curves: readonly ComparedCurve[], name: string): ResultTable {
  const targets = curves[0]?.atTargets ?? [];
  return {
    title: 'For each quality',
    heads: ['encoder', `${name} of`, 'parameter', 'value', 'reached', 'kb/s', 'at it', 'of the least'],
    rows: targets.flatMap(({ target }, i) => {
      const at = curves.flatMap((curve) =>
        curve.atTargets[i] ? [{ curve, found: curve.atTargets[i] }] : [],
      );
      // Steps of parameters are coarse: what each reaches is not the same, what it takes for the target is.
      const least = Math.min(
        ...at.flatMap(({ found }) => (found.reached ? (found.kbpsAt ?? found.kbps) : [])),
      );
      return at.map(({ curve, found }) => [
        curve.name,
        String(target),
        curve.parameter,
        valueText(curve.parameter, found.value),
        quality(found.quality),
        rate(found.kbps),
        typeof found.kbpsAt === 'number' ? rate(found.kbpsAt) : '',
        found.reached ? `${(((found.kbpsAt ?? found.kbps) / least) * 100).toFixed(0)} %` : 'not reached',
      ]);
    }),
  };
}

function sizeText({ width, height }: PictureSize): string {
  return `${width}x${height}`;
}

function quality(value: number): string {
  return value.toFixed(2);
}

function rate(kbps: number): string {
  return kbps < 100 ? kbps.toFixed(1) : kbps.toFixed(0);
}

function speed(framesPerSecond: number | null): string {
  return framesPerSecond === null ? '' : framesPerSecond.toFixed(framesPerSecond < 10 ? 1 : 0);
}

function signed(value: number, digits: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(digits)}`;
}
