/**
 * @module media/evidence/same-moment
 * Decides which frames of two videos show the same moment, and whether pictures can tell: frames at equal times belong
 * together, whatever rate, gaps and doubled times their containers have. A still, slides, and a loop show the same picture
 * at several offsets: whichever fits best there, fits by compression alone.
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

/** Side of the blocks whose averages are compared, in samples of a thumbnail: noise hardly changes these. */
const BLOCK = 4;

/** Change of a block's average, in 8-bit levels, that compression of a still picture does not make. */
const MOVES = 1;

/** Share of the frames that must differ between two offsets. */
const TELLING = 0.05;

/**
 * True if a video shows enough other pictures at one offset than at another.
 * @param pairs thumbnails of its frames at both, in 8-bit levels
 * @param width of a thumbnail in samples
 */
export function tellsApart(
  pairs: readonly (readonly [one: Float32Array, other: Float32Array])[],
  width: number,
): boolean {
  const moved = pairs.filter(([one, other]) => !isSamePicture(one, other, width));
  return moved.length > 0 && moved.length >= TELLING * pairs.length;
}

/** True if two thumbnails show the same picture. */
export function isSamePicture(one: Float32Array, other: Float32Array, width: number): boolean {
  const across = Math.ceil(width / BLOCK);
  const sums = new Float64Array(across * Math.ceil(one.length / width / BLOCK));
  const sizes = new Float64Array(sums.length);
  for (const [k, value] of one.entries()) {
    const x = k % width;
    const block = Math.floor((k - x) / width / BLOCK) * across + Math.floor(x / BLOCK);
    sums[block] = (sums[block] ?? 0) + (other[k] ?? value) - value;
    sizes[block] = (sizes[block] ?? 0) + 1;
  }
  return sums.every((sum, block) => Math.abs(sum) <= MOVES * (sizes[block] ?? 1));
}
