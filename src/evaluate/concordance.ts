/**
 * @module evaluate/concordance
 * Kendall's tau-b of a sample in which units are repeated: concordant less discordant pairs are a quadratic form in how
 * often each unit occurs.
 *
 * With s(i, j) the product of the signs of both differences, and u(i, j) whether a side differs at all, a sample with
 * weights w has tau-b = S / sqrt(X Y), where S is half the sum of w_a w_b s over all ordered pairs of rows, and X and Y
 * the same with u of either side.
 */
import { correlationOf, type Sample, type Units } from './correlation.js';
import { byGroup, type Ranking } from './ranks.js';

/** Steps for the table of pairs of units; a fraction of a second. */
const TABLE_STEPS = 2e7;

/** Units whose pairs are summed in every draw. */
const TABLE_UNITS = 200;

/** How often each unit occurs, to tau-b; NaN where it is not defined. */
export type Concordance = (weights: Uint16Array) => number;

/**
 * Prepares a sample. Exact where a table of all pairs of units is affordable; beyond, the quadratic form is followed from
 * "each once" by its gradient.
 */
export function concordanceOf(sample: Sample, units: Units): Concordance {
  const rows = sample.prediction.length;
  const affordable = units.count <= TABLE_UNITS && units.count * rows * Math.log2(rows + 1) <= TABLE_STEPS;
  return affordable ? exact(sample, units) : firstOrder(sample, units);
}

/** With a table per pair of units. */
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
      const weight = weights[a] ?? 0;
      if (weight === 0) continue;
      for (let b = 0, at = a * count; b < count; b++, at++) {
        const both = weight * (weights[b] ?? 0);
        s += both * (concordant[at] ?? 0);
        x += both * (untiedX[at] ?? 0);
        y += both * (untiedY[at] ?? 0);
      }
    }
    return tauOf(s, x, y);
  };
}

/** With sums per unit: the form at w is that at 1 plus its gradient times w - 1, that is, gradient times w less itself. */
function firstOrder({ predictionRanking, targetRanking }: Sample, units: Units): Concordance {
  const perUnit = (rows: Float64Array): Float64Array => {
    const sums = new Float64Array(units.count);
    for (let i = 0; i < rows.length; i++) {
      const unit = units.of[i] ?? 0;
      sums[unit] = (sums[unit] ?? 0) + (rows[i] ?? 0);
    }
    return sums;
  };
  const s = perUnit(concordanceOfRows(predictionRanking, targetRanking));
  const x = perUnit(untiedOfRows(predictionRanking));
  const y = perUnit(untiedOfRows(targetRanking));
  const form = (weights: Uint16Array, sums: Float64Array): number => {
    let total = 0;
    for (let unit = 0; unit < sums.length; unit++)
      total += (2 * (weights[unit] ?? 0) - 1) * (sums[unit] ?? 0);
    return total;
  };
  return (weights) => tauOf(form(weights, s), form(weights, x), form(weights, y));
}

function tauOf(s: number, x: number, y: number): number {
  return x <= 0 || y <= 0 ? Number.NaN : correlationOf(s, x, y);
}

/** Sums of s over the pairs of rows of two units, in both orders; row-major. */
function concordanceTable(x: Ranking, y: Ranking, { count, of }: Units): Float64Array {
  const byX = x.order;
  // Pairs whose first row is above in x: sum of the sign of y. The other half is the same with the units exchanged.
  const above = new Float64Array(count * count);
  const place = new Uint32Array(byX.length);
  for (let b = 0; b < count; b++) {
    const size = placesAmong(b, y, of, place);
    const tree = new CountTree(size);
    let start = 0;
    while (start < byX.length) {
      const end = endOfGroup(x, byX, start);
      for (let t = start; t < end; t++) {
        const row = byX[t] ?? 0;
        const at = (of[row] ?? 0) * count + b;
        above[at] = (above[at] ?? 0) + balance(tree, place[row] ?? 0);
      }
      for (let t = start; t < end; t++) {
        const row = byX[t] ?? 0;
        if (of[row] === b) tree.add((place[row] ?? 0) >> 1);
      }
      start = end;
    }
  }
  return Float64Array.from(
    above,
    (value, at) => value + (above[(at % count) * count + Math.floor(at / count)] ?? 0),
  );
}

