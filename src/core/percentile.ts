/**
 * @module core/percentile
 * The percentile of pooled scores and bootstrap intervals.
 */

/**
 * Linear interpolation between order statistics, at position `percent * (n - 1) / 100`.
 * @param sorted ascending, not empty
 * @param percent 0..100
 */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const position = (percent * (sorted.length - 1)) / 100;
  const below = Math.floor(position);
  const above = Math.ceil(position);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[above] ?? Number.NaN;
  return below === above ? low : low * (above - position) + high * (position - below);
}
