/**
 * @module engine/contract/types
 * Types of requests: videos, models, features and options.
 */

import type { ColourAs, Compat, FilmGrain, V1Settings } from '../../core/choices.js';
import type { AnyvmafError } from '../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import type { Origin } from '../../core/origin.js';
import type { AomCtc, NflxCtc } from '../../core/presets.js';
import type { AlignResult } from '../../media/align/types.js';
import type { DecoderChoice, ScaleFilter } from '../../media/decoder.js';
import type { FilterOptions } from '../../media/filter-types.js';
import type { FrameRange, FrameRatePolicy, PairBy, ScaleTo } from '../../media/pairing/types.js';
import type { Finding, SideFacts } from '../../media/preflight/types.js';
import type { RawVideoFormat, VideoInput } from '../../media/types.js';
import type { FrameMetrics, Report, ReportHead, ReportModel } from '../../report/types.js';
import type { TinyModelOptions } from '../../tiny/types.js';
import type { BackendChoice } from '../backends/native/types.js';
import type { Samples } from '../sampling/choose.js';

/** The pair to compare. */
export interface ScoreRequest {
  /** Absent, or not read, with {@link ScoreOptions.noReference}. */
  readonly reference?: VideoInput;
  readonly distorted: VideoInput;
  /** Format of raw planar YUV inputs. Y4M and encoded video state theirs. */
  readonly raw?: RawVideoFormat;
}

/** Two videos with the findings about them. */
export interface Inspection {
  readonly reference: SideFacts;
  readonly distorted: SideFacts;
  readonly findings: readonly Finding[];
  /** Present if the pictures were inspected. */
  readonly alignment?: AlignResult;
}

/** The content of a file, as far as it was looked at. Copies of a file have the same. */
export interface ContentIdentity {
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the parts of the file that were read: 64 hexadecimal digits in lower case. */
  readonly sha256: string;
}

/** What is known of a run with its plan. */
export interface RunFacts {
  readonly format: Pick<VideoFormat, 'width' | 'height' | 'bitDepth' | 'chroma'>;
  readonly reference: string;
  readonly distorted: string;
  /** Pictures per second; `null` while unknown. */
  readonly rate: number | null;
  /** Pairs there are at most, `null` while unknown. */
  readonly total: number | null;
  readonly metrics: readonly string[];
  readonly models: readonly ReportModel[];
  readonly extractors: readonly string[];
  readonly backend: string;
  readonly threads: number;
  readonly subsample: number;
  /** Pairs taken from the videos so far. */
  readonly taken: () => number;
}

/** A change of models, as the report tells it. */
export interface ModelSwap {
  /** The first frame that the new model scored. */
  readonly frame: number;
  /** Key of the score that ended with the frame before. */
  readonly from: string;
  /** Key of the score that begins. */
  readonly to: string;
}

