/**
 * @module search/strategy
 * Chooses which value of a rate control parameter to encode next, from all that is known of the curve so far. Pure: the
 * same points give the same answer, so that a search goes on from points of an earlier one.
 */

/** The values that a search may choose from. */
export interface Grid {
  /** From the best picture to the smallest file. */
  readonly values: readonly number[];
  /** Where to begin when nothing is known: an index of {@link values}. */
  readonly start: number;
  /** What a step of the grid costs about, in units of the target; a first guess. */
  readonly slope: number;
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
  /** It holds the target and is within a step of the last value of the grid that does. */
  | { readonly kind: 'found'; readonly value: number }
  /** No value holds the target; this one misses it by least. */
  | { readonly kind: 'missed'; readonly value: number };

/** Steps within which a crossing must be known before its neighbour need not be measured. */
const SURE = 0.75;
/** Widest gap, in steps, in which a crossing may be worked out rather than measured. */
const WIDEST_GAP = 8;
/** By what a measured slope may be flatter than the first guess: curves bend, and flat parts must not send us far. */
const FLATTEST = 1 / 3;
/** Share of a step's cost that is taken for the curve's noise. */
const NOISE = 1 / 4;

/** Points beyond which the noise of a curve is no longer looked into. */
const MOST_ENCODES = 7;

/** A point by its place on the grid. */
interface Known {
  readonly at: number;
  readonly margin: number;
}

/**
 * The next value to measure. A search from nothing takes four values on an ordinary curve, and never one twice.
 * @param points what is known, in any order, each value once; those that are not on the grid are passed over
 */
export function nextStep(points: readonly CurvePoint[], grid: Grid): NextStep {
  const known = points
    .map(({ value, margin }) => ({ at: grid.values.indexOf(value), margin }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const [first] = known;
  if (!first) return propose(grid, grid.start);
  const best = known.filter(({ margin }) => margin >= 0).at(-1);
  if (!best) return goBack(known, first, grid);
  const failing = known.filter(({ at }) => at > best.at);
  const [failure] = failing;
  if (!failure) return goOn(known, best, grid);
  const gap = failure.at - best.at;
  if (gap === 1) return settle(best, failing, known.length, grid);
  const { at, spread } = crossing(known, best, failure);
  const sure = gap <= WIDEST_GAP && spread < SURE && at - best.at < SURE;
  if (sure) return { kind: 'found', value: valueAt(grid, best.at) };
  // Rounding down, so that the value is likely to hold; a little up, as the answer may be a step off.
  return propose(grid, Math.min(failure.at - 1, Math.max(best.at + 1, Math.floor(at + 0.15))));
}

/** Nothing holds the target yet: goes towards better pictures. */
function goBack(known: readonly Known[], first: Known, grid: Grid): NextStep {
  if (first.at === 0) {
    const nearest = known.reduce((a, b) => (b.margin > a.margin ? b : a));
    return { kind: 'missed', value: valueAt(grid, nearest.at) };
  }
  return propose(grid, first.at - Math.max(1, Math.ceil(reachFrom(known, first, grid))));
}

/** Nothing fails yet: goes towards smaller files. */
function goOn(known: readonly Known[], best: Known, grid: Grid): NextStep {
  if (best.at === grid.values.length - 1) return { kind: 'found', value: valueAt(grid, best.at) };
  return propose(grid, best.at + Math.max(1, Math.floor(reachFrom(known, best, grid))));
}

/** The next value fails: looks once beyond it where it fails by no more than the curve's noise. */
function settle(best: Known, failing: readonly Known[], count: number, grid: Grid): NextStep {
  const beyond = best.at + 2;
  const close = failing.some(({ at, margin }) => at === best.at + 1 && -margin < grid.slope * NOISE);
  const open = beyond < grid.values.length && !failing.some(({ at }) => at === beyond);
  if (close && open && count < MOST_ENCODES) return propose(grid, beyond);
  return { kind: 'found', value: valueAt(grid, best.at) };
}

function propose(grid: Grid, at: number): NextStep {
  return { kind: 'try', value: valueAt(grid, at) };
}

function valueAt({ values }: Grid, at: number): number {
  const value = values[Math.max(0, Math.min(values.length - 1, at))];
  if (value === undefined) throw new RangeError('the grid of a search is empty');
  return value;
}

/**
 * Steps from an end of what is known to where the target is expected: by the slope that was measured there, but no farther
 * than a part of the first guess allows, unless the curve is as flat as that already.
 */
function reachFrom(known: readonly Known[], end: Known, { slope }: Grid): number {
  const margin = Math.abs(end.margin);
  const [other] = known
    .filter(({ at }) => at !== end.at)
    .sort((a, b) => Math.abs(a.at - end.at) - Math.abs(b.at - end.at));
  if (!other) return margin / slope;
  const distance = Math.abs(end.at - other.at);
  const measured = (other.margin - end.margin) / (end.at - other.at);
  return measured < slope * FLATTEST
    ? Math.max(margin / (slope * FLATTEST), 2 * distance)
    : margin / measured;
}

/**
 * Where the curve meets the target between a point that holds it and one that does not: a line's answer, bent by the
 * nearest third point.
 * @returns the place, and by how much it may be wrong, both in steps
 */
function crossing(
  known: readonly Known[],
  a: Known,
  b: Known,
): { readonly at: number; readonly spread: number } {
  const line = a.at + (a.margin / (a.margin - b.margin)) * (b.at - a.at);
  const [third] = known
    .filter((one) => one !== a && one !== b)
    .sort((x, y) => Math.abs(x.at - line) - Math.abs(y.at - line));
  const bent = third && parabolaRoot(a, b, third);
  if (bent === undefined) return { at: line, spread: (b.at - a.at) / 4 };
  return { at: bent, spread: Math.abs(bent - line) / 2 };
}

/** Where the parabola through three points falls through zero between the first two; `undefined` where it does not fall. */
function parabolaRoot(a: Known, b: Known, c: Known): number | undefined {
  const first = (b.margin - a.margin) / (b.at - a.at);
  const second = ((c.margin - b.margin) / (c.at - b.at) - first) / (c.at - a.at);
  const marginAt = (at: number) => a.margin + (at - a.at) * (first + second * (at - b.at));
  let [low, high] = [a.at, b.at];
  // Halving 64 steps at most down to what a double tells apart.
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (marginAt(middle) >= 0) low = middle;
    else high = middle;
  }
  return first + second * (2 * low - a.at - b.at) < 0 ? low : undefined;
}
