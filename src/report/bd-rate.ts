/**
 * @module report/bd-rate
 * Bjontegaard deltas: how far apart two curves of quality over rate are on average, as rate or as quality.
 */
import { isObject, oneOf, requireArray, requireObject, wrongType } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { counted, showValue } from '../core/printable.js';
import {
  type Curve,
  curveThrough,
  FEWEST_POINTS,
  INTERPOLATIONS,
  type Interpolation,
  meanDifference,
} from './interpolation.js';

export type { Interpolation } from './interpolation.js';

/** One encode: its quality and its rate, which is either `kbps` or `bytes`. */
export interface RatePoint {
  /** Kilobits per second, above 0. */
  readonly kbps?: number;
  /** Size, above 0. Both curves must be of one and the same duration. */
  readonly bytes?: number;
  /** A score of which more is better, such as VMAF or PSNR. */
  readonly quality: number;
}

export interface BdOptions {
  /**
   * How curves run between their points. `pchip` (default): monotone cubic pieces, from 2 points on. `akima`: cubic pieces
   * that bend least, from 2 points on. `cubic`: one polynomial of degree 3, as in VCEG-M33, from 4 points on; it
   * can turn between points.
   */
  readonly interpolation?: Interpolation;
  /** Qualities to average over; of {@link bdQuality} the rates at which the anchor has them. Default: all that both curves have. */
  readonly between?: { readonly min: number; readonly max: number } | undefined;
}

/** What {@link bdRate} and {@link bdQuality} return. */
export interface BdResult {
  /** Of {@link bdRate} in percent of the anchor's rate: negative if the test needs less. Of {@link bdQuality} in its unit. */
  readonly value: number;
  readonly interpolation: Interpolation;
  /** What was averaged over: quality for {@link bdRate}, the rate in the points' unit for {@link bdQuality}. */
  readonly range: { readonly from: number; readonly to: number };
  /** The part of the shorter curve that both cover, above 0 to 1. A value from a small part says little. */
  readonly overlap: number;
  /**
   * Whether quality rises with rate from each point to the next. Where it does not, one encode costs more than another and
   * is no better; the curve then runs through points that nobody would choose. Of several points at the same place
   * the better one counts.
   */
  readonly monotone: { readonly anchor: boolean; readonly test: boolean };
}

/** See the public `bdRate`. */
export function bdRate(
  anchor: readonly RatePoint[],
  test: readonly RatePoint[],
  options: BdOptions = {},
): BdResult {
  const pair = readPair(anchor, test, options);
  const place = ({ rate, quality }: Point): Placed => [quality, Math.log(rate), -rate];
  const within = pair.between && ([pair.between.min, pair.between.max] as const);
  const { mean, from, to, overlap } = compare(pair, place, 'quality', (at) => at, within);
  return finite({ value: Math.expm1(mean) * 100, range: { from, to }, overlap, ...said(pair) });
}

/** See the public `bdQuality`. */
export function bdQuality(
  anchor: readonly RatePoint[],
  test: readonly RatePoint[],
  options: BdOptions = {},
): BdResult {
  const pair = readPair(anchor, test, options);
  const place = ({ rate, quality }: Point): Placed => [Math.log(rate), quality, quality];
  const within = pair.between && ratesBetween(pair, pair.between);
  const { mean, from, to, overlap } = compare(pair, place, pair.unit, Math.exp, within);
  return finite({ value: mean, range: { from, to }, overlap, ...said(pair) });
}

type Unit = 'kbps' | 'bytes';
type Side = 'anchor' | 'test';

interface Point {
  readonly rate: number;
  readonly quality: number;
}

/** Both curves as they were given, checked; points by rate. */
interface Pair {
  readonly anchor: readonly Point[];
  readonly test: readonly Point[];
  readonly unit: Unit;
  readonly interpolation: Interpolation;
  readonly between: BdOptions['between'];
}

/** Where a point lies, and of points at the same place the one with the greatest third value counts. */
type Placed = readonly [x: number, y: number, better: number];

function readPair(anchor: unknown, test: unknown, options: BdOptions): Pair {
  requireObject('options', options);
  const { between } = options;
  if (between !== undefined && !(isObject(between) && between.min <= between.max))
    throw wrongType('options.between', between, 'an object such as { min: 60, max: 97 }');
  const interpolation = oneOf('options.interpolation', options.interpolation ?? 'pchip', INTERPOLATIONS);
  const given = { anchor: requirePoints('anchor', anchor), test: requirePoints('test', test) };
  const unit = unitOf([...given.anchor, ...given.test]);
  const read = (side: Side): Point[] =>
    given[side]
      .map((point, i) => readPoint(`${side}[${i}]`, point, unit))
      .sort((a, b) => a.rate - b.rate || a.quality - b.quality);
  return { anchor: read('anchor'), test: read('test'), unit, interpolation, between };
}

