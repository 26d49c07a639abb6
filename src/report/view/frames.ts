/**
 * @module report/view/frames
 * The frame axis that charts share: searching it, and the part of it on show.
 */

/** First and last frame of a part. */
export type Span = readonly [from: number, to: number];

/** Index of the first of ascending frame numbers that is not below a number. */
export function searchFrame(numbers: ArrayLike<number>, number: number, length = numbers.length): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The frame nearest to a position, of all encodes; `undefined` without frames. */
export function nearestFrame(encodes: Iterable<ArrayLike<number>>, position: number): number | undefined {
  let best: number | undefined;
  for (const numbers of encodes) {
    const i = searchFrame(numbers, position);
    for (const candidate of [numbers[i - 1], numbers[i]]) {
      if (candidate === undefined) continue;
      if (best === undefined || Math.abs(candidate - position) < Math.abs(best - position)) best = candidate;
    }
  }
  return best;
}

/**
 * A part of the axis, kept within what there is and not closer than a few frames.
 * @param most frames of the longest encode
 */
export function zoomedTo([from, to]: Span, [first, last]: Span, most: number): [from: number, to: number] {
  const all = last - first;
  const width = Math.min(all, Math.max(4, (8 * all) / Math.max(1, most), to - from));
  const start = Math.min(last - width, Math.max(first, (from + to - width) / 2));
  return [start, start + width];
}

/** A part made wider by a factor, or narrower, around a position that stays where it is. */
export function zoomedBy([from, to]: Span, factor: number, around: number): [from: number, to: number] {
  return [around - (around - from) * factor, around + (to - around) * factor];
}

/** By what two fingers widen what is on show, from where they were to where they are, in pixels. */
export function pinchFactor(before: readonly number[], after: readonly number[]): number {
  const spread = ([a = 0, b = 0]: readonly number[]) => Math.max(12, Math.abs(a - b));
  return spread(before) / spread(after);
}
