/**
 * @module core/rational
 * Rates and sample aspects as the fractions that containers write.
 */

/** A fraction as containers write it. */
export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** Frames per second of a video that says none. */
export const USUAL_RATE = 25;

/** Its value; `undefined` without one, and where it says nothing, as 0/1 and 25/0 do. */
export function quotientOf(fraction: Fraction | undefined): number | undefined {
  return fraction && fraction.num > 0 && fraction.den > 0 ? fraction.num / fraction.den : undefined;
}

/** Whether both have one value. */
export function areEqual(a: Fraction, b: Fraction): boolean {
  return a.num * b.den === b.num * a.den;
}

/** `25` or `30000/1001`. */
export function fractionText({ num, den }: Fraction): string {
  return num % den === 0 ? String(num / den) : `${num}/${den}`;
}
