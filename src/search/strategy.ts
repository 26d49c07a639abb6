/**
 * @module search/strategy
 * Chooses which value of a rate control parameter to encode next, from all that is known of the curve so far: points of an
 * earlier search count like its own. Pure.
 */
import { type CurvePrior, chances } from './chances.js';

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
