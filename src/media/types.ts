/**
 * @module media/types
 * What the rest of the scorer knows about video: its format, and sources that hand out frames by number.
 */
import type { FramePlanes, VideoFormat } from '../core/frame.js';
import type { Origin } from '../core/origin.js';

/** A video's format and what is known of the whole of it. */
export interface VideoInfo extends VideoFormat {
  /** What the user called it: a path, a file name, `-`. Used in messages. */
  readonly name: string;
  /** How the frames are stored. */
  readonly container: 'y4m' | 'yuv' | 'frames';
  /** Frames in the source; `null` when only reading to the end can tell. */
  readonly frameCount: number | null;
  /** Frames per second as a fraction, when the container says so. */
  readonly frameRate?: { readonly num: number; readonly den: number };
  /** Sample aspect ratio, when the container says so. */
  readonly sampleAspect?: { readonly num: number; readonly den: number };
  /** Range of the sample values, when the container says so. */
  readonly colorRange?: 'limited' | 'full';
  /** Bytes of the whole file, where that is known. */
  readonly fileSize?: number | null;
  /**
   * Set when the source is known to end within a frame; {@link frameCount} counts the whole ones before it.
   */
  readonly incompleteFrame?: IncompleteFrame;
  /** Facts about the container worth telling the user, full sentences. */
  readonly warnings: readonly string[];
}

/** The frame within which a truncated source ends. Reading it throws a `MediaError`. */
export interface IncompleteFrame {
  /** Its 0-based number. */
  readonly index: number;
  /** Bytes of a whole frame's samples as stored. */
  readonly expectedBytes: number;
  /** Bytes of its samples that are there. */
  readonly foundBytes: number;
}

/** A structured-cloneable recipe from which a worker opens its own copy of a random-access source. */
export type SourceDescriptor =
  | {
      readonly kind: 'file';
      readonly path: string;
      /** Absent: the user named it. */
      readonly origin?: Origin;
      readonly info: VideoInfo;
      readonly layout: FrameLayout;
    }
  | { readonly kind: 'blob'; readonly blob: Blob; readonly info: VideoInfo; readonly layout: FrameLayout }
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly info: VideoInfo;
      readonly layout: FrameLayout;
    }
  /** No frames at all: what stands where there is no reference. */
  | { readonly kind: 'blank'; readonly info: VideoInfo };

/** Where frame n starts in a random-access source of constant frame size. */
export interface FrameLayout {
  /** Byte offset of the first frame's header (Y4M) or first sample (raw). */
  readonly start: number;
  /** Bytes of the per-frame header `FRAME...\n`; 0 for raw video and where {@link offsets} are given. */
  readonly frameHeader: number;
  /** Bytes of samples in one frame as stored, planes this library does not use (alpha) included. */
  readonly frameBytes: number;
  /** Byte offsets of each frame's first sample, when frame headers vary in length. */
  readonly offsets?: Float64Array;
}

/** Frames by number, in presentation order. */
export interface FrameSource {
  readonly info: VideoInfo;
  /** False: frames must be read in ascending order, each at most once (a pipe). */
  readonly seekable: boolean;
  /** Set when a worker can open the same frames by itself. */
  readonly descriptor?: SourceDescriptor;
  /**
   * Reads frame `index` (0-based). One call at a time; the planes must stay valid until a promise settles.
   * @returns false when the source ends before this frame; nothing was written then.
   * @throws {MediaError} when the frame is incomplete or damaged, or reading fails.
   */
  readFrame(index: number, into: FramePlanes): Promise<boolean> | boolean;
  /**
   * Answers and throws as {@link readFrame} of luma would, and reads no samples. Absent where that is as much work.
   */
  checkFrame?(index: number): Promise<boolean> | boolean;
  /** Releases files and streams. May be called twice. */
  close(): Promise<void> | void;
}

/**
 * What can be opened as a video: a path (`-` is standard input) or file URL or file descriptor, where the
 * platform has files; a `Blob` or `File`; the bytes of a whole file; a byte stream; or frames from the
 * caller's own source.
 */
export type VideoInput = string | URL | number | Blob | Uint8Array | ReadableStream<Uint8Array> | FrameSource;

/** Geometry of raw planar YUV, which has no header of its own. */
export interface RawVideoFormat extends VideoFormat {}
