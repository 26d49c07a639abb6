/**
 * @module web/results/decimate
 * Makes of any number of frames what a chart of some width can show: least and greatest of each column, no dip lost.
 */
import type { Columns } from './columns.js';

/** One line: an encode's values, or nothing where it is hidden or lacks the metric. */
export interface Line {
  readonly columns: Columns;
  readonly values: Float64Array;
}

/** As the chart takes it: positions in frames, then per line a value at each; `null` is a gap, `undefined` no frame. */
export type Aligned = [number[], ...(number | null | undefined)[][]];

/**
 * The frames from `from` to `to`, and one more at each side so that lines reach the edge.
 * @param width columns of the chart; more frames than half of them are put together
 */
export function decimate(
  lines: readonly (Line | undefined)[],
  from: number,
  to: number,
  width: number,
): Aligned {
  const spans = lines.map((line) => {
    if (!line) return undefined;
    const start = Math.max(0, line.columns.search(from) - 1);
    const end = Math.min(line.values.length, line.columns.search(to) + 2);
    return { numbers: line.columns.numbers, values: line.values, start, end };
  });
  const most = Math.max(0, ...spans.map((span) => (span ? span.end - span.start : 0)));
  return most <= width ? exact(spans) : reduced(spans, from, to, Math.max(1, Math.floor(width / 2)));
}

interface Span {
  readonly numbers: Float64Array;
  readonly values: Float64Array;
  readonly start: number;
  readonly end: number;
}

function exact(spans: readonly (Span | undefined)[]): Aligned {
  const all = new Set<number>();
  for (const span of spans) {
    for (let i = span?.start ?? 0; i < (span?.end ?? 0); i++) all.add(span?.numbers[i] ?? 0);
  }
  const x = [...all].sort((a, b) => a - b);
  const place = new Map(x.map((number, i) => [number, i]));
  const rows = spans.map((span) => {
    const row = new Array<number | null | undefined>(x.length).fill(undefined);
    for (let i = span?.start ?? 0; i < (span?.end ?? 0); i++) {
      const value = span?.values[i] ?? Number.NaN;
      row[place.get(span?.numbers[i] ?? 0) ?? 0] = Number.isFinite(value) ? value : null;
    }
    return row;
  });
  return [x, ...rows];
}

/** Two places per column: the least and the greatest value, in the order in which they came. */
function reduced(spans: readonly (Span | undefined)[], from: number, to: number, columns: number): Aligned {
  const size = (to - from) / columns || 1;
  const x: number[] = [];
  for (let column = 0; column < columns; column++)
    x.push(from + (column + 0.25) * size, from + (column + 0.75) * size);
  const rows = spans.map((span) => {
    const row = new Array<number | null | undefined>(2 * columns).fill(undefined);
    if (!span) return row;
    const { numbers, values, end } = span;
    let i = span.start;
    while (i < end) {
      const column = Math.min(columns - 1, Math.max(0, Math.floor(((numbers[i] ?? 0) - from) / size)));
      const limit = column === columns - 1 ? Number.POSITIVE_INFINITY : from + (column + 1) * size;
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      let [lowAt, highAt] = [0, 0];
      do {
        const value = values[i] ?? Number.NaN;
        if (value < low) [low, lowAt] = [value, i];
        if (value > high) [high, highAt] = [value, i];
        i++;
      } while (i < end && (numbers[i] ?? 0) < limit);
      const found = Number.isFinite(low) && Number.isFinite(high);
      row[2 * column] = found ? (lowAt <= highAt ? low : high) : null;
      row[2 * column + 1] = found ? (lowAt <= highAt ? high : low) : null;
    }
    return row;
  });
  return [x, ...rows];
}
