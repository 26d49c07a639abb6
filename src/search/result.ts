/**
 * @module search/result
 * Results of searches, ladders, comparisons and tuned videos as texts, and read back; and Bjontegaard deltas of curves. What
 * checks, writes, reads and computes is loaded when it is asked for.
 */
import type { BdOptions, BdResult, RatePoint } from '../report/bd-rate.js';
import type { Report } from '../report/types.js';
import type { DecisionOptions, EncodeDecision } from './decision.js';
import type { CurveResult, ResultFormat, ShotFormat, TuneShotsResult } from './types.js';

/** Forms of tuned shots. `shell` is a script for a POSIX shell that makes the encode with ffmpeg. */
export const SHOT_FORMATS = ['json', 'csv', 'shell'] as const satisfies readonly ShotFormat[];

/**
 * A result of `searchQuality`, `buildLadder` or `compareEncoders` as a text: tables for a terminal, JSON that holds everything, CSV of
 * the points, or an HTML page.
 * @throws {AnyvmafError} `usage` for what is no result, and for a format that there is not
 */
export async function formatEncodingResult(result: CurveResult, format: ResultFormat): Promise<string> {
  return (await import('./result-sections.js')).formatResult(result, format);
}

/**
 * Reads a result that {@link formatEncodingResult} wrote as JSON.
 * @throws {AnyvmafError} `usage` for a text that is no such result, naming the first place that is wrong
 */
export async function readEncodingResult(text: string): Promise<CurveResult> {
  return (await import('./result-checks.js')).parseResult(text);
}

/**
 * A result of `tuneShots` as text.
 * @throws {AnyvmafError} `usage` for what is no result, and for a format that there is not
 */
export async function formatShots(result: TuneShotsResult, format: ShotFormat): Promise<string> {
  return (await import('./shots-text.js')).shotsText(result, format);
}

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
  return (await import('../report/bd-rate.js')).bdRate(anchor, test, options);
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
  return (await import('../report/bd-rate.js')).bdQuality(anchor, test, options);
}

/**
 * Which of several encodes of one reference to ship, from their reports: with targets the smallest that reaches them, else the
 * smallest of those that the measurement does not tell from the best. Says what each gives for its bytes, where each breaks, and
 * which differ by no more than the error of the measurement.
 * @param reports of one reference, with their frames
 * @throws {AnyvmafError} `usage` for reports without a metric of quality, and for what is not a bound
 * @example
 * ```ts
 * const reports = await scoreMany('master.mov', ['a.mp4', 'b.mp4']);
 * const { ship, explanation } = await decideEncodes(reports, { targets: ['vmaf.p5>=90'] });
 * ```
 */
export async function decideEncodes(
  reports: readonly Report[],
  options?: DecisionOptions,
): Promise<EncodeDecision> {
  const found = await import('./decision.js');
  return found.decideEncodes(reports, options);
}
