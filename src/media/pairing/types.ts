/**
 * @module media/pairing/types
 * How two videos are to be brought together, and what was done to their frames.
 */
import type { FrameRatePolicy } from '../../core/choices.js';
import type { ChromaFormat } from '../../core/frame.js';
import type { AlignState } from '../align/types.js';
import type { DecoderId, Fraction, ScaleFilter } from '../decoder.js';

export type { FrameRatePolicy } from '../../core/choices.js';

/** A size that both videos are brought to. */
export type ScaleTo = 'ref' | 'dis' | { readonly width: number; readonly height: number };

/** A part of a video: frames by number or times in seconds from its first frame, `end` exclusive. */
export interface FrameRange {
  readonly unit: 'frames' | 'seconds';
  readonly start: number;
  /** Absent: to the end. */
  readonly end?: number;
}

/** What was done to the frames of one video. */
export interface InputPairing {
  /** What decoded it; `none` for Y4M, raw video and a caller's own frames. */
  readonly decoder: DecoderId | 'none';
  /** Decoder and version in words. */
  readonly decodedBy?: string;
  /** Codec by ffmpeg's short name; absent where nothing was decoded. */
  readonly codec?: string;
  /** ffmpeg's name of the samples' layout as decoded. */
  readonly pixelFormat?: string;
  /** Bits per second of the video track, or of the file where only that is known. */
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
  /** The filter that ran, in words: `swscale bicubic`; absent when the size was right. */
  readonly scaledBy?: string;
  /** What else was done to the samples, one phrase each: `8 to 10 bit by a shift of 2`. */
  readonly conversions: readonly string[];
}

/** How frames were paired, and what did not fit; numbers are those of the video's own frames, from 0. */
export interface FramePairing {
  /** `number`: the n-th frame with the n-th, without looking at times. */
  readonly policy: FrameRatePolicy | 'number';
  /** Distorted frame n goes with reference frame n + offset. */
  readonly offset: number;
  readonly offsetRequested: number | 'auto';
  /** 0..1, where the offset was searched. */
  readonly offsetConfidence?: number;
  /** What became of that search; only where it is `found` do the pictures tell the offset in use. */
  readonly offsetState?: AlignState;
  /** Pairs scored. */
  readonly pairs: number;
  /** Reference frames for which there is no distorted frame at their time. */
  readonly missing: FrameList;
  /** Distorted frames that stand for more than one reference frame. */
  readonly repeated: FrameList;
  /** Distorted frames that stand for none. */
  readonly dropped: FrameList;
}

/** Frame numbers, of which a report holds the first {@link LISTED_FRAMES} at most. */
export interface FrameList {
  readonly count: number;
  readonly frames: readonly number[];
}

/** Most frame numbers that a {@link FrameList} names. */
export const LISTED_FRAMES = 50;

/** Everything that was done to bring two videos together. */
export interface Pairing {
  readonly reference: InputPairing;
  readonly distorted: InputPairing;
  /** The format that was scored. */
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  /** The filter asked for. */
  readonly scale: ScaleFilter | 'none';
  readonly range?: FrameRange;
  readonly frames: FramePairing;
}
