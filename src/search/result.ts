/**
 * @module search/result
 * Writes and reads results of searches, ladders, comparisons and tuned shots, and computes BD-rates; loads on demand.
 */
import type { BdOptions, BdResult, RatePoint } from '../report/bd-rate.js';
import type { Report } from '../report/schema.js';
import type { DecisionOptions, EncodeDecision } from './decision.js';
import type { CurveResult, ResultFormat, ShotFormat, TuneShotsResult } from './types.js';

/**
 * Formats a result of `searchQuality`, `buildLadder` or `compareEncoders`: tables for a terminal, JSON with
 * everything, CSV of the points, or an HTML page.
 * @throws {AnyvmafError} `usage` for anything but a result, and for an unknown format
 */
export async function formatEncodingResult(result: CurveResult, format: ResultFormat): Promise<string> {
  return (await import('./result-sections.js')).formatResult(result, format);
}

/**
 * Reads a result that {@link formatEncodingResult} wrote as JSON.
 * @throws {AnyvmafError} `usage` for a text that is not such a result, naming the first problem
 */
export async function readEncodingResult(text: string): Promise<CurveResult> {
  return (await import('./checks.js')).parseResult(text);
}

/**
 * Formats a result of `tuneShots`.
 * @throws {AnyvmafError} `usage` for anything but a result, and for an unknown format
 */
export async function formatShots(result: TuneShotsResult, format: ShotFormat): Promise<string> {
  return (await import('./result-sections.js')).shotsText(result, format);
}

/**
 * Mean difference of rate at equal quality (BD-rate), in per cent, of `test` against `anchor`.
 * @throws {AnyvmafError} `usage` for rates not above 0, too few points, and curves that share no range of quality
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
 * Mean difference of quality at equal rate (BD-PSNR, BD-VMAF) of `test` against `anchor`, over the logarithm of the
 * rate.
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
 * Decides which encode of one reference to ship: the smallest that reaches the targets, or without targets the
 * smallest that the measurement cannot tell from the best. Also compares quality with bytes, and finds where each
 * breaks and which ones tie.
 * @param reports of one reference, with their frames
 * @throws {AnyvmafError} `usage` without reports, if the first has no metric of quality, and for malformed bounds
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
  return (await import('./decision.js')).decideEncodes(reports, options);
}
