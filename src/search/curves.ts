/**
 * @module search/curves
 * Measures rate-quality curves, and finds their convex hull and where each is the best.
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

const POINTS = 7;
/** Approximate distance between them, in VMAF points. */
const APART = 6;

/** @throws {AnyvmafError} `usage` as {@link poolingOf} */
export function measureOf({ metric, statistic = 'mean', models }: CurveOptions): CompleteMeasure {
  const measure = { metric: metric ?? scoreName(models), statistic };
  poolingOf(measure);
  return measure;
}

export function qualityOf(point: Measured, measure: CompleteMeasure, perSecond: number): number {
  return qualityIn(measure, (metric) => samplesOf(point, metric), perSecond);
}

/** Negates metrics whose low values are better, so that higher is better. Its own inverse. */
export function rising({
  metric,
}: CompleteMeasure): <Point extends { readonly quality: number }>(point: Point) => Point {
  return (point) => (isWorseHigh({}, metric) ? { ...point, quality: -point.quality } : point);
}

export function risingRange({ metric }: CompleteMeasure, { min, max }: Range): Range {
  return isWorseHigh({}, metric) ? { min: -max, max: -min } : { min, max };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export interface CurveTask {
  /** Qualities to search for; without any, values of the parameter are measured. */
  readonly targets?: readonly number[];
  readonly measure: CompleteMeasure;
  /** Frames of the source per second. */
  readonly perSecond: number;
}

/** Measures a curve. Calls `onPoint` with known and new points; returns the value found for each target. */
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

/** Values to measure a curve at: every step of a range with a step, else seven evenly spaced ones. */
function curveValues({ setting }: Probe, { range, parameter }: EncoderChoice): readonly number[] {
  if (range?.step !== undefined) return parameterOf(setting.encoder, parameter, range).grid.values;
  const { values } = setting.parameter.grid;
  const places = range ? evenly(0, values.length - 1, POINTS) : around(setting.parameter.grid);
  return [...new Set(places)].flatMap((place) => values[place] ?? []);
}

/** Grid indices from two steps above the usual value to four below it. */
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

/** Drops the step of a range, so that searches use the encoder's own. */
export function fineChoice(choice: EncoderChoice): EncoderChoice {
  const { range } = choice;
  return range ? { ...choice, range: { min: range.min, max: range.max } } : choice;
}

export interface RateQuality {
  /** Kilobits per second, above 0. */
  readonly kbps: number;
  readonly quality: number;
}

/** Upper left corners of the convex hull of quality over rate, by rate: no mixture of others beats them. */
export function convexHull<Point extends RateQuality>(points: readonly Point[]): readonly Point[] {
  const sorted = [...points].sort((a, b) => a.kbps - b.kbps || b.quality - a.quality);
  const hull: Point[] = [];
  for (const point of sorted) {
    const last = hull.at(-1);
    // It costs at least as much and is no better.
    if (last && point.quality <= last.quality) continue;
    while (hull.length > 1 && !bends(hull.at(-2) as Point, hull.at(-1) as Point, point)) hull.pop();
    hull.push(point);
  }
  return hull;
}

/** True if the path a, b, c turns down at b. */
function bends(a: RateQuality, b: RateQuality, c: RateQuality): boolean {
  return (b.quality - a.quality) * (c.kbps - b.kbps) > (c.quality - b.quality) * (b.kbps - a.kbps);
}

/** A rate-quality curve that only rises, with the parameter's values along it. */
export interface RisingCurve {
  /** Points of the lowest and the highest rate. */
  readonly low: RateQuality;
  readonly high: RateQuality;
  /** For a rate from low to high; clamped outside. */
  qualityAt(kbps: number): number;
  kbpsAt(quality: number): number;
  valueAt(kbps: number): number;
}

/** PCHIP over log rate through the points that no cheaper one reaches; `undefined` for fewer than two. */
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

/** Inverts a rising curve by bisection, to double precision. */
function placeOf(curve: Curve, wanted: number): number {
  let [low, high] = [curve.low, curve.high];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (curve.at(middle) < wanted) low = middle;
    else high = middle;
  }
  return high;
}

export interface Choice<Name> extends RateQuality {
  readonly name: Name;
}

export type Curves<Name> = readonly (readonly [name: Name, curve: RisingCurve])[];

export function cheapestAt<Name>(curves: Curves<Name>, quality: number): Choice<Name> | undefined {
  return best(
    curves.flatMap(([name, curve]) => {
      if (quality < curve.low.quality || quality > curve.high.quality) return [];
      return [{ name, kbps: curve.kbpsAt(quality), quality }];
    }),
    (a, b) => a.kbps - b.kbps,
  );
}

/** A curve that ends below the rate counts with its end. */
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

/** Number of rates at which the best curve is sampled. */
const LOOKS = 512;

/** Where the best curve changes, by rate, starting at the lowest rate of any curve; a curve may recur. */
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

/** Bisects for the first place where curve `name` is the best. */
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
