/**
 * @module platform/mediabunny/calls
 * What the mediabunny decoder asks of the parser thread that takes a file apart.
 */
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { VideoInfo } from '../../media/types.js';

/** A video that was lent to the worker. */
export interface LentVideo {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The same number for the same video, whose bytes cannot change; absent where they can. */
  readonly same?: number;
  /** The video track to read. */
  readonly track?: TrackRequest;
}

/** Of all frames. */
export interface TrackPackets {
  /** Seconds from the first, ascending. */
  readonly times: Float64Array;
  readonly bytes: number;
}

/** Bytes of the planes that are wanted of a frame. */
export interface PlaneSizes {
  readonly y: number;
  readonly cb: number;
  readonly cr: number;
}

/** A frame that was asked for, and what became known with it. */
export interface ReadFrame {
  /** False: the video ends before it. */
  readonly found: boolean;
  /** Y, Cb and Cr one after another, as far as they were asked for. */
  readonly planes: ArrayBuffer;
  /** Times of the frames since the last that was asked for. */
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
  /** Lets go of the video that is open. */
  close(nothing: null): void;
}
