/**
 * @module report/bd-rate
 * Bjontegaard deltas: the average distance between two rate-quality curves, as rate or as quality.
 */
import { isReadable, oneOf, requireObject, wrongType } from '../core/arguments.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import { counted } from '../core/printable.js';
import { fitting, list, number, positive } from '../core/shapes.js';

/** One encode: its quality and its rate, as either `kbps` or `bytes`. */
export interface RatePoint {
  /** Kilobits per second, above 0. */
  readonly kbps?: number;
  /** Size in bytes, above 0. All encodes must have the same duration. */
  readonly bytes?: number;
  /** A higher-is-better score such as VMAF or PSNR. */
  readonly quality: number;
}

export interface BdOptions {
  /**
   * Interpolation between points. `pchip` (default): monotone cubic pieces, from 2 points on. `akima`: cubic
   * pieces that bend least, from 2 points on. `cubic`: one polynomial of degree 3 as in VCEG-M33, from 4 points
   * on; may turn between points.
   */
  readonly interpolation?: Interpolation;
  /** Qualities to average over; for {@link bdQuality}, the anchor's rates at them. Default: the common range. */
  readonly between?: Limits | undefined;
  /** Rates to average over, in the points' unit; for {@link bdRate}, the anchor's qualities at them. Default: all. */
  readonly rates?: Limits | undefined;
}

interface Limits {
  readonly min: number;
  readonly max: number;
}

/** Result of {@link bdRate} or {@link bdQuality}. */
export interface BdResult {
  /** {@link bdRate}: percent of the anchor's rate, negative if the test needs less. {@link bdQuality}: in its unit. */
  readonly value: number;
  readonly interpolation: Interpolation;
  /** Range averaged over: quality for {@link bdRate}, rate in the points' unit for {@link bdQuality}. */
  readonly range: { readonly from: number; readonly to: number };
  /** Part of the shorter curve that both cover, above 0 to 1. A small overlap makes the value unreliable. */
  readonly overlap: number;
  /**
   * Whether quality rises with rate from point to point. If not, some encode costs more than another and is no
   * better, and the curve runs through it. Of several points at one place, the better one counts.
   */
  readonly monotone: { readonly anchor: boolean; readonly test: boolean };
}

type RatePoints = readonly RatePoint[];

/** See the public `bdRate`. */
export function bdRate(anchor: RatePoints, test: RatePoints, options: BdOptions = {}): BdResult {
  const pair = readPair(anchor, test, options);
  const within = common(pair.between, pair.rates && onAnchor(pair, byRate, pair.unit, pair.rates));
  const { mean, from, to, overlap } = compare(pair, byQuality, 'quality', (at) => at, within);
  return finite({ value: Math.expm1(mean) * 100, range: { from, to }, overlap, ...curveFacts(pair) });
}

/** See the public `bdQuality`. */
export function bdQuality(anchor: RatePoints, test: RatePoints, options: BdOptions = {}): BdResult {
  const pair = readPair(anchor, test, options);
  const within = common(pair.rates, pair.between && onAnchor(pair, byQuality, 'quality', pair.between));
  const { mean, from, to, overlap } = compare(pair, byRate, pair.unit, Math.exp, within);
  return finite({ value: mean, range: { from, to }, overlap, ...curveFacts(pair) });
}

type Unit = 'kbps' | 'bytes';
type Axis = 'quality' | Unit;
type Side = 'anchor' | 'test';

interface Point {
  readonly rate: number;
  readonly quality: number;
}

/** Checked curves; points sorted by rate. */
interface Pair {
  readonly anchor: readonly Point[];
  readonly test: readonly Point[];
  readonly unit: Unit;
  readonly interpolation: Interpolation;
  readonly between: Limits | undefined;
  /** Natural logarithms. */
  readonly rates: Limits | undefined;
}

/** Of points with the same `x`, the one with the greatest `better` counts. */
type Placed = readonly [x: number, y: number, better: number];

