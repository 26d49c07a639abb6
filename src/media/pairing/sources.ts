/**
 * @module media/pairing/sources
 * Sources over another source: its frames shared among readers, repeated and skipped, or ending where a file is cut off.
 */

import { aboutInput, type InputRole } from '../../core/errors.js';
import { allocateFrame, copyPlanes, type FramePlanes } from '../../core/frame.js';
import type { DecodedSource } from '../decoder.js';
import type { EncodedVideo } from '../decoders.js';
import { type EarlyEnd, earlyEndError, earlyEndWarning } from '../errors.js';
import type { FrameSource, VideoInfo } from '../types.js';

export interface FramePart {
  readonly start: number;
  /** Exclusive; `Infinity` for the end of the video. */
  readonly end: number;
}

const WHOLE: FramePart = { start: 0, end: Number.POSITIVE_INFINITY };

export function hull(parts: readonly FramePart[]): FramePart {
  return {
    start: Math.min(...parts.map(({ start }) => start)),
    end: Math.max(...parts.map(({ end }) => end)),
  };
}

const FRAMES_AHEAD = 8;

export class Fan {
  readonly #source: DecodedSource;
  /** Next frame of each reader; `Infinity` once closed. */
  readonly #next: number[];
  readonly #frames = new Map<number, FramePlanes>();
  readonly #spare: FramePlanes[] = [];
  #decoded = 0;
  #end = Number.POSITIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #failure: unknown;
  #waiting: (() => void)[] = [];

  constructor(source: DecodedSource, readers: number) {
    this.#source = source;
    this.#next = new Array<number>(readers).fill(0);
  }

  /**
   * Source of a reader, from 0, each once. The last one to close closes the decoder.
   * @param part of the decoder's frames; its start is the reader's frame 0
   */
  tap(reader: number, { start, end }: FramePart = WHOLE): DecodedSource {
    const source = this.#source;
    const { frameCount } = source.info;
    this.#advance(reader, start);
    return {
      info: {
        ...source.info,
        frameCount: frameCount === null ? null : Math.max(0, Math.min(frameCount, end) - start),
      },
      seekable: false,
      facts: source.facts,
      decoder: source.decoder,
      decodedBy: source.decodedBy,
      ...(source.scaledBy !== undefined && { scaledBy: source.scaledBy }),
      timestamp: (index) => source.timestamp(start + index),
      readFrame: (index, into) => start + index < end && this.#read(reader, start + index, into),
      close: () => this.#close(reader),
    };
  }

