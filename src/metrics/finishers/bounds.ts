/**
 * @module metrics/finishers/bounds
 * Limits as libvmaf sets them, by comparing: what is not a number compares with nothing, so it becomes the limit.
 */

/** The value where it is below the limit, else the limit. */
export function atMost(value: number, limit: number): number {
  if (value < limit) return value;
  return limit;
}

/** The value where it is above the limit, else the limit. */
export function atLeast(value: number, limit: number): number {
  if (value > limit) return value;
  return limit;
}
