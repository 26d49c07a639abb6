/**
 * @module media/pairing/types
 * Options of pairing two videos, and the record of what was done to their frames.
 */

import type { FrameRatePolicy } from '../../core/choices.js';
import type { ChromaFormat, FrameRange } from '../../core/frame.js';
import type { Fraction } from '../../core/rational.js';
import type { AlignState } from '../align/types.js';
import type { DecoderId, ScaleFilter } from '../decoder.js';

export type { FrameRatePolicy, PairBy } from '../../core/choices.js';
export type { FrameRange } from '../../core/frame.js';
export type { ScaleTo } from '../../core/size.js';

/** What was done to the frames of one video. */
export interface InputPairing {
  /** The decoder; `none` for Y4M, raw video and a caller's own frames. */
  readonly decoder: DecoderId | 'none';
  /** Decoder and version as text. */
  readonly decodedBy?: string;
  /** Codec by ffmpeg's short name; absent without a decoder. */
  readonly codec?: string;
  /** 0-based number of its video track, and how many there are; absent if the file has one. */
  readonly track?: number;
  readonly tracks?: number;
  /** What its encoder, x264 or x265, says of how it encoded: `x264 subme=8 ref=5 ...`. */
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
 * How frames were paired, and which have no partner. Frame numbers are 0-based in each video. If pairs go by the
 * distorted video, the two change places in `missing`, `repeated` and `dropped`.
 */
export interface FramePairing {
  /** `number`: the n-th frame with the n-th, regardless of times. */
  readonly policy: FrameRatePolicy | 'number';
  /** The video whose frames are scored one by one; absent for the reference. */
  readonly by?: 'distorted';
  /** Distorted frame n pairs with reference frame n + offset. */
  readonly offset: number;
  readonly offsetRequested: number | 'auto';
  /** 0..1, if the offset was searched. */
  readonly offsetConfidence?: number;
  /** Outcome of that search; the pictures confirm the offset only if `found`. */
  readonly offsetState?: AlignState;
  /** Number of scored pairs. */
  readonly pairs: number;
  /** Reference frames without a distorted frame at their time. */
  readonly missing: FrameList;
  /** Distorted frames that pair with more than one reference frame. */
  readonly repeated: FrameList;
  /** Distorted frames that pair with no reference frame. */
  readonly dropped: FrameList;
}

/** Frame numbers; a report lists at most the first {@link LISTED_FRAMES}. */
export interface FrameList {
  readonly count: number;
  readonly frames: readonly number[];
}

/** Most frame numbers in a {@link FrameList}. */
export const LISTED_FRAMES = 50;

/** Everything that was done to pair two videos. */
export interface Pairing {
  readonly reference: InputPairing;
  readonly distorted: InputPairing;
  /** The format of the scored frames. */
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  /** The requested filter. */
  readonly scale: ScaleFilter | 'none';
  readonly range?: FrameRange;
  readonly frames: FramePairing;
}
