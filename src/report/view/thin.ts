/**
 * @module report/view/thin
 * Lines through any number of frames, thinned to what a width can show: the least and the greatest value of each column,
 * so that no dip is lost.
 */
import { type Span, searchFrame } from './frames.js';
import { type Extent, fixed } from './scales.js';

/** Ascending frame numbers, and a value at each; what is not finite is a gap. */
export interface Line {
  readonly frames: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/**
 * The points of a line within a span, and one more at each side so that it reaches the edge.
 * @param columns more frames than these are put together, with two points in each column at most
 * @returns positions in frames, and a value at each; NaN is a gap
 */
export function thinned(
  { frames, values }: Line,
  [from, to]: Span,
  columns: number,
): { readonly x: number[]; readonly y: number[] } {
  const start = Math.max(0, searchFrame(frames, from) - 1);
  const end = Math.min(frames.length, searchFrame(frames, to) + 2);
  const x: number[] = [];
  const y: number[] = [];
  const put = (at: number, value: number) => {
    x.push(at);
    y.push(Number.isFinite(value) ? value : Number.NaN);
  };
  if (end - start <= columns) {
    for (let i = start; i < end; i++) put(frames[i] ?? 0, values[i] ?? Number.NaN);
    return { x, y };
  }
  const size = (to - from) / columns || 1;
  for (let i = start; i < end; ) {
    const column = Math.min(columns - 1, Math.max(0, Math.floor(((frames[i] ?? 0) - from) / size)));
    const limit = column === columns - 1 ? Number.POSITIVE_INFINITY : from + (column + 1) * size;
    let [low, high, lowAt, highAt] = [Number.NaN, Number.NaN, 0, 0];
    do {
      const value = values[i] ?? Number.NaN;
      if (Number.isFinite(value) && !(value >= low)) [low, lowAt] = [value, i];
      if (Number.isFinite(value) && !(value <= high)) [high, highAt] = [value, i];
      i++;
    } while (i < end && (frames[i] ?? 0) < limit);
    const at = from + (column + 0.5) * size;
    put(at, lowAt <= highAt ? low : high);
    if (low !== high) put(at, lowAt <= highAt ? high : low);
  }
  return { x, y };
}

/**
 * A line as a path, for drawings that need no script.
 * @param span first and last frame of the drawing
 * @param columns width of the drawing in units
 * @param height its height; `range.high` is drawn at 0
 */
export function linePath(line: Line, span: Span, range: Extent, columns: number, height: number): string {
  const { x, y } = thinned(line, span, columns);
  const [from, to] = span;
  const unit = height / (range.high - range.low || 1);
  let path = '';
  y.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const at = to > from ? (((x[i] ?? 0) - from) / (to - from)) * columns : columns / 2;
    path += `${Number.isNaN(y[i - 1] ?? Number.NaN) ? 'M' : 'L'}${fixed(at)} ${fixed((range.high - value) * unit)}`;
  });
  return path;
}
