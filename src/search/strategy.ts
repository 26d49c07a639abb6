/**
 * @module search/strategy
 * Chooses which value of a rate control parameter to encode next, from all that is known of the curve so far: points of an
 * earlier search count like its own. Pure.
 */

/** The values that a search may choose from. */
export interface Grid {
  /** From the best picture to the smallest file. */
  readonly values: readonly number[];
  /** Where to begin when nothing is known: an index of {@link values}. */
  readonly start: number;
  /** What a step of the grid costs about, in units of the target; a first guess. */
  readonly slope: number;
  /** The largest margin that there can be, where the scale ends at 100: curves are flat near it, and steep far from it. */
  readonly ceiling?: number;
}

/** Points that are on a grid, from the best picture to the smallest file. */
export function byGrid<Point extends { readonly value: number }>(
  points: readonly Point[],
  { values }: Grid,
): readonly Point[] {
  const place = ({ value }: Point) => values.indexOf(value);
  return points.filter((point) => place(point) >= 0).sort((a, b) => place(a) - place(b));
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

/** A value that was encoded and scored. */
export interface CurvePoint {
  readonly value: number;
  /** How far the result is above the target; negative where it misses it. */
  readonly margin: number;
}

/** What to do next. */
export type NextStep =
  | { readonly kind: 'try'; readonly value: number }
  /** It holds the target, and the next value is not likely to. */
  | { readonly kind: 'found'; readonly value: number }
  /** No value holds the target; this one misses it by least. */
  | { readonly kind: 'missed'; readonly value: number };

/** How likely a value beyond the next one may still hold the target when a search ends. */
const RISK = 0.03;
/** What a place is worth as an answer while none after it is known to fail. */
const OPEN = 0.6;
/** Places within which each counts by itself. */
const APART = 5;
/** Margins up to which other scales are taken as they are; what is far off tells little more than that. */
const STRAIGHT = 4;
/** Share of a step's cost by which a failure is narrow. */
const NARROW = 0.6;
/** Encodes after which a search ends with what it has, but for the last step. */
const MOST_ENCODES = 7;
/** Points, the best picture's among them, that all fail before nothing is said to hold. */
const ENOUGH_FAILING = 4;
/** The target that {@link Grid.start} is meant for. */
const USUAL_TARGET = 95;
/** Where the slope of a curve that ends at 100 is the grid's. */
const SLOPE_AT = 88;

/** A point by its place on the grid. */
interface Known {
  readonly at: number;
  readonly margin: number;
}

/**
 * The next value to measure, never one twice.
 * @param points what is known, in any order, each value once; those that are not on the grid are passed over
 * @param encodes points that this search has encoded; the others were known before
 */
export function nextStep(
  points: readonly CurvePoint[],
  grid: Grid,
  encodes: number = points.length,
): NextStep {
  const known = points
    .map(({ value, margin }) => ({ at: grid.values.indexOf(value), margin }))
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
  const hold = chances(
    known.map(({ at, margin }) => ({ at, height: height(margin) })),
    grid.values.length,
    prior,
    best ? best.at : 0,
  );
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

/** Between what holds and what fails there is no place left that may well hold: an encode costs less than its bytes. */
function lastStep(grid: Grid, best: Known, hold: Float64Array, encodes: number): NextStep {
  const next = best.at + 1;
  const open = hold[next + 1] === 0 && (hold[next] as number) > RISK && encodes <= MOST_ENCODES;
  return open ? propose(grid, next) : found(grid, best);
}

/** The place after a failure that is as small as a curve's roughness, where that is not known. */
function beyondNarrow(known: readonly Known[], best: Known, { slope, values }: Grid): number | undefined {
  const failing = known.filter(({ at }) => at > best.at);
  const [first] = failing;
  if (!first || -first.margin > slope * NARROW || first.at + 1 >= values.length) return undefined;
  return failing.some(({ at }) => at === first.at + 1) ? undefined : first.at + 1;
}

/** The place after whose encode the search most likely ends. */
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
    // Where it fails, what was found before stays, and its own chance is gone.
    const left = best !== undefined && at > best + 1 ? 1 : 1 - chance;
    const closes = best !== undefined && (at <= best + 2 || closed(best));
    const value =
      chance * (ends[at + 2] as number) * (closed(at) ? 1 : OPEN) + left * stay * (closes ? 1 : OPEN);
    if (value > most) [telling, most] = [at, value];
  }
  // Nothing is likely to hold: the best picture tells. Nor does the last value leave a doubt where it may well hold.
  if (best === undefined && most < 1e-3 && !measured.has(0)) return 0;
  const last = hold.length - 1;
  return telling === last - 1 && !measured.has(last) && (hold[last] as number) > 0.5 ? last : telling;
}

