/**
 * @module media/pairing/timeline
 * Pairs frames by their presentation times.
 */
import type { BothOf } from '../../core/frame.js';
import { medianInterval, rateOfTimes, ratesDiffer } from '../evidence/rate.js';

/** Seconds, ascending. */
export interface TimesToPair extends BothOf<Float64Array> {
  /** Frames of the same moment: the origin of both clocks. */
  readonly origin: BothOf<number>;
  /** Seconds to add to a reference time to get the distorted time, if the origin is not exact. */
  readonly shift?: number;
  /** Reference frames [start, end) to pair. */
  readonly start: number;
  readonly end: number;
}

export interface PairedTimes {
  /** `number` if the same frames run at another speed. */
  readonly policy: 'nearest' | 'number';
  /** Distorted frame of each reference frame from `start`; shorter than requested if the distorted video ends. */
  readonly frames: Int32Array;
  /** True if frames pair one to one. */
  readonly consecutive: boolean;
  /** Reference frames without a distorted frame at their time. */
  readonly missing: readonly number[];
  /** Distorted frames paired more than once. */
  readonly repeated: readonly number[];
  /** Distorted frames skipped between paired ones. */
  readonly dropped: readonly number[];
}

/** Slightly more than one tick of the coarsest usual clock, in seconds. */
const TICK = 0.0011;
/** Largest relative difference of rates that pair one to one. */
const EQUAL_RATIO = 0.01;

export function isConstantRate(times: Float64Array): boolean {
  const interval = medianInterval(times) ?? 0;
  return times.every((time, i) => i === 0 || Math.abs(time - times[i - 1]! - interval) <= interval / 4);
}

/** Reference frames per distorted frame at the same moments; 1 for equal rates, retimed frames or no times. */
export function frameRatio(reference: Float64Array | null, distorted: Float64Array | null): number {
  if (!reference || !distorted) return 1;
  const [first, second] = [rateOfTimes(reference), rateOfTimes(distorted)];
  if (!first || !second) return 1;
  const ratio = first / second;
  if (Math.abs(ratio - 1) <= EQUAL_RATIO) return 1;
  const steady = isConstantRate(reference) && isConstantRate(distorted);
  const byNumber = Math.abs(reference.length - distorted.length);
  const byTime = Math.abs(reference.length - distorted.length * ratio);
  return steady && byNumber < byTime ? 1 : ratio;
}

/**
 * Reference frame at the time of each distorted frame, both counted from `first`; `undefined` without times, or for
 * constant rates, for which {@link frameRatio} suffices.
 */
export function framePartners(
  reference: Float64Array | null,
  distorted: Float64Array | null,
  first: BothOf<number>,
): Int32Array | undefined {
  if (!reference || !distorted || (isConstantRate(reference) && isConstantRate(distorted))) return undefined;
  const shift = (reference[first.reference] ?? 0) - (distorted[first.distorted] ?? 0);
  const rate = rateOfTimes(reference) ?? 0;
  const partners = new Int32Array(Math.max(0, distorted.length - first.distorted));
  let at = first.reference;
  for (let i = 0; i < partners.length; i++) {
    const time = distorted[first.distorted + i]! + shift;
    const distance = (n: number) => Math.abs((reference[n] ?? Number.POSITIVE_INFINITY) - time);
    while (at + 1 < reference.length && distance(at + 1) < distance(at)) at++;
    // Keep counting beyond the last reference frame.
    const over = at + 1 < reference.length ? 0 : Math.round((time - (reference[at] ?? 0)) * rate);
    partners[i] = at + Math.max(0, over) - first.reference;
  }
  return partners;
}

