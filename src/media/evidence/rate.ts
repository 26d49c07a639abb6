/**
 * @module media/evidence/rate
 * Finds a frame rate: from the commonest interval, else as declared, else the average, which lost frames lower.
 */
import { type Fraction, quotientOf } from '../../core/numbers.js';

export interface RateFacts {
  /** Presentation times of all frames in seconds, ascending. */
  readonly timestamps?: Float64Array | null;
  /** As the container declares it. */
  readonly frameRate?: Fraction;
  readonly frameCount?: number | null;
  /** Seconds. */
  readonly duration?: number | null;
}

interface CommonInterval {
  /** Seconds. */
  readonly seconds: number;
  /** Largest effect of rounded times, in seconds. */
  readonly error: number;
}

/** Clocks to which containers round times, in seconds: GIF; Matroska and FLV. */
const CLOCKS = [0.01, 0.001] as const;
/** Clock of MPEG and MP4, in seconds. */
const TICK = 2e-5;
/** Largest ratio between the intervals of one unsteady rate. */
const UNSTEADY = 1.2;
const MOST = 0.6;
/** Largest relative difference between equal rates, a fifth of that between 24 and 24000/1001. */
const SAME_RATE = 2e-4;
/** Relative difference of declared rates that averages do not explain. */
const CERTAIN_RATE = 0.01;
/** Range by which lost frames lower an average below the nominal rate; 24 and 24000/1001 differ by 0.001. */
const LOST = [0.0015, 0.12] as const;
/** Containers without times; ffmpeg assumes 25 frames a second. */
const UNTIMED: readonly string[] = ['obu', 'av1'];
/** Higher declared rates are clock ticks. */
const HIGHEST = 480;

/** The interval between most frames. Rounding splits it: at 30 fps in milliseconds, 33 and 34 alternate. */
function commonInterval(times: Float64Array): CommonInterval | undefined {
  const known = remembered.get(times);
  if (known !== undefined) return known ?? undefined;
  const found = findInterval(times);
  remembered.set(times, found ?? null);
  return found;
}

/** Cached, since several checks need the interval and files may have many times. */
const remembered = new WeakMap<Float64Array, CommonInterval | null>();

/** Seconds between consecutive times. */
export function intervalsOf(times: ArrayLike<number>): Float64Array {
  const intervals = new Float64Array(Math.max(0, times.length - 1));
  for (let i = 0; i < intervals.length; i++)
    intervals[i] = (times[i + 1] ?? Number.NaN) - (times[i] ?? Number.NaN);
  return intervals;
}

/** `undefined` for fewer than two times. */
export function medianInterval(times: ArrayLike<number>): number | undefined {
  const intervals = intervalsOf(times).sort();
  return intervals[intervals.length >> 1];
}

function findInterval(times: Float64Array): CommonInterval | undefined {
  if (times.length < 2) return undefined;
  const steps = intervalsOf(times);
  const sorted = steps.filter((step) => step > 0).sort();
  const clock = clockOf(times);
  const rounded = mostWithin(sorted, (least) => least + 1.05 * Math.min(clock ?? 0.001, least / 2));
  const among = rounded ?? mostWithin(sorted, (least) => UNSTEADY * least);
  if (!among) return undefined;
  const [least, largest] = among;
  let [sum, count, runs, within] = [0, 0, 0, false];
  for (const step of steps) {
    const alike = step >= least && step <= largest;
    if (alike) [sum, count] = [sum + step, count + 1];
    if (alike && !within) runs++;
    within = alike;
  }
  // Within a run, rounding only moves the ends.
  const error = (Math.max(clock ?? TICK, largest - least) * Math.sqrt(runs)) / count;
  return { seconds: sum / count, error };
}

/** The coarse clock of which all times are multiples, if any. */
function clockOf(times: Float64Array): number | undefined {
  return CLOCKS.find((clock) =>
    times.every((time) => Math.abs(time / clock - Math.round(time / clock)) < 1e-4),
  );
}

