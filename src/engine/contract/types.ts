/**
 * @module engine/contract/types
 * What a caller asks for: two videos, models, features and how to run.
 */

import type { Compat } from '../../core/choices.js';
import type { AnyvmafError } from '../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import type { Origin } from '../../core/origin.js';
import type { AomCtc, NflxCtc } from '../../core/presets.js';
import type { DecoderChoice, ScaleFilter } from '../../media/decoder.js';
import type { FrameRange, FrameRatePolicy, ScaleTo } from '../../media/pairing/types.js';
import type { RawVideoFormat, VideoInput } from '../../media/types.js';
import type { FrameMetrics, Report, ReportHead } from '../../report/types.js';
import type { TinyModelOptions } from '../../tiny/types.js';
import type { BackendChoice } from '../backends/native/types.js';

/** The pair to compare. */
export interface ScoreRequest {
  /** Absent, or not read, with {@link ScoreOptions.noReference}. */
  readonly reference?: VideoInput;
  readonly distorted: VideoInput;
  /** Format of those that are raw planar YUV. Y4M and encoded video say it themselves. */
  readonly raw?: RawVideoFormat;
}

/** How far a run is. */
export interface Progress {
  /** Frame pairs measured so far. */
  readonly framesDone: number;
  /** Frame pairs in all, `null` while unknown. */
  readonly framesTotal: number | null;
  /** Frame pairs per second of wall-clock time so far. */
  readonly fps: number;
  /** Estimated seconds left, `null` while unknown. */
  readonly secondsLeft: number | null;
}

/**
 * How two videos that are not alike are brought together; the report's `pairing` says what was done. Two videos that are
 * both Y4M or raw are compared as libvmaf does, by number and only when of one format, unless `scale`, `scaleTo` or
 * `frameRatePolicy` says otherwise.
 */
export interface PairingOptions {
  /** What decodes encoded video. Default `auto`: ffmpeg, else mediabunny, else wasm, by what is installed. */
  readonly decoder?: DecoderChoice;
  /** Filter that brings both videos to one size; `none` refuses different sizes. Default `bicubic`. */
  readonly scale?: ScaleFilter | 'none';
  /** The size to bring both to: the reference's, the distorted's, or another. Default `ref`. */
  readonly scaleTo?: ScaleTo;
  /**
   * Frames are paired by their time from each video's first frame: each reference frame with the distorted frame
   * nearest in time. `strict` refuses videos of different frame rates, and those in which frames are missing or come
   * twice. Default `nearest`.
   */
  readonly frameRatePolicy?: FrameRatePolicy;
  /**
   * Reference frames that come before the first one the distorted video shows: distorted frame n goes with reference
   * frame n + offset. Negative when the distorted video has frames before it. `auto` searches it in the first seconds.
   * Default 0.
   */
  readonly offset?: number | 'auto';
  /**
   * Offsets that `offset: 'auto'` tries are -window…window frames, 1..1000. Default: 50, then 150 and 500 while the answer
   * is not clear.
   */
  readonly window?: number;
  /** The part of the reference to score. Default: all. */
  readonly range?: FrameRange;
  /** Score a damaged or truncated video up to its first damage instead of refusing it. Default false. */
  readonly allowDamaged?: boolean;
  /** Let a decoder fetch videos given as http or other URLs. Default false. */
  readonly allowUrl?: boolean;
  /**
   * Who named the files, in Node. Say `{ by: 'foreign', folders: [...] }` for files that somebody uploaded or an agent
   * asks for: they are opened only below these folders, whatever their names lead to, and never as playlists. Default
   * `{ by: 'user' }`.
   */
  readonly origin?: Origin;
  /**
   * Compare two stored videos of different bit depths at the larger one, to which the other's samples are shifted. Default
   * false, which refuses such a pair; true with `aomCtc` from v6.0 on. Videos that go by time are always compared so.
   */
  readonly commonBitDepth?: boolean;
  /** Refuse a pair of which preflight warns. Default false. */
  readonly strict?: boolean;
  /**
   * Compare what the two videos declare before scoring, and look at some of their frames meanwhile. By default two
   * stored videos of one format are compared by what they declare alone; `true` has their frames looked at too. Default
   * true otherwise.
   */
  readonly preflight?: boolean;
}

