/**
 * @module media/decoder
 * The interface of all decoders: facts about a track, and frames from it.
 */
import type { DecoderId, ScaleFilter } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import type { ChromaFormat, VideoFormat } from '../core/frame.js';
import { shown } from '../core/printable.js';
import type { Fraction } from '../core/rational.js';
import { hasAlpha } from './delivery.js';
import type { TrackChoice } from './evidence/track.js';
import type { DecoderFilters, FrameSource, VideoInfo, VideoInput } from './types.js';

/** Facts that container and codec declare about a video track of a file. */
export interface TrackFacts extends VideoFormat {
  /** The user's name for the file. */
  readonly name: string;
  /** Container and codec by ffmpeg's short names: `mov,mp4,m4a,3gp,3g2,mj2`, `matroska,webm`; `h264`, `hevc`, `av1`. */
  readonly container: string;
  /** Which of several video tracks it is; absent if the file has one. */
  readonly track?: TrackChoice;
  readonly codec: string;
  readonly profile?: string;
  /** ffmpeg's name of the decoded pixel format, such as `yuv420p10le`. */
  readonly pixelFormat: string;
  readonly chroma: ChromaFormat;
  /** Frames per second, by the times of all frames where these are known, else as declared. */
  readonly frameRate?: Fraction;
  /** Number of frames, of the times of all where these are known; `null` if only reading all packets or decoding determines it. */
  readonly frameCount: number | null;
  /** Seconds. */
  readonly duration: number | null;
  readonly startTime: number | null;
  /** Bits per second of the video track, or of the file if only that is known. */
  readonly bitrate: number | null;
  /** Bytes. */
  readonly fileSize: number | null;
  readonly sampleAspect?: Fraction;
  /** Degrees clockwise by which a player rotates the picture. */
  readonly rotation: 0 | 90 | 180 | 270;
  /** Samples that a player crops from the decoded picture (width and height already exclude them). */
  readonly crop?: {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  };
  readonly colorRange?: 'limited' | 'full';
  /** By ffmpeg's names: `bt709`, `bt2020`; `bt709`, `smpte2084`, `arib-std-b67`; `bt709`, `bt2020nc`. */
  readonly primaries?: string;
  readonly transfer?: string;
  readonly matrix?: string;
  /** Where chroma samples lie: `left`, `center`, `topleft`. */
  readonly chromaLocation?: string;
  /** Profile of Dolby Vision. */
  readonly dolbyVision?: number;
  /** Whether its decoder adds grain to AV1 pictures, as their encoder asks, or was told not to. */
  readonly filmGrain?: 'added' | 'left out';
  /**
   * Why RGB became luma and chroma by {@link matrix}: the other video states it, or it fits the pictures of both; or nothing
   * tells. Absent for what is stored as luma and chroma, and where both are RGB.
   */
  readonly fromRgb?: 'stated' | 'pictures' | 'assumed';
  readonly fieldOrder: 'progressive' | 'top-first' | 'bottom-first' | 'unknown';
}

export type { DecoderChoice, DecoderId, ScaleFilter } from '../core/choices.js';

/** Which frames to decode, and how. */
export interface DecodeRequest {
  /** Size to resize to, if the decoder can; see {@link DecodedSource.scaledBy}. */
  readonly size?: { readonly width: number; readonly height: number; readonly filter: ScaleFilter };
  /**
   * First frame and the one after the last, in presentation order. Default: all. `at` is when the first one is shown, in
   * seconds from the track's first frame, where that tells it from its neighbours: a decoder may start near it.
   */
  readonly frames?: { readonly start: number; readonly end: number; readonly at?: number };
  /** Seconds from the track's start, instead of frames; decodes from the nearest key frame. */
  readonly time?: { readonly start: number; readonly end: number };
  /** `accept` ends at the first damage, which fails otherwise. */
  readonly damage?: 'accept' | 'refuse';
  readonly signal?: AbortSignal;
}