/** Least and largest value of the fullest window; `undefined` unless it holds most values. */
function mostWithin(
  sorted: Float64Array,
  end: (least: number) => number,
): readonly [number, number] | undefined {
  let [first, last] = [0, -1];
  for (let i = 0, j = 0; i < sorted.length; i++) {
    const limit = end(sorted[i] ?? Number.NaN);
    while (j < sorted.length && (sorted[j] ?? Number.NaN) <= limit) j++;
    if (j - i > last - first + 1) [first, last] = [i, j - 1];
  }
  return last - first + 1 > MOST * sorted.length
    ? [sorted[first] ?? Number.NaN, sorted[last] ?? Number.NaN]
    : undefined;
}

/** Frames per second from the commonest interval, else the average; `undefined` for one frame. */
export function rateOfTimes(times: Float64Array): number | undefined {
  const common = commonInterval(times);
  if (common) return 1 / common.seconds;
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return span > 0 ? (times.length - 1) / span : undefined;
}

export function rateOf({ timestamps, frameRate }: RateFacts): Fraction | undefined {
  const common = timestamps ? commonInterval(timestamps) : undefined;
  if (!common) {
    if (frameRate) return frameRate;
    const counted = timestamps && rateOfTimes(timestamps);
    return counted ? meantRate(counted) : undefined;
  }
  const { seconds, error } = common;
  const declared = frameRate && Math.abs((seconds * frameRate.num) / frameRate.den - 1);
  if (declared !== undefined && declared <= SAME_RATE + error / seconds) return frameRate;
  return meantRate(1 / seconds, error / seconds);
}

/**
 * The nearest usual rate: whole, whole / 1.001 or half, if near enough; else rounded to 1/1000.
 * @param error relative error of `perSecond`
 */
export function meantRate(perSecond: number, error = 0): Fraction | undefined {
  if (!(perSecond > 0) || !Number.isFinite(perSecond)) return undefined;
  const usual = [1, 1001, 2].map((den) => {
    const num = den === 1001 ? Math.round((perSecond * 1001) / 1000) * 1000 : Math.round(perSecond * den);
    return { num, den, off: Math.abs(num / den / perSecond - 1) };
  });
  // If rounding allows several, the whole number wins.
  const best = usual.find(({ num, off }) => num > 0 && off < SAME_RATE + error);
  return best ? { num: best.num, den: best.den } : { num: Math.round(perSecond * 1000), den: 1000 };
}

/** The rate that a container declares: the nominal one if the average is lower only because frames were lost. */
export function declaredRate(
  average: Fraction | undefined,
  nominal: Fraction | undefined,
): Fraction | undefined {
  const meant = nominal && nominal.num <= HIGHEST * nominal.den ? nominal : undefined;
  if (!average || !meant) return average ?? meant;
  const below = 1 - (average.num * meant.den) / (average.den * meant.num);
  return below > LOST[0] && below < LOST[1] ? meant : average;
}

/** True if a container, by ffmpeg's name, stores neither times nor a rate. */
export function isUntimed(container: string): boolean {
  return UNTIMED.includes(container);
}

/** True if a rate is a standard one rather than an average. */
export function isNominal({ num, den }: Fraction): boolean {
  return num % den === 0 || den === 1001;
}

/** True if two rates differ by more than lost frames and rounding explain; false for a single picture. */
export function ratesDiffer(first: RateFacts, second: RateFacts): boolean {
  const [a, b] = [measured(first), measured(second)];
  if (!a || !b) return false;
  return Math.abs(a.perSecond / b.perSecond - 1) > SAME_RATE + a.error + b.error;
}

/** A rate and its relative error; `undefined` for too few or too irregular frames. */
function measured(facts: RateFacts): { readonly perSecond: number; readonly error: number } | undefined {
  const { timestamps, frameRate, frameCount = null, duration = null } = facts;
  if (timestamps) {
    const common = commonInterval(timestamps);
    return common && { perSecond: 1 / common.seconds, error: common.error / common.seconds };
  }
  const perSecond = quotientOf(frameRate);
  if (!frameRate || perSecond === undefined || frameCount === 1) return undefined;
  if (isNominal(frameRate)) return { perSecond, error: 0 };
  // An average may miss one frame at an end.
  const frames = frameCount ?? (duration ?? 1) * perSecond;
  return { perSecond, error: Math.min(CERTAIN_RATE, 1 / Math.max(1, frames)) };
}
