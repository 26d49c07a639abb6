/**
 * @module evaluate/ranks
 * Sort order, groups of equal values and average ranks.
 */

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
export function rankingOf(values: Float64Array): Ranking {
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
  return { order: byGroup(naturalOrder(values.length), group, starts), group, starts };
}

/** The rank of each value, from 1; equal values get their mean rank. */
export function averageRanks({ group, starts }: Ranking): Float64Array {
  return Float64Array.from(group, (g) => (starts[g]! + starts[g + 1]! + 1) / 2);
}

/** True if all values are equal. */
export function isConstant({ starts }: Ranking): boolean {
  return starts.length <= 2;
}

/** Sorts `indices` by group (stable). */
export function byGroup(indices: Uint32Array, group: Uint32Array, starts: Uint32Array): Uint32Array {
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

function naturalOrder(length: number): Uint32Array {
  return Uint32Array.from({ length }, (_, i) => i);
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
