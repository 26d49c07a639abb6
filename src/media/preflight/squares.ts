/**
 * @module media/preflight/squares
 * Compares small squares of both videos: which way one is rotated, and whether bars hide or frame the picture.
 */
import { correlation, mean } from '../evidence/statistics.js';
import type { Borders, SideMeasurements } from './types.js';

/** Boxes along each side of a square, whatever the aspect ratio. */
export const SQUARE = 16;

/** Least correlation of a match, and its least lead over the other rotation or explanation. */
const ALIKE = 0.5;
const CLEARLY_TURNED = 0.15;
const CLEARLY_A_PART = 0.02;

/** Source position of the sample in row y and column x, by ffmpeg's names of the directions. */
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
    mean(pairs.map(([a, b]) => correlation(a, turned(b, WAYS[way]))));
  const [clock, cclock] = [likeness('clock'), likeness('cclock')];
  if (!(Math.max(clock, cclock) >= ALIKE && Math.abs(clock - cclock) >= CLEARLY_TURNED)) return undefined;
  return clock > cclock ? 'clock' : 'cclock';
}

function turned(square: Float32Array, from: (x: number, y: number) => number): Float32Array {
  return square.map((_, at) => square[from(at % SQUARE, Math.floor(at / SQUARE))] ?? Number.NaN);
}

/** True if the picture within bars (shares of the sides) is a part of the other one, rather than a smaller copy. */
export function hidesPart(
  barred: SideMeasurements | undefined,
  whole: SideMeasurements | undefined,
  { left, top, right, bottom }: Borders,
): boolean {
  const inside = Array.from({ length: SQUARE * SQUARE }, (_, at) => at).filter((at) => {
    const [x, y] = [at % SQUARE, Math.floor(at / SQUARE)];
    return (
      x >= left * SQUARE &&
      x + 1 <= (1 - right) * SQUARE &&
      y >= top * SQUARE &&
      y + 1 <= (1 - bottom) * SQUARE
    );
  });
  const between = (position: number, before: number, after: number) =>
    Math.floor((((position + 0.5) / SQUARE - before) / (1 - before - after)) * SQUARE);
  const copied = (at: number) =>
    between(Math.floor(at / SQUARE), top, bottom) * SQUARE + between(at % SQUARE, left, right);
  const pairs = (barred?.squares ?? []).flatMap((square, i) => {
    const other = whole?.squares?.[i];
    return other ? [[square, other] as const] : [];
  });
  if (pairs.length === 0 || inside.length === 0) return false;
  const sampled = (square: Float32Array, from: (at: number) => number) =>
    Float32Array.from(inside, (at) => square[from(at)] ?? Number.NaN);
  const likeness = (from: (at: number) => number) =>
    mean(
      pairs.map(([square, other]) =>
        correlation(
          sampled(square, (at) => at),
          sampled(other, from),
        ),
      ),
    );
  const [part, copy] = [likeness((at) => at), likeness(copied)];
  return part >= ALIKE && part - copy >= CLEARLY_A_PART;
}
