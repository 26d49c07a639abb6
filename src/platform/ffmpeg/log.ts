/**
 * @module platform/ffmpeg/log
 * Parses ffmpeg's log (frames announced by showinfo, and damage), and tracks a decoding ffmpeg by it.
 */
import { parseSize } from '../../core/size.js';
import type { TrackFacts } from '../../media/decoder.js';
import { type Part, seconds } from './commands.js';

/** Format of every decoded frame before scaling. */
export interface ExpectedFrame {
  readonly width: number;
  readonly height: number;
  readonly pixelFormat: string;
}

export type LogEvent =
  /** `pts` is in the filter's time base; `undefined` for a frame without a time. */
  | ({ readonly kind: 'frame'; readonly pts: number | undefined } & ExpectedFrame)
  | { readonly kind: 'timebase'; readonly num: number; readonly den: number }
  /** Decoding starts; earlier complaints are about probing the file. */
  | { readonly kind: 'decoding' }
  /** A packet at which others are missing, as at a cut in a recording; its picture may be intact. */
  | { readonly kind: 'gap' }
  /** `atEnd`: the file is truncated, and all earlier frames are intact. */
  | { readonly kind: 'damage'; readonly text: string; readonly atEnd: boolean };

const LINE = /^(?:\[[^\]]* @ [^\]]*\] )*\[(\w+)\] (.*)$/;
const FRAME = /^n: *\d+ pts: *(-?\d+|NOPTS) .*?fmt: *(\S+) .*?\bs:(\S+) /;
const TIME_BASE = /^config in time_base: (\d+)\/(\d+)/;
const CUT_OFF = /File ended prematurely|partial file/;
/** Logged as a warning, although samples are wrong. */
const CORRUPT = /corrupt decoded frame/;
/** Logged where a packet counter jumps; the decoder reports what it cannot conceal. */
const GAP = /corrupt input packet/;
/** Logged as errors about pictures that never existed, as at the start of a recording. */
const HARMLESS = /^(?:mmco: unref short failure|co located POCs unavailable)/;

/** Parses a line of ffmpeg's standard error; `undefined` for irrelevant lines. */
export function parseLogLine(line: string): LogEvent | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, level, text = ''] = match;
  if (level === 'info') {
    if (text === 'Stream mapping:') return { kind: 'decoding' };
    return line.includes('showinfo') ? parseShowinfo(text) : undefined;
  }
  if (GAP.test(text)) return { kind: 'gap' };
  const corrupt = CORRUPT.exec(text)?.[0];
  if (corrupt !== undefined) return { kind: 'damage', text: corrupt, atEnd: false };
  if (!/^(?:error|fatal|panic)$/.test(level ?? '') || HARMLESS.test(text)) return undefined;
  return { kind: 'damage', text: text.trim().replace(/\.$/, ''), atEnd: CUT_OFF.test(text) };
}

function parseShowinfo(text: string): LogEvent | undefined {
  const [, pts, pixelFormat = '', sides = ''] = FRAME.exec(text) ?? [];
  const size = parseSize(sides);
  if (size) return { kind: 'frame', pts: pts === 'NOPTS' ? undefined : Number(pts), ...size, pixelFormat };
  const timeBase = TIME_BASE.exec(text);
  return timeBase ? { kind: 'timebase', num: Number(timeBase[1]), den: Number(timeBase[2]) } : undefined;
}

export type FilteredFrames = ExpectedFrame &
  Pick<TrackFacts, 'frameRate' | 'sampleAspect' | 'colorRange' | 'matrix' | 'primaries' | 'transfer'>;

/** @returns `undefined` if the log has no frame */
export function parseFiltered(log: string): FilteredFrames | undefined {
  const [, pixelFormat = '', sides = ''] = /\] n: *\d+ pts:.*? fmt: *(\S+) .*?\bs:(\S+) /.exec(log) ?? [];
  const size = parseSize(sides);
  if (!size) return undefined;
  const fraction = (pattern: RegExp) => {
    const [, num, den] = pattern.exec(log) ?? [];
    return Number(num) > 0 && Number(den) > 0 ? { num: Number(num), den: Number(den) } : undefined;
  };
  const color = (name: string) => {
    const found = new RegExp(`\\bcolor_${name}:(\\w[\\w-]*)`).exec(log)?.[1];
    return found === undefined || /^(?:unknown|reserved)$/.test(found) ? undefined : found;
  };
  const frameRate = fraction(/config in time_base: \d+\/\d+, frame_rate: (\d+)\/(\d+)/);
  const sampleAspect = fraction(/\bsar:(\d+)\/(\d+)/);
  const [range, matrix, primaries, transfer] = ['range', 'space', 'primaries', 'trc'].map(color);
  return {
    ...size,
    pixelFormat,
    ...(frameRate && { frameRate }),
    ...(sampleAspect && { sampleAspect }),
    ...(range && { colorRange: range === 'pc' ? 'full' : 'limited' }),
    ...(matrix && { matrix }),
    ...(primaries && { primaries }),
    ...(transfer && { transfer }),
  };
}

