/**
 * @module core/fma
 * Fused multiply-add, which C libraries use on today's processors and JavaScript lacks.
 */

/** Splits a double into two halves of 26 bits (Dekker). */
const SPLIT = 2 ** 27 + 1;

/**
 * a * b + c with one rounding, for values of ordinary size: the errors of product and sum are exact and added
 * last. Rounding those together matters only if the product's error is 2^-42 of the sum's; the polynomials
 * here stay far from that.
 */
export function fma(a: number, b: number, c: number): number {
  const product = a * b;
  const aScaled = SPLIT * a;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = SPLIT * b;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  const productError = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  const sum = product + c;
  const added = sum - product;
  const sumError = product - (sum - added) + (c - added);
  return sum + (sumError + productError);
}
