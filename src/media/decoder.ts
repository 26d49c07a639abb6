/**
 * @module media/decoder
 * The interface of all decoders: facts about a track, which of several tracks, and frames from it.
 */
import type { DecoderId, ScaleFilter } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import type { ChromaFormat, VideoFormat } from '../core/frame.js';
import type { Fraction } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import { hasAlpha } from './delivery.js';
import type { DecoderFilters, FrameSource, VideoInfo, VideoInput } from './types.js';

/** What container and codec declare about a video track. */
export interface TrackFacts extends VideoFormat {
  /** The user's name for the file. */
  readonly name: string;
  /** Container and codec by ffmpeg's short names: `mov,mp4,m4a,3gp,3g2,mj2`, `matroska,webm`; `h264`, `hevc`, `av1`. */
  readonly container: string;
  /** Absent unless the file has several video tracks. */
  readonly track?: TrackChoice;
  readonly codec: string;
  readonly profile?: string;
  /** ffmpeg's name of the decoded pixel format, such as `yuv420p10le`. */
  readonly pixelFormat: string;
  readonly chroma: ChromaFormat;
  /** Frames per second, from the times of all frames if known, else as declared. */
  readonly frameRate?: Fraction;
  /** From the times of all frames if known; `null` if that needs reading all packets or decoding. */
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
  /** Set if a player also mirrors the picture. */
  readonly mirrored?: true;
  /** Samples that a player crops from the decoded picture (width and height already exclude them). */
  readonly crop?: Readonly<Record<'left' | 'top' | 'right' | 'bottom', number>>;
  readonly colorRange?: 'limited' | 'full';
  /** By ffmpeg's names: `bt709`, `bt2020`; `bt709`, `smpte2084`, `arib-std-b67`; `bt709`, `bt2020nc`. */
  readonly primaries?: string;
  readonly transfer?: string;
  readonly matrix?: string;
  /** Position of chroma samples: `left`, `center`, `topleft`. */
  readonly chromaLocation?: string;
  /** Profile of Dolby Vision. */
  readonly dolbyVision?: number;
  /** Film grain of AV1: added by the decoder, or left out on request. */
  readonly filmGrain?: 'added' | 'left out';
  /** Why {@link matrix} converted RGB; absent if stored as luma and chroma, or if both videos are RGB. */
  readonly fromRgb?: 'stated' | 'pictures' | 'assumed';
  readonly fieldOrder: 'progressive' | 'top-first' | 'bottom-first' | 'unknown';
}

export type { DecoderChoice, DecoderId, ScaleFilter } from '../core/choices.js';

export interface DecodeRequest {
  /** Size to resize to, if the decoder can; see {@link DecodedSource.scaledBy}. */
  readonly size?: { readonly width: number; readonly height: number; readonly filter: ScaleFilter };
  /** Frames [start, end) in presentation order; default: all. `at`: the first one's time in seconds, if unique. */
  readonly frames?: { readonly start: number; readonly end: number; readonly at?: number };
  /** Seconds from the track's start, instead of frames; decodes from the nearest key frame. */
  readonly time?: { readonly start: number; readonly end: number };
  /** `accept` ends at the first damage instead of failing. */
  readonly damage?: 'accept' | 'refuse';
  readonly signal?: AbortSignal;
}

/** Frames from a decoder, in presentation order. */
export interface DecodedSource extends FrameSource {
  readonly facts: TrackFacts;
  readonly decoder: DecoderId;
  /** Decoder and version for the report: `ffmpeg 5.1.9 (h264)`. */
  readonly decodedBy: string;
  /** The filter that resized (`swscale bicubic`); if absent, the caller must resize. */
  readonly scaledBy?: string;
  /** Presentation time of a frame already read, in seconds from the track's first frame. */
  timestamp(index: number): number | undefined;
}

export function decodedInfo(
  facts: Omit<TrackFacts, 'sampleAspect'> & { readonly sampleAspect?: Fraction },
  frameCount: number | null,
  warnings: readonly string[],
): VideoInfo {
  const { name, width, height, bitDepth, chroma, alpha, frameRate, sampleAspect, colorRange } = facts;
  const format = { width, height, bitDepth, chroma, ...(alpha && { alpha }) };
  return { name, container: 'frames', ...format, frameCount, frameRate, sampleAspect, colorRange, warnings };
}

/** @throws {AnyvmafError} `usage` for a frame before `next`, the first one unread */
export function requireInOrder(name: string, index: number, next: number): void {
  if (index >= next) return;
  throw usageError(
    `frame ${index} of ${shown(name)} was requested after frame ${next - 1}; decoded frames must be read in order.`,
  );
}

