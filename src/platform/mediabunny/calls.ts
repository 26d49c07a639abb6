/**
 * @module platform/mediabunny/calls
 * Calls of the mediabunny decoder to the parser thread that demuxes a file.
 */
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { VideoInfo } from '../../media/types.js';

export interface LentVideo {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Equal for the same video, whose bytes cannot change; absent if they can. */
  readonly same?: number;
  readonly track?: TrackRequest;
}

export interface TrackPackets {
  /** Seconds from the first frame, ascending. */
  readonly times: Float64Array;
  readonly bytes: number;
}

/** Bytes of the requested planes of a frame. */
export interface PlaneSizes {
  readonly y: number;
  readonly cb: number;
  readonly cr: number;
}

export interface ReadFrame {
  /** False if the video ends before it. */
  readonly found: boolean;
  /** Y, Cb and Cr one after another, as far as requested. */
  readonly planes: ArrayBuffer;
  /** Times of the frames since the last request. */
  readonly times: readonly (number | undefined)[];
  /** All warnings so far. */
  readonly warnings: readonly string[];
  readonly damage: string | undefined;
}

/** One thread works on one video at a time. */
export interface VideoCalls {
  /** Answers once the library is loaded. */
  ready(nothing: null): void;
  probe(video: LentVideo): TrackFacts;
  timestamps(video: LentVideo): TrackPackets | null;
  open(what: {
    readonly video: LentVideo;
    readonly facts: TrackFacts;
    readonly request: Omit<DecodeRequest, 'signal'>;
  }): { readonly info: VideoInfo; readonly decodedBy: string };
  read(what: { readonly index: number; readonly sizes: PlaneSizes }): ReadFrame;
  close(nothing: null): void;
}