/** What to compute and how. Every member has a default. */
export interface ScoreOptions extends PairingOptions {
  /**
   * Model strings in libvmaf's grammar (`version=vmaf_v0.6.1:name=hd`). `auto` in place of `version=…` or `path=…`
   * chooses between vmaf_v0.6.1 and vmaf_4k_v0.6.1 by the size that is scored. Default: `['version=vmaf_v0.6.1']`.
   */
  readonly models?: readonly string[];
  /** Feature strings in libvmaf's grammar (`psnr=enable_apsnr=true`). Default: none beside the models' own. */
  readonly features?: readonly string[];
  /**
   * The AOM common test conditions of this version: their models (`vmaf`, `vmaf_neg`) and features come before
   * `models` and `features`, which may add to them under other names.
   */
  readonly aomCtc?: AomCtc;
  /** The Netflix common test conditions, in the same way. */
  readonly nflxCtc?: NflxCtc;
  /** Tiny ONNX models to score with beside the others. Default: none. */
  readonly tiny?: readonly TinyModelOptions[];
  /**
   * Score the distorted video by itself, with the no-reference models of {@link tiny} alone: no reference is opened, and
   * no VMAF model runs. Default false.
   */
  readonly noReference?: boolean;
  /** Extract features only; models still register their extractors. Default false. */
  readonly noPrediction?: boolean;
  /** Generation of libvmaf whose arithmetic is wanted. Default `libvmaf-3.2`. */
  readonly compat?: Compat;
  /** Score only frames whose index is a multiple of this. 0 and 1 mean all. Default 1. */
  readonly subsample?: number;
  /** At most this many pairs; 0 means all. Default 0. */
  readonly frameCount?: number;
  /** Reference frames to discard at the start. Default 0. */
  readonly skipReference?: number;
  /** Distorted frames to discard at the start. Default 0. */
  readonly skipDistorted?: number;
  /**
   * Workers, of which no more are started than there are chunks of frames for them. 0 runs in the calling thread (it
   * blocks between frames). Default: as many as there are cores, less when the clip is short; a run whose length is
   * unknown, every scorer's among them, is taken to have 500 frames. With the backend `hybrid`: beside the one that has
   * the GPU; it needs one at least.
   */
  readonly threads?: number;
  /** Most workers, where `threads` leaves their number open: for programs that share a machine. Default: the cores. */
  readonly maxThreads?: number;
  /** Consecutive frames a worker takes at a time; the result does not depend on it. Default: chosen from the clip. */
  readonly chunkFrames?: number;
  /** Which twin of the core's functions to run. Default `simd128`. */
  readonly implementation?: 'simd128' | 'portable';
  /**
   * What measures the frames. `cpu` and `wasm` are this package's own core, which is the default. `webgpu` measures on a
   * GPU what that can, and the rest with the core; `hybrid` shares the frames between a GPU and the core's workers; both
   * give the core's numbers to the last bit. `native-cpu`, `cuda`, `sycl`, `hip` and `metal` run an installed libvmaf. What
   * is asked for by name is refused where it is not there or does not work. `auto` takes a native GPU backend that works,
   * else WebGPU where it is faster than the core, else the core. Default `wasm`, without looking for anything.
   */
  readonly backend?: BackendChoice;
  /**
   * The program that native backends run: a `vmaf`, or an ffmpeg or ffprobe with the libvmaf filter. Default: what
   * `VMAF_BIN` says, else `vmaf` on PATH, else ffmpeg or ffprobe.
   */
  readonly vmafBin?: string;
  /** Native backends: mask of SIMD levels not to use, as the `vmaf` tool takes it. */
  readonly cpumask?: number;
  /** Native backends: mask of operations that a GPU is not to do, as the `vmaf` tool takes it. */
  readonly gpumask?: number;
  /** Backend sycl: number of the device. */
  readonly syclDevice?: number;
  /** Backend hip: number of the device. */
  readonly hipDevice?: number;
  /** Backend metal: number of the device. */
  readonly metalDevice?: number;
  /**
   * Asked before pairs are read, one by one or by the chunks that workers read for themselves; a promise holds the run
   * up until it resolves, which is how to pause. What it throws or rejects with ends the run.
   */
  readonly gate?: () => Promise<void> | undefined;
  /** Called at most about ten times a second, and once at the end. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called once, before the first call of {@link onFrame}, with all of the report that is known then. */
  readonly onStart?: (head: ReportHead) => void;
  /**
   * Called for every scored frame in order, as soon as its values are final: motion2 of a frame needs the frame after
   * it, so calls lag by one or two frames, and by the chunks that workers have still in hand. A native backend gives
   * all frames at its end.
   */
  readonly onFrame?: (frame: FrameMetrics) => void;
  /** Stops the run: `score` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What to look at, and for what. */
export type InspectOptions = PairingOptions & Pick<ScoreOptions, 'models' | 'signal'>;

/** Which frames go together, said as for scoring. */
export type ExtractOptions = PairingOptions &
  Pick<ScoreOptions, 'skipReference' | 'skipDistorted' | 'frameCount' | 'signal'>;

/** How to search the offset between two videos. */
export type AlignOptions = Pick<PairingOptions, 'decoder' | 'allowUrl' | 'origin'> &
  Pick<ScoreOptions, 'signal'> & {
    /** Offsets tried are -window…window frames, 1..1000. Default 50. */
    readonly window?: number;
  };

/** {@link ScoreOptions} of several distorted videos against one reference: callbacks learn which one they are about. */
export interface ScoreManyOptions extends Omit<ScoreOptions, 'onProgress' | 'onStart' | 'onFrame'> {
  /** Format of those videos that are raw planar YUV. */
  readonly raw?: RawVideoFormat;
  /** As {@link ScoreOptions.onProgress}, for the distorted video of this index. */
  readonly onProgress?: (progress: Progress, index: number) => void;
  /** As {@link ScoreOptions.onStart}, for the distorted video of this index. */
  readonly onStart?: (head: ReportHead, index: number) => void;
  /** As {@link ScoreOptions.onFrame}, for the distorted video of this index. */
  readonly onFrame?: (frame: FrameMetrics, index: number) => void;
  /**
   * A distorted video cannot be scored. With this function the others are scored all the same; without it the first
   * that fails stops them all. Not called for what is wrong with the options, for a defect, or when the signal stops the
   * run: these end all.
   */
  readonly onFailure?: (error: AnyvmafError, index: number) => void;
  /** A distorted video is done. They may end in any order. */
  readonly onReport?: (report: Report, index: number) => void;
}

/** What a {@link Scorer} computes: {@link ScoreOptions} without what only whole videos have. */
export type ScorerOptions = Pick<
  ScoreOptions,
  | 'models'
  | 'features'
  | 'aomCtc'
  | 'nflxCtc'
  | 'noPrediction'
  | 'tiny'
  | 'compat'
  | 'subsample'
  | 'threads'
  | 'implementation'
  | 'onFrame'
> & {
  /** What the report calls the two videos. Default: `reference` and `distorted`. */
  readonly names?: { readonly reference: string; readonly distorted: string };
};

/**
 * One frame as {@link Scorer.push} takes it: packed rows, as {@link FramePlanes}. Above 8 bit a plane may be a
 * `Uint16Array` of samples in the machine's own byte order, which is little endian wherever this runs.
 */
export interface PushedPlanes {
  readonly y: Uint8Array | Uint16Array;
  readonly cb?: Uint8Array | Uint16Array;
  readonly cr?: Uint8Array | Uint16Array;
}

/**
 * Scores frame pairs that the caller hands over one by one in presentation order, and gives each frame's values as
 * soon as they are final. `finish` and `close` free its memory and its workers.
 */
export interface Scorer extends Disposable, AsyncDisposable {
  /** Format of every plane pushed. */
  readonly format: VideoFormat;
  /** Names of the metrics each frame will have, in libvmaf's order. */
  readonly metrics: readonly string[];
  /** Pairs pushed so far. */
  readonly pushed: number;
  /**
   * Takes one pair. The planes are copied before the promise resolves and belong to the caller again then; waiting for
   * it keeps memory bounded.
   * @returns frames whose values became final since the last call, in order; often none or one
   * @throws {AnyvmafError} `media` when a plane has the wrong size, `usage` when it is of the wrong type and after
   * `finish` or `close`, `internal` when a worker or the core failed
   */
  push(reference: PushedPlanes, distorted: PushedPlanes): Promise<readonly FrameMetrics[]>;
  /**
   * Ends the sequence.
   * @returns the report over all pairs, those already given by `push` included
   * @throws {AnyvmafError} `media` when nothing was pushed
   */
  finish(): Promise<Report>;
  /** Drops everything not finished; resolves when its workers are gone. May be called twice, and after `finish`. */
  close(): Promise<void>;
}
