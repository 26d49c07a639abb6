/**
 * @module platform/ffmpeg-wasm/plan
 * Which part of a track FFmpeg has to decode for a request, and which of its frames are in it.
 */
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { type Part, seconds } from '../ffmpeg/commands.js';
import { framesBetween, SAME_TIME, type TrackTimes } from '../ffmpeg/packet-times.js';

/** What to decode. */
export interface Plan {
  readonly part: Part;
  /** Frames that will come, where that is known. */
  readonly frameCount: number | null;
  /** Time of the track's first frame on the file's clock; absent: of the first one decoded. */
  readonly trackStart?: number;
  /** Of the frames that come, in seconds, where the file's clock does not tell them. */
  readonly times?: Float64Array;
}

/** Seconds before a part at which reading begins, so that a frame before it is surely decoded. */
const LEAD_IN = 0.5;

/**
 * @param readTimes reads the times of all frames, which takes a while
 * @param remembered those times, where they have been read
 * @throws {AnyvmafError} `usage` when there is nothing in the part
 */
export async function planPart(
  facts: TrackFacts,
  request: DecodeRequest,
  readTimes: () => Promise<TrackTimes | null>,
  remembered?: TrackTimes | null,
): Promise<Plan> {
  if (remembered?.setBack) return planByNumber(facts, request, remembered.times);
  const { frames, time } = request;
  if (frames) {
    const { start, end } = frames;
    const count = Number.isFinite(end) ? { count: Math.max(0, end - start) } : {};
    if (!(start < end)) throw empty(facts, `frames ${start} to ${end}`);
    const known = start > 0 ? await readTimes() : null;
    const at = known?.times[start];
    const before = known?.times[start - 1];
    if (known?.setBack) return planByNumber(facts, request, known.times);
    if (known && (at === undefined || before === undefined)) throw empty(facts, `frames from ${start} on`);
    if (!known || at === undefined || before === undefined) {
      const { frameCount } = facts;
      const left = frameCount === null ? null : Math.max(0, Math.min(frameCount, end) - start);
      return { part: { ...(start > 0 && { fromFrame: start }), ...count }, frameCount: left };
    }
    const { trackStart, times } = known;
    const part = { ...from(trackStart + (at + before) / 2, trackStart), ...count };
    return { part, frameCount: Math.min(times.length, end) - start, trackStart };
  }
  if (time) {
    const { start, end } = time;
    if (!(start < end)) throw empty(facts, `${start} s to ${end} s`);
    const trackStart = facts.startTime ?? 0;
    const begin = start > 0 ? from(trackStart + start - SAME_TIME, trackStart) : {};
    const until = Number.isFinite(end) ? { untilTime: trackStart + end - SAME_TIME } : {};
    return { part: { ...begin, ...until }, frameCount: null, trackStart };
  }
  return { part: {}, frameCount: facts.frameCount };
}

/** Where a clock is set back, and a time on it may come twice: all frames are decoded, and those wanted counted off. */
function planByNumber(facts: TrackFacts, { frames, time }: DecodeRequest, times: Float64Array): Plan {
  const all = { start: 0, end: Number.POSITIVE_INFINITY };
  const asked = time ? `${time.start} s to ${time.end} s` : `frames from ${(frames ?? all).start} on`;
  const { fromFrame, count } = time
    ? framesBetween(times, time.start, time.end)
    : between(frames ?? all, times.length);
  if (count === 0) throw empty(facts, asked);
  const part = { restamp: true, ...(fromFrame > 0 && { fromFrame }), ...(frames || time ? { count } : {}) };
  return { part, frameCount: count, times: times.subarray(fromFrame) };
}

function between({ start, end }: { readonly start: number; readonly end: number }, frames: number) {
  return { fromFrame: start, count: Math.max(0, Math.min(end, frames) - start) };
}

/** Frames from a time on the file's clock, read from shortly before. */
function from(fromTime: number, trackStart: number): Pick<Part, 'seek' | 'fromTime'> {
  const seek = fromTime - LEAD_IN;
  return seek > trackStart ? { seek, fromTime } : { fromTime };
}

/**
 * Whether the filter that cuts out the part lets a frame through: the same comparisons.
 * @param number of the frame among those decoded
 * @param time on the file's clock
 * @returns `past` from where on no frame is let through
 */
export function isInPart(part: Part, number: number, time: number): boolean | 'past' {
  if (part.fromFrame !== undefined && number < part.fromFrame) return false;
  if (part.fromTime !== undefined && !(time >= Number(seconds(part.fromTime)))) return false;
  if (part.untilTime === undefined || time < Number(seconds(part.untilTime))) return true;
  // Without times there is no telling where to stop.
  return Number.isNaN(time) ? false : 'past';
}

function empty({ name }: TrackFacts, asked: string): AnyvmafError {
  return new AnyvmafError(
    'usage',
    `there is nothing to score in ${asked} of ${shown(name)}: no frame is there.`,
  );
}