/** Adds to a new probe what only earlier ones know: how RGB and alpha are delivered, and Dolby Vision. */
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

export interface DecoderAvailability {
  readonly id: DecoderId;
  readonly usable: boolean;
  readonly version?: string;
  /** If not usable: why, and how to get it; a full sentence. */
  readonly reason?: string;
}

export interface TrackTimes {
  /** Presentation times of all frames in seconds, ascending, from 0 at the first. */
  readonly times: Float64Array;
  /** Of all packets, if known. */
  readonly bytes?: number;
  /** Seconds at which the file's clock jumps back, as in joined recordings; {@link times} continue regardless. */
  readonly setBacks?: readonly number[];
}

/** Implemented in `platform/`. */
export interface Decoder {
  readonly id: DecoderId;
  /** Set if {@link probe} may run concurrently with {@link availability}. */
  readonly probesAtOnce?: boolean;
  availability(): Promise<DecoderAvailability>;
  /**
   * Fetches what it needs to run, if the user agrees; absent if nothing can be fetched.
   * @throws {AnyvmafError} with a remedy, if the user refuses or fetching fails; the signal's reason
   */
  obtain?(signal?: AbortSignal): Promise<void>;
  /** @throws {AnyvmafError} `media` (naming the codec) if the file is not supported, `io` if it cannot be read */
  probe(input: VideoInput, signal?: AbortSignal): Promise<TrackFacts>;
  /**
   * Reads the times of all frames without decoding; `null` if the container has none.
   * @param track {@link TrackChoice.index} of the probed facts
   */
  timestamps(input: VideoInput, signal?: AbortSignal, track?: number): Promise<TrackTimes | null>;
  open(input: VideoInput, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource>;
  /**
   * A decoder of frames that the filters changed one after the other; times are `null` if filters add or drop frames.
   * Absent if unsupported.
   */
  withFilters?(filters: readonly DecoderFilters[]): Decoder;
}

/** A video track, other than cover art, as its container declares it. */
export interface VideoTrack {
  readonly width: number;
  readonly height: number;
  /** Selected by players unless the user selects another. */
  readonly isDefault: boolean;
}

export interface TrackRequest {
  /** 0-based, among the video tracks. */
  readonly index: number;
  readonly option: 'trackReference' | 'trackDistorted';
}

/** The selection among several tracks. */
export interface TrackChoice {
  /** 0-based, among {@link tracks}. */
  readonly index: number;
  readonly tracks: readonly VideoTrack[];
  readonly asked: boolean;
}

/**
 * Selects a track: as requested, else the largest default one; `undefined` unless there are several.
 * @throws {AnyvmafError} `usage` if the requested track does not exist
 */
export function chooseTrack(
  tracks: readonly VideoTrack[],
  asked: TrackRequest | undefined,
  name: string,
): TrackChoice | undefined {
  if (asked && asked.index > 0 && asked.index >= tracks.length) throw noSuchTrack(tracks, asked, name);
  if (tracks.length <= 1) return undefined;
  if (asked) return { index: asked.index, tracks, asked: true };
  const defaults = tracks.filter(({ isDefault }) => isDefault);
  const candidates = defaults.length > 0 ? defaults : tracks;
  const largest = Math.max(...candidates.map(area));
  const index = tracks.findIndex((track) => candidates.includes(track) && area(track) === largest);
  return { index, tracks, asked: false };
}

/** True if the user requested the track or all others are smaller. */
export function isClearTrack({ index, tracks, asked }: TrackChoice): boolean {
  const size = tracks.map(area);
  return asked || size.every((other, i) => i === index || other < (size[index] ?? 0));
}

/** For example `track 1 (640x360, default)`. */
export function trackText(tracks: readonly VideoTrack[], index: number): string {
  const { width = 0, height = 0, isDefault = false } = tracks[index] ?? {};
  return `track ${index} (${width}x${height}${isDefault ? ', default' : ''})`;
}

function noSuchTrack(tracks: readonly VideoTrack[], { index, option }: TrackRequest, name: string): Error {
  const all = tracks.map((_, i) => trackText(tracks, i)).join(', ');
  const count = tracks.length === 1 ? 'one video track' : `${tracks.length} video tracks`;
  return usageError(`is ${index}, but ${shown(name)} has ${count}: ${all}.`, { about: option });
}

function area({ width, height }: VideoTrack): number {
  return width * height;
}
