/**
 * @module media/pairing/types
 * How two videos were aligned, paired and converted, for reports.
 */
import type { FrameRatePolicy } from '../../core/choices.js';
import type { ChromaFormat, FrameRange, VideoFormat } from '../../core/frame.js';
import type { Fraction } from '../../core/numbers.js';
import type { DecoderId, ScaleFilter } from '../decoder.js';
import type { FrameSource, VideoInfo } from '../types.js';

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

export const DEFAULT_WINDOW = 50;
/** Windows to try in turn while the result is ambiguous; the last is also the widest to suggest. */
export const WIDER = [150, 500] as const;
export const [, WIDEST_ADVISED] = WIDER;

export const WIDEST = 1000;

/** A source of luma, such as a `FrameSource`, whose frames are read once each, in order. */
export interface LumaReader {
  readonly info: VideoFormat & Pick<VideoInfo, 'frameCount' | 'colorRange'>;
  readonly readFrame: FrameSource['readFrame'];
}

export interface Thumbs {
  /** True once all thumbnails are handed out. */
  readonly ended: boolean;
  /** Hands out more until `frames` were handed out in total or the video ends. */
  readTo(frames: number, take: (thumb: Float32Array) => void, signal?: AbortSignal): Promise<void>;
}

export interface AlignOptions {
  /** Searches offsets of -window…window frames, 1..1000. Default 50. */
  readonly window?: number;
  /** Most frames to read from each video, at least 8. Default: four times the window, at least 300. */
  readonly maxFrames?: number;
  /** Reference frames per distorted frame (50 against 25 frames per second: 2). Default 1. */
  readonly rateRatio?: number;
  /** The offset to keep if the pictures do not decide. Default 0. */
  readonly assumed?: number;
  readonly signal?: AbortSignal;
}

/**
 * The reason for an answer.
 * - `clear`: one offset fits better than all others.
 * - `static`: too little motion to decide; any offset gives about the same score.
 * - `repetitive`: several offsets fit equally well, see the candidates.
 * - `edge`: the best offset is the last of the window; the true one may lie outside.
 * - `unrelated`: the pictures do not resemble each other at any offset.
 * - `short`: too few frames to decide.
 */
export type AlignReason = 'clear' | 'static' | 'repetitive' | 'edge' | 'unrelated' | 'short';

/** An offset that fits. */
export interface AlignCandidate {
  readonly offset: number;
  /** Correlation of the paired thumbnails, -1..1. */
  readonly similarity: number;
}

/** The temporal relation of two videos. */
export interface AlignResult {
  /**
   * Distorted frame i shows reference frame i + offset. Positive: the distorted video lacks the reference's first
   * frames. Negative: it has additional ones. If {@link ambiguous}, the candidate nearest to the assumed one.
   */
  readonly offset: number;
  /** The earliest frames that show the same moment at this offset; only if the rates differ. */
  readonly match?: { readonly reference: number; readonly distorted: number };
  /** 0: a guess, 1: certain. At least 0.9 if not ambiguous. */
  readonly confidence: number;
  /** Offsets that fit about equally well, best first; only one if the answer is clear. */
  readonly candidates: readonly AlignCandidate[];
  /** Frame pairs compared at the offset. */
  readonly compared: number;
  readonly ambiguous: boolean;
  readonly reason: AlignReason;
  /** The reason in a sentence for the user. */
  readonly explanation: string;
  /** Correlation of the paired thumbnails at the offset, -1..1. */
  readonly similarity: number;
  /** Distorted luma is about gain * reference + bias in 8-bit levels; gain is the ratio of standard deviations. */
  readonly levels: { readonly gain: number; readonly bias: number };
  /** First lost or duplicated frames; from there on, this offset no longer fits. In pairs at `assumed`. */
  readonly slip?: Slip;
  /** Frames read that repeat the previous picture while the other video moves on. */
  readonly repeated: { readonly reference: number; readonly distorted: number };
}

/** `found`: one offset fits. `ambiguous`: several fit, or none is certain. `none`: no match, or too short to decide. */
export type AlignState = 'found' | 'ambiguous' | 'none';

export function alignState({ ambiguous, reason }: Pick<AlignResult, 'ambiguous' | 'reason'>): AlignState {
  if (!ambiguous) return 'found';
  return reason === 'unrelated' || reason === 'short' ? 'none' : 'ambiguous';
}

/** A change of the offset from one frame on. */
export interface Slip {
  /** 0-based number of the first displaced pair. */
  readonly frame: number;
  /** Frames that the distorted video lost, or minus the frames that it repeated. */
  readonly by: number;
  /** Sum of `by` so far. */
  readonly ahead: number;
}
