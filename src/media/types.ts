/**
 * @module media/types
 * Types of video: format facts, sources of frames by number, and the bytes and files that a platform provides.
 */
import type { ColorMatrix, ColorRange } from '../core/choices.js';
import type { FramePlanes, VideoFormat } from '../core/frame.js';
import type { Fraction } from '../core/numbers.js';
import type { Origin } from '../core/origin.js';
import type { SampleFormat } from './delivery.js';
import type { Deinterlacing } from './evidence/fields.js';

/** Format and facts of a video. */
export interface VideoInfo extends VideoFormat {
  /** The user's name for it, for messages: a path, a file name, `-`. */
  readonly name: string;
  readonly container: 'y4m' | 'yuv' | 'frames';
  /** Number of frames; `null` if unknown before reading to the end. */
  readonly frameCount: number | null;
  /** Frames per second, if the container states it. */
  readonly frameRate?: Fraction;
  readonly sampleAspect?: Fraction;
  /** Range of sample values, if the container states it. */
  readonly colorRange?: 'limited' | 'full';
  /** By ffmpeg's names, if known; colour metrics need them. */
  readonly primaries?: string;
  readonly transfer?: string;
  readonly matrix?: string;
  readonly chromaLocation?: string;
  /** As a Y4M header states it. */
  readonly fieldOrder?: 'progressive' | 'top-first' | 'bottom-first' | 'unknown';
  /** Bytes, if known. */
  readonly fileSize?: number | null;
  /** Set if the source is known to end within a frame; {@link frameCount} counts the complete ones before it. */
  readonly incompleteFrame?: IncompleteFrame;
  /** Warnings about the container, as full sentences. */
  readonly warnings: readonly string[];
}

/** The incomplete last frame of a truncated source. Reading it throws a `MediaError`. */
export interface IncompleteFrame {
  /** 0-based. */
  readonly index: number;
  /** Bytes of a complete frame's samples as stored. */
  readonly expectedBytes: number;
  /** Bytes of its samples in the file. */
  readonly foundBytes: number;
}

/** Frames stored in a file or in memory. */
export interface StoredFrames {
  readonly info: VideoInfo;
  readonly layout: FrameLayout;
}

/** Where the bytes of a video are. */
export type BytesPlace =
  /** `origin` is absent if the user named the file. */
  | { readonly kind: 'file'; readonly path: string; readonly origin?: Origin }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** Readable in this thread only. */
  | { readonly kind: 'here'; readonly open: () => ByteReader };

/** From this, a worker opens its own copy of a random-access source. Structured-cloneable, except `here`. */
export type SourceDescriptor =
  | (BytesPlace & StoredFrames)
  /** Another source with this package's filters. */
  | {
      readonly kind: 'filtered';
      readonly of: SourceDescriptor;
      readonly filters: OwnFilters;
      readonly info: VideoInfo;
    }
  /** A placeholder for a missing reference. */
  | { readonly kind: 'blank'; readonly info: VideoInfo };

/** Positions of frames in a random-access source of constant frame size. */
export interface FrameLayout {
  /** Byte offset of the first frame's header (Y4M) or first sample (raw). */
  readonly start: number;
  /** Bytes of the per-frame header `FRAME...\n`; 0 for raw video and if {@link offsets} is set. */
  readonly frameHeader: number;
  /** Bytes of samples in one stored frame, including unused planes (alpha). */
  readonly frameBytes: number;
  /** Byte offsets of each frame's first sample, if frame headers vary in length. */
  readonly offsets?: Float64Array;
}

/** Frames by number, in presentation order. */
export interface FrameSource {
  readonly info: VideoInfo;
  /** If false, frames must be read in ascending order, each at most once (a pipe). */
  readonly seekable: boolean;
  /** Set if the same frames can be opened again. */
  readonly descriptor?: SourceDescriptor;
  /** Set once frames have ended at accepted damage: a full sentence. */
  readonly damage?: string | undefined;
  /**
   * Reads frame `index` (0-based). One call at a time; the planes must stay valid until a promise settles.
   * @returns false if the source ends before this frame; the planes are then unchanged
   * @throws {MediaError} if the frame is incomplete or damaged, or reading fails
   */
  readFrame(index: number, into: FramePlanes): Promise<boolean> | boolean;
  /** Returns and throws as {@link readFrame} would, without reading samples. Absent if that is not faster. */
  checkFrame?(index: number): Promise<boolean> | boolean;
  /** Releases files and streams. May be called twice. */
  close(): Promise<void> | void;
}

/**
 * Anything that opens as a video: a path (`-` is standard input), `file:` URL or file descriptor, if the platform has
 * files; a `Blob` or `File`; the bytes of a whole file; a byte stream; or the caller's own source of frames.
 */
