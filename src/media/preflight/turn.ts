/**
 * @module media/preflight/turn
 * Finds the direction in which to rotate a picture on its side, from small squares of both videos.
 */
import type { SideMeasurements } from './types.js';

/** Boxes along each side of the compared squares, for any aspect of the picture. */
export const SQUARE = 16;

/** Least correlation of a match, and by how much it must exceed that of the other direction. */
const ALIKE = 0.5;
const CLEARLY = 0.15;

/** ffmpeg's names of both directions, and the source position of the sample in row y and column x. */
const WAYS = {
  clock: (x: number, y: number) => (SQUARE - 1 - x) * SQUARE + y,
  cclock: (x: number, y: number) => x * SQUARE + SQUARE - 1 - y,
} as const;

/** The rotation that turns the distorted video upright; `undefined` if the pictures do not decide. */
export function turnOf(
  reference: SideMeasurements | undefined,
  distorted: SideMeasurements | undefined,
): keyof typeof WAYS | undefined {
  const upright = reference?.squares ?? [];
  const pairs = (distorted?.squares ?? []).flatMap((square, i) => {
    const other = upright[i];
    return other ? [[other, square] as const] : [];
  });
  if (pairs.length === 0) return undefined;
  const likeness = (way: keyof typeof WAYS) =>
    pairs.reduce((sum, [a, b]) => sum + correlation(a, turned(b, WAYS[way])), 0) / pairs.length;
  const [clock, cclock] = [likeness('clock'), likeness('cclock')];
  if (!(Math.max(clock, cclock) >= ALIKE && Math.abs(clock - cclock) >= CLEARLY)) return undefined;
  return clock > cclock ? 'clock' : 'cclock';
}

function turned(square: Float32Array, from: (x: number, y: number) => number): Float32Array {
  return square.map((_, at) => square[from(at % SQUARE, Math.floor(at / SQUARE))] ?? Number.NaN);
}

/** -1..1; 0 if one of the two has no contrast. */
export function correlation(a: Float32Array, b: Float32Array): number {
  const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
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
