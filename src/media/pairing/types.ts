/**
 * @module media/pairing/types
 * How two videos were paired and converted, as reports state it.
 */

import type { FrameRatePolicy } from '../../core/choices.js';
import type { ChromaFormat, FrameRange } from '../../core/frame.js';
import type { Fraction } from '../../core/rational.js';
import type { AlignState } from '../align/types.js';
import type { DecoderId, ScaleFilter } from '../decoder.js';

export type { FrameRatePolicy, PairBy } from '../../core/choices.js';
export type { FrameRange } from '../../core/frame.js';
export type { ScaleTo } from '../../core/size.js';

export interface InputPairing {
  /** `none` for Y4M, raw video and a caller's own frames. */
  readonly decoder: DecoderId | 'none';
  /** Decoder and version as text. */
  readonly decodedBy?: string;
  /** Codec by ffmpeg's short name; absent without a decoder. */
  readonly codec?: string;
  /** 0-based video track, and the number of tracks; absent if the file has one. */
  readonly track?: number;
  readonly tracks?: number;
  /** Settings that x264 or x265 recorded in the stream: `x264 subme=8 ref=5 ...`. */
  readonly encoderSettings?: string;
  /** ffmpeg's name of the decoded pixel format. */
  readonly pixelFormat?: string;
  /** Bits per second of the video track, or of the file if only that is known. */
  readonly bitrate?: number;
  /** Bytes. */
  readonly fileSize?: number;
  /** Seconds. */
  readonly duration?: number;
  /** Size before scaling. */
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  readonly frameRate?: Fraction;
  /** The scaling filter: `swscale bicubic`; absent if the video was not scaled. */
  readonly scaledBy?: string;
  /** Other conversions of the samples, one phrase each: `8 to 10 bit by a shift of 2`. */
  readonly conversions: readonly string[];
}

/**
 * How frames were paired. Frame numbers are 0-based in each video. If `by` is `distorted`, `missing`, `repeated` and
 * `dropped` swap the two videos.
 */
export interface FramePairing {
  /** `number`: the n-th frame with the n-th, regardless of times. */
  readonly policy: FrameRatePolicy | 'number';
  /** The video whose every frame is scored; absent for the reference. */
  readonly by?: 'distorted';
  /** Distorted frame n pairs with reference frame n + offset. */
  readonly offset: number;
  readonly offsetRequested: number | 'auto';
  /** 0..1, if the offset was searched. */
  readonly offsetConfidence?: number;
  /** Outcome of that search; the pictures confirm the offset only if `found`. */
  readonly offsetState?: AlignState;
  readonly pairs: number;
  /** Reference frames without a distorted frame at their time. */
  readonly missing: FrameList;
  /** Distorted frames that pair with more than one reference frame. */
  readonly repeated: FrameList;
  /** Distorted frames that pair with no reference frame. */
  readonly dropped: FrameList;
}

/** All frames are counted; `frames` lists at most the first {@link LISTED_FRAMES}. */
export interface FrameList {
  readonly count: number;
  readonly frames: readonly number[];
}

export const LISTED_FRAMES = 50;

export interface Pairing {
  readonly reference: InputPairing;
  readonly distorted: InputPairing;
  /** Format of the scored frames. */
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  /** The requested filter. */
  readonly scale: ScaleFilter | 'none';
  readonly range?: FrameRange;
  readonly frames: FramePairing;
}
