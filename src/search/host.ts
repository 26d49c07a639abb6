/**
 * @module search/host
 * What a search needs of a machine: an ffmpeg that encodes, and a private folder. Implemented in `platform/node`.
 */

import type { Origin } from '../core/origin.js';
import type { PictureSize } from '../core/size.js';
import type { Platform } from '../engine/contract/platform.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import type { TrackFacts } from '../media/decoder.js';
import type { FrameSource, VideoInput } from '../media/types.js';
import type { Report } from '../report/types.js';

/** A platform on which encoders may run. */
export interface SearchPlatform extends Platform {
  ofOrigin?(origin: Origin): SearchPlatform;
  /** An ffmpeg that encodes; absent where there cannot be one. */
  encoding?(): Promise<EncodingHost>;
}

/** An encoder of the installed ffmpeg. */
export interface EncoderFacts {
  /** ffmpeg's name: `libx264`. */
  readonly name: string;
  /** Of ffmpeg and the encoder's library as far as ffmpeg tells, for caches and reports. */
  readonly version: string;
  /** Its own options by name, with the types that ffmpeg gives: `int`, `float`, `string`. */
  readonly options: ReadonlyMap<string, string>;
  /** Pixel formats that it takes; empty where ffmpeg does not say. */
  readonly pixelFormats: readonly string[];
}

/** What a source declares. */
export interface SourceFacts {
  readonly track: TrackFacts;
  /** Presentation times in seconds from the first frame, ascending. */
  readonly times: Float64Array;
  /** Bytes of each frame in presentation order. */
  readonly sizes: Float64Array;
  /** Frames that decoding can begin with, ascending. */
  readonly keys: readonly number[];
  /** Changes when the content does. */
  readonly identity: string;
  /** Tracks beside the video. Default: none. */
  readonly others?: readonly OtherTrack[];
  /** What its first frame says for HDR displays, as ffmpeg names it. Default: nothing. */
  readonly hdr?: readonly string[];
}

/** Samples of luma and chroma in limited or full range, or of red, green and blue. */
export type SourceSamples = 'limited' | 'full' | 'rgb';

/** A track that is not encoded. */
export interface OtherTrack {
  readonly kind: 'audio' | 'subtitle' | 'attachment' | 'data' | 'video';
  /** ffmpeg's name of its codec: `aac`, `subrip`, `ttf`; empty where it knows none. */
  readonly codec: string;
}

/** Consecutive frames of a source. */
export interface FrameRun {
  readonly first: number;
  readonly count: number;
}

/** A run of frames, encoded into a file of the folder. */
export interface Segment {
  readonly name: string;
  readonly frames: FrameRun;
}

/** How to join segments. */
export interface JoinRequest {
  /** In order, all frames of the source between them. */
  readonly segments: readonly Segment[];
  /** Where sound and subtitles come from. */
  readonly source: VideoInput;
  readonly facts: SourceFacts;
  /** Four characters that name the codec in the file, where the user chose them. */
  readonly tag?: string;
  /** A path of the user's. */
  readonly output: string;
  /** Looks at the file before it gets its name; what it throws leaves no file. */
  check(path: string): Promise<void>;
  readonly signal?: AbortSignal;
}

/** What became of an encode. */
export interface EncodeResult {
  /** Bytes of each frame in presentation order. */
  readonly sizes: Float64Array;
  /** Seconds of wall-clock time. */
  readonly seconds: number;
}

/** How to encode. */
export interface EncodeRequest {
  /** What to encode: the source, or a file of this folder. */
  readonly input: VideoInput;
  /** Whether it is the user's source, with other tracks and its own access. */
  readonly isSource: boolean;
  readonly encoder: string;
  /** ffmpeg's, as {@link EncoderFacts.version} begins: `5.1.9`. */
  readonly version: string;
  /** Arguments of the encoder, the parameter's among them. */
  readonly args: readonly string[];
  readonly pixelFormat: string;
  /** Where it is not the input's. */
  readonly size?: PictureSize;
  /** Of the input. Default: `limited`. */
  readonly samples?: SourceSamples;
  /** Which of the input's frames, where not all of them. */
  readonly frames?: FrameRun;
  /** Frames at which a key frame begins. */
  readonly keys?: readonly number[];
  /** Colour of the source, where the input does not carry it. */
  readonly colour?: Pick<TrackFacts, 'colorRange' | 'primaries' | 'transfer' | 'matrix' | 'sampleAspect'>;
  /** Sound and subtitles are copied too. */
  readonly whole?: boolean;
  /** Where to write: a name in the folder, or with {@link whole} a path of the user's. */
  readonly output: string;
  /**
   * Looks at a {@link whole} encode before it gets its name: for false, and when it throws, no file stays.
   * @param path where it is until then
   */
  check?(path: string, result: EncodeResult): Promise<boolean>;
  /** Called with the frames that were encoded so far, several times a second. */
  readonly onFrames?: (done: number) => void;
  readonly signal?: AbortSignal;
}

