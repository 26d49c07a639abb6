/**
 * @module media/preflight/timestamps
 * Analyses presentation times: the rate, whether it is constant, and where frames are missing or doubled.
 */

/** A place where frames are missing. */
export interface Gap {
  /** Number of the frame before the gap. */
  readonly after: number;
  /** Number of missing frames. */
  readonly frames: number;
}

/** Facts from presentation times. */
export interface TimestampAnalysis {
  /** Median interval in seconds. */
  readonly interval: number;
  /** True if intervals vary too much to detect gaps and doubles. */
  readonly variable: boolean;
  /** Gaps; empty for variable rate. */
  readonly gaps: readonly Gap[];
  /** Numbers of frames shown at (nearly) the time of the frame before; empty for variable rate. */
  readonly doubled: readonly number[];
}

/** Largest rounding error of an interval in seconds, as Matroska counts milliseconds. */
const ROUNDING = 0.0012;

/** Largest difference from the median, as a share of it. */
const JITTER = 0.2;

/** Largest share of irregular intervals of a constant rate. */
const IRREGULAR = 0.02;

/** Largest share of gaps and doubles of a constant rate. */
const FAULTY = 0.15;

/**
 * @param times seconds, ascending
 * @returns `undefined` for fewer than three frames
 */
export function analyseTimestamps(times: Float64Array): TimestampAnalysis | undefined {
  if (times.length < 3) return undefined;
  const intervals = times.subarray(1).map((time, i) => time - (times[i] ?? Number.NaN));
  const interval = intervals.toSorted()[intervals.length >> 1] ?? Number.NaN;
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
