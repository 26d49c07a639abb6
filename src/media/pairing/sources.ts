/**
 * @module media/pairing/sources
 * Sources over another source: shared among readers, with frames repeated and skipped, or ending where a file is cut off.
 */
import { aboutInput, type InputRole } from '../../core/errors.js';
import { allocateFrame, copyPlanes, type FramePlanes } from '../../core/frame.js';
import type { DecodedSource } from '../decoder.js';
import type { EncodedVideo } from '../decoders.js';
import { type EarlyEnd, earlyEndError, earlyEndWarning } from '../errors.js';
import { afterRead } from '../own-filters.js';
import type { FrameSource } from '../types.js';

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

/** Shares one decoder among readers, which it keeps within {@link FRAMES_AHEAD} frames. */
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
   * Source of a reader, which reads each frame once. The last reader to close closes the decoder.
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
    // Include chroma, which some readers need for a few frames.
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

export interface MappedSource extends FrameSource {
  /**
   * Makes later reads pass the luma of all frames from the first used one, skipped ones too, until `look` returns
   * false.
   */
  showAll(look: (luma: Uint8Array) => boolean): void;
}

/**
 * Frame n is frame `frames[n]` of another source; these ascend and may repeat.
 * @param frameRate of the frames as mapped
 */
export function mappedSource(
  source: FrameSource,
  frames: ArrayLike<number>,
  frameRate = source.info.frameRate,
): MappedSource {
  const info = { ...source.info, frameCount: frames.length, ...(frameRate && { frameRate }) };
  /** The frame that the next read repeats, if the source reads each frame only once. */
  let buffered: { readonly frame: number; readonly planes: FramePlanes } | undefined;
  let look: ((luma: Uint8Array) => boolean) | undefined;
  let shown = frames[0] ?? 0;

  function readMapped(index: number, frame: number, into: FramePlanes): boolean | Promise<boolean> {
    if (buffered?.frame === frame) {
      copyPlanes(buffered.planes, into);
      return true;
    }
    if (source.seekable || frames[index + 1] !== frame) return source.readFrame(frame, into);
    const planes = buffered?.planes ?? allocateFrame(info);
    // The next read may need chroma even if this one does not.
    const whole = { ...planes, ...into };
    return afterRead(source.readFrame(frame, whole), (found) => {
      if (!found) return false;
      copyPlanes(whole, planes);
      buffered = { frame, planes };
      return true;
    });
  }

  async function readShowing(index: number, frame: number, into: FramePlanes): Promise<boolean> {
    const show = () => {
      shown++;
      if (look && !look(into.y)) look = undefined;
    };
    while (look && shown < frame) {
      if (!(await source.readFrame(shown, { y: into.y }))) return false;
      show();
    }
    const found = await readMapped(index, frame, into);
    if (found && shown === frame) show();
    return found;
  }

  return {
    info,
    seekable: source.seekable,
    showAll: (wanted) => {
      look = wanted;
    },
    readFrame(index, into) {
      const frame = frames[index];
      if (frame === undefined) return false;
      return look ? readShowing(index, frame, into) : readMapped(index, frame, into);
    },
    close: () => source.close(),
  };
}

export interface CutOff {
  readonly video: EncodedVideo;
  /** `undefined` if unknown until read to the end. */
  readonly end: EarlyEnd | undefined;
}

export function cutOffOf(video: EncodedVideo, times: Float64Array | null): CutOff | undefined {
  const { cutOff: text, facts } = video;
  if (text === undefined) return undefined;
  // The index of some containers includes the times of missing frames.
  const listed = times !== null && times.length < (facts.frameCount ?? Number.POSITIVE_INFINITY);
  const end = listed ? { frames: times.length, lastTime: times.at(-1), cutOff: true, text } : undefined;
  return { video, end };
}

/** @throws {MediaError} with file, frame and time, if they are already known */
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

/** Frames of a truncated file: warns or throws at its end; warns at once if the end is known. */
export function cutOffSource(
  source: DecodedSource,
  { video, end: known }: CutOff,
  { allowed, wanted, before = 0 }: CutOffOptions,
): FrameSource {
  const atStart = source.info.warnings.length;
  const warnings = [...source.info.warnings, ...(known ? [earlyEndWarning(video.facts, known)] : [])];
  let read = 0;
  /** @throws {MediaError} unless damage is allowed */
  const ended = () => {
    const lastTime = source.timestamp(read - 1);
    const end = { frames: before + read, lastTime, cutOff: true, text: video.cutOff ?? '' };
    if (!allowed) throw earlyEndError(video.facts, end);
    // A decoder that stopped earlier adds a more precise warning.
    const own = source.info.warnings.length > atStart ? [] : [earlyEndWarning(video.facts, end)];
    warnings.splice(0, warnings.length, ...source.info.warnings, ...own);
  };
  return {
    info: { ...source.info, warnings },
    seekable: source.seekable,
    readFrame: (index, into) =>
      afterRead(source.readFrame(index, into), (found) => {
        if (found) read = index + 1;
        else if (read < wanted) ended();
        return found;
      }),
    close: () => source.close(),
  };
}
