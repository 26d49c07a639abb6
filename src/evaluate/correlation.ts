/**
 * @module evaluate/correlation
 * Agreement of predictions with targets (Pearson, Spearman, Kendall, RMSE), and the rankings that they need.
 */
import { mean } from '../core/numbers.js';

/** Correlations are `null` if either side is constant. */
export interface Agreement {
  /** Number of rows. */
  readonly n: number;
  /** Pearson's linear correlation, -1..1. */
  readonly plcc: number | null;
  /** Spearman's rank correlation, -1..1: Pearson's of average ranks. */
  readonly srocc: number | null;
  /** Kendall's tau-b, -1..1. */
  readonly krocc: number | null;
  /** Root mean squared error in units of the target, without fitting predictions first. */
  readonly rmse: number;
}

export interface Units {
  /** At least 2. */
  readonly count: number;
  /** The unit of each row, 0..count-1. */
  readonly of: Uint32Array;
}

export interface Sample {
  readonly prediction: Float64Array;
  readonly target: Float64Array;
  readonly predictionRanking: Ranking;
  readonly targetRanking: Ranking;
}

/** Both arrays have the same length, at least 1, and only finite values. */
export function sampleOf(prediction: Float64Array, target: Float64Array): Sample {
  return { prediction, target, predictionRanking: rankingOf(prediction), targetRanking: rankingOf(target) };
}

/** Takes O(n log n). */
export function agreementOf(sample: Sample): Agreement {
  const { prediction, target, predictionRanking, targetRanking } = sample;
  const defined = !isConstant(predictionRanking) && !isConstant(targetRanking);
  return {
    n: prediction.length,
    plcc: defined ? pearson(prediction, target) : null,
    srocc: defined ? pearson(averageRanks(predictionRanking), averageRanks(targetRanking)) : null,
    krocc: defined ? kendall(predictionRanking, targetRanking) : null,
    rmse: rootMeanSquaredError(prediction, target),
  };
}

/** Neither array may be constant. */
function pearson(x: Float64Array, y: Float64Array): number {
  const xMean = mean(x);
  const yMean = mean(y);
  let xx = 0;
  let yy = 0;
  let xy = 0;
  for (let i = 0; i < x.length; i++) {
    const dx = x[i]! - xMean;
    const dy = y[i]! - yMean;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return correlationOf(xy, xx, yy);
}

/** Kendall's tau-b as in evaluate/bootstrap, where the factor of 2 of its sums cancels. */
function kendall(x: Ranking, y: Ranking): number {
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  return tauOf(sum(concordanceOfRows(x, y)), sum(untiedOfRows(x)), sum(untiedOfRows(y)));
}

function rootMeanSquaredError(prediction: Float64Array, target: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < prediction.length; i++) sum += (prediction[i]! - target[i]!) ** 2;
  return Math.sqrt(sum / prediction.length);
}

/** The correlation from sums of products and of squares (above 0), limited to -1..1 against rounding errors. */
export function correlationOf(xy: number, xx: number, yy: number): number {
  const squared = xx * yy;
  // One root is exact for integers; two roots avoid overflow and underflow.
  const product =
    squared > Number.MIN_VALUE / Number.EPSILON && squared < Number.POSITIVE_INFINITY
      ? Math.sqrt(squared)
      : Math.sqrt(xx) * Math.sqrt(yy);
  return Math.max(-1, Math.min(1, xy / product));
}

// --- ranks ---

/** Precomputed sort order of values, for rank statistics. */
export interface Ranking {
  /** Indices of the values in ascending order; equal values keep their order. */
  readonly order: Uint32Array;
  /** The group of each value: equal values share a group, numbered from 0 in ascending order. */
  readonly group: Uint32Array;
  /** The position of each group's first value in `order`, then the number of values. */
  readonly starts: Uint32Array;
}

