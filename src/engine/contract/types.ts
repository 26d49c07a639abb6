/**
 * @module engine/contract/types
 * Types of requests: videos, models, features and options.
 */

import type { AnyvmafError } from '../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import type { OptionsOf } from '../../core/options.js';
import type { Origin } from '../../core/origin.js';
import type { Samples } from '../../core/sampling.js';
import type { AlignResult } from '../../media/pairing/types.js';
import type { Finding, SideFacts } from '../../media/preflight/findings.js';
import type { RawVideoFormat, VideoInput } from '../../media/types.js';
import type { FrameMetrics, Report, ReportHead } from '../../report/schema.js';
import type { TinyModelOptions } from '../../tiny/types.js';

/** The pair to compare. */
export interface ScoreRequest {
  /** May be absent with {@link ScoreOptions.noReference}, which does not read it. */
  readonly reference?: VideoInput;
  readonly distorted: VideoInput;
  /** Format of raw planar YUV inputs. Y4M and encoded video state theirs. */
  readonly raw?: RawVideoFormat;
}

/** Facts and findings about two videos. */
export interface Inspection {
  readonly reference: SideFacts;
  readonly distorted: SideFacts;
  readonly findings: readonly Finding[];
  /** Present if the pictures were inspected. */
  readonly alignment?: AlignResult;
}

/** Identity of a file's content, as far as it was read; copies of a file have the same one. */
export interface ContentIdentity {
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the parts of the file that were read: 64 hexadecimal digits in lower case. */
  readonly sha256: string;
}

/** Progress of a run. */
export interface Progress {
  /** Frame pairs measured so far. */
  readonly framesDone: number;
  /** Total frame pairs, `null` while unknown. */
  readonly framesTotal: number | null;
  /** Frame pairs per second of wall-clock time so far. */
  readonly fps: number;
  /** Estimated seconds left, `null` while unknown. */
  readonly secondsLeft: number | null;
}

/**
 * How to pair different videos; the report's `pairing` states what was done. Two Y4M or raw videos are compared as in
 * libvmaf, by number and only if they have one format, unless an option of size or time says otherwise.
 */
export interface PairingOptions extends OptionsOf<'pair'> {
  /**
   * Node: who named the files. Use `{ by: 'foreign', folders: [...] }` for files that are uploaded or that an agent
   * requests: they are opened only below these folders, after following links, and never as playlists. Default
   * `{ by: 'user' }`.
   */
  readonly origin?: Origin;
}

/** How many of the latest frames to keep; at least 1. */
export type Keep = { readonly frames: number } | { readonly seconds: number };

/** Options of scoring. Every member has a default. */
export interface ScoreOptions extends PairingOptions, OptionsOf<'score'> {
  /** Additional tiny ONNX models. Default: none. */
  readonly tiny?: readonly TinyModelOptions[];
  /**
   * Score short runs spread over the video instead of all of it. Pooled values are then estimates, with intervals in
   * the report's `sampling`. Default: all pairs.
   */
  readonly samples?: Samples;
  /**
   * How much to keep for the report of an endless run: the last frames or, if the reference declares a frame rate,
   * seconds. Pooled values still cover all frames, percentiles only those kept. Default: all.
   */
  readonly keep?: Keep;
  /**
   * Called before each pair is read, or before each chunk that workers read. A returned promise pauses the run until it
   * resolves. An error or rejection ends the run with it.
   */
  readonly gate?: () => Promise<void> | undefined;
  /** Called at most about ten times a second, and once at the end. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called once before the first {@link onFrame}, with the known part of the report. */
  readonly onStart?: (head: ReportHead) => void;
  /**
   * Called for every scored frame in order, as soon as its values are final: motion2 of a frame needs the next frame,
   * so calls lag by one or two frames, and by the chunks that workers are measuring. A native backend reports all
   * frames at its end.
   */
  readonly onFrame?: (frame: FrameMetrics) => void;
}

/** Options of `inspect`. */
export interface InspectOptions extends PairingOptions, OptionsOf<'look'> {}

/** Options of `describeVideo`. */
export interface DescribeVideoOptions extends OptionsOf<'describe'>, Pick<PairingOptions, 'origin'> {}

