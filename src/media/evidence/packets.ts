/**
 * @module media/evidence/packets
 * Tells from the times of packets how many frames they hold.
 */
import { intervalsOf, medianInterval } from './rate.js';
import { hidesFrames } from './vpx.js';

/** Share of the median interval below which two frames are too close for both to be shown. */
const CROWDED = 0.3;

/** True if ascending times are so close that some may belong to hidden frames. */
export function isCrowded(times: ArrayLike<number>): boolean {
  const usual = medianInterval(times) ?? 0;
  return intervalsOf(times).some((step) => step < CROWDED * usual);
}

interface PacketFacts {
  /** ffmpeg's name, like `fieldOrder`. */
  readonly codec: string;
  readonly fieldOrder: string;
  /** Of packets, ascending. */
  readonly times: ArrayLike<number>;
  /** Frame interval by the stream's rate, in the unit of `times`; NaN if unknown. */
  readonly frameTime?: number;
}

/** More packets per frame than this are fields. */
const FIELDS = 1.5;

const FIELD_CODECS: readonly string[] = ['h264', 'mpeg2video', 'vc1'];

/**
 * What packets of one time hold: `frames` of their own (a coarse clock), `one` frame (two fields, or a hidden frame
 * and the shown one), or `unknown` until decoded (such as fields with a time each).
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
  // Fields may have their own times: then there are twice as many packets as frames.
  const span = (times[times.length - 1] ?? 0) - (times[0] ?? 0);
  if (shared === 0) return (times.length - 1) * frameTime > FIELDS * span ? 'unknown' : 'frames';
  return 2 * shared === times.length ? 'one' : 'unknown';
}
