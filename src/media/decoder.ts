/**
 * @module media/decoder
 * One interface for everything that turns encoded video into frames: what a track declares, and decoders that open it.
 */
import type { DecoderId, ScaleFilter } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import type { ChromaFormat, VideoFormat } from '../core/frame.js';
import { shown } from '../core/printable.js';
import type { FrameSource, VideoInfo, VideoInput } from './types.js';

/** A fraction as containers write it. */
export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** What container and codec declare about the first video track of a file. */
export interface TrackFacts extends VideoFormat {
  /** What the user called the file. */
  readonly name: string;
  /** Container and codec by ffmpeg's short names: `mov,mp4,m4a,3gp,3g2,mj2`, `matroska,webm`; `h264`, `hevc`, `av1`. */
  readonly container: string;
  readonly codec: string;
  readonly profile?: string;
  /** ffmpeg's name of the decoded samples' layout, such as `yuv420p10le`. */
  readonly pixelFormat: string;
  readonly chroma: ChromaFormat;
  /** Average frames per second. */
  readonly frameRate?: Fraction;
  /** Frames; `null` when only decoding or reading all packets can tell. */
  readonly frameCount: number | null;
  /** Seconds. */
  readonly duration: number | null;
  readonly startTime: number | null;
  /** Bits per second of the video track, or of the file where only that is known. */
  readonly bitrate: number | null;
  /** Bytes. */
  readonly fileSize: number | null;
  readonly sampleAspect?: Fraction;
  /** Degrees clockwise that a player turns the picture. */
  readonly rotation: 0 | 90 | 180 | 270;
  /** Samples that a player cuts off the decoded picture (already done in width and height). */
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
  readonly fieldOrder: 'progressive' | 'top-first' | 'bottom-first' | 'unknown';
}

export type { DecoderChoice, DecoderId, ScaleFilter } from '../core/choices.js';

/** How frames are wanted. */
export interface DecodeRequest {
  /** Resize to this; done by the decoder where it can, see {@link DecodedSource.scaledBy}. */
  readonly size?: { readonly width: number; readonly height: number; readonly filter: ScaleFilter };
  /** First frame wanted and the one after the last, in presentation order. Default: all. */
  readonly frames?: { readonly start: number; readonly end: number };
  /** Seconds from the track's start; an alternative to frames, decoded from the nearest key frame. */
  readonly time?: { readonly start: number; readonly end: number };
  /** Go on up to the first damage and end there, instead of failing. */
  readonly allowDamaged?: boolean;
  readonly signal?: AbortSignal;
}

/** Frames out of a decoder. Sequential. */
export interface DecodedSource extends FrameSource {
  readonly facts: TrackFacts;
  readonly decoder: DecoderId;
  /** Decoder and version in words, for the report: `ffmpeg 5.1.9 (h264)`. */
  readonly decodedBy: string;
  /** The filter that resized, in words (`swscale bicubic`); absent when nothing did and the caller still has to. */
  readonly scaledBy?: string;
  /** Set once frames ended early, at damage that the request allowed: a full sentence. */
  readonly damage?: string | undefined;
  /** Presentation time in seconds of a frame that was read, from 0 at the first frame of the track. */
  timestamp(index: number): number | undefined;
}

/** What a decoded source says of its frames. `sampleAspect` may be absent after scaling. */
export function decodedInfo(
  facts: Omit<TrackFacts, 'sampleAspect'> & { readonly sampleAspect?: Fraction | undefined },
  frameCount: number | null,
  warnings: readonly string[],
): VideoInfo {
  const { name, width, height, bitDepth, chroma, frameRate, sampleAspect, colorRange } = facts;
  return {
    name,
    container: 'frames',
    width,
    height,
    bitDepth,
    chroma,
    frameCount,
    ...(frameRate && { frameRate }),
    ...(sampleAspect && { sampleAspect }),
    ...(colorRange && { colorRange }),
    warnings,
  };
}

/**
 * @param next the first frame that was not read yet
 * @throws {AnyvmafError} `usage` for a frame before it
 */
export function requireInOrder(name: string, index: number, next: number): void {
  if (index >= next) return;
  throw new AnyvmafError(
    'usage',
    `frame ${index} of ${shown(name)} was asked for after frame ${next - 1}; decoded frames are read in order.`,
  );
}

/** Whether a decoder can run here, and what to do when it cannot. */
export interface DecoderAvailability {
  readonly id: DecoderId;
  readonly usable: boolean;
  readonly version?: string;
  /** A sentence: why not, and how to get it. */
  readonly reason?: string;
}

/** One way to decode. Implemented in `platform/`. */
export interface Decoder {
  readonly id: DecoderId;
  /** Set where {@link probe} may be called before {@link availability} has answered, which saves the wait for it. */
  readonly probesAtOnce?: boolean;
  availability(): Promise<DecoderAvailability>;
  /**
   * @throws {AnyvmafError} `media` when the file is not a video this decoder knows (the message names the codec),
   * `io` when it cannot be read
   */
  probe(input: VideoInput, signal?: AbortSignal): Promise<TrackFacts>;
  /**
   * Presentation times of all frames in seconds, ascending, from 0 at the first, read from the container without
   * decoding; `null` where the container has none.
   */
  timestamps(input: VideoInput, signal?: AbortSignal): Promise<Float64Array | null>;
  /**
   * Asked after {@link timestamps} of the same input: seconds from the first frame at which the file's clock is set back,
   * as where recordings are joined. Times count on from there as if it had not been. Absent where a decoder refuses such
   * files.
   */
  setBacks?(input: VideoInput): Promise<readonly number[]>;
  open(input: VideoInput, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource>;
}
