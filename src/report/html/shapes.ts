/**
 * @module report/html/shapes
 * The path of a line through many frames, for the drawing that needs no script.
 */
import { type Extent, fixed } from '../view/scales.js';

/**
 * A path through evenly spaced values, with the least and the greatest of each column where several values share one,
 * so that no dip is lost and the path stays short.
 * @param values NaN is a gap
 * @param columns width of the drawing in units
 * @param height its height; `range.high` is drawn at 0
 * @param left where the drawing begins, in the same units
 */
export function linePath(
  values: ArrayLike<number>,
  range: Extent,
  columns: number,
  height: number,
  left = 0,
): string {
  const count = values.length;
  const span = range.high - range.low || 1;
  const y = (value: number) => fixed(((range.high - value) / span) * height);
  let path = '';
  let pen = false;
  const put = (x: number, value: number): void => {
    path += `${pen ? 'L' : 'M'}${fixed(left + x)} ${y(value)}`;
    pen = true;
  };
  if (count <= columns) {
    for (let i = 0; i < count; i++) {
      const value = values[i] ?? Number.NaN;
      if (Number.isFinite(value)) put(count > 1 ? (i / (count - 1)) * columns : columns / 2, value);
      else pen = false;
    }
    return path;
  }
  for (let column = 0; column < columns; column++) {
    const end = Math.floor(((column + 1) * count) / columns);
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let [lowAt, highAt] = [0, 0];
    for (let i = Math.floor((column * count) / columns); i < end; i++) {
      const value = values[i] ?? Number.NaN;
      if (value < low) [low, lowAt] = [value, i];
      if (value > high) [high, highAt] = [value, i];
    }
    if (low > high) {
      pen = false;
      continue;
    }
    const order = lowAt <= highAt ? [low, high] : [high, low];
    for (const value of low === high ? [low] : order) put(column + 0.5, value);
  }
  return path;
}