const byQuality = ({ rate, quality }: Point): Placed => [quality, Math.log(rate), -rate];
const byRate = ({ rate, quality }: Point): Placed => [Math.log(rate), quality, quality];

function readPair(anchor: unknown, test: unknown, options: BdOptions): Pair {
  requireObject('options', options);
  const { between, rates } = options;
  for (const [name, limits, example] of [
    ['between', between, '{ min: 60, max: 97 }'],
    ['rates', rates, '{ min: 500, max: 4000 }'],
  ] as const)
    if (limits !== undefined && !(isReadable(limits) && limits.min <= limits.max))
      throw wrongType(`options.${name}`, limits, `an object such as ${example}`);
  const interpolation = oneOf('options.interpolation', options.interpolation ?? 'pchip', INTERPOLATIONS);
  const given = { anchor: points('anchor', anchor), test: points('test', test) };
  const unit = unitOf([...given.anchor, ...given.test]);
  const read = (side: Side): Point[] =>
    given[side]
      .map((point, i) => readPoint(`${side}[${i}]`, point, unit))
      .sort((a, b) => a.rate - b.rate || a.quality - b.quality);
  const logarithms = rates && { min: Math.log(Math.max(rates.min, 0)), max: Math.log(rates.max) };
  return { anchor: read('anchor'), test: read('test'), unit, interpolation, between, rates: logarithms };
}

const points = list(
  fitting<Record<string, unknown>>('an object { kbps, quality } or { bytes, quality }', isReadable),
  'an array of { kbps, quality } or { bytes, quality }',
);

function unitOf(points: readonly Record<string, unknown>[]): Unit {
  const has = (unit: Unit) => points.every((point) => point[unit] !== undefined);
  if (has('kbps')) return 'kbps';
  if (has('bytes')) return 'bytes';
  throw usageError(
    'points of anchor and test need the same kind of rate: give every point kbps, or every point bytes.',
  );
}

function readPoint(name: string, point: Record<string, unknown>, unit: Unit): Point {
  const rate = positive(`${name}.${unit}`, point[unit]);
  return { rate, quality: number(`${name}.quality`, point.quality) };
}

/** Sorted by x, one point per x. */
function ascending(points: readonly Placed[]): Placed[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || b[2] - a[2]);
  return sorted.filter(([x], i) => x !== sorted[i - 1]?.[0]);
}

