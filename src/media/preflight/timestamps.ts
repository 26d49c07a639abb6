/**
 * @module media/preflight/timestamps
 * Analyses presentation times: variable rate, missing and doubled frames, and same moments of two videos.
 */

import { intervalsOf, medianInterval } from '../evidence/rate.js';

export interface Gap {
  readonly after: number;
  readonly frames: number;
}

export interface TimestampAnalysis {
  /** Median interval in seconds. */
  readonly interval: number;
  /** True if intervals vary too much to detect gaps and doubles. */
  readonly variable: boolean;
  /** Empty for variable rate. */
  readonly gaps: readonly Gap[];
  /** Frames at (nearly) the time of the frame before; empty for variable rate. */
  readonly doubled: readonly number[];
}

/** Largest rounding error of an interval in seconds, as Matroska counts milliseconds. */
const ROUNDING = 0.0012;

/** Largest difference from the median, as a share of it. */
const JITTER = 0.2;

/** Largest share of irregular intervals at a constant rate. */
const IRREGULAR = 0.02;

/** Largest share of irregular intervals, gaps and doubles at a constant rate. */
const FAULTY = 0.15;

/** `undefined` for fewer than three times, which ascend in seconds. */
export function analyseTimestamps(times: Float64Array): TimestampAnalysis | undefined {
  if (times.length < 3) return undefined;
  const intervals = intervalsOf(times);
  const interval = medianInterval(times) ?? Number.NaN;
  if (!(interval > 0)) return { interval, variable: true, gaps: [], doubled: [] };
  const slack = Math.max(ROUNDING, JITTER * interval);
  const gaps: Gap[] = [];
  const doubled: number[] = [];
  let irregular = 0;
  for (const [i, step] of intervals.entries()) {
    const frames = Math.round(step / interval);
    if (Math.abs(step - interval) <= slack) continue;
    if (frames >= 2 && Math.abs(step - frames * interval) <= slack * Math.sqrt(frames)) {
      gaps.push({ after: i, frames: frames - 1 });
    } else if (step <= slack) {
      doubled.push(i + 1);
    } else {
      irregular++;
    }
  }
  const faults = gaps.length + doubled.length;
  const variable =
    irregular > Math.max(1, IRREGULAR * intervals.length) || irregular + faults > FAULTY * intervals.length;
  return variable ? { interval, variable, gaps: [], doubled: [] } : { interval, variable, gaps, doubled };
}

export interface Partners {
  /** Frames without a partner while the other video runs, ascending. */
  readonly alone: { readonly reference: readonly number[]; readonly distorted: readonly number[] };
  /** Number of frames after the other video's last. */
  readonly after: { readonly reference: number; readonly distorted: number };
}

/** Presentation times in seconds, ascending. */
interface BothTimes {
  readonly reference: Float64Array;
  readonly distorted: Float64Array;
  /** The first compared frames, which show the same moment. Default: the first of each. */
  readonly first?: { readonly reference: number; readonly distorted: number };
}

/** Largest difference in seconds between two clocks of milliseconds. */
const TWO_CLOCKS = 0.0021;

/** Largest difference of the same moment, as a share of the time to the nearest neighbour. */
const SAME_MOMENT = 1 / 3;

export function partnersInTime({ reference, distorted, first }: BothTimes): Partners {
  const { reference: a = 0, distorted: b = 0 } = first ?? {};
  const shift = (distorted[b] ?? 0) - (reference[a] ?? 0);
  const alone = { reference: [] as number[], distorted: [] as number[] };
  let [i, j] = [a, b];
  while (i < reference.length && j < distorted.length) {
    const later = (distorted[j] ?? Number.NaN) - shift - (reference[i] ?? Number.NaN);
    const near = Math.min(nearest(reference, i), nearest(distorted, j));
    if (Math.abs(later) <= Math.max(TWO_CLOCKS, SAME_MOMENT * near)) [i, j] = [i + 1, j + 1];
    else if (later > 0) alone.reference.push(i++);
    else alone.distorted.push(j++);
  }
  return { alone, after: { reference: reference.length - i, distorted: distorted.length - j } };
}

function nearest(times: Float64Array, i: number): number {
  const own = times[i] ?? Number.NaN;
  const [before = Number.NEGATIVE_INFINITY, after = Number.POSITIVE_INFINITY] = [times[i - 1], times[i + 1]];
  return Math.min(own - before, after - own);
}
