/**
 * @module media/evidence/times
 * Decides whether the frames of two videos pair at equal times. Those that do belong together, whatever rate, gaps and
 * doubled times their containers have.
 */

/** Which frames have none of the other video at their time. */
export interface Partners {
  /** Numbers of frames without a partner while the other video runs, ascending. */
  readonly alone: { readonly reference: readonly number[]; readonly distorted: readonly number[] };
  /** Number of frames after the other video's last. */
  readonly after: { readonly reference: number; readonly distorted: number };
}

/** Both videos' presentation times in seconds, ascending. */
export interface BothTimes {
  readonly reference: Float64Array;
  readonly distorted: Float64Array;
  /** Frames that are compared first, whose times are the same moment. Default: the first of each. */
  readonly first?: { readonly reference: number; readonly distorted: number };
}

/** Largest difference that two clocks of milliseconds make, seconds. */
const ROUNDING = 0.0021;

/** Largest difference of a moment, as a share of the time to the nearest neighbour. */
const SAME_MOMENT = 1 / 3;

/** Pairs frames at equal times, in order. */
export function partnersInTime({ reference, distorted, first }: BothTimes): Partners {
  const { reference: a = 0, distorted: b = 0 } = first ?? {};
  const shift = (distorted[b] ?? 0) - (reference[a] ?? 0);
  const alone = { reference: [] as number[], distorted: [] as number[] };
  let [i, j] = [a, b];
  while (i < reference.length && j < distorted.length) {
    const later = (distorted[j] ?? Number.NaN) - shift - (reference[i] ?? Number.NaN);
    const near = Math.min(nearest(reference, i), nearest(distorted, j));
    if (Math.abs(later) <= Math.max(ROUNDING, SAME_MOMENT * near)) [i, j] = [i + 1, j + 1];
    else if (later > 0) alone.reference.push(i++);
    else alone.distorted.push(j++);
  }
  return { alone, after: { reference: reference.length - i, distorted: distorted.length - j } };
}

/** Time to the neighbour that is nearer. */
function nearest(times: Float64Array, i: number): number {
  const own = times[i] ?? Number.NaN;
  const [before = Number.NEGATIVE_INFINITY, after = Number.POSITIVE_INFINITY] = [times[i - 1], times[i + 1]];
  return Math.min(own - before, after - own);
}
