/**
 * @module media/evidence/frame-count
 * How many frames a track shows: decoded frames tell, then packets, then what its container declares.
 */
import { hidesFrames, isCrowded } from './vpx.js';

/** Relative difference between what a file declares and what it shows from which the former is not believed. */
const STALE = 0.1;

/**
 * The number of frames that is declared, unless it does not fit the duration: the index of a file in fragments may count the
 * first of them only, and tags stay from the file that was cut or encoded again.
 * @param duration seconds
 * @param rate frames per second
 */
export function declaredFrames(
  declared: number | undefined,
  duration: number | null,
  rate: number | undefined,
): number | null {
  if (declared === undefined) return null;
  if (duration === null || rate === undefined) return declared;
  const fitting = duration * rate;
  return Math.abs(declared - fitting) <= Math.max(2, STALE * fitting) ? declared : null;
}

/** What a container says of packets that may hold less or more than a frame. */
export interface PacketFacts {
  /** ffmpeg's names. */
  readonly codec: string;
  readonly fieldOrder: string;
  /** Times of packets, ascending. */
  readonly times: ArrayLike<number>;
  /** Time of a frame by the rate of the stream, in the unit of `times`; NaN where it is not known. */
  readonly frameTime?: number;
}

/** Least packets for each frame where they are fields. */
const CROWDED = 1.5;

/** Codecs whose packets may hold single fields, two of which make a frame. */
const FIELD_CODECS: readonly string[] = ['h264', 'mpeg2video', 'vc1'];

/**
 * What packets of one time are: frames of their own, as where a clock is coarse; the two fields of one frame, or a frame that
 * is never shown beside the one that is; or only decoding tells, as of fields that have a time each.
 */
export function packetsOfOneTime({
  codec,
  fieldOrder,
  times,
  frameTime = Number.NaN,
}: PacketFacts): 'frames' | 'one' | 'unknown' {
  if (hidesFrames(codec)) {
    const distinct = Array.from(times).filter((time, i, all) => i === 0 || time !== all[i - 1]);
    return isCrowded(distinct) ? 'unknown' : 'one';
  }
  if (!FIELD_CODECS.includes(codec) || fieldOrder === 'progressive') return 'frames';
  let shared = 0;
  for (let i = 1; i < times.length; i++) if (times[i] === times[i - 1]) shared++;
  // Fields may have times of their own: then there are twice as many packets as frames.
  const span = (times[times.length - 1] ?? 0) - (times[0] ?? 0);
  if (shared === 0) return (times.length - 1) * frameTime > CROWDED * span ? 'unknown' : 'frames';
  return 2 * shared === times.length ? 'one' : 'unknown';
}
