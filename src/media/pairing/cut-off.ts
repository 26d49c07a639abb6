/**
 * @module media/pairing/cut-off
 * Which of two videos is cut off where frames are to be compared, and what to say then.
 */

import { aboutInput, type InputRole } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { type EarlyEnd, earlyEndError, earlyEndWarning } from '../damage.js';
import type { DecodedSource } from '../decoder.js';
import type { EncodedVideo } from '../decoders.js';
import type { FrameSource, VideoInfo } from '../types.js';

/** Where a side's frames end for want of more of the file. */
export interface CutOff {
  readonly video: EncodedVideo;
  /** `undefined` where only reading to the end tells. */
  readonly end: EarlyEnd | undefined;
}

/** What is known of one side. */
export interface CutOffSide {
  readonly video: EncodedVideo;
  readonly times: Float64Array | null;
}

/** The end of a video that its container contradicts; `undefined` for whole ones. */
export function cutOffOf({ video, times }: CutOffSide): CutOff | undefined {
  const { cutOff } = video;
  if (cutOff === undefined) return undefined;
  // Some containers have all times in an index, also those of frames that are not there.
  const listed = times !== null && times.length < (video.facts.frameCount ?? Number.POSITIVE_INFINITY);
  return {
    video,
    end: listed ? { frames: times.length, lastTime: times.at(-1), cutOff: true, text: cutOff } : undefined,
  };
}

/** @throws {MediaError} that names the file, the frame and the time, where they are known already */
export function refuseCutOff({ video, end }: CutOff, role: InputRole): void {
  if (end) throw aboutInput(earlyEndError(video.facts, end), role);
}

/** How to take the end. */
export interface CutOffOptions {
  /** Damage is no reason to fail. */
  readonly allowed: boolean;
  /** Frames asked for, `Infinity` for all: behind them nothing is missed. */
  readonly wanted: number;
}

/** Frames of a file that is cut off: says so, when it comes to the end at the latest. */
export class CutOffSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: DecodedSource;
  readonly #cutOff: CutOff;
  readonly #options: CutOffOptions;
  readonly #warnings: string[];
  /** What the decoder had to say at the beginning. */
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
      frames: this.#read,
      lastTime: this.#source.timestamp(this.#read - 1),
      cutOff: true,
      text: video.cutOff ?? '',
    };
    if (!this.#options.allowed) throw earlyEndError(video.facts, end);
    // A decoder that stopped before knows better where.
    const { warnings } = this.#source.info;
    const own = warnings.length > this.#before ? [] : [earlyEndWarning(video.facts, end)];
    this.#warnings.splice(0, Number.POSITIVE_INFINITY, ...warnings, ...own);
  }
}
