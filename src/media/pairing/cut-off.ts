/**
 * @module media/pairing/cut-off
 * Detects truncated videos and reports where they end.
 */

import { aboutInput, type InputRole } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import type { DecodedSource } from '../decoder.js';
import type { EncodedVideo } from '../decoders.js';
import { type EarlyEnd, earlyEndError, earlyEndWarning } from '../errors.js';
import type { FrameSource, VideoInfo } from '../types.js';

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
