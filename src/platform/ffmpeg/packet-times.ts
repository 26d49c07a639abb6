/**
 * @module platform/ffmpeg/packet-times
 * Presentation times of all frames, from ffprobe's lines about packets.
 */

import { packetsOfOneTime } from '../../media/evidence/packets.js';
import { isUntimed } from '../../media/evidence/rate.js';
import type { IndexedTimes } from '../../media/mp4-times.js';
import { framesArgs, packetsArgs } from './commands.js';

export interface TrackTimes {
  /** Seconds from the first frame, ascending. */
  readonly times: Float64Array;
  /** Time of the first frame in seconds on the file's clock. */
  readonly trackStart: number;
  /** Bytes of all packets, if known. */
  readonly bytes?: number;
  /** Times of the first frames after the file's clock was set back; from there times continue as if it had not been. */
  readonly setBack?: readonly number[];
}

/** Seconds within which two times are equal; Matroska counts milliseconds. */
export const SAME_TIME = 0.0006;

/**
 * Frames shown from `start` to before `end`, by number: on a clock that was set back, a time may mean several frames.
 * @param start seconds from the first frame
 * @returns the first of them and how many, which may be 0
 */
export function framesBetween(
  times: Float64Array,
  start: number,
  end: number,
): { readonly fromFrame: number; readonly count: number } {
  const before = (time: number) => {
    const at = times.findIndex((shown) => shown >= time - SAME_TIME);
    return at < 0 ? times.length : at;
  };
  const fromFrame = before(start);
  return { fromFrame, count: Math.max(0, before(end) - fromFrame) };
}

const REMEMBERED = 8;

/**
 * Times that were read, `null` if the container has none, by a key that changes with the content of the input: an
 * object, or a name with the file's state. Without a key nothing is remembered.
 */
export class TimesMemory {
  /** By track number. */
  readonly #objects = new WeakMap<object, Map<number, TrackTimes | null>>();
  readonly #named = new Map<string, TrackTimes | null>();

  get(key: object | string | undefined, track = 0): TrackTimes | null | undefined {
    if (typeof key === 'object') return this.#objects.get(key)?.get(track);
    return this.#named.get(`${track} ${key ?? ''}`);
  }

  set(key: object | string | undefined, times: TrackTimes | null, track = 0): void {
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

/** Seconds: a larger step back in decoding times means a reset clock, not packets out of order. */
const SET_BACK = 0.5;

/** Packets in order that make a smaller step back a reset: so many follow before the clock is where it was. */
const REPEATED = 4;

/** Packets before a step back to search for the time to which it leads. */
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

/** Collects ffprobe's lines about packets, or decoded frames, then about their stream and container. */
export class PacketTimes {
  readonly #pts: number[] = [];
  readonly #dts: number[] = [];
  #unit = Number.NaN;
  #reorders = true;
  #untimed = false;
  #codec = '';
  #fieldOrder = '';
  /** Seconds per frame; NaN if no rate is known. */
  #frame = Number.NaN;
  #bytes = 0;
  /** The lines are about decoded frames. */
  #decoded = false;

  take(line: string): void {
    const fields = compactFields(line);
    if (line.startsWith('frame|')) {
      this.#decoded = true;
      this.#pts.push(Number(fields.get('pts') ?? Number.NaN));
      this.#dts.push(Number(fields.get('pkt_dts') ?? Number.NaN));
    } else if (line.startsWith('packet|')) {
      // Cut by an edit list: decoded, never shown.
      if (fields.get('flags')?.includes('D')) return;
      this.#bytes += Number(fields.get('size') ?? Number.NaN);
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
      this.#untimed = isUntimed(fields.get('format_name') ?? '');
    }
  }

  takeIndex({ timescale, pts, dts }: IndexedTimes): void {
    for (const time of pts) this.#pts.push(time);
    for (const time of dts) this.#dts.push(time);
    this.#unit = 1 / timescale;
    this.#bytes = Number.NaN;
  }

  /** True if only decoding tells which packets hold frames that are shown. */
  get needsFrames(): boolean {
    return this.#ofOneTime(Float64Array.from(this.#pts).sort()) === 'unknown';
  }

  #ofOneTime(times: Float64Array): ReturnType<typeof packetsOfOneTime> {
    const frameTime = this.#frame / this.#unit;
    return packetsOfOneTime({ codec: this.#codec, fieldOrder: this.#fieldOrder, times, frameTime });
  }

  /** Bytes of all packets; NaN if unknown. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param bytes of all packets, if known from an earlier pass
   * @returns `null` if the container does not give every frame its time
   */
  finish(bytes = this.#bytes): TrackTimes | null {
    // Without reordering, frames are shown in the order and at the times of decoding.
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
      ...(jumps.length > 0 && { setBack: jumps.map(seconds) }),
    };
  }

  /** Lets a clock that was set back go on by an ordinary step instead. */
  #unrolled(known: readonly number[]): {
    readonly ticks: readonly number[];
    /** The first time shown after each step back. */
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

/**
 * True if times from packet `i` on repeat those of earlier packets, as where a short recording follows another. Packets
 * written out of order leave a gap where they belong.
 */
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

/** The smallest time from each of some packets on: the first one decoded need not be the first one shown. */
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

/** @param ask runs ffprobe with these arguments and passes on its lines */
export async function readTrackTimes(
  ask: (args: typeof packetsArgs, onLine: (line: string) => void) => Promise<unknown>,
): Promise<TrackTimes | null> {
  const read = async (args: typeof packetsArgs) => {
    const packets = new PacketTimes();
    await ask(args, (line) => packets.take(line));
    return packets;
  };
  const packets = await read(packetsArgs);
  return (packets.needsFrames ? await read(framesArgs) : packets).finish(packets.bytes);
}
