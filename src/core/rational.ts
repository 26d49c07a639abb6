/**
 * @module core/rational
 * Frame rates and sample aspects as fractions.
 */

/** A fraction as containers write it. */
export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** Assumed frames per second if a video states none. */
export const USUAL_RATE = 25;

/** Its value; `undefined` without a fraction, and for meaningless ones such as 0/1 and 25/0. */
export function quotientOf(fraction: Fraction | undefined): number | undefined {
  return fraction && fraction.num > 0 && fraction.den > 0 ? fraction.num / fraction.den : undefined;
}

export function areEqual(a: Fraction, b: Fraction): boolean {
  return a.num * b.den === b.num * a.den;
}

/** `25` or `30000/1001`. */
export function fractionText({ num, den }: Fraction): string {
  return num % den === 0 ? String(num / den) : `${num}/${den}`;
}