/** Pairs each reference frame with the distorted frame nearest in time; swap the two to pair by the distorted video. */
export function pairTimes(times: TimesToPair): PairedTimes {
  const { reference, distorted, origin } = times;
  if (isRetimed(times)) return byNumber(times);
  // If all distorted frames are skipped, the origin has no time.
  if (origin.distorted >= distorted.length) return gather('nearest', new Int32Array(0), []);
  const { shift = (distorted[origin.distorted] ?? 0) - (reference[origin.reference] ?? 0) } = times;
  // A still picture lasts as long as frames of the other video, or forever if both are stills.
  const interval = medianInterval(reference) ?? medianInterval(distorted) ?? Number.POSITIVE_INFINITY;
  const shown = medianInterval(distorted) ?? interval;
  const end = (distorted.at(-1) ?? 0) + shown;
  const frames = new Int32Array(Math.max(0, times.end - times.start));
  const missing: number[] = [];
  const slack = Number.isFinite(interval) ? interval / 1000 : 0;
  let count = 0;
  let at = 0;
  for (let n = times.start; n < times.end; n++) {
    const time = reference[n]! + shift;
    if (time >= end - slack) break;
    const distance = (i: number) => Math.abs((distorted[i] ?? Number.POSITIVE_INFINITY) - time);
    for (let next = later(distorted, at); distance(next) < distance(at) - slack; next = later(distorted, at))
      at = next;
    // Frames that share one time on a coarse clock still pair one to one.
    const again = frames[count - 1] === at && n > times.start;
    if (again && (together(distorted, at) || (together(reference, n - 1) && distance(at + 1) < TICK))) at++;
    if (distance(at) > interval / 2 + slack) missing.push(n);
    frames[count++] = at;
  }
  return gather('nearest', frames.subarray(0, count), missing);
}

/** The first frame with a later time, else the number of frames. */
function later(times: Float64Array, n: number): number {
  let next = n + 1;
  while (next < times.length && together(times, next - 1)) next++;
  return next;
}

function together(times: Float64Array, n: number): boolean {
  return times[n + 1]! - times[n]! < 1e-6;
}

/** Distorted frames [start, end) during the requested reference frames. */
export function distortedRange({ reference, distorted, origin, shift, start, end }: TimesToPair): {
  readonly start: number;
  readonly end: number;
} {
  const moved = shift ?? (distorted[origin.distorted] ?? 0) - (reference[origin.reference] ?? 0);
  // Nearer to this frame than to the previous one.
  const slack = (medianInterval(reference) ?? 0) * 0.499;
  const firstFrom = (frame: number) => {
    const found = distorted.findIndex((time) => time - moved >= reference[frame]! - slack);
    return found < 0 ? distorted.length : found;
  };
  return {
    start: start > origin.reference ? firstFrom(start) : origin.distorted,
    end: end < reference.length ? firstFrom(end) : distorted.length,
  };
}

/** True for the same frames at another speed, such as slow motion: as many in all, or from the origin on. */
function isRetimed({ reference, distorted, origin }: TimesToPair): boolean {
  const all = reference.length - distorted.length;
  const left = all - origin.reference + origin.distorted;
  return (
    Math.min(Math.abs(all), Math.abs(left)) <= 1 &&
    isConstantRate(reference) &&
    isConstantRate(distorted) &&
    ratesDiffer({ timestamps: reference }, { timestamps: distorted }) &&
    frameRatio(reference, distorted) === 1
  );
}

function byNumber({ distorted, origin, start, end }: TimesToPair): PairedTimes {
  const first = start - origin.reference + origin.distorted;
  const count = Math.max(0, Math.min(end - start, distorted.length - first));
  const frames = Int32Array.from({ length: count }, (_, i) => first + i);
  return gather('number', frames, []);
}

function gather(policy: PairedTimes['policy'], frames: Int32Array, missing: readonly number[]): PairedTimes {
  const repeated: number[] = [];
  const dropped: number[] = [];
  for (let i = 1; i < frames.length; i++) {
    const before = frames[i - 1]!;
    const frame = frames[i]!;
    if (frame === before && repeated.at(-1) !== frame) repeated.push(frame);
    for (let skipped = before + 1; skipped < frame; skipped++) dropped.push(skipped);
  }
  const consecutive = repeated.length === 0 && dropped.length === 0;
  return { policy, frames, consecutive, missing, repeated, dropped };
}