  async #read(reader: number, index: number, into: FramePlanes): Promise<boolean> {
    this.#advance(reader, index);
    for (;;) {
      const frame = this.#frames.get(index);
      if (frame) {
        copyPlanes(frame, into);
        this.#advance(reader, index + 1);
        return true;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (index >= this.#end || this.#next[reader] === Number.POSITIVE_INFINITY) return false;
      if (!this.#reading && this.#decoded < Math.min(...this.#next) + FRAMES_AHEAD) {
        this.#reading = this.#decode();
      }
      await (this.#reading ?? new Promise<void>((resolve) => this.#waiting.push(resolve)));
    }
  }

  async #decode(): Promise<void> {
    // Include chroma, since some readers want it for a few frames.
    const planes = this.#spare.pop() ?? allocateFrame(this.#source.info);
    try {
      if (await this.#source.readFrame(this.#decoded, planes)) this.#frames.set(this.#decoded++, planes);
      else this.#end = this.#decoded;
    } catch (error) {
      this.#failure = error;
    }
    this.#reading = undefined;
    this.#wake();
  }

  #advance(reader: number, next: number): void {
    if (this.#next[reader]! >= next) return;
    this.#next[reader] = next;
    const slowest = Math.min(...this.#next);
    for (const [index, planes] of this.#frames) {
      if (index >= slowest) break;
      this.#frames.delete(index);
      this.#spare.push(planes);
    }
    this.#wake();
  }

  async #close(reader: number): Promise<void> {
    this.#advance(reader, Number.POSITIVE_INFINITY);
    if (this.#next.every((next) => next === Number.POSITIVE_INFINITY)) await this.#source.close();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** Frame n is frame `frames[n]` of another source. */
export class MappedSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: FrameSource;
  readonly #frames: ArrayLike<number>;
  /** The frame that the next read repeats, if the source reads each frame only once. */
  #kept: { readonly frame: number; readonly planes: FramePlanes } | undefined;

  #look: ((luma: Uint8Array) => boolean) | undefined;
  #shown = 0;

  /** @param frames ascending; numbers may repeat */
  constructor(source: FrameSource, frames: ArrayLike<number>) {
    this.info = { ...source.info, frameCount: frames.length };
    this.seekable = source.seekable;
    this.#source = source;
    this.#frames = frames;
  }

  /**
   * Makes later reads pass the luma of all frames, skipped ones too, from the first used one, until `look` returns
   * false.
   */
  showAll(look: (luma: Uint8Array) => boolean): void {
    this.#look = look;
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const frame = this.#frames[index];
    if (frame === undefined) return false;
    return this.#look ? this.#readShowing(index, frame, into) : this.#readMapped(index, frame, into);
  }

  async #readShowing(index: number, frame: number, into: FramePlanes): Promise<boolean> {
    const show = (luma: Uint8Array) => {
      this.#shown++;
      if (this.#look && !this.#look(luma)) this.#look = undefined;
    };
    const first = this.#frames[0]!;
    while (this.#look && first + this.#shown < frame) {
      if (!(await this.#source.readFrame(first + this.#shown, { y: into.y }))) return false;
      show(into.y);
    }
    const found = await this.#readMapped(index, frame, into);
    if (found && first + this.#shown === frame) show(into.y);
    return found;
  }

  #readMapped(index: number, frame: number, into: FramePlanes): boolean | Promise<boolean> {
    if (this.#kept?.frame === frame) {
      copyPlanes(this.#kept.planes, into);
      return true;
    }
    if (this.seekable || this.#frames[index + 1] !== frame) return this.#source.readFrame(frame, into);
    const planes = this.#kept?.planes ?? allocateFrame(this.info);
    // The next read may want chroma if this one does not.
    const whole = { ...planes, ...into };
    const keep = (found: boolean): boolean => {
      if (found) {
        copyPlanes(whole, planes);
        this.#kept = { frame, planes };
      }
      return found;
    };
    const reading = this.#source.readFrame(frame, whole);
    return typeof reading === 'boolean' ? keep(reading) : reading.then(keep);
  }

  close(): Promise<void> | void {
    return this.#source.close();
  }
}

export interface CutOff {
  readonly video: EncodedVideo;
  /** `undefined` if only reading to the end determines it. */
  readonly end: EarlyEnd | undefined;
}

interface CutOffSide {
  readonly video: EncodedVideo;
  readonly times: Float64Array | null;
}

export function cutOffOf({ video, times }: CutOffSide): CutOff | undefined {
  const { cutOff } = video;
  if (cutOff === undefined) return undefined;
  // The index of some containers includes the times of missing frames.
  const listed = times !== null && times.length < (video.facts.frameCount ?? Number.POSITIVE_INFINITY);
  return {
    video,
    end: listed ? { frames: times.length, lastTime: times.at(-1), cutOff: true, text: cutOff } : undefined,
  };
}

/** @throws {MediaError} with the file, the frame and the time, if they are already known */
export function refuseCutOff({ video, end }: CutOff, role: InputRole): void {
  if (end) throw aboutInput(earlyEndError(video.facts, end), role);
}

interface CutOffOptions {
  /** Warn instead of throwing. */
  readonly allowed: boolean;
  /** Requested frames, `Infinity` for all; an end after them does not matter. */
  readonly wanted: number;
  /** Frames of the run before the first one read here, for messages. Default 0. */
  readonly before?: number;
}

/** Frames of a truncated file. Warns or throws at its end; warns at once if the end is known. */
export class CutOffSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: DecodedSource;
  readonly #cutOff: CutOff;
  readonly #options: CutOffOptions;
  readonly #warnings: string[];
  readonly #before: number;
  #read = 0;

  constructor(source: DecodedSource, cutOff: CutOff, options: CutOffOptions) {
    this.#source = source;
    this.#cutOff = cutOff;
    this.#options = options;
    this.#before = source.info.warnings.length;
    const { video, end } = cutOff;
    this.#warnings = [...source.info.warnings, ...(end ? [earlyEndWarning(video.facts, end)] : [])];
    this.info = { ...source.info, warnings: this.#warnings };
    this.seekable = source.seekable;
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const reading = this.#source.readFrame(index, into);
    return typeof reading === 'boolean'
      ? this.#took(reading, index)
      : reading.then((found) => this.#took(found, index));
  }

  close(): Promise<void> | void {
    return this.#source.close();
  }

  #took(found: boolean, index: number): boolean {
    if (found) this.#read = index + 1;
    else if (this.#read < this.#options.wanted) this.#ended();
    return found;
  }

  /** @throws {MediaError} unless damage is allowed */
  #ended(): void {
    const { video } = this.#cutOff;
    const end = {
      frames: (this.#options.before ?? 0) + this.#read,
      lastTime: this.#source.timestamp(this.#read - 1),
      cutOff: true,
      text: video.cutOff ?? '',
    };
    if (!this.#options.allowed) throw earlyEndError(video.facts, end);
    // A decoder that stopped earlier adds a more precise warning itself.
    const { warnings } = this.#source.info;
    const own = warnings.length > this.#before ? [] : [earlyEndWarning(video.facts, end)];
    this.#warnings.splice(0, Number.POSITIVE_INFINITY, ...warnings, ...own);
  }
}
