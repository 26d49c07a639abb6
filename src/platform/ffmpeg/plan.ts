/**
 * @module platform/ffmpeg/plan
 * Plans which part of a track ffmpeg has to decode for a request.
 */
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import type { Part } from './commands.js';
import { framesBetween, SAME_TIME, type TrackTimes } from './packet-times.js';

/** Times are in seconds on the file's clock. */
export interface Plan {
  readonly part: Part;
  /** Frames that will come, if known. */
  readonly frameCount: number | null;
  /** Time of the track's first frame; default: of the first one decoded. */
  readonly trackStart?: number;
  /** Time of the first frame wanted, if known. */
  readonly firstTime?: number;
  /** Times of the frames, in seconds from the track's first, if the file's clock was set back. */
  readonly times?: Float64Array;
}

/** Times of all frames; `null` where the container has none. */
export interface KnownTimes {
  readonly remembered: TrackTimes | null | undefined;
  /** Reads them, which takes a while. */
  read(): Promise<TrackTimes | null>;
}

type Range = Readonly<Required<DecodeRequest>['frames']>;

/** Seconds between frames with distinct times; filters compare microseconds. */
const DISTINCT = 4e-6;

/** Seconds before a part at which reading begins, so that a frame before it is surely decoded. */
const LEAD_IN = 0.5;

/** @throws {AnyvmafError} `usage` for an empty part; `media` if a time cannot be found */
export async function planPart(
  facts: TrackFacts,
  { frames, time }: DecodeRequest,
  known: KnownTimes,
): Promise<Plan> {
  if (frames) return planFrames(facts, frames, known);
  const { remembered } = known;
  if (time) return planTime(facts, time, remembered);
  const setBack = remembered?.setBack && { times: remembered.times };
  // Containers also count packets that an edit list cuts.
  const frameCount = remembered?.times.length ?? facts.frameCount;
  return { part: {}, frameCount, ...setBack };
}

async function planFrames(facts: TrackFacts, { start, end }: Range, known: KnownTimes): Promise<Plan> {
  if (!(start < end)) throw emptyRange(facts, `frames ${start} to ${end}`);
  const count = Number.isFinite(end) ? { count: end - start } : {};
  const byNumber = { ...(start > 0 && { fromFrame: start }), ...count };
  const track = start > 0 ? await known.read() : known.remembered?.setBack && known.remembered;
  if (!track) {
    const { frameCount } = facts;
    const left = frameCount === null ? null : Math.max(0, Math.min(frameCount, end) - start);
    return { part: byNumber, frameCount: left };
  }
  const { times, trackStart, setBack } = track;
  const at = times[start];
  if (at === undefined) throw emptyRange(facts, `frames from ${start} on`, `it has ${times.length} frames`);
  const frameCount = Math.min(times.length, end) - start;
  // Times may repeat: count frames.
  if (setBack) return { part: byNumber, frameCount, times: times.subarray(start) };
  const before = times[start - 1] ?? Number.NEGATIVE_INFINITY;
  // Its time does not distinguish it from the frame before.
  if (at - before < DISTINCT) return { part: byNumber, frameCount };
  const middle = (before + at) / 2;
  const part = { ...from(trackStart + middle, trackStart), ...count };
  return { part, frameCount, trackStart, firstTime: trackStart + at };
}

function planTime(facts: TrackFacts, { start, end }: Range, known: TrackTimes | null | undefined): Plan {
  if (!(start < end)) throw emptyRange(facts, `${start} s to ${end} s`);
  if (known?.setBack) {
    const { fromFrame, count } = framesBetween(known.times, start, end);
    if (count === 0) throw emptyRange(facts, `${start} s to ${end} s`, 'no frame is shown then');
    const part = { fromFrame, count };
    return { part, frameCount: count, times: known.times.subarray(fromFrame) };
  }
  const trackStart = known?.trackStart ?? facts.startTime;
  if (trackStart === null) return planByRate(facts, start, end);
  const until = Number.isFinite(end) ? { untilTime: trackStart + end - SAME_TIME } : {};
  const begin = start > 0 ? from(trackStart + start - SAME_TIME, trackStart) : {};
  return { part: { ...begin, ...until }, frameCount: null, trackStart };
}

/** For a file without times. */
function planByRate({ name, frameRate }: TrackFacts, start: number, end: number): Plan {
  if (!frameRate) {
    throw new AnyvmafError(
      'media',
      `${shown(name)} has neither times nor a frame rate, so that ${start} s cannot be found in it; give the range ` +
        'in frames.',
    );
  }
  const frameAt = (time: number) => Math.ceil((time * frameRate.num) / frameRate.den - 1e-6);
  const first = frameAt(start);
  const count = Number.isFinite(end) ? { count: frameAt(end) - first } : {};
  return { part: { ...(first > 0 && { fromFrame: first }), ...count }, frameCount: null };
}

/** Frames from a time on the file's clock; reading starts shortly before. */
function from(fromTime: number, trackStart: number): Pick<Part, 'seek' | 'fromTime'> {
  const seek = fromTime - LEAD_IN;
  return seek > trackStart ? { seek, fromTime } : { fromTime };
}

export function emptyRange(
  { name }: TrackFacts,
  asked: string,
  because = 'the range is empty',
): AnyvmafError {
  return new AnyvmafError('usage', `there is nothing to score in ${asked} of ${shown(name)}: ${because}.`);
}