/**
 * Where each row's y stands among the distinct values of y in one unit: 2k at the value of index k, 2k - 1 below it and
 * above the one before.
 * @param place filled
 * @returns how many distinct values the unit has
 */
function placesAmong(unit: number, y: Ranking, of: Uint32Array, place: Uint32Array): number {
  const { order, starts } = y;
  let known = 0;
  for (let g = 0; g + 1 < starts.length; g++) {
    const start = starts[g] ?? 0;
    const end = starts[g + 1] ?? 0;
    let here = false;
    for (let t = start; t < end; t++) if (of[order[t] ?? 0] === unit) here = true;
    const value = here ? 2 * known : 2 * known - 1;
    for (let t = start; t < end; t++) place[order[t] ?? 0] = value;
    if (here) known++;
  }
  return known;
}

/** Rows in the tree below a place less rows above it. */
function balance(tree: CountTree, place: number): number {
  return tree.below((place + 1) >> 1) - (tree.size - tree.below((place + 2) >> 1));
}

/** For each row, the sum of s over its pairs with all others. */
function concordanceOfRows(x: Ranking, y: Ranking): Float64Array {
  const rows = byGroup(y.order, x.group, x.starts);
  const n = rows.length;
  const sums = new Float64Array(n);
  const tree = new CountTree(y.starts.length - 1);
  for (let start = 0; start < n; ) {
    const end = endOfGroup(x, rows, start);
    for (let run = start; run < end; ) {
      const g = y.group[rows[run] ?? 0] ?? 0;
      let runEnd = run + 1;
      while (runEnd < end && y.group[rows[runEnd] ?? 0] === g) runEnd++;
      // Signs of y over the rows below in x, over all rows, and over those equal in x; what is above in x is the rest.
      const below = balance(tree, 2 * g);
      const all = (y.starts[g] ?? 0) - (n - (y.starts[g + 1] ?? 0));
      const equal = run - start - (end - runEnd);
      for (; run < runEnd; run++) sums[rows[run] ?? 0] = 2 * below - all + equal;
    }
    for (let t = start; t < end; t++) tree.add(y.group[rows[t] ?? 0] ?? 0);
    start = end;
  }
  return sums;
}

/** For each row, how many others differ from it. */
function untiedOfRows({ group, starts }: Ranking): Float64Array {
  return Float64Array.from(group, (g) => group.length - ((starts[g + 1] ?? 0) - (starts[g] ?? 0)));
}

/** How many pairs of rows of two units differ; row-major. */
function untiedTable({ order, starts }: Ranking, { count, of }: Units): Float64Array {
  const table = new Float64Array(count * count);
  const sizes = new Float64Array(count);
  for (const unit of of) sizes[unit] = (sizes[unit] ?? 0) + 1;
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) table[a * count + b] = (sizes[a] ?? 0) * (sizes[b] ?? 0);
  }
  for (let g = 0; g + 1 < starts.length; g++) {
    const members = new Map<number, number>();
    for (let t = starts[g] ?? 0; t < (starts[g + 1] ?? 0); t++) {
      const unit = of[order[t] ?? 0] ?? 0;
      members.set(unit, (members.get(unit) ?? 0) + 1);
    }
    for (const [a, rowsOfA] of members) {
      for (const [b, rowsOfB] of members) {
        const at = a * count + b;
        table[at] = (table[at] ?? 0) - rowsOfA * rowsOfB;
      }
    }
  }
  return table;
}

/** Where the group of equals ends that begins at `start` of rows in its order. */
function endOfGroup({ group, starts }: Ranking, rows: Uint32Array, start: number): number {
  return starts[(group[rows[start] ?? 0] ?? 0) + 1] ?? rows.length;
}

/** Counts at places 0...n-1, with their sums below any place (a Fenwick tree). */
class CountTree {
  /** All that was added. */
  size = 0;
  readonly #nodes: Uint32Array;

  constructor(places: number) {
    this.#nodes = new Uint32Array(places + 1);
  }

  add(place: number): void {
    this.size++;
    const nodes = this.#nodes;
    for (let i = place + 1; i < nodes.length; i += i & -i) nodes[i] = (nodes[i] ?? 0) + 1;
  }

  below(place: number): number {
    const nodes = this.#nodes;
    let sum = 0;
    for (let i = place; i > 0; i -= i & -i) sum += nodes[i] ?? 0;
    return sum;
  }
}