/** How the video of a whole encode is made. */
export interface WholeEncode {
  readonly encoder: string;
  /** ffmpeg's: `5.1.9`. */
  readonly version: string;
  readonly args: readonly string[];
  readonly pixelFormat: string;
  readonly size?: PictureSize;
  readonly samples?: SourceSamples;
}

/** A folder of one search, gone when it is closed. */
export interface EncodingFolder {
  /** Its real path. */
  readonly root: string;
  /** Path of a name in it. */
  path(name: string): string;
  /**
   * Writes runs of frames one after the other into a Y4M file.
   * @throws {AnyvmafError} `io` when they do not fit into the limit or the disk is full; `media` when a frame is not there
   */
  cut(
    source: VideoInput,
    facts: SourceFacts,
    runs: readonly FrameRun[],
    name: string,
    signal?: AbortSignal,
  ): Promise<void>;
  /** @throws {AnyvmafError} `media` with what the encoder said, when it fails; `io` when the disk is full */
  encode(request: EncodeRequest): Promise<EncodeResult>;
  /**
   * Says in advance what writing an encode would refuse.
   * @param encode is tried for a moment, with all other tracks
   * @throws {AnyvmafError} `usage` for the source's own file, for a name whose ending says no container, and for one that does
   * not hold the source's tracks or the encode
   */
  checkOutput(source: VideoInput, output: string, encode?: WholeEncode): Promise<void>;
  /**
   * Joins segments without encoding anything again; frames keep the source's times.
   * @throws {AnyvmafError} `media` when a segment or the whole does not have the source's frames in their order; `usage` for a
   * container that cannot hold them; `io`
   */
  join(request: JoinRequest): Promise<EncodeResult>;
  /** Opens a file of the folder as frames, to be read in order. */
  frames(name: string, signal?: AbortSignal): Promise<FrameSource>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Begins keys of what sources show, which is kept beside points and does not count as a search. */
export const ACTIVITY_KEY = 'source-';

/** Points of earlier searches, by key. */
export interface PointStore {
  /** Lines of JSON, as they were added. */
  read(key: string): Promise<readonly string[]>;
  add(key: string, line: string): Promise<void>;
  /** Forgets everything. @returns how many searches had points */
  clear(): Promise<number>;
}

/** What a search takes from a report. */
export interface EncodeScores extends Pick<Report, 'frames' | 'preflight'> {
  readonly models: readonly { readonly name: string }[];
}

/** A machine that encodes. */
export interface EncodingHost {
  /** @throws {AnyvmafError} `usage` for an encoder that ffmpeg does not have, with those of that kind that it has */
  encoder(name: string, signal?: AbortSignal): Promise<EncoderFacts>;
  /** @throws {AnyvmafError} `media`, `io` */
  source(input: VideoInput, signal?: AbortSignal): Promise<SourceFacts>;
  /**
   * Decodes every frame at a reduced size.
   * @param onFrame gets luma in 8 bits, valid until it returns
   * @returns how many frames there were
   */
  thumbnails(
    input: VideoInput,
    track: TrackFacts,
    size: PictureSize,
    onFrame: (luma: Uint8Array, index: number) => void,
    signal?: AbortSignal,
  ): Promise<number>;
  /** @param limit bytes that it may hold */
  openFolder(limit: number): Promise<EncodingFolder>;
  /** @param folder where to keep points; default: the user's cache */
  points(folder?: string): PointStore;
  /** Scores encodes that this host made, a value per frame of the reference. Absent: the engine scores them. */
  score?(reference: VideoInput, distorted: VideoInput, options: ScoreOptions): Promise<EncodeScores>;
}
