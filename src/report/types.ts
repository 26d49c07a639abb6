/**
 * @module report/types
 * The one result object. Its first keys are libvmaf's JSON log; the rest is ours and follows after it.
 */

import type { Compat, NativeFlavour } from '../core/choices.js';
import type { ErrorCode } from '../core/errors.js';
import type { ChromaFormat } from '../core/frame.js';
import type { Pairing } from '../media/pairing/types.js';
import type { Finding } from '../media/preflight/types.js';
import type { VideoInfo } from '../media/types.js';

/** Pooled statistics of one metric over the scored frames (spec 7). `null` stands for a non-finite value. */
export interface PooledMetric {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** n / sum(1 / (x + 1)) - 1. */
  readonly harmonic_mean: number;
}

/** Our additions to pooling. */
export interface MetricDistribution {
  /** Percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99 by linear interpolation between order statistics. */
  readonly percentiles: Readonly<
    Record<'p1' | 'p5' | 'p10' | 'p25' | 'p50' | 'p75' | 'p90' | 'p95' | 'p99', number>
  >;
  /** Population standard deviation. */
  readonly stddev: number;
}

/** The values of one frame, keyed by log name in the order in which libvmaf writes them. */
export interface FrameMetrics {
  readonly frameNum: number;
  /** A metric without a value in this frame has no key. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** One side of the comparison as it was read. */
export interface ReportInput {
  readonly name: string;
  /** `y4m`, `yuv`, `frames`, or an encoded file's container by ffmpeg's short names. */
  readonly container: string;
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  /** Frames in the file, `null` when unknown (a pipe that was not read to its end). */
  readonly frameCount: number | null;
  /** Frames skipped at the start by request. */
  readonly skipped: number;
  /** Frames per second as a fraction, when the container says so. */
  readonly frameRate?: VideoInfo['frameRate'] | undefined;
  /** Bytes of the file, where it is one of stored frames; {@link Report.pairing} has those of encoded ones. */
  readonly fileSize?: number | undefined;
}

/** A model as it ran. */
export interface ReportModel {
  /** Key of its score in the frames. */
  readonly name: string;
  /** Built-in version or path it came from. */
  readonly source: string;
  /** Features it read, as log names. */
  readonly features: readonly string[];
  /** Why it was chosen, a sentence, where the caller left the choice open. */
  readonly chosen?: string | undefined;
  readonly options: { readonly disableClip: boolean; readonly enableTransform: boolean };
  /** What its scores are clipped to, where that is not 0 to 100. */
  readonly scoreRange?: readonly [least: number, greatest: number];
  /** Keys of the bootstrap statistics when the model is a collection. */
  readonly collection?: {
    readonly members: number;
    readonly bagging: string;
    readonly stddev: string;
    readonly ciLow: string;
    readonly ciHigh: string;
  };
}

/** A file that a tiny model is made of. */
export interface ReportTinyPart {
  /** Relative to the folder of the graph. */
  readonly name: string;
  readonly role: 'graph' | 'weights' | 'sidecar';
  /** Its size. */
  readonly bytes: number;
  readonly sha256: string;
}

/** A tiny ONNX model as it ran. */
export interface ReportTinyModel {
  /** Key of its score; of several the beginning. */
  readonly name: string;
  /** Id in the registry, or path. */
  readonly source: string;
  /** The file that was read, an 8-bit sibling perhaps. */
  readonly file: string;
  readonly sha256: string;
  /** Of the manifest of all parts. */
  readonly manifest_sha256: string;
  /** The files that it is made of: graph, weights, sidecar. */
  readonly parts: readonly ReportTinyPart[];
  /** Whether a registry lists it, and vouches for every part that its scores depend on. */
  readonly registered: boolean;
  /** `fr` compares with the reference, `nr` looks at the distorted video alone. */
  readonly kind: 'fr' | 'nr';
  readonly precision_requested: 'auto' | 'fp32' | 'int8';
  /** What ran: the model itself, or an 8-bit one. */
  readonly quantisation: 'fp32' | 'static' | 'dynamic' | 'qat';
  /** Keys of its scores in the frames. */
  readonly metrics: readonly string[];
  /** Which of its values are the good ones. */
  readonly better: 'higher' | 'lower';
  /** Features it read, as log names; none of those that look at pictures. */
  readonly features: readonly string[];
  readonly device_requested: string;
  /** What it ran on; `null` where no frame was scored. */
  readonly device: string | null;
  /** The library that ran it. */
  readonly runtime: string | null;
  /** The GPU as its driver calls it, where the platform says. */
  readonly adapter?: string | undefined;
  /** What a codec-aware model was told. */
  readonly codec?: string | undefined;
  readonly preset?: string | undefined;
  readonly crf?: number | undefined;
  /** The filter that brought pictures to its size. */
  readonly resize?: string | undefined;
  /** Why its values are not to be taken at their word; absent where there is no reason. Each is among the warnings too. */
  readonly notices?: readonly ReportTinyNotice[] | undefined;
}

/** A reason not to take the values of a tiny model at their word. */
export interface ReportTinyNotice {
  /**
   * `experimental`: its values are not to be relied upon; `smoke`: they mean nothing; `no-scene`: some frames are flat or
   * noise.
   */
  readonly code: 'experimental' | 'smoke' | 'no-scene';
  /** A full sentence. */
  readonly message: string;
  /** Frames that it is about, where not all; with `no-scene`. */
  readonly frames?: number | undefined;
}

/** What stands in the place of a report where one of several encodes could not be scored. */
export interface FailedEncode {
  /** Version of anyvmaf that tried. */
  readonly version: string;
  /** What the user called the two. */
  readonly reference: string;
  readonly distorted: string;
  readonly code: ErrorCode;
  /** A full sentence. */
  readonly message: string;
}

/** Everything a run gives. */
export interface Report {
  /** Version of anyvmaf that wrote it. */
  readonly version: string;
  /** Frames per second of wall-clock time, from the first frame to the last. */
  readonly fps: number;
  readonly frames: readonly FrameMetrics[];
  readonly pooled_metrics: Readonly<Record<string, PooledMetric | Record<string, never>>>;
  readonly aggregate_metrics: Readonly<Record<string, number>>;