function requirePoints(side: Side, points: unknown): Record<string, unknown>[] {
  requireArray(side, points, 'an array of { kbps, quality } or { bytes, quality }');
  return Array.from(points, (point, i) => {
    if (!isObject(point))
      throw wrongType(`${side}[${i}]`, point, 'an object { kbps, quality } or { bytes, quality }');
    return point;
  });
}

function unitOf(points: readonly Record<string, unknown>[]): Unit {
  const has = (unit: Unit): boolean => points.every((point) => point[unit] !== undefined);
  if (has('kbps')) return 'kbps';
  if (has('bytes')) return 'bytes';
  throw usageError(
    'points of anchor and test need one kind of rate: give all of them kbps, or all of them bytes.',
  );
}

function readPoint(name: string, point: Record<string, unknown>, unit: Unit): Point {
  const { [unit]: rate, quality } = point;
  if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0)
    throw usageError(`${name}.${unit} is ${showValue(rate)}, but it must be a number above 0.`);
  if (typeof quality !== 'number' || !Number.isFinite(quality))
    throw usageError(`${name}.quality is ${showValue(quality)}, but it must be a number.`);
  return { rate, quality };
}

/** By place, one point for each. */
function ascending(points: readonly Placed[]): Placed[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || b[2] - a[2]);
  return sorted.filter(([x], i) => x !== sorted[i - 1]?.[0]);
}

interface Compared {
  readonly mean: number;
  readonly from: number;
  readonly to: number;
  readonly overlap: number;
}

/** @param shown what a place is in the unit of `along` */
function compare(
  pair: Pair,
  place: (point: Point) => Placed,
  along: 'quality' | Unit,
  shown: (at: number) => number,
  [least, most]: readonly [least: number, most: number] = [
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ],
): Compared {
  const curve = (side: Side): Curve => {
    const whole = curveOf(side, ascending(pair[side].map(place)), pair.interpolation, along);
    return { ...whole, low: Math.max(whole.low, least), high: Math.min(whole.high, most) };
  };
  const [anchor, test] = [curve('anchor'), curve('test')];
  const from = Math.max(anchor.low, test.low);
  const to = Math.min(anchor.high, test.high);
  if (!(to > from)) {
    const span = ({ low, high }: Curve): string =>
      `${Number(shown(low).toPrecision(6))} to ${Number(shown(high).toPrecision(6))}`;
    throw usageError(
      `the curves share no range of ${along}: anchor covers ${span(anchor)} and test ${span(test)}; score encodes ` +
        `whose ${along} lies within the other's range.`,
    );
  }
  const shorter = Math.min(anchor.high - anchor.low, test.high - test.low);
  return {
    mean: meanDifference(anchor, test, from, to),
    from: shown(from),
    to: shown(to),
    overlap: (to - from) / shorter,
  };
}

/** Logarithms of the rates at which the anchor has qualities. */
function ratesBetween(
  { anchor, interpolation }: Pair,
  { min, max }: NonNullable<BdOptions['between']>,
): readonly [number, number] {
  const placed = ascending(anchor.map(({ rate, quality }): Placed => [quality, Math.log(rate), -rate]));
  const curve = curveOf('anchor', placed, interpolation, 'quality');
  const rate = (quality: number) => curve.at(Math.max(curve.low, Math.min(curve.high, quality)));
  return [
    min <= curve.low ? Number.NEGATIVE_INFINITY : rate(min),
    max >= curve.high ? Number.POSITIVE_INFINITY : rate(max),
  ];
}

function curveOf(
  side: Side,
  points: readonly Placed[],
  interpolation: Interpolation,
  along: 'quality' | Unit,
): Curve {
  const fewest = FEWEST_POINTS[interpolation];
  if (points.length < fewest)
    throw usageError(
      `${side} has ${counted(points.length, 'point')} of different ${along}, but a ${interpolation} curve needs at ` +
        `least ${fewest}; score more encodes${interpolation === 'cubic' ? ", or use 'pchip', which takes 2" : ''}.`,
    );
  return curveThrough(
    points.map(([x]) => x),
    points.map(([, y]) => y),
    interpolation,
  );
}

function said({ anchor, test, interpolation }: Pair): Pick<BdResult, 'interpolation' | 'monotone'> {
  const rises = (points: readonly Point[]): boolean =>
    points.every(({ rate, quality }, i) => {
      const before = points[i - 1];
      return !before || (rate > before.rate && quality > before.quality);
    });
  return { interpolation, monotone: { anchor: rises(anchor), test: rises(test) } };
}

/** @throws {AnyvmafError} `usage` for numbers so far apart that doubles do not hold their difference */
function finite(result: BdResult): BdResult {
  if (Number.isFinite(result.value)) return result;
  throw usageError(
    'anchor and test are too far apart to compare; check the units of their rates and qualities.',
  );
}
