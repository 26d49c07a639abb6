/**
 * @module report/interpolation
 * Curves through points as piecewise cubic polynomials: the interpolations that Bjontegaard deltas are taken with.
 */

/** How a curve runs between its points. */
export const INTERPOLATIONS = ['pchip', 'akima', 'cubic'] as const;
export type Interpolation = (typeof INTERPOLATIONS)[number];

/** The fewest points that define a curve. */
export const FEWEST_POINTS: Readonly<Record<Interpolation, number>> = { pchip: 2, akima: 2, cubic: 4 };

/** A curve that is a polynomial of degree 3 at most between each two of its knots. */
export interface Curve {
  readonly low: number;
  readonly high: number;
  /** Ascending. */
  readonly knots: readonly number[];
  at(x: number): number;
}

/**
 * @param x strictly ascending
 * @param y as many
 */
export function curveThrough(x: readonly number[], y: readonly number[], how: Interpolation): Curve {
  if (how === 'cubic') return leastSquares(x, y);
  return hermite(x, y, how === 'pchip' ? monotoneSlopes(x, y) : akimaSlopes(x, y));
}

/** The mean of `b - a` over `from..to`, which lies within both. Exact, as both are cubic between their knots. */
export function meanDifference(a: Curve, b: Curve, from: number, to: number): number {
  const inner = [...a.knots, ...b.knots].filter((knot) => knot > from && knot < to);
  const cuts = [from, ...inner.sort((p, q) => p - q), to];
  // Gauss's rule with two points integrates polynomials of degree 3 without error.
  const reach = 1 / Math.sqrt(3);
  let sum = 0;
  for (let i = 1; i < cuts.length; i++) {
    const half = (cuts[i]! - cuts[i - 1]!) / 2;
    const middle = cuts[i - 1]! + half;
    for (const at of [middle - half * reach, middle + half * reach]) sum += half * (b.at(at) - a.at(at));
  }
  return sum / (to - from);
}

/** Cubic pieces that meet in values and slopes. */
function hermite(x: readonly number[], y: readonly number[], slopes: readonly number[]): Curve {
  return {
    low: x[0]!,
    high: x.at(-1)!,
    knots: x,
    at(at) {
      let i = 0;
      while (i < x.length - 2 && at > x[i + 1]!) i++;
      const width = x[i + 1]! - x[i]!;
      const t = (at - x[i]!) / width;
      const rise = y[i + 1]! - y[i]!;
      const first = width * slopes[i]! - rise;
      const second = rise - width * slopes[i + 1]!;
      return y[i]! + t * rise + t * (1 - t) * (first * (1 - t) + second * t);
    },
  };
}

/** Slopes of the lines between neighbouring points. */
function chords(x: readonly number[], y: readonly number[]): number[] {
  return x.slice(1).map((to, i) => (y[i + 1]! - y[i]!) / (to - x[i]!));
}

/** Slopes after Fritsch and Butland (1984), by which a curve through rising points never falls. */
function monotoneSlopes(x: readonly number[], y: readonly number[]): number[] {
  const chord = chords(x, y);
  if (chord.length === 1) return [chord[0]!, chord[0]!];
  const widths = x.slice(1).map((to, i) => to - x[i]!);
  const slopes = chord.slice(1).map((right, i) => {
    const left = chord[i]!;
    if (left * right <= 0) return 0;
    const before = widths[i + 1]! * 2 + widths[i]!;
    const after = widths[i + 1]! + widths[i]! * 2;
    return (before + after) / (before / left + after / right);
  });
  const last = chord.length - 1;
  return [
    endSlope(widths[0]!, widths[1]!, chord[0]!, chord[1]!),
    ...slopes,
    endSlope(widths[last]!, widths[last - 1]!, chord[last]!, chord[last - 1]!),
  ];
}

/** The slope at an end, from three points, held back where the curve would turn. */
function endSlope(width: number, next: number, chord: number, nextChord: number): number {
  const slope = ((2 * width + next) * chord - width * nextChord) / (width + next);
  if (slope * chord <= 0) return 0;
  return chord * nextChord < 0 && Math.abs(slope) > Math.abs(3 * chord) ? 3 * chord : slope;
}

/** Slopes after Akima (1970): a mean of the chords beside a point, where the one that bends less counts more. */
function akimaSlopes(x: readonly number[], y: readonly number[]): number[] {
  const chord = chords(x, y);
  if (chord.length === 1) return [chord[0]!, chord[0]!];
  // Two more chords at either end, on the parabola through the last three points.
  const [first, second] = [chord[0]!, chord[1]!];
  const [last, before] = [chord.at(-1)!, chord.at(-2)!];
  const all = [
    3 * first - 2 * second,
    2 * first - second,
    ...chord,
    2 * last - before,
    3 * last - 2 * before,
  ];
  const bends = all.slice(1).map((one, i) => Math.abs(one - all[i]!));
  const straight = 1e-9 * Math.max(...bends.slice(2).map((bend, i) => bend + bends[i]!));
  return x.map((_, i) => {
    const [right, left] = [bends[i + 2]!, bends[i]!];
    if (right + left <= straight) return (all[i + 1]! + all[i + 2]!) / 2;
    return (right * all[i + 1]! + left * all[i + 2]!) / (right + left);
  });
}

/**
 * The polynomial of degree 3 that comes nearest to all points, which is the one through them where they are four. A sum
 * of polynomials that are orthogonal over the points, so that no system of equations has to be solved.
 */
function leastSquares(x: readonly number[], y: readonly number[]): Curve {
  const basis: { readonly shift: number; readonly back: number; readonly weight: number }[] = [];
  let rest = [...y];
  let before = x.map(() => 0);
  let values = x.map(() => 1);
  let normBefore = 1;
  for (let degree = 0; degree <= 3; degree++) {
    const norm = dot(values, values);
    const weight = dot(rest, values) / norm;
    const [of, previous] = [values, before];
    const shift =
      dot(
        of.map((value, i) => value * x[i]!),
        of,
      ) / norm;
    const back = degree === 0 ? 0 : norm / normBefore;
    basis.push({ shift, back, weight });
    rest = rest.map((value, i) => value - weight * of[i]!);
    values = of.map((value, i) => (x[i]! - shift) * value - back * previous[i]!);
    before = of;
    normBefore = norm;
  }
  const at = (point: number): number => {
    let [sum, last, value] = [0, 0, 1];
    for (const { shift, back, weight } of basis) {
      sum += weight * value;
      [last, value] = [value, (point - shift) * value - back * last];
    }
    return sum;
  };
  return { low: x[0]!, high: x.at(-1)!, knots: [], at };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