/**
 * How likely no place from each on holds. Neighbours hold by chances of their own, as curves are rough; places farther on
 * share one: whether the curve is as flat as that.
 */
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

/** Margins in a unit in which curves are nearly straight. */
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

/** Of a score from 0 to 100. */
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

/** A measured point of a curve. */
export interface CurveSample {
  /** Place on the grid. */
  readonly at: number;
  /** Height above the target. */
  readonly height: number;
}

/** What is expected of a curve before anything is measured; heights are in one unit, places in steps. */
export interface CurvePrior {
  /** Where it is expected to cross the target. */
  readonly crossing: number;
  /** How much a step is expected to cost. */
  readonly slope: number;
}

/** Standard deviations of the prior: of the crossing in steps of average slope, and of the slope relative to it. */
const CROSSING_SPREAD = 18;
const SLOPE_SPREAD = 0.65;
/** Bends: by how many units a curve leaves its line, and over how many units of fall it does so. */
const BEND = 2;
const BEND_LENGTH = 12;
/** How far values leave the smooth curve, in units, and how likely each is beforehand. */
const ROUGHNESS = [
  { noise: 0.06, weight: 0.45 },
  { noise: 0.22, weight: 0.4 },
  { noise: 0.8, weight: 0.15 },
] as const;
/** By what share of its height a point may be off: what is far from the target says little of the curve near it. */
const FAR_OFF = 0.1;
/** Points far from the target say nothing more about it. */
const MOST_POINTS = 12;

/**
 * How likely each of a grid's places holds the target.
 * @param points at least one, each place once
 * @param count places of the grid
 * @param from the first place that is asked for; those before it are left at 1
 * @returns probabilities from 0 to 1 by place; of measured ones what was measured
 */
function chances(points: readonly CurveSample[], count: number, prior: CurvePrior, from = 0): Float64Array {
  const near = points.toSorted((a, b) => Math.abs(a.height) - Math.abs(b.height)).slice(0, MOST_POINTS);
  const kernel = kernelOf(prior);
  const meanAt = (at: number) => (prior.crossing - at) * prior.slope;
  const fits = ROUGHNESS.map(({ noise, weight }) => ({
    noise,
    ...explain(near, kernel, meanAt, noise, weight),
  }));
  const most = Math.max(...fits.map(({ evidence }) => evidence));
  const weights = fits.map(({ evidence }) => Math.exp(evidence - most));
  const all = weights.reduce((sum, one) => sum + one, 0);
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

/** A process that goes through points, and how well it explains them. */
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
  const rest = forward(
    factor,
    points.map(({ at, height }) => height - meanAt(at)),
  );
  const square = rest.reduce((sum, one) => sum + one * one, 0);
  const size = factor.reduce((sum, row, i) => sum + Math.log(row[i] as number), 0);
  const link = new Float64Array(points.length);
  const predict = (at: number) => {
    let [mean, variance] = [meanAt(at), kernel(at, at)];
    for (let i = 0; i < link.length; i++) {
      const row = factor[i] as number[];
      let sum = kernel(at, (points[i] as CurveSample).at);
      for (let k = 0; k < i; k++) sum -= (row[k] as number) * (link[k] as number);
      const one = sum / (row[i] as number);
      link[i] = one;
      mean += one * (rest[i] as number);
      variance -= one * one;
    }
    return { mean, variance: Math.max(0, variance) };
  };
  return { evidence: Math.log(weight) - square / 2 - size, predict };
}

/** Lower triangle of a symmetric positive matrix. */
function cholesky(matrix: readonly (readonly number[])[]): number[][] {
  const out: number[][] = [];
  matrix.forEach((row, i) => {
    const line: number[] = [];
    for (let j = 0; j <= i; j++) {
      const other = j === i ? line : (out[j] as number[]);
      let sum = row[j] as number;
      for (let k = 0; k < j; k++) sum -= (line[k] as number) * (other[k] as number);
      line.push(j === i ? Math.sqrt(Math.max(1e-9, sum)) : sum / (other[j] as number));
    }
    out.push(line);
  });
  return out;
}

/** Solves a lower triangle for a right side. */
function forward(factor: readonly (readonly number[])[], right: readonly number[]): number[] {
  const out: number[] = [];
  factor.forEach((row, i) => {
    let sum = right[i] as number;
    for (let k = 0; k < i; k++) sum -= (row[k] as number) * (out[k] as number);
    out.push(sum / (row[i] as number));
  });
  return out;
}

/** Share of a standard normal distribution below a value, to 1e-7 (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    0.3989422804014327 *
    Math.exp((-z * z) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}
