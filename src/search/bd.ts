/**
 * @module search/bd
 * Bjontegaard deltas as the public API has them: what computes them is loaded when it is asked for.
 */
import type { BdOptions, BdResult, RatePoint } from '../report/bd-rate.js';

/**
 * The mean difference of rate at equal quality (BD-rate), of `test` against `anchor`.
 * @throws {AnyvmafError} `usage` for points that are not numbers above 0 with a quality, for too few points, and for curves
 * that share no range of quality
 * @example
 * ```ts
 * const { value } = await bdRate(
 *   [{ kbps: 500, quality: 70 }, { kbps: 1000, quality: 82 }, { kbps: 2000, quality: 91 }],
 *   [{ kbps: 400, quality: 71 }, { kbps: 800, quality: 83 }, { kbps: 1600, quality: 91.5 }],
 * ); // about -25: the second needs 25 % less
 * ```
 */
export async function bdRate(
  anchor: readonly RatePoint[],
  test: readonly RatePoint[],
  options?: BdOptions,
): Promise<BdResult> {
  const found = await import('../report/bd-rate.js');
  return found.bdRate(anchor, test, options);
}

/**
 * The mean difference of quality at equal rate (BD-PSNR, BD-VMAF), of `test` against `anchor`. Rates count by their
 * logarithm.
 * @throws {AnyvmafError} `usage` as {@link bdRate}, for curves that share no range of rates
 */
export async function bdQuality(
  anchor: readonly RatePoint[],
  test: readonly RatePoint[],
  options?: BdOptions,
): Promise<BdResult> {
  const found = await import('../report/bd-rate.js');
  return found.bdQuality(anchor, test, options);
}