/** Frames from a decoder. Sequential. */
export interface DecodedSource extends FrameSource {
  readonly facts: TrackFacts;
  readonly decoder: DecoderId;
  /** Decoder and version for the report: `ffmpeg 5.1.9 (h264)`. */
  readonly decodedBy: string;
  /** The filter that resized (`swscale bicubic`); if absent, the caller must resize. */
  readonly scaledBy?: string;
  /** Set once frames ended at damage that the request allowed: a full sentence. */
  readonly damage?: string;
  /** Presentation time of a frame that was read, in seconds from the first frame of the track. */
  timestamp(index: number): number | undefined;
}

/** Format and facts of decoded frames. `sampleAspect` may be absent after scaling. */
export function decodedInfo(
  facts: Omit<TrackFacts, 'sampleAspect'> & { readonly sampleAspect?: Fraction },
  frameCount: number | null,
  warnings: readonly string[],
): VideoInfo {
  const { name, width, height, bitDepth, chroma, alpha, frameRate, sampleAspect, colorRange } = facts;
  return {
    name,
    container: 'frames',
    width,
    height,
    bitDepth,
    chroma,
    ...(alpha && { alpha }),
    frameCount,
    ...(frameRate && { frameRate }),
    ...(sampleAspect && { sampleAspect }),
    ...(colorRange && { colorRange }),
    warnings,
  };
}

/**
 * @param next the first unread frame
 * @throws {AnyvmafError} `usage` for an earlier frame
 */
export function requireInOrder(name: string, index: number, next: number): void {
  if (index >= next) return;
  throw new AnyvmafError(
    'usage',
    `frame ${index} of ${shown(name)} was asked for after frame ${next - 1}; decoded frames are read in order.`,
  );
}

/** Facts of a file that was probed once more, with what its probe does not tell: how RGB and alpha are delivered, and Dolby Vision. */
export function stillKnown(
  probed: TrackFacts,
  { fromRgb, matrix, colorRange, dolbyVision, alpha, chroma }: TrackFacts,
): TrackFacts {
  return {
    ...(dolbyVision !== undefined && { dolbyVision }),
    ...probed,
    ...(fromRgb && matrix && { fromRgb, matrix }),
    ...(matrix === 'gbr' && colorRange && { matrix, colorRange }),
    ...(alpha && hasAlpha(probed.pixelFormat) && { alpha, chroma }),
  };
}

/** Whether a decoder can run here, and what to do if not. */
export interface DecoderAvailability {
  readonly id: DecoderId;
  readonly usable: boolean;
  readonly version?: string;
  /** Why not, and how to get it: a sentence. */
  readonly reason?: string;
}

/** A decoder. Implemented in `platform/`. */
export interface Decoder {
  readonly id: DecoderId;
  /** Set if {@link probe} may run concurrently with {@link availability}, to save time. */
  readonly probesAtOnce?: boolean;
  availability(): Promise<DecoderAvailability>;
  /**
   * Fetches what it needs to run, if the user agrees. Absent if nothing can be fetched.
   * @throws {AnyvmafError} if they do not, or it cannot be fetched, with what to do; the signal's reason
   */
  obtain?(signal?: AbortSignal): Promise<void>;
  /**
   * @throws {AnyvmafError} `media` if this decoder does not support the file (the message names the codec), `io` if the
   * file cannot be read
   */
  probe(input: VideoInput, signal?: AbortSignal): Promise<TrackFacts>;
  /**
   * Presentation times of all frames in seconds, ascending, from 0 at the first. Reads the container without decoding;
   * `null` if it has no times.
   * @param track number of the track, as {@link probe} says it
   */
  timestamps(input: VideoInput, signal?: AbortSignal, track?: number): Promise<Float64Array | null>;
  /**
   * Call after {@link timestamps} of the same input. Returns the seconds from the first frame at which the file's clock
   * is set back, as in joined recordings; timestamps continue as if it was not. Absent if the decoder refuses such
   * files.
   */
  setBacks?(input: VideoInput, track?: number): Promise<readonly number[]>;
  /** Call after {@link timestamps} of the same input. Returns the bytes of all packets of the track, where they are known. */
  trackBytes?(input: VideoInput, track?: number): Promise<number | undefined>;
  open(input: VideoInput, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource>;
  /**
   * This decoder with filters between the decoded pictures and all else: its facts are of what the filters give, its times
   * `null` where they give other frames. Absent if it has no filters.
   */
  withFilters?(filters: DecoderFilters): Decoder;
}
