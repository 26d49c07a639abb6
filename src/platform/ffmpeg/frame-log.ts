/**
 * @module platform/ffmpeg/frame-log
 * Follows a decoding ffmpeg by its log: which frames come, and whether anything is wrong with them.
 */
import type { Part } from './commands.js';
import { seconds } from './commands.js';
import { type ExpectedFrame, type LogEvent, parseLogLine } from './log.js';

/** Containers that recorders start at any moment, so that the first pictures may refer to ones that are not there. */
const RECORDINGS = new Set(['mpegts', 'mpeg', 'h264', 'hevc', 'mpegvideo', 'm4v', 'vc1', 'cavsvideo']);

/** Messages about damage that are kept, the first ones. */
const KEPT = 8;

/** What is decoded; structured-cloneable. */
export interface DecodedPart {
  /** What every frame must be, before it is scaled. */
  readonly expected: ExpectedFrame;
  readonly part: Part;
  /** Of the file, by ffmpeg's short name. */
  readonly container: string;
}

/** What a line means for the frames. */
export type FrameEvent =
  /** A frame of the part, at this time in seconds on the file's clock; its samples are written after this line. */
  | { readonly kind: 'wanted'; readonly time: number }
  /** No frame from here on is wanted. */
  | { readonly kind: 'past' }
  /** Frames stop being what they were at the start. */
  | { readonly kind: 'change'; readonly found: ExpectedFrame }
  | Extract<LogEvent, { kind: 'damage' }>
  /** Nothing to act on. */
  | { readonly kind: 'noted' };

const NOTED: FrameEvent = { kind: 'noted' };

/** Reads the log of one ffmpeg line by line. */
export class FrameLog {
  readonly #what: DecodedPart;
  /** Messages about damage. */
  readonly trouble: string[] = [];
  /** Packets decoded so far before which others may be missing. */
  gaps = 0;
  /** Whether ffmpeg has begun to decode; what it complains of before is about opening the file. */
  decoding = false;
  /** Frames of the part. */
  wanted = 0;
  /** Time of the first decoded frame, wanted or not. */
  firstTime: number | undefined;
  /** Why frames before the first could not be decoded, as is usual in a recording. */
  skippedStart: string | undefined;
  /** Seconds of one unit of presentation times. */
  #unit = Number.NaN;
  #seen = 0;
  #troubleBefore = false;

  constructor(what: DecodedPart) {
    this.#what = what;
  }

  /** Whether decoding began before the part, and went well up to it. */
  get ledIn(): boolean {
    return this.#seen > this.wanted && !this.#troubleBefore;
  }

  /**
   * @param over frames are no longer counted
   * @returns `undefined` for a line that says nothing about frames
   */
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
    // The same comparisons that the filter makes.
    if (part.fromFrame !== undefined && number < part.fromFrame) return NOTED;
    if (part.fromTime !== undefined && !(time >= Number(seconds(part.fromTime)))) return NOTED;
    if (part.untilTime !== undefined && !(time < Number(seconds(part.untilTime)))) {
      // Without times there is no telling where to stop.
      return Number.isNaN(time) ? NOTED : { kind: 'past' };
    }
    this.wanted++;
    return { kind: 'wanted', time };
  }

  /** Whether damage says nothing about the part: it comes before the part, or before any frame. */
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

/** The layout alone: ffmpeg has two names for some, one of which adds that the range is full. */
function unranged(pixelFormat: string): string {
  return pixelFormat.replace(/^yuvj/, 'yuv');
}
