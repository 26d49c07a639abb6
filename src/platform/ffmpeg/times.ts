/**
 * @module platform/ffmpeg/times
 * Presentation times of all frames, from ffprobe's lines about packets, and the part of a track that ffmpeg has to decode for
 * a request.
 */
import { type AnyvmafError, mediaError, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { DecodeRequest, TrackFacts, TrackTimes } from '../../media/decoder.js';
import { packetsOfOneTime } from '../../media/evidence/packets.js';
import { isUntimed } from '../../media/evidence/rate.js';
import type { IndexedTimes } from '../../media/mp4-times.js';
import { framesArgs, type Part, packetsArgs } from './commands.js';
import { RECORDINGS } from './log.js';

export interface ClockedTimes extends TrackTimes {
  /** Time of the first frame in seconds on the file's clock. */
  readonly trackStart: number;
}

/** Seconds within which times are equal; Matroska counts milliseconds. */
export const SAME_TIME = 0.0006;

/**
 * Frames shown from `start` to before `end`, by number, since times are ambiguous on a clock that was set back.
 * @param start seconds from the first frame
 * @returns the first frame and the number of frames, perhaps 0
 */
function framesBetween(times: Float64Array, start: number, end: number) {
  const before = (time: number) => {
    const at = times.findIndex((shown) => shown >= time - SAME_TIME);
    return at < 0 ? times.length : at;
  };
  const fromFrame = before(start);
  return { fromFrame, count: Math.max(0, before(end) - fromFrame) };
}

const REMEMBERED = 8;

/** Times by a key that changes with the input's content: an object, or a name with the file's state. */
export class TimesMemory {
  /** By track number. */
  readonly #objects = new WeakMap<object, Map<number, ClockedTimes | null>>();
  readonly #named = new Map<string, ClockedTimes | null>();

  get(key: object | string | undefined, track = 0): ClockedTimes | null | undefined {
    if (typeof key === 'object') return this.#objects.get(key)?.get(track);
    return this.#named.get(`${track} ${key ?? ''}`);
  }

  set(key: object | string | undefined, times: ClockedTimes | null, track = 0): void {
    if (key === undefined) return;
    if (typeof key === 'object') {
      this.#objects.set(key, (this.#objects.get(key) ?? new Map()).set(track, times));
      return;
    }
    const [oldest] = this.#named.keys();
    if (this.#named.size >= REMEMBERED && oldest !== undefined) this.#named.delete(oldest);
    this.#named.set(`${track} ${key}`, times);
  }
}

/** Seconds. A larger step back in decoding times is a set-back clock, not reordered packets. */
const SET_BACK = 0.5;

/** A smaller step back is a set-back if so many packets follow in order before the clock is where it was. */
const REPEATED = 4;

/** Packets before a step back in which to search for the time after it. */
const LOOK_BACK = 256;

/** Parses a line of `ffprobe -of compact`: `packet|pts=512|flags=K_`. */
export function compactFields(line: string): ReadonlyMap<string, string> {
  return new Map(
    line.split('|').map((field) => {
      const equals = field.indexOf('=');
      return [field.slice(0, Math.max(0, equals)), field.slice(equals + 1)];
    }),
  );
}

/** Collects ffprobe's lines about packets or decoded frames, then about stream and container. */
export class PacketTimes {
  readonly #pts: number[] = [];
  readonly #dts: number[] = [];
  #unit = Number.NaN;
  #reorders = true;
  #untimed = false;
  #recording = false;
  /** Key frames so far, and the time of the first. */
  #keys = 0;
  #firstKey = Number.NaN;
  /** Whether pictures come before the first key frame, in the file or when shown. */
  #startsLate = false;
  #codec = '';
  #fieldOrder = '';
  /** Seconds per frame; NaN if unknown. */
  #frame = Number.NaN;
  /** Bytes of all packets; NaN if unknown. */
  bytes = 0;
  /** Whether the lines are about decoded frames. */
  #decoded = false;

  take(line: string): void {
    const fields = compactFields(line);
    if (line.startsWith('frame|')) {
      this.#decoded = true;
      this.#pts.push(Number(fields.get('pts') ?? Number.NaN));
      this.#dts.push(Number(fields.get('pkt_dts') ?? Number.NaN));
    } else if (line.startsWith('packet|')) {
      // An edit list cuts it: decoded, never shown.
      const flags = fields.get('flags') ?? '';
      if (flags.includes('D')) return;
      this.#noteKey(flags.includes('K'), Number(fields.get('pts') ?? Number.NaN));
      this.bytes += Number(fields.get('size') ?? Number.NaN);
      this.#pts.push(Number(fields.get('pts') ?? Number.NaN));
      this.#dts.push(Number(fields.get('dts') ?? Number.NaN));
    } else if (line.startsWith('stream|')) {
      const [num, den] = (fields.get('time_base') ?? '').split('/').map(Number);
      this.#unit = (num ?? Number.NaN) / (den ?? Number.NaN);
      this.#reorders = fields.get('has_b_frames') !== '0';
      this.#codec = fields.get('codec_name') ?? '';
      this.#fieldOrder = fields.get('field_order') ?? '';
      const [frames, seconds] = (fields.get('avg_frame_rate') ?? '').split('/').map(Number);
      this.#frame = frames && seconds ? seconds / frames : Number.NaN;
    } else if (line.startsWith('format|')) {
      const container = fields.get('format_name') ?? '';
      this.#untimed = isUntimed(container);
      this.#recording = RECORDINGS.has(container);
    }
  }

  takeIndex({ timescale, pts, dts }: IndexedTimes): void {
    for (const time of pts) this.#pts.push(time);
    for (const time of dts) this.#dts.push(time);
    this.#unit = 1 / timescale;
    this.bytes = Number.NaN;
  }

  #noteKey(isKey: boolean, pts: number): void {
    if (isKey && this.#keys++ === 0) this.#firstKey = pts;
    if (this.#keys === 0 || (this.#keys === 1 && pts < this.#firstKey)) this.#startsLate = true;
  }

  /** Whether only decoding shows which packets contain displayed frames. */
  get needsFrames(): boolean {
    // The first pictures may refer to others that the recording lacks.
    if (this.#recording && this.#startsLate) return true;
    return this.#ofOneTime(Float64Array.from(this.#pts).sort()) === 'unknown';
  }

  #ofOneTime(times: Float64Array): ReturnType<typeof packetsOfOneTime> {
    const frameTime = this.#frame / this.#unit;
    return packetsOfOneTime({ codec: this.#codec, fieldOrder: this.#fieldOrder, times, frameTime });
  }

  /** @param bytes of all packets, if known @returns `null` if the container lacks times of some frames */
  finish(bytes = this.bytes): ClockedTimes | null {
    // Without reordering, presentation times are decoding times.
    const known = [this.#pts, ...(this.#reorders ? [] : [this.#dts])].find(
      (ticks) => !ticks.some(Number.isNaN),
    );
    if (this.#untimed || !known || known.length === 0 || Number.isNaN(this.#unit)) return null;
    const { ticks, jumps } = this.#unrolled(known);
    const sorted = Float64Array.from(ticks).sort();
    const together = this.#decoded || this.#ofOneTime(sorted) === 'frames';
    const shown = together ? sorted : sorted.filter((time, i) => i === 0 || time !== sorted[i - 1]);
    const [first = Number.NaN] = shown;
    const seconds = (time: number) => (time - first) * this.#unit;
    return {
      times: shown.map(seconds),
      trackStart: first * this.#unit,
      ...(bytes > 0 && { bytes }),
      ...(jumps.length > 0 && { setBacks: jumps.map(seconds) }),
    };
  }

  /** Replaces set-backs of the clock by ordinary steps. */
  #unrolled(known: readonly number[]): {
    readonly ticks: readonly number[];
    /** The first presentation time after each set-back. */
    readonly jumps: readonly number[];
  } {
    const clock = this.#dts;
    if (clock.some(Number.isNaN)) return { ticks: known, jumps: [] };
    const jumped: number[] = [];
    const steps = clock.slice(1).map((time, i) => time - (clock[i] ?? Number.NaN));
    const usual = [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? Number.NaN;
    let shift = 0;
    const ticks = known.map((time, i) => {
      const step = i === 0 ? 0 : (steps[i - 1] ?? Number.NaN);
      if (step * this.#unit < -SET_BACK || (step < 0 && repeats(clock, i, usual))) {
        shift += usual - step;
        jumped.push(i);
      }
      return time + shift;
    });
    return { ticks, jumps: firstShown(ticks, jumped) };
  }
}

/** Whether times from packet `i` repeat earlier ones, as in joined recordings; reordered packets leave a gap. */
function repeats(clock: readonly number[], i: number, usual: number): boolean {
  const latest = clock[i - 1] ?? Number.NaN;
  const again = clock.slice(i, i + REPEATED);
  const inOrder = again.every((time, k) => time <= latest && (k === 0 || time > (again[k - 1] ?? time)));
  if (again.length < REPEATED || !inOrder) return false;
  const [time = Number.NaN] = again;
  let before = i - 1;
  while (before > i - LOOK_BACK && (clock[before] ?? Number.NEGATIVE_INFINITY) > time) before--;
  // A missing neighbour gives NaN.
  return (clock[before + 1] ?? Number.NaN) - (clock[before] ?? Number.NaN) < 1.5 * usual;
}

/** The smallest time from each of the packets on: the first decoded need not be the first shown. */
function firstShown(ticks: readonly number[], from: readonly number[]): number[] {
  const left = [...from];
  const found: number[] = [];
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = ticks.length - 1; i >= 0 && left.length > 0; i--) {
    smallest = Math.min(smallest, ticks[i] ?? smallest);
    if (left.at(-1) !== i) continue;
    left.pop();
    found.push(smallest);
  }
  return found.reverse();
}

/** @param ask runs ffprobe with arguments and passes on its lines */
export async function readTrackTimes(
  ask: (args: typeof packetsArgs, onLine: (line: string) => void) => Promise<unknown>,
): Promise<ClockedTimes | null> {
  const read = async (args: typeof packetsArgs) => {
    const packets = new PacketTimes();
    await ask(args, (line) => packets.take(line));
    return packets;
  };
  const packets = await read(packetsArgs);
  return (packets.needsFrames ? await read(framesArgs) : packets).finish(packets.bytes);
}

/** Times are in seconds on the file's clock. */
export interface Plan {
  readonly part: Part;
  /** Number of frames to expect, if known. */
  readonly frameCount: number | null;
  /** Time of the track's first frame. Default: that of the first decoded frame. */
  readonly trackStart?: number;
  /** Time of the first wanted frame, if known. */
  readonly firstTime?: number;
  /** Times of the frames in seconds from the track's first, if the file's clock was set back. */
  readonly times?: Float64Array;
}

/** Times of all frames; `null` where the container has none. */
export interface KnownTimes {
  readonly remembered: ClockedTimes | null | undefined;
  read(): Promise<ClockedTimes | null>;
}

type Range = Readonly<Required<DecodeRequest>['frames']>;

/** Fewest seconds between distinct times; filters compare microseconds. */
const DISTINCT = 4e-6;

/** Seconds before a part at which reading starts, to decode a frame before it. */
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
  const setBacks = remembered?.setBacks && { times: remembered.times };
  // Containers also count packets cut by an edit list.
  return { part: {}, frameCount: remembered?.times.length ?? facts.frameCount, ...setBacks };
}

async function planFrames(facts: TrackFacts, { start, end }: Range, known: KnownTimes): Promise<Plan> {
  if (!(start < end)) throw emptyRange(facts, `frames ${start} to ${end}`);
  const count = Number.isFinite(end) ? { count: end - start } : {};
  const byNumber = { ...(start > 0 && { fromFrame: start }), ...count };
  const track = start > 0 ? await known.read() : known.remembered?.setBacks && known.remembered;
  if (!track) {
    const { frameCount } = facts;
    const left = frameCount === null ? null : Math.max(0, Math.min(frameCount, end) - start);
    return { part: byNumber, frameCount: left };
  }
  const { times, trackStart, setBacks } = track;
  const at = times[start];
  if (at === undefined) throw emptyRange(facts, `frames from ${start} on`, `it has ${times.length} frames`);
  const frameCount = Math.min(times.length, end) - start;
  // Times may repeat: count frames.
  if (setBacks) return { part: byNumber, frameCount, times: times.subarray(start) };
  const before = times[start - 1] ?? Number.NEGATIVE_INFINITY;
  // The time does not distinguish the frame from the one before.
  if (at - before < DISTINCT) return { part: byNumber, frameCount };
  const middle = (before + at) / 2;
  const part = { ...from(trackStart + middle, trackStart), ...count };
  return { part, frameCount, trackStart, firstTime: trackStart + at };
}

function planTime(facts: TrackFacts, { start, end }: Range, known: ClockedTimes | null | undefined): Plan {
  if (!(start < end)) throw emptyRange(facts, `${start} s to ${end} s`);
  if (known?.setBacks) {
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

function planByRate({ name, frameRate }: TrackFacts, start: number, end: number): Plan {
  if (!frameRate) {
    throw mediaError(
      `${shown(name)} has neither times nor a frame rate, so that ${start} s cannot be found in it; give the range ` +
        'in frames.',
    );
  }
  const frameAt = (time: number) => Math.ceil((time * frameRate.num) / frameRate.den - 1e-6);
  const first = frameAt(start);
  const count = Number.isFinite(end) ? { count: frameAt(end) - first } : {};
  return { part: { ...(first > 0 && { fromFrame: first }), ...count }, frameCount: null };
}

/** Frames from a time on the file's clock, with reading from shortly before. */
function from(fromTime: number, trackStart: number): Pick<Part, 'seek' | 'fromTime'> {
  const seek = fromTime - LEAD_IN;
  return seek > trackStart ? { seek, fromTime } : { fromTime };
}

export function emptyRange({ name }: TrackFacts, range: string, why = 'the range is empty'): AnyvmafError {
  return usageError(`there is nothing to score in ${range} of ${shown(name)}: ${why}.`);
}
