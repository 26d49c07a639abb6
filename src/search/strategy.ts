/**
 * @module search/strategy
 * Chooses from known points alone, without side effects: the next value to encode, and where each rate-quality curve is
 * the best.
 */
import { type Curve, curveThrough } from '../report/bd-rate.js';

export interface Grid {
  /** From the best picture to the smallest file. */
  readonly values: readonly number[];
  /** Index in {@link values} to begin with when nothing is known. */
  readonly start: number;
  /** Approximate cost of a grid step, in units of the target; a first guess. */
  readonly slope: number;
  /** Largest possible margin on a scale that ends at 100, where curves are flat near it and steep far from it. */
  readonly ceiling?: number;
}

/** Index of the value nearest to `wanted`; the first of two equally near. */
export function indexNear(values: readonly number[], wanted: number): number {
  const distances = values.map((value) => Math.abs(value - wanted));
  return distances.indexOf(Math.min(...distances));
}

/** From the best picture to the smallest file; drops points off the grid. */
export function byGrid<Point extends { readonly value: number }>(
  points: readonly Point[],
  { values }: Grid,
): readonly Point[] {
  const place = ({ value }: Point) => values.indexOf(value);
  return points.filter((point) => place(point) >= 0).sort((a, b) => place(a) - place(b));
}

/** Quality points by which a curve must rise to count as not monotone. */
const RISE = 0.05;

/** Values that score better than the finer value before them. */
export function rises(
  points: readonly { readonly value: number; readonly quality: number }[],
): readonly number[] {
  return points.flatMap(({ value, quality }, i) =>
    quality > (points[i - 1]?.quality ?? quality) + RISE ? [value] : [],
  );
}

export interface CurvePoint {
  readonly value: number;
  /** Distance of the result above the target; negative if it misses it. */
  readonly margin: number;
}

type NextStep =
  | { readonly kind: 'try'; readonly value: number }
  /** It reaches the target, and the next value probably does not. */
  | { readonly kind: 'found'; readonly value: number }
  /** No value reaches the target; this one is closest. */
  | { readonly kind: 'missed'; readonly value: number };

/** Accepted probability, when a search ends, that a value beyond the next one still reaches the target. */
const RISK = 0.03;
/** Weight of a place as the answer while no place after it is known to fail. */
const OPEN = 0.6;
/** Distance within which places hold or fail independently. */
const APART = 5;
/** Margins beyond this are compressed, since they say little about the curve near the target. */
const STRAIGHT = 4;
/** Fraction of a step's cost below which a failure is narrow. */
const NARROW = 0.6;
/** Encodes after which a search ends with its best point, except for one last step. */
const MOST_ENCODES = 7;
/** Known points, including the best picture, which must all fail before the target counts as missed. */
const ENOUGH_FAILING = 4;
/** Target that {@link Grid.start} is meant for. */
const USUAL_TARGET = 95;
/** Score at which a curve that ends at 100 has the grid's slope. */
const SLOPE_AT = 88;

/** Largest margin that counts: metrics of lossless pictures may be infinite. */
const MOST_MARGIN = 1000;

interface Known {
  readonly at: number;
  readonly margin: number;
}

/**
 * The next value to measure, never the same twice.
 * @param points in any order, each value once; those off the grid are ignored
 * @param encodes points that this search encoded itself
 */
