/**
 * @module models/transform
 * Post-processes a score: polynomial, piecewise linear curve, bounds and clip (spec 5.3).
 */
import type { ScoreTransform } from './types.js';

/** The transform's value at `y`; the caller decides whether it is enabled. */
export function applyTransform(transform: ScoreTransform, y: number): number {
  const { p0, p1, p2, knots, outLteIn, outGteIn } = transform;
  let out = y;
  if (p0 !== undefined || p1 !== undefined || p2 !== undefined) {
    out = 0;
    if (p0 !== undefined) out += p0;
    if (p1 !== undefined) out += p1 * y;
    if (p2 !== undefined) out += p2 * y * y;
  }
  if (knots && knots.length > 1) out = piecewise(knots, out);
  if (outLteIn && out > y) out = y;
  if (outGteIn && out < y) out = y;
  return out;
}

/**
 * The piecewise linear curve through the knots, extrapolated at both ends. As in libvmaf, a segment that does not rise ends
 * the curve, the right segment counts at a knot, and outside the curve the value is 0.
 */
function piecewise(knots: readonly (readonly [number, number])[], x: number): number {
  let result = 0;
  const last = knots.length - 2;
  for (let k = 0; k <= last; k++) {
    const [x0, y0] = knots[k] ?? [0, 0];
    const [x1, y1] = knots[k + 1] ?? [0, 0];
    if (!(x0 < x1 && y0 <= y1)) return result;
    const hit = (x0 <= x && x <= x1) || (k === 0 && x < x0) || (k === last && x > x1);
    if (!hit) continue;
    if (y0 === y1) {
      result = y0;
    } else {
      const slope = x0 === 0 ? (y1 - y0) / x1 : (y1 - y0) / (x1 - x0);
      const base = x0 === 0 ? y0 : y0 - x0 * slope;
      result = slope * x + base;
    }
  }
  return result;
}

/** Clips `y` to a range. */
export function clip([low, high]: readonly [number, number], y: number): number {
  const raised = y < low ? low : y;
  return raised > high ? high : raised;
}
