/**
 * @module search/curves
 * Curves of quality over rate: the points that are measured, and their convex hull.
 */

import { type Curve, curveThrough } from '../report/bd-rate.js';
import { isWorseHigh } from '../report/limits.js';
import { parameterOf } from './encoders.js';
import { type Probe, samplesOf } from './probe.js';
import { findValue, measureAll } from './search.js';
import type { Grid } from './strategy.js';
import {
  type CompleteMeasure,
  ceilingOf,
  heightTo,
  type KnownPoint,
  type Measured,
  poolingOf,
  qualityIn,
  scoreName,
  targetAt,
} from './targets.js';
import type { CurveOptions, EncoderChoice } from './types.js';

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
    await measureAll(probe, curveValues(probe, choice), onPoint);
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

/** A place on a curve. */
export interface RateQuality {
  /** Kilobits per second, above 0. */
  readonly kbps: number;
  readonly quality: number;
}

/**
 * Points that no mixture of others beats: the upper left corners of the convex hull of quality over rate.
 * @returns by rate, quality rising
 */
export function convexHull<Point extends RateQuality>(points: readonly Point[]): readonly Point[] {
  const sorted = [...points].sort((a, b) => a.kbps - b.kbps || b.quality - a.quality);
  const hull: Point[] = [];
  for (const point of sorted) {
    const last = hull.at(-1);
    // What costs as much or more and is no better is on no hull.
    if (last && point.quality <= last.quality) continue;
    while (hull.length > 1 && !bends(hull.at(-2) as Point, hull.at(-1) as Point, point)) hull.pop();
    hull.push(point);
  }
  return hull;
}

/** Whether the way from a by b to c turns down at b. */
function bends(a: RateQuality, b: RateQuality, c: RateQuality): boolean {
  return (b.quality - a.quality) * (c.kbps - b.kbps) > (c.quality - b.quality) * (b.kbps - a.kbps);
}

/** A curve of quality over rate that only rises, with the parameter's values along it. */
export interface RisingCurve {
  /** Least and greatest rate that were measured. */
  readonly low: RateQuality;
  readonly high: RateQuality;
  /** At a rate from low to high. */
  qualityAt(kbps: number): number;
  /** At a quality from low to high. */
  kbpsAt(quality: number): number;
  valueAt(kbps: number): number;
}

/**
 * The curve through those of the points that no cheaper one reaches.
 * @returns `undefined` for fewer than two such points
 */
export function risingCurve(
  points: readonly (RateQuality & { readonly value: number })[],
): RisingCurve | undefined {
  const rising = [...points]
    .sort((a, b) => a.kbps - b.kbps || b.quality - a.quality)
    .reduce<(RateQuality & { readonly value: number })[]>((kept, point) => {
      const last = kept.at(-1);
      if (!last || (point.quality > last.quality && point.kbps > last.kbps)) kept.push(point);
      return kept;
    }, []);
  const [low] = rising;
  const high = rising.at(-1);
  if (!low || !high || low === high) return undefined;
  const rates = rising.map(({ kbps }) => Math.log(kbps));
  const qualities = rising.map(({ quality }) => quality);
  const quality = curveThrough(rates, qualities, 'pchip');
  const value = curveThrough(
    rates,
    rising.map((point) => point.value),
    'pchip',
  );
  return {
    low,
    high,
    qualityAt: (kbps) => within(quality, Math.log(kbps)),
    kbpsAt: (wanted) => Math.exp(placeOf(quality, wanted)),
    valueAt: (kbps) => within(value, Math.log(kbps)),
  };
}

function within(curve: Curve, at: number): number {
  return curve.at(Math.min(curve.high, Math.max(curve.low, at)));
}

/** Where a rising curve has a value: by halves, down to what doubles tell apart. */
function placeOf(curve: Curve, wanted: number): number {
  let [low, high] = [curve.low, curve.high];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (curve.at(middle) < wanted) low = middle;
    else high = middle;
  }
  return high;
}

/** One of several curves, and a place on it. */
export interface Choice<Name> extends RateQuality {
  readonly name: Name;
}

/** Curves by name. */
export type Curves<Name> = readonly (readonly [name: Name, curve: RisingCurve])[];

/** The curve that needs the least rate for a quality; `undefined` where none reaches it. */
export function cheapestAt<Name>(curves: Curves<Name>, quality: number): Choice<Name> | undefined {
  return best(
    curves.flatMap(([name, curve]) => {
      if (quality < curve.low.quality || quality > curve.high.quality) return [];
      return [{ name, kbps: curve.kbpsAt(quality), quality }];
    }),
    (a, b) => a.kbps - b.kbps,
  );
}

/** The curve with the best quality at a rate. A curve that ends before it counts with its end. */
export function bestAt<Name>(curves: Curves<Name>, kbps: number): Choice<Name> | undefined {
  return best(
    curves.flatMap(([name, curve]) => {
      if (kbps < curve.low.kbps) return [];
      const at = Math.min(kbps, curve.high.kbps);
      return [{ name, kbps: at, quality: curve.qualityAt(at) }];
    }),
    (a, b) => b.quality - a.quality,
  );
}

function best<Item>(items: readonly Item[], order: (a: Item, b: Item) => number): Item | undefined {
  const [first] = [...items].sort(order);
  return first;
}

/** Rates at which curves are looked at for the best one. */
const LOOKS = 512;

/**
 * Where the best curve changes with the rate.
 * @returns by rate, the first at the least rate that any curve has; a curve may come back
 */
export function takeovers<Name>(curves: Curves<Name>): readonly Choice<Name>[] {
  const low = Math.log(Math.min(...curves.map(([, curve]) => curve.low.kbps)));
  const high = Math.log(Math.max(...curves.map(([, curve]) => curve.high.kbps)));
  const at = (place: number) => bestAt(curves, Math.exp(place));
  const found: Choice<Name>[] = [];
  let before = low;
  for (let i = 0; i <= LOOKS; i++) {
    const place = low + ((high - low) * i) / LOOKS;
    const here = at(place);
    if (!here || here.name === found.at(-1)?.name) {
      before = place;
      continue;
    }
    const [from, until] = found.length === 0 ? [place, place] : [before, place];
    found.push(changeBetween(at, from, until, here.name) ?? here);
    before = place;
  }
  return found;
}

/** The first place of a curve that is the best at `until` and not at `from`. */
function changeBetween<Name>(
  at: (place: number) => Choice<Name> | undefined,
  from: number,
  until: number,
  name: Name,
): Choice<Name> | undefined {
  let [low, high] = [from, until];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (at(middle)?.name === name) high = middle;
    else low = middle;
  }
  const change = at(high);
  return change && { ...change, kbps: Math.exp(high) };
}