  // What follows is not in libvmaf's log.
  /** With {@link noReference} what stands in its place: it was not read. */
  readonly reference: ReportInput;
  readonly distorted: ReportInput;
  /** Set when the distorted video was scored by itself. */
  readonly noReference?: true | undefined;
  /**
   * What was done to bring the two together; absent where nothing was decoded and frames were compared as stored, by
   * number.
   */
  readonly pairing?: Pairing | undefined;
  /** What to know about the pair before its score is believed; absent where it was not looked at. */
  readonly preflight?: readonly Finding[] | undefined;
  readonly models: readonly ReportModel[];
  /** Tiny models; absent where there are none. */
  readonly tiny?: readonly ReportTinyModel[] | undefined;
  /** Metric names in libvmaf's order. */
  readonly metrics: readonly string[];
  readonly distribution: Readonly<Record<string, MetricDistribution>>;
  /** Which libvmaf generation's arithmetic was asked for and ran. */
  readonly compat: Compat;
  readonly backend_requested: string;
  readonly backend_used: string;
  /** `simd128` or `portable` of this package's own core; an installed program's kind and version. */
  readonly implementation: string;
  /** The installed program that measured, where one did. */
  readonly native?: NativeRun | undefined;
  readonly threads: number;
  readonly subsample: number;
  /** Pairs measured, before subsampling. */
  readonly frameCount: number;
  /** Full sentences; empty when there is nothing to say. */
  readonly warnings: readonly string[];
}

/** What is known of a run once its first frame is: not its lengths, where only reading to the end tells those. */
export type ReportHead = Pick<
  Report,
  | 'version'
  | 'reference'
  | 'distorted'
  | 'noReference'
  | 'models'
  | 'tiny'
  | 'metrics'
  | 'compat'
  | 'backend_requested'
  | 'backend_used'
  | 'implementation'
  | 'native'
  | 'threads'
  | 'subsample'
>;

/** A run of an installed libvmaf. */
export interface NativeRun {
  /** libvmaf's own tool, or one of ffmpeg's with the libvmaf filter. */
  readonly flavour: NativeFlavour;
  /** Absolute path. */
  readonly path: string;
  /** What the program calls its version. */
  readonly version: string | null;
  /** What the log calls libvmaf's version. */
  readonly libvmaf: string | null;
  /** Decimals of the values it gave: stock libvmaf prints six. `null`: all digits. */
  readonly decimals: 6 | null;
  /**
   * Whose pooled values the report has: `printed` are libvmaf's own, made before its values were cut to their decimals.
   * Percentiles and standard deviations are always made of the printed values of the frames.
   */
  readonly pooled: 'printed' | 'computed';
  /** How it got the frames: it read the files by itself, or they were decoded and prepared here and piped to it. */
  readonly input: 'files' | 'pipes';
}
