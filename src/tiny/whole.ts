/**
 * @module tiny/whole
 * Numbers for inputs of whole numbers: one that is none is refused, because a rounded feature is another feature.
 */
import { AnyvmafError } from '../core/errors.js';

/** Least and greatest value of the types that sessions are fed with; of 64 bits as far as a float holds them. */
const RANGES = {
  int64: [-(2 ** 63), 2 ** 63],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint8: [0, 255],
  int8: [-128, 127],
} as const;

export type WholeType = keyof typeof RANGES;

/**
 * Makes sure that numbers are whole and in the range of a type.
 * @param what the model and its input, for the message
 * @throws {AnyvmafError} `model`, with the first that is not
 */
export function requireWhole(data: Float32Array, type: WholeType, what: string): void {
  const [least, greatest] = RANGES[type];
  const bad = data.find((value) => !Number.isInteger(value) || value < least || value > greatest);
  // A value at 2 ** 63 itself is one too many for 64 bits.
  if (bad === undefined && !(type === 'int64' && data.includes(greatest))) return;
  throw new AnyvmafError(
    'model',
    `${what} takes whole numbers (${type}), but is given ${bad ?? greatest}; to round it would change the score. Export ` +
      'the model with a floating-point input.',
  );
}