/** What came of a request to change the model. */
export interface SwapOutcome extends ModelSwap {
  /** Where the new model comes from. */
  readonly source: string;
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
 * libvmaf, by number and only if they have one format, unless `scale`, `scaleTo`, `frameRatePolicy` or `pairBy` says
 * otherwise.
 */
export interface PairingOptions extends FilterOptions {
  /** Decoder of encoded video. Default `auto`: the first that is installed of ffmpeg, mediabunny and wasm. */
  readonly decoder?: DecoderChoice;
  /** Resizing filter if sizes differ; `none` refuses different sizes. Default `bicubic`. */
  readonly scale?: ScaleFilter | 'none';
  /** The size to score at: the reference's, the distorted's, or another. Default `ref`. */
  readonly scaleTo?: ScaleTo;
  /**
   * Frames are paired by their time from each video's first frame: each reference frame with the distorted frame
   * nearest in time. `strict` refuses different frame rates, and videos with missing or repeated
   * frames. Default `nearest`.
   */
  readonly frameRatePolicy?: FrameRatePolicy;
  /**
   * The video whose frames are scored. `distorted` pairs each distorted frame with the reference frame nearest in time,
   * for an encode with fewer frames per second. Default `reference`.
   */
  readonly pairBy?: PairBy;
  /**
   * Number of reference frames before the distorted video's first: distorted frame n is paired with reference frame
   * n + offset. Negative if the distorted video starts earlier. `auto` searches the first seconds for it.
   * Default 0.
   */
  readonly offset?: number | 'auto';
  /**
   * `offset: 'auto'` tries -window…window frames, 1..1000. Default: 50, then 150 and 500 while the result is
   * unclear.
   */
  readonly window?: number;
  /** The part of the reference to score. Default: all. */
  readonly range?: FrameRange;
  /**
   * `off` leaves out the film grain that decoders of AV1 add at the encoder's request, which metrics count as a loss. `both`
   * scores with grain, and adds the values without it to the report (`withoutGrain`); functions that do not score take it for
   * `on`. `off` and `both` need ffmpeg to decode. Default `on`.
   */
  readonly grain?: FilmGrain;
  /**
   * Metrics of colour take videos for what a tool takes them for, to print its numbers: `libjxl`, whose tools read PNG files
   * that ffmpeg makes of frames; `vship` (FFVship); `vszip`. Default: what videos state.
   */
  readonly colourAs?: ColourAs;
  /** Score a damaged or truncated video up to its first damage instead of refusing it. Default false. */
  readonly allowDamaged?: boolean;
  /**
   * Fetch videos from `http` and `https` URLs. Node: a list of hosts, such as `media.example.com`, `*.example.com`,
   * `localhost:9000`, `10.0.0.5` or `10.0.0.0/8`, has them read in parts, from these hosts only, and from private addresses
   * only where they are listed; redirects are checked alike. `true` lets ffmpeg fetch whatever is named, unchecked.
   * Default false.
   */
  readonly allowUrl?: boolean | readonly string[];
  /**
   * Pictures per second of sequences of pictures (`frame_%04d.png`, `shots/*.jpg`, a folder), a number or a fraction such as
   * `24000/1001`. Default 25.
   */
  readonly rate?: number | string;
  /**
   * The video track to read, 0-based among the file's video tracks; cover art is not counted. Default: the default track, of
   * several or none the largest. A finding (`tracks`) names the track of a file with several.
   */
  readonly trackReference?: number;
  readonly trackDistorted?: number;
  /**
   * Node: who named the files. Use `{ by: 'foreign', folders: [...] }` for files that are uploaded or that an agent
   * requests: they are opened only below these folders, after following links, and never as playlists. Default
   * `{ by: 'user' }`.
   */
  readonly origin?: Origin;
  /**
   * Compare two stored videos of different bit depths at the larger one, by shifting the other's samples. Default
   * false, which refuses such a pair; true with `aomCtc` from v6.0 on. Videos paired by time are always compared so.
   */
  readonly commonBitDepth?: boolean;
  /** Refuse a pair with preflight warnings. Default false. */
  readonly strict?: boolean;
  /**
   * Compare the videos' declared properties before scoring, and inspect some frames meanwhile. By default, only the
   * declared properties of two stored videos of one format are compared; `true` inspects their frames too. Default
   * true otherwise.
   */
  readonly preflight?: boolean;
}

/** How many of the latest frames to keep; at least 1. */
export type Keep = { readonly frames: number } | { readonly seconds: number };

/** Options of scoring. Every member has a default. */
export interface ScoreOptions extends PairingOptions {
  /**
   * Model strings in libvmaf's grammar (`version=vmaf_v0.6.1:name=hd`). In place of `version=…` or `path=…`, `auto`
   * chooses vmaf_v0.6.1 or vmaf_4k_v0.6.1 by the scored size; `hd`, `4k`, `neg`, `4k-neg` and `phone` are short names. Default: `['version=vmaf_v0.6.1']`.
   */
  readonly models?: readonly string[];
  /**
   * Models whose features are measured from the start, although they predict nothing: those to which a client of a live server
   * can change. Default: none.
   */
  readonly alsoModels?: readonly string[];
  /** Feature strings in libvmaf's grammar (`psnr=enable_apsnr=true`). Default: only the models' features. */
  readonly features?: readonly string[];
  /**
   * The AOM common test conditions of this version: adds their models (`vmaf`, `vmaf_neg`) and features before
   * `models` and `features`, which need other names.
   */
  readonly aomCtc?: AomCtc;
  /** The Netflix common test conditions, in the same way. */
  readonly nflxCtc?: NflxCtc;
  /** Additional tiny ONNX models. Default: none. */
  readonly tiny?: readonly TinyModelOptions[];
  /**
   * Score the distorted video by the no-reference models of {@link tiny} only: opens no reference and runs no VMAF
   * model. Default false.
   */
  readonly noReference?: boolean;
  /** Extract features only; models still register their extractors. Default false. */
  readonly noPrediction?: boolean;
  /** The libvmaf generation whose arithmetic to use. Default `libvmaf-3.2`. */
  readonly compat?: Compat;
  /**
   * What VMAF v1 models know of an encode whose pictures are scaled up: `encode` (default), its size and depth, as
   * `cambi.enc_width`, `cambi.enc_height` and `cambi.enc_bitdepth` where none of them is set; `plain`, nothing, as in a bare
   * `vmaf`.
   */
  readonly v1Settings?: V1Settings;
  /** Score only frames whose index is a multiple of this. 0 and 1 mean all. Default 1. */
  readonly subsample?: number;
  /** At most this many pairs; 0 means all. Default 0. */
  readonly frameCount?: number;
  /**
   * Score short runs spread over the video instead of all of it. Pooled values are then estimates, whose intervals are in
   * the report's `sampling`. Default: all pairs.
   */
  readonly samples?: Samples;
  /** Reference frames to discard at the start. Default 0. */
  readonly skipReference?: number;
  /** Distorted frames to discard at the start. Default 0. */
  readonly skipDistorted?: number;
  /**
   * Number of workers, limited to the number of chunks. 0 runs in the calling thread and blocks it while a frame is
   * measured. Default: the number of cores, fewer for short clips; runs of unknown length, including every scorer, are
   * assumed to have 500 frames. The backend `hybrid` needs at least 1, and adds the GPU's worker;
   * its default is two fewer, for that worker and the thread that reads.
   */
  readonly threads?: number;
  /** Most workers if `threads` is not set, for programs that share a machine. Default: the number of cores. */
  readonly maxThreads?: number;
  /** Consecutive frames per chunk of a worker; does not affect results. Default: chosen by the clip's length. */
  readonly chunkFrames?: number;
  /** Which variant of the core's functions to run. Default `simd128`. */
  readonly implementation?: 'simd128' | 'portable';
  /**
   * What measures the frames. `cpu` and `wasm` are this package's core. `webgpu` measures on a GPU what the GPU supports,
   * and the rest with the core; `hybrid` shares the frames between a GPU and the core's workers; both are bit-exact with
   * the core. `native-cpu`, `cuda`, `sycl`, `hip` and `metal` run an installed libvmaf. A backend requested by name is
   * refused if it is missing or does not work. `auto` takes a native GPU backend that works, else WebGPU if it is faster
   * than the core, else the core. Default `wasm`, which searches for no other backend.
   */
  readonly backend?: BackendChoice;
  /**
   * The program that native backends run: a `vmaf`, or an ffmpeg or ffprobe with the libvmaf filter. Default:
   * `VMAF_BIN`, else `vmaf` on PATH, else ffmpeg or ffprobe.
   */
  readonly vmafBin?: string;
  /** Native backends: mask of SIMD levels to disable, as for the `vmaf` tool. */
  readonly cpumask?: number;
  /** Native backends: mask of GPU operations to disable, as for the `vmaf` tool. */
  readonly gpumask?: number;
  /** Backend sycl: number of the device. */
  readonly syclDevice?: number;
  /** Backend hip: number of the device. */
  readonly hipDevice?: number;
  /** Backend metal: number of the device. */
  readonly metalDevice?: number;
  /**
   * How much to keep for the report, for runs without an end: the last so many frames, or, where the reference says its
   * frame rate, seconds. Pooled values are of all frames nevertheless; percentiles are of those kept. Default: all.
   */
  readonly keep?: Keep;
  /** Seconds that the run may take, above 0 and up to a year; it is then stopped with an error. Default: no limit. */
  readonly maxSeconds?: number;
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
  /** Aborts the run: `score` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of `inspect`. */
export type InspectOptions = PairingOptions & Pick<ScoreOptions, 'models' | 'features' | 'signal'>;

/** Options of `describeVideo`. */
export type DescribeVideoOptions = Pick<PairingOptions, 'decoder' | 'allowUrl' | 'origin'> &
  Pick<ScoreOptions, 'signal'>;

/** How to pair frames, as in scoring. */
export type ExtractOptions = PairingOptions &
  Pick<ScoreOptions, 'skipReference' | 'skipDistorted' | 'frameCount' | 'signal'>;

/** Options of the offset search. */
export type AlignOptions = Pick<PairingOptions, 'decoder' | 'allowUrl' | 'origin'> &
  Pick<ScoreOptions, 'signal'> & {
    /** Offsets tried are -window…window frames, 1..1000. Default 50. */
    readonly window?: number;
  };

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
   * Called if a distorted video cannot be scored; the others continue. Without this function the first failure stops all
   * videos. Not called for invalid options, internal errors or aborts, which stop all
   * videos.
   */
  readonly onFailure?: (error: AnyvmafError, index: number) => void;
  /** Called when a distorted video is done, in any order. */
  readonly onReport?: (report: Report, index: number) => void;
}

/** Options of a {@link Scorer}: {@link ScoreOptions} without those that need whole videos. */
export type ScorerOptions = Pick<
  ScoreOptions,
  | 'models'
  | 'alsoModels'
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
  /** The last so many frames to keep for the report; see {@link ScoreOptions.keep}. Default: all. */
  readonly keep?: { readonly frames: number };
  /** Names of the two videos in the report. Default: `reference` and `distorted`. */
  readonly names?: { readonly reference: string; readonly distorted: string };
};

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
  /** Whether a client of its server asked to stop: pairs are no longer measured, and `finish` gives the report. */
  readonly stopped: boolean;
  /**
   * Takes one pair. Copies the planes before the promise resolves; the caller may then reuse them. Await the promise to
   * bound memory.
   * @returns frames whose values became final since the last call, in order; often none or one
   * @throws {AnyvmafError} `media` if a plane has the wrong size; `usage` if it has the wrong type, or after
   * `finish` or `close`; `internal` if a worker or the core failed
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
   * Starts it; once.
   * @returns the report, as `score` gives it
   * @throws {AnyvmafError} as `score`; `usage` when it has started already
   */
  start(): Promise<Report>;
}
