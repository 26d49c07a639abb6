/**
 * @module media/preflight/bars
 * Tells from small squares of both videos whether bars hide a part of the picture or frame a smaller copy of all of it.
 */
import { correlation, SQUARE } from './turn.js';
import type { Borders, SideMeasurements } from './types.js';

/** Least correlation of a match, and by how much it must exceed that of the other explanation. */
const ALIKE = 0.5;
const CLEARLY = 0.02;

/**
 * Whether the picture between the bars is a part of the other video's picture, at the same place. False where it is all of
 * that picture, made smaller, and where the pictures do not decide.
 * @param bars widths of the bars, as shares of the picture's sides
 */
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
  const likeness = (from: (at: number) => number) =>
    pairs.reduce(
      (sum, [square, other]) =>
        sum +
        correlation(
          Float32Array.from(inside, (at) => square[at] ?? Number.NaN),
          Float32Array.from(inside, (at) => other[from(at)] ?? Number.NaN),
        ),
      0,
    ) / pairs.length;
  const [part, copy] = [likeness((at) => at), likeness(copied)];
  return part >= ALIKE && part - copy >= CLEARLY;
}
