/**
 * @module platform/ffmpeg/packet-times
 * Presentation times of all frames, from what ffprobe prints of each packet.
 */

import { packetsOfOneTime } from '../../media/evidence/packets.js';
import { isUntimed } from '../../media/evidence/rate.js';
import type { IndexedTimes } from '../../media/mp4-times.js';
import { framesArgs, packetsArgs } from './commands.js';

/** When frames are shown. */
export interface TrackTimes {
  /** Seconds from the first frame, ascending. */
  readonly times: Float64Array;
  /** The first frame's time in seconds on the file's clock. */
  readonly trackStart: number;
  /** Bytes of all packets, where they are known. */
  readonly bytes?: number;
  /**
   * Times of the first frames after the file's clock was set back, where it was; from there on times count on as if it
   * had not been.
   */
  readonly setBack?: readonly number[];
}

/** Seconds within which two times are the same; Matroska counts milliseconds. */
export const SAME_TIME = 0.0006;

/**
 * Frames that are shown from `start` to before `end`, by their numbers: where a clock is set back, no time on it names
 * one frame.
 * @param start seconds from the first frame
 * @returns the first of them and how many; `count` 0 where there is none
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

/** Inputs known by name whose times are remembered. */
const REMEMBERED = 8;

/**
 * Times that were read, `null` where the container has none, by a key that changes when the content of the input does: an
 * object, or a name with the file's state. Without a key nothing is remembered.
 */
export class TimesMemory {
  /** By number of track. */
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

/** Seconds by which times of decoding go back where a clock was reset, and not only written out of order. */
const SET_BACK = 0.5;

/** Packets that show a smaller step back to be a reset: so many follow in order before the clock is where it was. */
const REPEATED = 4;

/** Packets before a step back to look for the time to which it leads. */
const LOOK_BACK = 256;

/** The fields of a line that `ffprobe -of compact` prints: `packet|pts=512|flags=K_`. */
export function compactFields(line: string): ReadonlyMap<string, string> {
  return new Map(
    line.split('|').map((field) => {
      const equals = field.indexOf('=');
      return [field.slice(0, Math.max(0, equals)), field.slice(equals + 1)];
    }),
  );
}

/** Collects the lines that ffprobe prints of packets, or of decoded frames, then of their stream and container. */
export class PacketTimes {
  readonly #pts: number[] = [];
  readonly #dts: number[] = [];
  #unit = Number.NaN;
  #reorders = true;
  #untimed = false;
  #codec = '';
  #fieldOrder = '';
  /** Seconds of a frame; NaN where no rate is known. */
  #frame = Number.NaN;
  #bytes = 0;
  /** They are of frames as decoded. */
  #decoded = false;

  take(line: string): void {
    const fields = compactFields(line);
    if (line.startsWith('frame|')) {
      this.#decoded = true;
      this.#pts.push(Number(fields.get('pts') ?? Number.NaN));
      this.#dts.push(Number(fields.get('pkt_dts') ?? Number.NaN));
    } else if (line.startsWith('packet|')) {
      // Cut away by an edit list: decoded, never shown.
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

  /** Takes what a container's index says of all packets. */
  takeIndex({ timescale, pts, dts }: IndexedTimes): void {
    for (const time of pts) this.#pts.push(time);
    for (const time of dts) this.#dts.push(time);
    this.#unit = 1 / timescale;
    this.#bytes = Number.NaN;
  }

  /** Whether only decoding tells which packets hold frames that are shown. */
  get needsFrames(): boolean {
    return this.#ofOneTime(Float64Array.from(this.#pts).sort()) === 'unknown';
  }

  #ofOneTime(times: Float64Array): ReturnType<typeof packetsOfOneTime> {
    const frameTime = this.#frame / this.#unit;
    return packetsOfOneTime({ codec: this.#codec, fieldOrder: this.#fieldOrder, times, frameTime });
  }

  /** Bytes of all packets; NaN where they are not known. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param bytes of all packets, where they are known from another look
   * @returns `null` where the container does not give every frame its time
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

  /** Has a clock that was set back go on by an ordinary step instead. */
  #unrolled(known: readonly number[]): {
    readonly ticks: readonly number[];
    /** The first time shown after each. */
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
 * Whether times from packet `i` on are those of packets before it once more, as where a short recording follows another.
 * Packets that were written out of order leave a gap where they belong.
 */
function repeats(clock: readonly number[], i: number, usual: number): boolean {
  const latest = clock[i - 1] ?? Number.NaN;
  const again = clock.slice(i, i + REPEATED);
  const inOrder = again.every((time, k) => time <= latest && (k === 0 || time > (again[k - 1] ?? time)));
  if (again.length < REPEATED || !inOrder) return false;
  const [time = Number.NaN] = again;
  let before = i - 1;
  while (before > i - LOOK_BACK && (clock[before] ?? Number.NEGATIVE_INFINITY) > time) before--;
  // A difference of what is not there is NaN.
  return (clock[before + 1] ?? Number.NaN) - (clock[before] ?? Number.NaN) < 1.5 * usual;
}

/** The smallest time from each of some packets on: the first that is decoded need not be the first that is shown. */
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

/**
 * Reads the times of a track.
 * @param ask has ffprobe print lines by these arguments
 */
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
