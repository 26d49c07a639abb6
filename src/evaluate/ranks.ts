/**
 * @module evaluate/ranks
 * Values by size: their order, their groups of equals, and average ranks.
 */

/** A list of values with its order worked out once, for all that goes by rank. */
export interface Ranking {
  /** Indices of the values in ascending order; equal values in the order in which they came. */
  readonly order: Uint32Array;
  /** For each value, the number of its group of equals, ascending from 0. */
  readonly group: Uint32Array;
  /** For each group, how many values are below it; and at the end, how many there are. */
  readonly starts: Uint32Array;
}

/** @param values none of them NaN */
export function rankingOf(values: Float64Array): Ranking {
  const distinct = Float64Array.from(values).sort();
  let groups = 0;
  for (const [i, value] of distinct.entries()) {
    if (i === 0 || value !== distinct[groups - 1]) distinct[groups++] = value;
  }
  const group = new Uint32Array(values.length);
  const starts = new Uint32Array(groups + 1);
  for (let i = 0; i < values.length; i++) {
    const found = indexOf(distinct, groups, values[i] ?? 0);
    group[i] = found;
    starts[found + 1] = (starts[found + 1] ?? 0) + 1;
  }
  for (let g = 0; g < groups; g++) starts[g + 1] = (starts[g + 1] ?? 0) + (starts[g] ?? 0);
  return { order: byGroup(naturalOrder(values.length), group, starts), group, starts };
}

/** For each value, the mean of the places from 1 on that its group takes. */
export function averageRanks({ group, starts }: Ranking): Float64Array {
  return Float64Array.from(group, (g) => ((starts[g] ?? 0) + (starts[g + 1] ?? 0) + 1) / 2);
}

/** Whether all values are equal. */
export function isConstant({ starts }: Ranking): boolean {
  return starts.length <= 2;
}

/** `indices` in ascending order of their group; those of one group keep their order. */
export function byGroup(indices: Uint32Array, group: Uint32Array, starts: Uint32Array): Uint32Array {
  const next = Uint32Array.from(starts);
  const sorted = new Uint32Array(indices.length);
  for (const index of indices) {
    const g = group[index] ?? 0;
    const place = next[g] ?? 0;
    sorted[place] = index;
    next[g] = place + 1;
  }
  return sorted;
}

function naturalOrder(length: number): Uint32Array {
  return Uint32Array.from({ length }, (_, i) => i);
}

/** Where `value` stands in the first `length` of ascending values, of which it is one. */
function indexOf(ascending: Float64Array, length: number, value: number): number {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
