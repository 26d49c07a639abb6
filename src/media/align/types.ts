/**
 * @module media/align/types
 * What alignment reads, how it may be asked to search, and what it answers.
 */
import type { VideoFormat } from '../../core/frame.js';
import type { FrameSource, VideoInfo } from '../types.js';

/** Where luma comes from; every `FrameSource` is one. Frames are asked for in ascending order, each once. */
export interface LumaReader {
  readonly info: VideoFormat & Pick<VideoInfo, 'frameCount' | 'colorRange'>;
  readonly readFrame: FrameSource['readFrame'];
}

/** The frames of a video as thumbnails, one after another. */
export interface Thumbs {
  /** True once there are no more. */
  readonly ended: boolean;
  /** Hands out more until `frames` were handed out in all, or the video ends. */
  readTo(frames: number, take: (thumb: Float32Array) => void, signal?: AbortSignal): Promise<void>;
}

/** How to search. */
export interface AlignOptions {
  /** Offsets tried are -window…window frames, 1..1000. Default 50. */
  readonly window?: number;
  /**
   * The most frames read from each video, at least 8. Reading stops earlier, as soon as the answer is clear. Default:
   * four times the window, and at least 300.
   */
  readonly maxFrames?: number;
  /** First frame that counts in each video; the offset found is relative to these. Default 0. */
  readonly start?: { readonly reference: number; readonly distorted: number };
  /** Reference frames per distorted frame (50 against 25 frames a second: 2). Default 1. */
  readonly rateRatio?: number;
  /** The offset to stay with where the pictures do not tell. Default 0. */
  readonly assumed?: number;
  readonly signal?: AbortSignal;
}

/**
 * Why the answer is what it is.
 * - `clear`: one offset fits better than all others.
 * - `static`: too little moves to tell; any offset gives about the same score.
 * - `repetitive`: several offsets fit equally well, see the candidates.
 * - `edge`: the best offset is the last of the window; the true one may lie outside.
 * - `unrelated`: the pictures do not resemble each other at any offset.
 * - `short`: too few frames to tell.
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
   * Distorted frame i shows what reference frame i + offset shows. Positive: the distorted video lacks the reference's
   * first frames. Negative: it has additional ones before the reference's first. Where {@link ambiguous} this is the
   * candidate nearest to the assumed offset.
   */
  readonly offset: number;
  /** The earliest frames that show the same moment then, where they do not follow from the offset alone: of different rates. */
  readonly match?: { readonly reference: number; readonly distorted: number };
  /** 0: a guess, 1: certain. At least 0.9 where not ambiguous. */
  readonly confidence: number;
  /** Offsets that the pictures cannot tell apart from the best, best first; only the one where the answer is clear. */
  readonly candidates: readonly AlignCandidate[];
  /** Frame pairs compared at the offset. */
  readonly compared: number;
  readonly ambiguous: boolean;
  readonly reason: AlignReason;
  /** The reason in a sentence for the user. */
  readonly explanation: string;
  /** Correlation of the paired thumbnails at the offset, -1..1. */
  readonly similarity: number;
  /**
   * What happened to brightness: distorted luma is about gain * reference + bias, in 8-bit levels. The gain is the ratio
   * of the standard deviations.
   */
  readonly levels: { readonly gain: number; readonly bias: number };
  /** Frames among those read that repeat the picture before them, while the other video moves on. */
  readonly repeated: { readonly reference: number; readonly distorted: number };
}

/**
 * What became of a search. `found`: one offset fits. `ambiguous`: several do, or none certainly. `none`: the videos are
 * not alike at any offset, or too short to tell.
 */
export type AlignState = 'found' | 'ambiguous' | 'none';

/** The state of an answer. */
export function alignState({ ambiguous, reason }: Pick<AlignResult, 'ambiguous' | 'reason'>): AlignState {
  if (!ambiguous) return 'found';
  return reason === 'unrelated' || reason === 'short' ? 'none' : 'ambiguous';
}
