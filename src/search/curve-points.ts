/**
 * @module search/curve-points
 * Measures the curve of one setting: at values of its parameter, or at qualities that are searched for.
 */
import { isWorseHigh } from '../report/limits.js';
import { parameterOf } from './encoders.js';
import { qualityIn } from './estimate.js';
import type { CurveOptions } from './ladder-types.js';
import type { KnownPoint, Measured } from './points.js';
import { type Probe, samplesOf } from './probe.js';
import { findValue } from './search.js';
import type { Grid } from './strategy.js';
import { type CompleteMeasure, ceilingOf, heightTo, poolingOf, scoreName, targetAt } from './targets.js';
import type { EncoderChoice } from './types.js';

/** Points that a curve between values of a parameter is drawn with. */
const POINTS = 7;
/** VMAF points about which they are apart. */
const APART = 6;

/** What options mean by quality. @throws {AnyvmafError} `usage` as {@link poolingOf} */
export function measureOf({ metric, statistic = 'mean', models }: CurveOptions): CompleteMeasure {
  const measure = { metric: metric ?? scoreName(models), statistic };
  poolingOf(measure);
  return measure;
}

/** The quality of a point. */
export function qualityOf(point: Measured, measure: CompleteMeasure, perSecond: number): number {
  return qualityIn(measure, (metric) => samplesOf(point, metric), perSecond);
}

/**
 * Points with qualities of which more is better, as hulls and rates over curves want them: those of a metric of which less is
 * better with the other sign. Twice is as before.
 */
export function rising({
  metric,
}: CompleteMeasure): <Point extends { readonly quality: number }>(point: Point) => Point {
  return (point) => (isWorseHigh({}, metric) ? { ...point, quality: -point.quality } : point);
}

/** A range of qualities, likewise. */
export function risingRange({ metric }: CompleteMeasure, { min, max }: Range): Range {
  return isWorseHigh({}, metric) ? { min: -max, max: -min } : { min, max };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** How a curve is measured. */
export interface CurveTask {
  /** Qualities to search for; without any, values of the parameter. */
  readonly targets?: readonly number[];
  readonly measure: CompleteMeasure;
  /** Frames of the source per second. */
  readonly perSecond: number;
}

/**
 * Measures a curve.
 * @param choice the range of values among others
 * @param onPoint called with each point that is measured
 * @returns values by target
 */
export async function measureCurve(
  probe: Probe,
  choice: EncoderChoice,
  { targets = [], measure, perSecond }: CurveTask,
  onPoint: (point: KnownPoint) => void,
): Promise<readonly number[]> {
  for (const known of probe.points()) onPoint(known);
  if (targets.length === 0) {
    const known = new Set(probe.points().map(({ value }) => value));
    for (const value of curveValues(probe, choice)) {
      const point = await probe.measure(value);
      if (!known.has(value)) onPoint(point);
    }
    return [];
  }
  const findTarget = (quality: number) => {
    const target = targetAt(measure, quality);
    const margin = (point: Measured) => heightTo(target, qualityOf(point, measure, perSecond));
    return findValue(probe, margin, onPoint, ceilingOf([target]));
  };
  const values: number[] = [];
  for (const target of targets) values.push(await findTarget(target));
  return values;
}

/** Values to draw a curve with: those of a range with a step, else some that are evenly apart. */
function curveValues({ setting }: Probe, { range, parameter }: EncoderChoice): readonly number[] {
  if (range?.step !== undefined) return parameterOf(setting.encoder, parameter, range).grid.values;
  const { values } = setting.parameter.grid;
  const places = range ? evenly(0, values.length - 1, POINTS) : around(setting.parameter.grid);
  return [...new Set(places)].flatMap((place) => values[place] ?? []);
}

/** Places on a grid from two steps above the usual value to four below it. */
function around({ start, slope, values }: Grid): readonly number[] {
  const step = Math.max(1, Math.round(APART / slope));
  const last = values.length - 1;
  const from = Math.max(0, start - 2 * step);
  const until = Math.min(last, from + (POINTS - 1) * step);
  return evenly(from, until, POINTS);
}

function evenly(from: number, until: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => Math.round(from + ((until - from) * i) / (count - 1)));
}

/** A choice whose parameter has the encoder's own steps, whatever step its curve is drawn with. */
export function fineChoice(choice: EncoderChoice): EncoderChoice {
  const { range } = choice;
  return range ? { ...choice, range: { min: range.min, max: range.max } } : choice;
}

/** Points from the best picture to the smallest file. */
export function byGrid<Point extends { readonly value: number }>(
  points: readonly Point[],
  { values }: Grid,
): readonly Point[] {
  const place = (value: number) => values.indexOf(value);
  const known = points.filter(({ value }) => place(value) >= 0);
  return known.sort((a, b) => place(a.value) - place(b.value));
}

/** Points by which a curve must rise to be called not monotone. */
const RISE = 0.05;

/** Values that score better than the finer value before them. */
export function rises(
  points: readonly { readonly value: number; readonly quality: number }[],
): readonly number[] {
  return points.flatMap(({ value, quality }, i) =>
    quality > (points[i - 1]?.quality ?? quality) + RISE ? [value] : [],
  );
}