/** How to pair frames, as in scoring. */
export interface ExtractOptions extends PairingOptions, OptionsOf<'extract'> {}

/** Options of the offset search. */
export interface AlignOptions extends DescribeVideoOptions {
  /** Offsets tried are -window…window frames, 1..1000. Default: 50, then 150 and 500 while the result is ambiguous. */
  readonly window?: number;
}

/** {@link ScoreOptions} for several distorted videos against one reference: callbacks receive the video's index. */
export interface ScoreManyOptions extends Omit<ScoreOptions, 'onProgress' | 'onStart' | 'onFrame'> {
  /** Format of the raw planar YUV videos. */
  readonly raw?: RawVideoFormat;
  /** As {@link ScoreOptions.onProgress}, for the distorted video of this index. */
  readonly onProgress?: (progress: Progress, index: number) => void;
  /** As {@link ScoreOptions.onStart}, for the distorted video of this index. */
  readonly onStart?: (head: ReportHead, index: number) => void;
  /** As {@link ScoreOptions.onFrame}, for the distorted video of this index. */
  readonly onFrame?: (frame: FrameMetrics, index: number) => void;
  /**
   * Called if a distorted video cannot be scored; the others continue. Without it, the first failure stops all videos.
   * Invalid options, internal errors and aborts always stop all.
   */
  readonly onFailure?: (error: AnyvmafError, index: number) => void;
  /** Called when a distorted video is done, in any order. */
  readonly onReport?: (report: Report, index: number) => void;
}

/** Options of a {@link Scorer}: {@link ScoreOptions} without those that need whole videos. */
export interface ScorerOptions extends OptionsOf<'scorer'>, Pick<ScoreOptions, 'tiny' | 'onFrame'> {
  /** Number of latest frames to keep for the report; see {@link ScoreOptions.keep}. Default: all. */
  readonly keep?: { readonly frames: number };
}

/**
 * One frame as {@link Scorer.push} takes it: packed rows, as {@link FramePlanes}. Above 8 bit a plane may be a
 * `Uint16Array` of samples in native byte order (little-endian on all supported machines).
 */
export interface PushedPlanes {
  readonly y: Uint8Array | Uint16Array;
  readonly cb?: Uint8Array | Uint16Array;
  readonly cr?: Uint8Array | Uint16Array;
  readonly alpha?: Uint8Array | Uint16Array;
}

/**
 * Scores frame pairs that the caller pushes in presentation order, and returns each frame's values as soon as they are
 * final. `finish` and `close` free its memory and workers.
 */
export interface Scorer extends Disposable, AsyncDisposable {
  /** Format of every plane pushed. */
  readonly format: VideoFormat;
  /** Names of each frame's metrics, in libvmaf's order. */
  readonly metrics: readonly string[];
  /** Pairs pushed so far. */
  readonly pushed: number;
  /** Whether a client of its server asked to stop: pairs are no longer measured; `finish` returns the report. */
  readonly stopped: boolean;
  /**
   * Takes one pair. Copies the planes before the promise resolves; the caller may then reuse them. Await the promise to
   * bound memory.
   * @returns frames whose values became final since the last call, in order; often none or one
   * @throws {AnyvmafError} `media` if a plane has the wrong size; `usage` if it has the wrong type, or after
   * `finish` or `close`; `internal` if a worker or the core failed. If the pair is lost, later calls throw the same error
   */
  push(reference: PushedPlanes, distorted: PushedPlanes): Promise<readonly FrameMetrics[]>;
  /**
   * Ends the sequence.
   * @returns the report of all pairs, including those that `push` returned
   * @throws {AnyvmafError} `media` if nothing was pushed
   */
  finish(): Promise<Report>;
  /** Drops unfinished work; resolves when its workers have ended. May be called twice, and after `finish`. */
  close(): Promise<void>;
}

/** A run that has not started: hand it to `createEmbeddedServer` first. */
export interface ScoreRun {
  /**
   * Starts the run; call it once.
   * @returns the report, as from `score`
   * @throws {AnyvmafError} as `score`; `usage` if it has started already
   */
  start(): Promise<Report>;
}
