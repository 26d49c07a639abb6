/**
 * @module evaluate/concordance
 * Kendall's tau-b of a sample whose units have weights, as quadratic forms in the weights.
 *
 * Let s(i, j) be the product of the signs of both differences, and u(i, j) 1 if the values of a side differ, else 0.
 * Then tau-b = S / sqrt(X Y), where S is half the sum of w_i w_j s(i, j) over all ordered pairs of rows, and X and Y
 * are the same sums with u of either side.
 */
import { byGroup, correlationOf, type Ranking, type Sample, type Units } from './correlation.js';

/** Largest number of steps to fill the table of unit pairs; a fraction of a second. */
const TABLE_STEPS = 2e7;

/** Most units for which every draw sums over all pairs. */
const TABLE_UNITS = 200;

/** Maps the weight of each unit to tau-b; NaN if undefined. */
export type Concordance = (weights: Uint16Array) => number;

/** Exact if a table of all pairs of units is affordable; otherwise linearises the quadratic form at weights of 1. */
export function concordanceOf(sample: Sample, units: Units): Concordance {
  const rows = sample.prediction.length;
  const affordable = units.count <= TABLE_UNITS && units.count * rows * Math.log2(rows + 1) <= TABLE_STEPS;
  return affordable ? exact(sample, units) : firstOrder(sample, units);
}

function exact({ predictionRanking, targetRanking }: Sample, units: Units): Concordance {
  const concordant = concordanceTable(predictionRanking, targetRanking, units);
  const untiedX = untiedTable(predictionRanking, units);
  const untiedY = untiedTable(targetRanking, units);
  const { count } = units;
  return (weights) => {
    let s = 0;
    let x = 0;
    let y = 0;
    for (let a = 0; a < count; a++) {
      const weight = weights[a]!;
      if (weight === 0) continue;
      for (let b = 0, at = a * count; b < count; b++, at++) {
        const both = weight * weights[b]!;
        s += both * concordant[at]!;
        x += both * untiedX[at]!;
        y += both * untiedY[at]!;
      }
    }
    return tauOf(s, x, y);
  };
}

/** First-order approximation f(w) = f(1) + gradient (w - 1), from sums per unit. */
function firstOrder({ predictionRanking, targetRanking }: Sample, units: Units): Concordance {
  const perUnit = (rows: Float64Array): Float64Array => {
    const sums = new Float64Array(units.count);
    for (let i = 0; i < rows.length; i++) {
      const unit = units.of[i]!;
      sums[unit]! += rows[i]!;
    }
    return sums;
  };
  const s = perUnit(concordanceOfRows(predictionRanking, targetRanking));
  const x = perUnit(untiedOfRows(predictionRanking));
  const y = perUnit(untiedOfRows(targetRanking));
  const form = (weights: Uint16Array, sums: Float64Array): number => {
    let total = 0;
    for (let unit = 0; unit < sums.length; unit++) total += (2 * weights[unit]! - 1) * sums[unit]!;
    return total;
  };
  return (weights) => tauOf(form(weights, s), form(weights, x), form(weights, y));
}

function tauOf(s: number, x: number, y: number): number {
  return x <= 0 || y <= 0 ? Number.NaN : correlationOf(s, x, y);
}

/** Sums of s over the row pairs of two units, in both orders; row-major. */
function concordanceTable(x: Ranking, y: Ranking, { count, of }: Units): Float64Array {
  const byX = x.order;
  // Sums the sign of y over pairs whose first row is above in x. The other half is this table transposed.
  const above = new Float64Array(count * count);
  const place = new Uint32Array(byX.length);
  for (let b = 0; b < count; b++) {
    const size = placesAmong(b, y, of, place);
    const tree = new CountTree(size);
    let start = 0;
    while (start < byX.length) {
      const end = endOfGroup(x, byX, start);
      for (let t = start; t < end; t++) {
        const row = byX[t]!;
        const at = of[row]! * count + b;
        above[at]! += balance(tree, place[row]!);
      }
      for (let t = start; t < end; t++) {
        const row = byX[t]!;
        if (of[row] === b) tree.add(place[row]! >> 1);
      }
      start = end;
    }
  }
  return Float64Array.from(
    above,
    (value, at) => value + above[(at % count) * count + Math.floor(at / count)]!,
  );
}

/**
 * Ranks each row's y among the distinct values of y in one unit: 2k if equal to value k, 2k - 1 if between values k - 1
 * and k.
 * @param place receives the ranks
 * @returns the number of distinct values in the unit
 */
function placesAmong(unit: number, y: Ranking, of: Uint32Array, place: Uint32Array): number {
  const { order, starts } = y;
  let known = 0;
  for (let g = 0; g + 1 < starts.length; g++) {
    const start = starts[g]!;
    const end = starts[g + 1]!;
    let here = false;
    for (let t = start; t < end; t++) if (of[order[t]!] === unit) here = true;
    const value = here ? 2 * known : 2 * known - 1;
    for (let t = start; t < end; t++) place[order[t]!] = value;
    if (here) known++;
  }
  return known;
}

/** Rows in the tree below a place minus rows above it. */
function balance(tree: CountTree, place: number): number {
  return tree.below((place + 1) >> 1) - (tree.size - tree.below((place + 2) >> 1));
}

/** The sum of s over each row's pairs with all other rows. */
function concordanceOfRows(x: Ranking, y: Ranking): Float64Array {
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
      // Sums of signs of y: rows below in x, all rows, rows equal in x. Rows above in x are the rest.
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
function untiedOfRows({ group, starts }: Ranking): Float64Array {
  return Float64Array.from(group, (g) => group.length - (starts[g + 1]! - starts[g]!));
}

/** The number of differing row pairs of two units; row-major. */
function untiedTable({ order, starts }: Ranking, { count, of }: Units): Float64Array {
  const table = new Float64Array(count * count);
  const sizes = new Float64Array(count);
  for (const unit of of) sizes[unit]!++;
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) table[a * count + b] = sizes[a]! * sizes[b]!;
  }
  for (let g = 0; g + 1 < starts.length; g++) {
    const members = new Map<number, number>();
    for (let t = starts[g]!; t < starts[g + 1]!; t++) {
      const unit = of[order[t]!]!;
      members.set(unit, (members.get(unit) ?? 0) + 1);
    }
    for (const [a, rowsOfA] of members) {
      for (const [b, rowsOfB] of members) {
        const at = a * count + b;
        table[at]! -= rowsOfA * rowsOfB;
      }
    }
  }
  return table;
}

/** End of the group of equal values that begins at `start`; `rows` are sorted by this ranking. */
function endOfGroup({ group, starts }: Ranking, rows: Uint32Array, start: number): number {
  return starts[group[rows[start]!]! + 1]!;
}

/** Counts at places 0..n-1 with fast prefix sums (a Fenwick tree). */
class CountTree {
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
