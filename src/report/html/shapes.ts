/**
 * @module report/html/shapes
 * Geometry of the page's drawings that need no script: lines through many frames, histograms, round tick marks.
 */

/** A value range that is drawn. */
export interface Extent {
  readonly low: number;
  readonly high: number;
}

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

/** Values counted in bins of equal width. */
export interface Histogram extends Extent {
  /** Width of a bin. */
  readonly step: number;
  readonly counts: readonly number[];
}

/**
 * Counts values in bins whose edges are multiples of a round step.
 * @param range all finite values lie in it
 * @param bins about this many
 */
export function histogram(values: Iterable<number>, range: Extent, bins: number): Histogram {
  const step = roundStep(range.high - range.low || 1, bins);
  const low = Math.floor(range.low / step) * step;
  const count = Math.max(1, Math.ceil((range.high - low) / step - 1e-9));
  const counts = new Array<number>(count).fill(0);
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(count - 1, Math.max(0, Math.floor((value - low) / step + 1e-9)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { low, high: low + count * step, step, counts };
}

/** The range of all finite values, `undefined` without any. */
export function extentOf(series: Iterable<Iterable<number>>): Extent | undefined {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const values of series) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? undefined : { low, high };
}

/** 1, 2 or 5 times a power of ten: the smallest such step that divides a span into at most `parts`. */
export function roundStep(span: number, parts: number): number {
  const rough = Math.abs(span) / parts;
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough) + 1e-9);
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
}

/** Multiples of a round step within a range, about `parts` of them. */
export function ticks(range: Extent, parts: number): number[] {
  const step = roundStep(range.high - range.low || 1, parts);
  const first = Math.ceil(range.low / step - 1e-9);
  const last = Math.floor(range.high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** A coordinate in a path: two decimals at most. */
export function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}
