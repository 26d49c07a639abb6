/**
 * @module bench/compare
 * How far the numbers of one run are from those of another.
 */
import type { Report } from '../index.js';
import type { BenchRun } from './types.js';

/**
 * Compares frame by frame.
 * @param metric the score to compare
 * @returns differences of null where no frame has the score in both
 */
export function compareReports(
  portable: Report,
  other: Report,
  metric: string,
): Pick<BenchRun, 'maxDifference' | 'maxDifferenceFrame' | 'identical'> {
  const theirs = new Map(other.frames.map(({ frameNum, metrics }) => [frameNum, metrics]));
  let worst: { readonly difference: number; readonly frame: number } | undefined;
  let identical = portable.frames.length === other.frames.length;
  for (const { frameNum, metrics } of portable.frames) {
    const found = theirs.get(frameNum) ?? {};
    const shared = Object.keys(metrics).filter((name) => name in found);
    if (shared.length === 0 || shared.some((name) => !Object.is(metrics[name], found[name])))
      identical = false;
    const [a, b] = [metrics[metric], found[metric]];
    if (a === undefined || b === undefined) continue;
    const difference = Object.is(a, b) ? 0 : Math.abs(a - b);
    if (!worst || difference > worst.difference || Number.isNaN(difference))
      worst = { difference, frame: frameNum };
  }
  return {
    maxDifference: worst?.difference ?? null,
    maxDifferenceFrame: worst && worst.difference > 0 ? worst.frame : null,
    identical,
  };
}