export function nextStep(
  points: readonly CurvePoint[],
  grid: Grid,
  encodes: number = points.length,
): NextStep {
  const known = points
    .map(({ value, margin }) => ({ at: grid.values.indexOf(value), margin: Math.min(margin, MOST_MARGIN) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const height = heightOf(grid);
  const prior: CurvePrior = { crossing: crossingOf(grid), slope: grid.slope };
  const last = grid.values.length - 1;
  if (known.length === 0) return propose(grid, prior.crossing);
  const best = known.filter(({ margin }) => margin >= 0).at(-1);
  if (best?.at === last) return found(grid, best);
  const measured = new Set(known.map(({ at }) => at));
  if (measured.size > last) return best ? found(grid, best) : missed(grid, known);
  const samples = known.map(({ at, margin }) => ({ at, height: height(margin) }));
  const hold = chances(samples, grid.values.length, prior, best?.at ?? 0);
  const ends = noneBeyond(hold);
  const closed = !best || hold[best.at + 1] === 0 || hold[best.at + 2] === 0;
  if (!best && measured.has(0) && known.length >= ENOUGH_FAILING) return missed(grid, known);
  if (!best && encodes >= MOST_ENCODES) return propose(grid, 0);
  if (best && encodes >= MOST_ENCODES) return lastStep(grid, best, hold, encodes);
  if (best?.at === last - 1 && (hold[last] as number) > 0.5 && !measured.has(last))
    return propose(grid, last);
  const done = !closed ? 0 : best ? (ends[best.at + 2] as number) : measured.has(0) ? (ends[0] as number) : 0;
  if (done >= 1 - RISK) {
    const next = best && beyondNarrow(known, best, grid);
    if (next !== undefined && encodes < MOST_ENCODES) return propose(grid, next);
    return best ? lastStep(grid, best, hold, encodes) : missed(grid, known);
  }
  return propose(grid, mostTelling(hold, ends, measured, best?.at));
}

/** Tries the only place between success and failure if it may still hold: an encode costs less than extra bytes. */
function lastStep(grid: Grid, best: Known, hold: Float64Array, encodes: number): NextStep {
  const next = best.at + 1;
  const open = hold[next + 1] === 0 && (hold[next] as number) > RISK && encodes <= MOST_ENCODES;
  return open ? propose(grid, next) : found(grid, best);
}

/** The place after a failure that is narrow enough to be roughness of the curve, unless it is already measured. */
function beyondNarrow(known: readonly Known[], best: Known, { slope, values }: Grid): number | undefined {
  const failing = known.filter(({ at }) => at > best.at);
  const [first] = failing;
  if (!first || -first.margin > slope * NARROW || first.at + 1 >= values.length) return undefined;
  return failing.some(({ at }) => at === first.at + 1) ? undefined : first.at + 1;
}

/** The place whose encode most likely ends the search. */
function mostTelling(
  hold: Float64Array,
  ends: Float64Array,
  measured: ReadonlySet<number>,
  best: number | undefined,
): number {
  let [telling, most] = [-1, -1];
  const stay = best === undefined ? 0 : (ends[best + 2] as number);
  const fails = (at: number) => measured.has(at) && hold[at] === 0;
  const closed = (from: number) => fails(from + 1) || fails(from + 2);
  for (let at = (best ?? -1) + 1; at < hold.length; at++) {
    if (measured.has(at)) continue;
    const chance = hold[at] as number;
    // If it fails, the best so far stands; `stay` includes that chance, except for the place right after the best.
    const left = best !== undefined && at > best + 1 ? 1 : 1 - chance;
    const closes = best !== undefined && (at <= best + 2 || closed(best));
    const value =
      chance * (ends[at + 2] as number) * (closed(at) ? 1 : OPEN) + left * stay * (closes ? 1 : OPEN);
    if (value > most) [telling, most] = [at, value];
  }
  // If nothing is likely to hold, the best picture decides; if the last value may well hold, it leaves nothing open.
  if (best === undefined && most < 1e-3 && !measured.has(0)) return 0;
  const last = hold.length - 1;
  return telling === last - 1 && !measured.has(last) && (hold[last] as number) > 0.5 ? last : telling;
}

/** Probability that no place from each on holds. Near ones are independent, as curves are rough; far ones share one. */
function noneBeyond(hold: Float64Array): Float64Array {
  const out = new Float64Array(hold.length + 3).fill(1);
  let far = 0;
  for (let at = hold.length - 1; at >= 0; at--) {
    far = Math.max(far, hold[at + APART] ?? 0);
    let near = 1;
    for (const chance of hold.subarray(at, at + APART)) near *= 1 - chance;
    out[at] = near * (1 - far);
  }
  return out;
}

/** Converts margins to a unit in which curves are nearly straight. */
function heightOf({ ceiling }: Grid): (margin: number) => number {
  if (ceiling === undefined) return (margin) => STRAIGHT * Math.asinh(margin / STRAIGHT);
  const unit = (SLOPE_AT * (100 - SLOPE_AT)) / 100;
  const target = logit(100 - ceiling);
  return (margin) => unit * (logit(100 - ceiling + margin) - target);
}

function crossingOf(grid: Grid): number {
  const { start, ceiling, slope, values } = grid;
  if (ceiling === undefined) return start;
  const expected = start + heightOf(grid)(USUAL_TARGET - 100 + ceiling) / slope;
  return Math.max(0, Math.min(values.length - 1, Math.round(expected)));
}

function logit(score: number): number {
  const share = Math.max(0.01, Math.min(0.999, score / 100));
  return Math.log(share / (1 - share));
}

function propose(grid: Grid, at: number): NextStep {
  return { kind: 'try', value: valueAt(grid, at) };
}

function found(grid: Grid, { at }: Known): NextStep {
  return { kind: 'found', value: valueAt(grid, at) };
}

function missed(grid: Grid, known: readonly Known[]): NextStep {
  const nearest = known.reduce((a, b) => (b.margin > a.margin ? b : a));
  return { kind: 'missed', value: valueAt(grid, nearest.at) };
}

function valueAt({ values }: Grid, at: number): number {
  const value = values[Math.max(0, Math.min(values.length - 1, at))];
  if (value === undefined) throw new RangeError('the grid of a search is empty');
  return value;
}

interface CurveSample {
  readonly at: number;
  readonly height: number;
}

/** Prior: the place where a curve should cross the target, and the cost of a step. */
interface CurvePrior {
  readonly crossing: number;
  readonly slope: number;
}

/** Standard deviations of the prior: of the crossing, in steps of average slope, and of the slope, relative to it. */
const CROSSING_SPREAD = 18;
const SLOPE_SPREAD = 0.65;
/** Bends: units by which a curve leaves its line, and the units of fall over which it does. */
const BEND = 2;
const BEND_LENGTH = 12;
/** Deviations of values from the smooth curve, in units, with their prior weights. */
const ROUGHNESS = [
  { noise: 0.06, weight: 0.45 },
  { noise: 0.22, weight: 0.4 },
  { noise: 0.8, weight: 0.15 },
] as const;
/** Relative error of a height: points far from the target say little about the curve near it. */
const FAR_OFF = 0.1;
/** Points used, those nearest to the target. */
const MOST_POINTS = 12;

/**
 * Probability that each place holds the target, by Gaussian process regression; 0 or 1 where measured.
 * @param points at least one, each place once
 * @param from first place to compute; those before it stay 1
 */
function chances(points: readonly CurveSample[], count: number, prior: CurvePrior, from = 0): Float64Array {
  const near = points.toSorted((a, b) => Math.abs(a.height) - Math.abs(b.height)).slice(0, MOST_POINTS);
  const kernel = kernelOf(prior);
  const meanAt = (at: number) => (prior.crossing - at) * prior.slope;
  const fits = ROUGHNESS.map(({ noise, weight }) => explain(near, kernel, meanAt, noise, weight));
  const most = Math.max(...fits.map(({ evidence }) => evidence));
  const weights = fits.map(({ evidence }) => Math.exp(evidence - most));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const out = new Float64Array(count).fill(1);
  for (let at = from; at < count; at++) {
    let chance = 0;
    for (const [i, { noise, predict }] of fits.entries()) {
      const { mean, variance } = predict(at);
      chance += ((weights[i] as number) / all) * normal(mean / Math.sqrt(variance + noise ** 2));
    }
    out[at] = chance;
  }
  for (const { at, height } of points) out[at] = height >= 0 ? 1 : 0;
  return out;
}

type Kernel = (a: number, b: number) => number;

function kernelOf({ crossing, slope }: CurvePrior): Kernel {
  const offset = (CROSSING_SPREAD * slope) ** 2;
  const tilt = (SLOPE_SPREAD * slope) ** 2;
  const length = BEND_LENGTH / slope;
  return (a, b) =>
    offset + tilt * (a - crossing) * (b - crossing) + BEND ** 2 * Math.exp(-0.5 * ((a - b) / length) ** 2);
}

/** Fits a Gaussian process to points; `evidence` is its weighted log likelihood, up to a constant. */
function explain(
  points: readonly CurveSample[],
  kernel: Kernel,
  meanAt: (at: number) => number,
  noise: number,
  weight: number,
) {
  const factor = cholesky(
    points.map(({ at, height }, i) =>
      points.map((other, j) => kernel(at, other.at) + (i === j ? noise ** 2 + (height * FAR_OFF) ** 2 : 0)),
    ),
  );
  const deviations = points.map(({ at, height }) => height - meanAt(at));
  const rest = forward(factor, deviations);
  const square = rest.reduce((sum, value) => sum + value * value, 0);
  const size = factor.reduce((sum, row, i) => sum + Math.log(row[i] as number), 0);
  const predict = (at: number) => {
    const link = forward(
      factor,
      points.map((point) => kernel(at, point.at)),
    );
    return {
      mean: link.reduce((sum, value, i) => sum + value * (rest[i] as number), meanAt(at)),
      variance: Math.max(
        0,
        link.reduce((left, value) => left - value * value, kernel(at, at)),
      ),
    };
  };
  return { noise, evidence: Math.log(weight) - square / 2 - size, predict };
}

/** The lower triangle whose product with its transpose is the matrix. */
function cholesky(matrix: readonly (readonly number[])[]): number[][] {
  const out: number[][] = [];
  for (const [i, row] of matrix.entries()) {
    const line = forward(out, row);
    const rest = line.reduce((left, value) => left - value * value, row[i] as number);
    out.push([...line, Math.sqrt(Math.max(1e-9, rest))]);
  }
  return out;
}

/** Solves a lower triangle for a right side, row by row. */
function forward(factor: readonly (readonly number[])[], right: readonly number[]): number[] {
  const out: number[] = [];
  factor.forEach((row, i) => {
    let sum = right[i] as number;
    for (let k = 0; k < i; k++) sum -= (row[k] as number) * (out[k] as number);
    out.push(sum / (row[i] as number));
  });
  return out;
}

/** Standard normal distribution function, to 1e-7 (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    0.3989422804014327 *
    Math.exp((-z * z) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}

export interface RateQuality {
  /** Kilobits per second, above 0. */
  readonly kbps: number;
  readonly quality: number;
}

/** Upper left corners of the convex hull of quality over rate, by rate: no mixture of other points beats them. */
export function convexHull<Point extends RateQuality>(points: readonly Point[]): readonly Point[] {
  const hull: Point[] = [];
  for (const point of points.toSorted(byRate)) {
    const last = hull.at(-1);
    // It costs at least as much and is no better.
    if (last && point.quality <= last.quality) continue;
    while (hull.length > 1 && !bends(hull.at(-2) as Point, hull.at(-1) as Point, point)) hull.pop();
    hull.push(point);
  }
  return hull;
}

/** Of one rate, the best first. */
function byRate(a: RateQuality, b: RateQuality): number {
  return a.kbps - b.kbps || b.quality - a.quality;
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
  const upward: (RateQuality & { readonly value: number })[] = [];
  for (const point of points.toSorted(byRate)) {
    const last = upward.at(-1);
    if (!last || (point.quality > last.quality && point.kbps > last.kbps)) upward.push(point);
  }
  const [low] = upward;
  const high = upward.at(-1);
  if (!low || !high || low === high) return undefined;
  const rates = upward.map(({ kbps }) => Math.log(kbps));
  const qualities = upward.map(({ quality }) => quality);
  const values = upward.map((point) => point.value);
  const quality = curveThrough(rates, qualities, 'pchip');
  const value = curveThrough(rates, values, 'pchip');
  return {
    low,
    high,
    qualityAt: (kbps) => within(quality, Math.log(kbps)),
    // The logarithm's rounding must not lead beyond the ends.
    kbpsAt: (wanted) => Math.min(high.kbps, Math.max(low.kbps, Math.exp(placeOf(quality, wanted)))),
    valueAt: (kbps) => within(value, Math.log(kbps)),
  };
}

function within(curve: Curve, at: number): number {
  return curve.at(Math.min(curve.high, Math.max(curve.low, at)));
}

/** Inverts a rising curve, to double precision. */
function placeOf(curve: Curve, wanted: number): number {
  return bisect(curve.low, curve.high, 60, (place) => curve.at(place) >= wanted);
}

/** The first place where `holds`, which stays true after it; `high` if it holds nowhere before. */
function bisect(low: number, high: number, halvings: number, holds: (place: number) => boolean): number {
  for (let i = 0; i < halvings; i++) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
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
  return items.toSorted(order)[0];
}

/** The rate at a share of the way in the logarithm; at 0, exactly the first. */
export function rateBetween(from: number, until: number, share: number): number {
  return from * (until / from) ** share;
}

/** Rates at which to sample the best curve. */
const LOOKS = 512;

/** Where the best curve changes, by rate, starting at the lowest rate of any curve; a curve may recur. */
export function takeovers<Name>(curves: Curves<Name>): readonly Choice<Name>[] {
  const low = Math.min(...curves.map(([, curve]) => curve.low.kbps));
  const high = Math.max(...curves.map(([, curve]) => curve.high.kbps));
  const at = (share: number) => bestAt(curves, rateBetween(low, high, share));
  const found: Choice<Name>[] = [];
  let before = 0;
  for (let i = 0; i <= LOOKS; i++) {
    const place = i / LOOKS;
    const leader = at(place);
    if (leader && leader.name !== found.at(-1)?.name) {
      const from = found.length === 0 ? place : before;
      const change = bisect(from, place, 50, (between) => at(between)?.name === leader.name);
      found.push({ ...(at(change) ?? leader), kbps: rateBetween(low, high, change) });
    }
    before = place;
  }
  return found;
}