/** Containers of recordings, whose first pictures may refer to missing ones. */
export const RECORDINGS: ReadonlySet<string> = new Set([
  'mpegts',
  'mpeg',
  'h264',
  'hevc',
  'mpegvideo',
  'm4v',
  'vc1',
  'cavsvideo',
]);

/** Number of first damage messages to keep. */
const KEPT = 8;

/** Structured-cloneable. */
export interface DecodedPart {
  readonly expected: ExpectedFrame;
  readonly part: Part;
  /** ffmpeg's short name of the file's format. */
  readonly container: string;
}

export type FrameEvent =
  /** A frame of the part, in seconds on the file's clock; its samples follow this line. */
  | { readonly kind: 'wanted'; readonly time: number }
  /** The part has ended. */
  | { readonly kind: 'past' }
  /** The format of the frames changes. */
  | { readonly kind: 'change'; readonly found: ExpectedFrame }
  | Extract<LogEvent, { kind: 'damage' }>
  /** Nothing to act on. */
  | { readonly kind: 'noted' };

const NOTED: FrameEvent = { kind: 'noted' };

export class FrameLog {
  readonly #what: DecodedPart;
  readonly trouble: string[] = [];
  /** Decoded packets at which others may be missing. */
  gaps = 0;
  /** Whether decoding has started; earlier complaints are about opening the file. */
  decoding = false;
  /** Frames of the part so far. */
  wanted = 0;
  /** Time of the first decoded frame, wanted or not. */
  firstTime: number | undefined;
  /** Why frames before the first could not be decoded, as usual in recordings. */
  skippedStart: string | undefined;
  /** Seconds per unit of `pts`. */
  #unit = Number.NaN;
  #seen = 0;
  #troubleBefore = false;

  constructor(what: DecodedPart) {
    this.#what = what;
  }

  /** Whether decoding started before the part, without trouble up to it. */
  get ledIn(): boolean {
    return this.#seen > this.wanted && !this.#troubleBefore;
  }

  /** @param over stop counting frames @returns `undefined` for a line about other things than frames */
  take(line: string, over = false): FrameEvent | undefined {
    const event = parseLogLine(line);
    switch (event?.kind) {
      case undefined:
        return undefined;
      case 'timebase':
        this.#unit = event.num / event.den;
        return NOTED;
      case 'decoding':
        this.decoding = true;
        return NOTED;
      case 'gap':
        this.gaps++;
        return NOTED;
      case 'frame':
        return over ? NOTED : this.#frame(event, (event.pts ?? Number.NaN) * this.#unit);
      case 'damage':
        if (this.trouble.length < KEPT) this.trouble.push(event.text);
        return this.#isHarmless(event.text) ? NOTED : event;
    }
  }

  #frame(found: ExpectedFrame, time: number): FrameEvent {
    const { expected, part } = this.#what;
    const { width, height, pixelFormat } = found;
    const same = width === expected.width && height === expected.height;
    if (!same || unranged(pixelFormat) !== unranged(expected.pixelFormat))
      return { kind: 'change', found: { width, height, pixelFormat } };
    const number = this.#seen++;
    this.firstTime ??= time;
    if (this.wanted === part.count) return { kind: 'past' };
    // The same comparisons as in the filter.
    if (part.fromFrame !== undefined && number < part.fromFrame) return NOTED;
    if (part.fromTime !== undefined && !(time >= Number(seconds(part.fromTime)))) return NOTED;
    if (part.untilTime !== undefined && !(time < Number(seconds(part.untilTime)))) {
      // The end cannot be found without times.
      return Number.isNaN(time) ? NOTED : { kind: 'past' };
    }
    this.wanted++;
    return { kind: 'wanted', time };
  }

  /** Whether damage does not affect the part: it lies before the part or before any frame. */
  #isHarmless(text: string): boolean {
    const { part, container } = this.#what;
    if (this.#seen === 0) {
      if (!this.decoding) return true;
      if (RECORDINGS.has(container) || part.seek !== undefined) {
        this.skippedStart ??= text;
        return true;
      }
    }
    if (this.wanted > 0 || part.seek === undefined) return false;
    this.#troubleBefore = true;
    return true;
  }
}

/** ffmpeg's second names of some layouts imply full range. */
export const unranged = (pixelFormat: string): string => pixelFormat.replace(/^yuvj/, 'yuv');

/** The first error in a log of all levels, without its full stop. */
export function firstError(log: string): string | undefined {
  const found = /^(?:\[[^\]]* @ [^\]]*\] )*\[(?:error|fatal)\] (.*)$/m.exec(log)?.[1];
  return found?.trim().replace(/\.$/, '');
}
