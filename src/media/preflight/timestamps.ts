/**
 * @module media/preflight/timestamps
 * What a video's presentation times say: its rate, whether it is constant, and where frames are missing or doubled.
 */

/** A place where frames are missing. */
export interface Gap {
  /** Number of the frame before it. */
  readonly after: number;
  /** Frames that would fill it. */
  readonly frames: number;
}

/** What times say. */
export interface TimestampAnalysis {
  /** Median seconds from frame to frame. */
  readonly interval: number;
  /** True when intervals vary so much that gaps and doubles cannot be told. */
  readonly variable: boolean;
  /** Frames after which others are missing; empty for variable rate. */
  readonly gaps: readonly Gap[];
  /** Numbers of frames shown at (nearly) the time of the frame before; empty for variable rate. */
  readonly doubled: readonly number[];
}

/** Seconds by which rounding moves a time: Matroska counts milliseconds, so that an interval is off by up to one. */
const ROUNDING = 0.0012;

/** Part of the interval by which one may differ. */
const JITTER = 0.2;

/** Part of the intervals that may be anything before the rate counts as variable. */
const IRREGULAR = 0.02;

/** Part of the intervals that may be gaps or doubles before the rate counts as variable. */
const FAULTY = 0.15;

/**
 * @param times seconds, ascending
 * @returns `undefined` for fewer than three frames
 */
export function analyseTimestamps(times: Float64Array): TimestampAnalysis | undefined {
  if (times.length < 3) return undefined;
  const intervals = times.subarray(1).map((time, i) => time - (times[i] ?? Number.NaN));
  const interval = [...intervals].sort((a, b) => a - b)[intervals.length >> 1] ?? Number.NaN;
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