/** @param shown converts x to the unit of `along` */
function compare(
  pair: Pair,
  place: (point: Point) => Placed,
  along: Axis,
  shown: (at: number) => number,
  { min, max }: Limits,
) {
  const curve = (side: Side): Curve => {
    const whole = curveOf(side, ascending(pair[side].map(place)), pair.interpolation, along);
    return { ...whole, low: Math.max(whole.low, min), high: Math.min(whole.high, max) };
  };
  const [anchor, test] = [curve('anchor'), curve('test')];
  const from = Math.max(anchor.low, test.low);
  const to = Math.min(anchor.high, test.high);
  if (!(to > from)) {
    const span = ({ low, high }: Curve) =>
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

/** Maps a range through the anchor's curve; infinite where the range exceeds the curve. */
function onAnchor(
  { anchor, interpolation }: Pair,
  place: (point: Point) => Placed,
  along: Axis,
  { min, max }: Limits,
): Limits {
  const curve = curveOf('anchor', ascending(anchor.map(place)), interpolation, along);
  const { low, high } = curve;
  return {
    min: min <= low ? Number.NEGATIVE_INFINITY : curve.at(Math.min(high, min)),
    max: max >= high ? Number.POSITIVE_INFINITY : curve.at(Math.max(low, max)),
  };
}

/** Intersection of ranges; a missing range limits nothing. */
function common(...ranges: readonly (Limits | undefined)[]): Limits {
  return {
    min: Math.max(...ranges.map((range) => range?.min ?? Number.NEGATIVE_INFINITY)),
    max: Math.min(...ranges.map((range) => range?.max ?? Number.POSITIVE_INFINITY)),
  };
}

/** Log of rate over quality, as {@link bdRate} interpolates it. Needs two points of different quality. */
export function rateCurve(points: readonly Point[]): Curve {
  return curveOf('test', ascending(points.map(byQuality)), 'pchip', 'quality');
}

function curveOf(side: Side, points: readonly Placed[], interpolation: Interpolation, along: Axis): Curve {
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

function curveFacts({ anchor, test, interpolation }: Pair): Pick<BdResult, 'interpolation' | 'monotone'> {
  const rises = (points: readonly Point[]) =>
    points.every(({ rate, quality }, i) => {
      const before = points[i - 1];
      return !before || (rate > before.rate && quality > before.quality);
    });
  return { interpolation, monotone: { anchor: rises(anchor), test: rises(test) } };
}

/** @throws {AnyvmafError} `usage` if the difference overflows a double */
function finite(result: BdResult): BdResult {
  if (Number.isFinite(result.value)) return result;
  throw usageError(
    'anchor and test are too far apart to compare; check the units of their rates and qualities.',
  );
}

export const INTERPOLATIONS = ['pchip', 'akima', 'cubic'] as const;
export type Interpolation = (typeof INTERPOLATIONS)[number];

const FEWEST_POINTS: Readonly<Record<Interpolation, number>> = { pchip: 2, akima: 2, cubic: 4 };

/** A polynomial of degree 3 at most between neighbouring knots. */
export interface Curve {
  readonly low: number;
  readonly high: number;
  /** Ascending. */
  readonly knots: readonly number[];
  at(x: number): number;
}

/** @param x strictly ascending */
export function curveThrough(x: readonly number[], y: readonly number[], how: Interpolation): Curve {
  if (how === 'cubic') return leastSquares(x, y);
  return hermite(x, y, how === 'pchip' ? monotoneSlopes(x, y) : akimaSlopes(x, y));
}

/** Mean of `b - a` over `from..to`, which lies within both. Exact, because both are cubic between knots. */
function meanDifference(a: Curve, b: Curve, from: number, to: number): number {
  const inner = [...a.knots, ...b.knots].filter((knot) => knot > from && knot < to);
  const cuts = [from, ...inner.sort((p, q) => p - q), to];
  // Two-point Gauss quadrature is exact up to degree 3.
  const reach = 1 / Math.sqrt(3);
  let sum = 0;
  for (let i = 1; i < cuts.length; i++) {
    const half = (cuts[i]! - cuts[i - 1]!) / 2;
    const middle = cuts[i - 1]! + half;
    for (const at of [middle - half * reach, middle + half * reach]) sum += half * (b.at(at) - a.at(at));
  }
  return sum / (to - from);
}

function hermite(x: readonly number[], y: readonly number[], slopes: readonly number[]): Curve {
  return {
    low: x[0]!,
    high: x.at(-1)!,
    knots: x,
    at(at) {
      let i = 0;
      while (i < x.length - 2 && at > x[i + 1]!) i++;
      const width = x[i + 1]! - x[i]!;
      const t = (at - x[i]!) / width;
      const rise = y[i + 1]! - y[i]!;
      const first = width * slopes[i]! - rise;
      const second = rise - width * slopes[i + 1]!;
      return y[i]! + t * rise + t * (1 - t) * (first * (1 - t) + second * t);
    },
  };
}

/** Slopes between neighbouring points. */
function chords(x: readonly number[], y: readonly number[]): number[] {
  return x.slice(1).map((to, i) => (y[i + 1]! - y[i]!) / (to - x[i]!));
}

/** Slopes after Fritsch and Butland (1984): a curve through rising points never falls. */
function monotoneSlopes(x: readonly number[], y: readonly number[]): number[] {
  const chord = chords(x, y);
  if (chord.length === 1) return [chord[0]!, chord[0]!];
  const widths = x.slice(1).map((to, i) => to - x[i]!);
  const slopes = chord.slice(1).map((right, i) => {
    const left = chord[i]!;
    if (left * right <= 0) return 0;
    const before = widths[i + 1]! * 2 + widths[i]!;
    const after = widths[i + 1]! + widths[i]! * 2;
    return (before + after) / (before / left + after / right);
  });
  const last = chord.length - 1;
  return [
    endSlope(widths[0]!, widths[1]!, chord[0]!, chord[1]!),
    ...slopes,
    endSlope(widths[last]!, widths[last - 1]!, chord[last]!, chord[last - 1]!),
  ];
}

/** End slope from three points, limited where the curve would turn. */
function endSlope(width: number, next: number, chord: number, nextChord: number): number {
  const slope = ((2 * width + next) * chord - width * nextChord) / (width + next);
  if (slope * chord <= 0) return 0;
  return chord * nextChord < 0 && Math.abs(slope) > Math.abs(3 * chord) ? 3 * chord : slope;
}

/** Slopes after Akima (1970): mean of the chords beside a point, weighted towards the one that bends less. */
function akimaSlopes(x: readonly number[], y: readonly number[]): number[] {
  const chord = chords(x, y);
  if (chord.length === 1) return [chord[0]!, chord[0]!];
  // Two more chords at each end, from the parabola through the last three points.
  const [first, second] = [chord[0]!, chord[1]!];
  const [last, prior] = [chord.at(-1)!, chord.at(-2)!];
  const all = [3 * first - 2 * second, 2 * first - second, ...chord, 2 * last - prior, 3 * last - 2 * prior];
  const bends = all.slice(1).map((slope, i) => Math.abs(slope - all[i]!));
  const straight = 1e-9 * Math.max(...bends.slice(2).map((bend, i) => bend + bends[i]!));
  return x.map((_, i) => {
    const [right, left] = [bends[i + 2]!, bends[i]!];
    if (right + left <= straight) return (all[i + 1]! + all[i + 2]!) / 2;
    return (right * all[i + 1]! + left * all[i + 2]!) / (right + left);
  });
}

/**
 * Least-squares polynomial of degree 3, which passes through all points if there are four. A sum of polynomials
 * orthogonal over the points, so no system of equations is solved.
 */
function leastSquares(x: readonly number[], y: readonly number[]): Curve {
  const basis: { readonly shift: number; readonly back: number; readonly weight: number }[] = [];
  let rest = [...y];
  let before = x.map(() => 0);
  let values = x.map(() => 1);
  let normBefore = 1;
  for (let degree = 0; degree <= 3; degree++) {
    const norm = dot(values, values);
    const weight = dot(rest, values) / norm;
    const [of, previous] = [values, before];
    const shift =
      dot(
        of.map((value, i) => value * x[i]!),
        of,
      ) / norm;
    const back = degree === 0 ? 0 : norm / normBefore;
    basis.push({ shift, back, weight });
    rest = rest.map((value, i) => value - weight * of[i]!);
    values = of.map((value, i) => (x[i]! - shift) * value - back * previous[i]!);
    before = of;
    normBefore = norm;
  }
  return {
    low: x[0]!,
    high: x.at(-1)!,
    knots: [],
    at(at) {
      let [sum, last, value] = [0, 0, 1];
      for (const { shift, back, weight } of basis) {
        sum += weight * value;
        [last, value] = [value, (at - shift) * value - back * last];
      }
      return sum;
    },
  };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** Pareto dominance: no worse in both, better in one. */
export function dominates(
  a: { readonly good: number; readonly bytes: number },
  b: { readonly good: number; readonly bytes: number },
): boolean {
  return a.good >= b.good && a.bytes <= b.bytes && (a.good > b.good || a.bytes < b.bytes);
}

/** The result, or the message of the refusal, such as curves without a common range. */
export function unlessRefused(compare: () => BdResult): BdResult | string {
  try {
    return compare();
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    return error.message;
  }
}
