/**
 * @module tiny/half
 * Converts between IEEE 754 binary16 and binary32, for models with half-precision tensors.
 */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** Rounds each value to the nearest half, ties to even; values beyond 65504 become infinite. */
export function toHalves(values: Float32Array): Uint16Array<ArrayBuffer> {
  return Uint16Array.from(values, toHalf);
}

function toHalf(value: number): number {
  float[0] = value;
  const word = bits[0]!;
  const sign = (word >>> 16) & 0x8000;
  const exponent = (word >>> 23) & 0xff;
  const fraction = word & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction > 0 ? 0x200 : 0);
  const shifted = exponent - 112;
  if (shifted >= 31) return sign | 0x7c00;
  if (shifted < -10) return sign;
  // Subnormal halves have no implicit leading one, so it becomes part of the fraction.
  const [significand, drop] = shifted > 0 ? [fraction, 13] : [fraction | 0x800000, 14 - shifted];
  const kept = significand >>> drop;
  const rest = significand & ((1 << drop) - 1);
  const middle = 1 << (drop - 1);
  const up = rest > middle || (rest === middle && (kept & 1) === 1) ? 1 : 0;
  // A carry out of the fraction correctly increments the exponent.
  return sign | ((Math.max(0, shifted) << 10) + kept + up);
}

/** Converts halves exactly. */
export function fromHalves(halves: Uint16Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(halves, fromHalf);
}

function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