export type VideoInput = string | URL | number | Blob | Uint8Array | ReadableStream<Uint8Array> | FrameSource;

/** Geometry of raw planar YUV, which has no header of its own. */
export interface RawVideoFormat extends VideoFormat {}

/** In samples. */
export interface CropArea {
  readonly width: number;
  readonly height: number;
  readonly x: number;
  readonly y: number;
}

/** Filters of one video, resolved by its facts. */
export interface SideFilters {
  /** By the label, or by the pictures if these contradict it. */
  readonly deinterlace?: Deinterlacing;
  readonly crop?: CropArea;
  /** A checked chain of ffmpeg filters. */
  readonly vf?: string;
  readonly range?: { readonly from: ColorRange; readonly to: ColorRange };
  readonly matrix?: { readonly from: ColorMatrix; readonly to: ColorMatrix };
  readonly format?: SampleFormat;
}

/** Filters that need no particular decoder; structured-cloneable. */
export type OwnFilters = Pick<SideFilters, 'crop' | 'range' | 'format'>;

export interface DecoderFilters {
  /** As after `-vf`. */
  readonly chain: string;
  /** True if each frame gives one frame with the same time. */
  readonly keepsFrames: boolean;
  /** True if a picture may depend on all earlier ones, or on their number. */
  readonly remembers: boolean;
  /** True if the chain rotates pictures, which ffmpeg then must not. */
  readonly rotates?: boolean;
}

export interface ByteReader {
  readonly size: number;
  /**
   * Fills `parts` in order with the bytes from `position`.
   * @returns the number of bytes read, fewer than the parts hold only at the end
   * @throws {AnyvmafError} `io` when reading fails
   */
  read(position: number, parts: readonly Uint8Array[]): number | Promise<number>;
  /** May be called twice. */
  close(): void;
}

export interface ByteStream {
  /**
   * The next bytes, at least one, valid until the next call; `undefined` at the end.
   * @throws {AnyvmafError} `io` when reading fails
   */
  next(): Promise<Uint8Array | undefined>;
  /** Stops the producer and settles a pending `next`. May be called twice. */
  close(): void;
}

/** Random access to a regular file, or a stream from a pipe or device. */
export type OpenedFile =
  /** `path` opens the same file in any worker, with the checks of `origin` unless the user named it. */
  | { readonly kind: 'random'; readonly reader: ByteReader; readonly path: string; readonly origin?: Origin }
  | { readonly kind: 'stream'; readonly stream: ByteStream };

/** Implemented in `platform/`. */
export interface FilePlatform {
  /**
   * Opens a path (`-` is standard input), a file URL or a file descriptor, which the result then owns.
   * @throws {AnyvmafError} `io` when it does not exist, is a directory or cannot be read
   */
  open(file: string | URL | number): Promise<OpenedFile>;
  /**
   * Reopens a `random` file of {@link open}.
   * @throws {AnyvmafError} `io`
   */
  reopen(path: string, origin?: Origin): ByteReader;
  /** True if a name stands for a sequence of picture files, which a decoder opens together. Absent if unsupported. */
  namesSequence?(name: string): boolean;
  /**
   * Decodes an encoded stream in order.
   * @returns the video as a Y4M stream; `undefined` if nothing can decode it
   */
  decodeStream?(bytes: ByteStream, name: string): Promise<DecodedStream | undefined>;
  /**
   * Opens a URL on one of these hosts for reading in parts. Absent if the platform fetches nothing.
   * @throws {AnyvmafError} `usage` for a URL or host that is not allowed; `io` if it cannot be read in parts
   */
  openUrl?(url: string, hosts: readonly string[], signal?: AbortSignal): Promise<RemoteVideo>;
}

export interface DecodedStream {
  readonly stream: ByteStream;
  /** For example `ffmpeg 5.1.9`. */
  readonly decodedBy: string;
  /** Why pictures before the first could not be decoded, as is usual in recordings; known once there are bytes. */
  skippedStart(): string | undefined;
}

export interface RemoteContent {
  /** The URL without name, password and query. */
  readonly name: string;
  /** Changes with the content. */
  readonly version: string;
  /** Set once reading failed; a reader may not have been told. */
  readonly failure: Error | undefined;
  /** A new reader for each user. */
  reader(): ByteReader;
}

/** A video at a checked URL, whose text lacks credentials and query, so that messages cannot leak them. */
export class RemoteVideo extends URL {
  readonly content: RemoteContent;

  constructor(content: RemoteContent) {
    super(content.name);
    this.content = content;
  }
}