/** @param values without NaN */
function rankingOf(values: Float64Array): Ranking {
  const distinct = Float64Array.from(values).sort();
  let groups = 0;
  for (const [i, value] of distinct.entries()) {
    if (i === 0 || value !== distinct[groups - 1]) distinct[groups++] = value;
  }
  const group = new Uint32Array(values.length);
  const starts = new Uint32Array(groups + 1);
  for (let i = 0; i < values.length; i++) {
    const found = indexOf(distinct, groups, values[i]!);
    group[i] = found;
    starts[found + 1]!++;
  }
  for (let g = 0; g < groups; g++) starts[g + 1]! += starts[g]!;
  return { order: byGroup(Uint32Array.from(group.keys()), group, starts), group, starts };
}

/** The rank of each value, from 1; equal values get their mean rank. */
function averageRanks({ group, starts }: Ranking): Float64Array {
  return Float64Array.from(group, (g) => (starts[g]! + starts[g + 1]! + 1) / 2);
}

function isConstant({ starts }: Ranking): boolean {
  return starts.length <= 2;
}

/** Sorts `indices` by group (stable). */
function byGroup(indices: Uint32Array, group: Uint32Array, starts: Uint32Array): Uint32Array {
  const next = Uint32Array.from(starts);
  const sorted = new Uint32Array(indices.length);
  for (const index of indices) {
    const g = group[index]!;
    const place = next[g]!;
    sorted[place] = index;
    next[g] = place + 1;
  }
  return sorted;
}

/** Index of `value` among the first `length` distinct ascending values, which contain it. */
function indexOf(ascending: Float64Array, length: number, value: number): number {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// --- pairs of rows ---

/** From sums over pairs of rows; NaN if a side is constant. */
export function tauOf(s: number, x: number, y: number): number {
  return x <= 0 || y <= 0 ? Number.NaN : correlationOf(s, x, y);
}

/** The sum of s over each row's pairs with all other rows. */
export function concordanceOfRows(x: Ranking, y: Ranking): Float64Array {
  const rows = byGroup(y.order, x.group, x.starts);
  const n = rows.length;
  const sums = new Float64Array(n);
  const tree = new CountTree(y.starts.length - 1);
  for (let start = 0; start < n; ) {
    const end = endOfGroup(x, rows, start);
    for (let run = start; run < end; ) {
      const g = y.group[rows[run]!]!;
      let runEnd = run + 1;
      while (runEnd < end && y.group[rows[runEnd]!] === g) runEnd++;
      // Sums of signs of y over rows below in x, all rows, and rows equal in x. Rows above in x are the rest.
      const below = balance(tree, 2 * g);
      const all = y.starts[g]! - (n - y.starts[g + 1]!);
      const equal = run - start - (end - runEnd);
      for (; run < runEnd; run++) sums[rows[run]!] = 2 * below - all + equal;
    }
    for (let t = start; t < end; t++) tree.add(y.group[rows[t]!]!);
    start = end;
  }
  return sums;
}

/** For each row, the number of rows that differ from it. */
export function untiedOfRows({ group, starts }: Ranking): Float64Array {
  return Float64Array.from(group, (g) => group.length - (starts[g + 1]! - starts[g]!));
}

/** Rows in the tree below a place minus rows above it. */
export function balance(tree: CountTree, place: number): number {
  return tree.below((place + 1) >> 1) - (tree.size - tree.below((place + 2) >> 1));
}

/** End of the group of equal values that begins at `start`; `rows` are sorted by this ranking. */
export function endOfGroup({ group, starts }: Ranking, rows: Uint32Array, start: number): number {
  return starts[group[rows[start]!]! + 1]!;
}

/** Counts at places 0..n-1 with fast prefix sums (a Fenwick tree). */
export class CountTree {
  /** Sum of all counts. */
  size = 0;
  readonly #nodes: Uint32Array;

  constructor(places: number) {
    this.#nodes = new Uint32Array(places + 1);
  }

  add(place: number): void {
    this.size++;
    const nodes = this.#nodes;
    for (let i = place + 1; i < nodes.length; i += i & -i) nodes[i]!++;
  }

  below(place: number): number {
    const nodes = this.#nodes;
    let sum = 0;
    for (let i = place; i > 0; i -= i & -i) sum += nodes[i]!;
    return sum;
  }
}
