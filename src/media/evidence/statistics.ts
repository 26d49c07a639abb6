/**
 * @module media/evidence/statistics
 * Mean and correlation of samples.
 */

export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? 0;
  return sum / values.length;
}

/** -1..1; 0 if either has no contrast. */
export function correlation(a: Float32Array, b: Float32Array): number {
  const [ma, mb] = [mean(a), mean(b)];
  let [both, aa, bb] = [0, 0, 0];
  for (const [i, value] of a.entries()) {
    const [da, db] = [value - ma, (b[i] ?? Number.NaN) - mb];
    both += da * db;
    aa += da * da;
    bb += db * db;
  }
  return aa > 0 && bb > 0 ? both / Math.sqrt(aa * bb) : 0;
}
