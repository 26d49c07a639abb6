/**
 * @module search/types
 * Options and results of searches, ladders, comparisons and shot tuning; parses encoders and targets.
 */
import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import type { Origin } from '../core/origin.js';
import { showValue } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import type { BdResult } from '../report/bd-rate.js';
import { parseLimit } from '../report/limits.js';
import type { PooledMetric } from '../report/schema.js';
import type { ParameterName, ValueRange } from './encoders.js';
import type { CompleteMeasure, CompleteTarget, Estimate, QualityMeasure, QualityTarget } from './targets.js';

export type { QualityMeasure } from './targets.js';

/** Options shared by everything that encodes a source. */
export interface EncodingOptions extends Pick<ScoreOptions, 'models' | 'features' | 'threads' | 'signal'> {
  /** Encode the whole source for every point instead of samples. Default false; extreme statistics always do. */
  readonly full?: boolean;
  /** Pixel format of the encodes. Default: the source's, or the closest one that the encoder takes. */
  readonly pixelFormat?: string;
  /** Folder for points of earlier searches; false: no cache. Default: the user's cache. */
  readonly cache?: string | false;
  /** Limit on temporary files, in bytes. Default 8 GB. */
  readonly scratchBytes?: number;
  /** Who named the source. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
  /** Called when a stage begins or progresses. */
  readonly onStage?: (stage: SearchStage) => void;
}

/** An encoder and the parameter to search. */
export interface EncoderChoice {
  /** ffmpeg's name of the encoder, such as `libx264` or `libsvtav1`. */
  readonly encoder: string;
  /** Encoder options by ffmpeg's names, such as `{ preset: 'slow' }`. */
  readonly encoderOptions?: Readonly<Record<string, string>>;
  /** Parameter to search. Default: the encoder's constant-quality scale; `bitrate` if it has none. */
  readonly parameter?: ParameterName;
  /** Values to search, bit rates in bits per second. Default: the encoder's whole range. */
  readonly range?: ValueRange;
}

/** Options of `searchQuality`. */
export interface SearchOptions extends EncodingOptions, EncoderChoice {
  /** Targets, all of which must be reached. Default: a mean of 95. */
  readonly targets?: readonly QualityTarget[];
  /** Largest acceptable value of the first target's statistic: a better encode is larger than necessary. */
  readonly atMost?: number;
  /** Maximum size of the video track, as a fraction of the source's. */
  readonly maxSize?: number;
  /** Encode every value of {@link range} instead of searching. Default false. */
  readonly all?: boolean;
  /** Encode the whole source with the value found and score it. Default false; implied by {@link output}. */
  readonly verify?: boolean;
  /** Path for the whole source encoded with the value found, with audio and subtitles copied. */
  readonly output?: string;
  /** Write it even if it misses a target or another bound. Default false. */
  readonly keepMissed?: boolean;
  /** Aborting it ends the search with the best value so far; the result is marked as unfinished. */
  readonly finish?: AbortSignal;
  /** Called with each point as it becomes known. */
  readonly onPoint?: (point: SearchPoint, parameter: ParameterName) => void;
}

/** Progress of a search. */
export type SearchStage =
  | { readonly kind: 'reading' }
  /** Decoding the source to find its shots. */
  | { readonly kind: 'finding'; readonly frames: number; readonly total: number }
  | { readonly kind: 'cutting'; readonly samples: number; readonly frames: number }
  | {
      readonly kind: 'encoding' | 'scoring';
      readonly encoder: string;
      /** Size of the encode; `null` for the source's own. */
      readonly size: PictureSize | null;
      readonly value: number;
      readonly whole: boolean;
      /** Frames done so far; absent when the stage begins. The last report has all frames. */
      readonly frames?: number;
      readonly total?: number;
    };

/** An encoded and scored value of the parameter. */
export interface EncodedPoint {
  readonly value: number;
  /** Bytes of the scored frames. */
  readonly bytes: number;
  /** Kilobits per second of the scored frames. */
  readonly kbps: number;
  /** Pooled values of the measured metrics, by name. */
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  /** Frames encoded per second of wall-clock time; `null` if not recorded. */
  readonly framesPerSecond: number | null;
  /** Wall-clock seconds of the encode, possibly in an earlier search; absent if not recorded. */
  readonly encodeSeconds?: number;
  /** True if it comes from an earlier search. */
  readonly cached: boolean;
}

/** A point of a search, with its quality. */
export interface SearchPoint extends EncodedPoint {
  /** The first target's statistic. */
  readonly quality: number;
  /** Distance above the hardest target; negative if it misses one. */
  readonly margin: number;
}

/** Why a result falls short of the request. */
export type SearchShortfall =
  /** No value reaches the targets; the closest one is `by` below. */
  | { readonly reason: 'target'; readonly by: number }
  /** The value that reaches the targets makes a file of this fraction of the source's size, above `maxSize`. */
  | { readonly reason: 'size'; readonly share: number }
  /** The coarsest value that reaches the targets is `by` above `atMost`. */
  | { readonly reason: 'above'; readonly by: number };

/** Result of `searchQuality`. */
export interface SearchResult {
  readonly kind: 'search';
  /** File name of the source. */
  readonly source: string;
  readonly encoder: string;
  /** Versions of ffmpeg and the encoder. */
  readonly version: string;
  readonly parameter: ParameterName;
  /** The value to encode with; the closest one if {@link shortfall} is set. */
  readonly value: number;
  readonly targets: readonly CompleteTarget[];
  readonly shortfall: SearchShortfall | null;
  /** All known points, from the best picture to the smallest file. */
  readonly points: readonly SearchPoint[];
  /** Predicted statistic of the first target for the whole video. */
  readonly predicted: Estimate;
  /** The same of each target, in the targets' order; absent in results of earlier versions. */
  readonly predictions?: readonly Estimate[];
  /** Predicted size of the whole video track, in bytes. */
  readonly predictedBytes: number;
  /** Values among which the answer lies, to resume with as the range, if `finish` ended the search; else `null`. */
  readonly unfinished: { readonly min: number; readonly max: number } | null;
  /** Values that score better than the next finer one: the curve is not monotone there. */
  readonly notMonotone: readonly number[];
  /** Samples as frames of the source; `null` if the whole source was encoded. */
  readonly samples: readonly { readonly first: number; readonly count: number }[] | null;
  /** Encodes made by this search, and points reused from earlier ones. */
  readonly encodes: number;
  readonly cached: number;
  readonly final: FinalEncode | null;
  /** The requested output if it was not written, as after a missed target or bound; else `null`. */
  readonly unwritten: string | null;
  /** Sentences: properties the encode loses, formats few players decode, problems found in scoring. */
  readonly warnings: readonly string[];
  /** Command of the final encode: a program and its arguments. */
  readonly command: readonly string[];
}

/** The whole source encoded with the value found. */
export interface FinalEncode {
  /** Path of the file; `null` if none was kept. */
  readonly file: string | null;
  readonly bytes: number;
  readonly kbps: number;
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  /** The statistic of each target, in the targets' order. */
  readonly qualities: readonly number[];
  /** True if it keeps all targets and bounds. */
  readonly reached: boolean;
}

/** A result with points to plot. */
export type CurveResult = SearchResult | LadderResult | ComparisonResult;

/** Output formats of a result. */
export type ResultFormat = 'text' | 'json' | 'csv' | 'html';

/**
 * Parses an encoder with its options: `libx264`, `libx264:preset=slow:tune=film`.
 * @throws {AnyvmafError} `usage`
 */
export function parseEncoder(text: string): Required<Pick<EncoderChoice, 'encoder' | 'encoderOptions'>> {
  requireText('text', text, 'an encoder such as libx264:preset=slow');
  const [encoder = '', ...rest] = text.split(':');
  const options = rest.map((option) => /^([^=]+)=(.*)$/s.exec(option));
  if (encoder === '' || options.includes(null))
    throw usageError(
      `the encoder is ${showValue(text)}, but it must be the name of an ffmpeg encoder, optionally followed by options, such as ` +
        'libx264:preset=slow.',
    );
  const pairs = options.map((option) => [option?.[1] ?? '', option?.[2] ?? ''] as const);
  return { encoder, encoderOptions: Object.fromEntries(pairs) };
}

/** Options of rate-quality curves. */
export interface CurveOptions extends EncodingOptions, QualityMeasure {
  /**
   * Qualities to search for on each curve. Default: none; then seven values around the encoder's usual one or across
   * the range, or every value of a range with a step.
   */
  readonly targets?: readonly number[];
}

/** Spacing of rungs: even in the logarithm of the rate, or even in quality. */
export type Spacing = 'rate' | 'quality';

/** Options of `buildLadder`. */
export interface LadderOptions extends CurveOptions, EncoderChoice {
  /** Picture sizes, or heights whose widths keep the source's aspect ratio. None may be larger than the source. */
  readonly sizes: readonly (PictureSize | number)[];
  /** Rungs to choose, 1 to 32. Default 5. */
  readonly rungs?: number;
  /** Default `rate`. */
  readonly spacing?: Spacing;
  /** Qualities of the lowest and highest rung, within the hull. Default: 40 and 96 for a model's score, else all. */
  readonly between?: { readonly min: number; readonly max: number };
  /** Called with each point as it becomes known. */
  readonly onPoint?: (point: LadderPoint) => void;
}

/** A point of one picture size. */
export interface LadderPoint extends EncodedPoint, PictureSize {
  /** The ladder's statistic, measured at the source's size. */
  readonly quality: number;
}

/** The curve of one size. */
export interface LadderCurve extends PictureSize {
  /** From the best picture to the smallest file. */
  readonly points: readonly LadderPoint[];
  /** Values that score better than the next finer one: the curve is not monotone there. */
  readonly notMonotone: readonly number[];
}

/** The rate from which a size is the best one. */
export interface Takeover extends PictureSize {
  /** Kilobits per second; the lowest measured rate for the first size. */
  readonly kbps: number;
  readonly quality: number;
}

/** Result of `buildLadder`. */
export interface LadderResult
  extends CompleteMeasure,
    Pick<SearchResult, 'source' | 'encoder' | 'version' | 'parameter' | 'samples' | 'encodes' | 'cached'> {
  readonly kind: 'ladder';
  readonly spacing: Spacing;
  /** Average frame rate of the source, in frames per second. */
  readonly frameRate: number;
  /** One curve per size, the largest first. */
  readonly curves: readonly LadderCurve[];
  /** Corners of the convex hull of quality over rate, by rate: no mixture of other points beats them. */
  readonly hull: readonly LadderPoint[];
  /** Sizes by the rate from which each is the best. */
  readonly takeovers: readonly Takeover[];
  /** Rungs by rate, each encoded and measured. */
  readonly rungs: readonly LadderPoint[];
  /**
   * Command that encodes all rungs for DASH and HLS: a program and its arguments. `anyvmaf ladder --master
   * master.m3u8` then writes the measured bandwidths into the playlist.
   */
  readonly command: readonly string[];
  readonly warnings: readonly string[];
}

/** An encoder to compare, with a name to tell presets apart. */
export interface ComparedEncoder extends EncoderChoice {
  /** Default: the encoder's name and options. */
  readonly name?: string;
}

/** Options of `compareEncoders`. */
export interface CompareOptions extends CurveOptions {
  /** 1 to 16; the others are compared with the first. */
  readonly encoders: readonly ComparedEncoder[];
  /**
   * Qualities that BD-rates cover. Default: 60 to 97 for a model's score; otherwise, or if a curve has none of that
   * range, everything the curves share.
   */
  readonly between?: { readonly min: number; readonly max: number } | undefined;
  /** Called with each point as it becomes known. */
  readonly onPoint?: (point: ComparedPoint) => void;
}

/** A point of one encoder. */
export interface ComparedPoint extends EncodedPoint {
  readonly name: string;
  readonly quality: number;
}

/** An encoder's point for a target quality. */
export interface AtTarget {
  readonly target: number;
  /** Value of the parameter; the closest one if none reaches the target. */
  readonly value: number;
  readonly kbps: number;
  readonly quality: number;
  readonly reached: boolean;
  /** Kilobits per second at exactly the target, interpolated on the curve; `null` if the curve does not reach it. */
  readonly kbpsAt: number | null;
}

/** The curve of one encoder. */
export interface ComparedCurve extends Pick<SearchResult, 'encoder' | 'version' | 'parameter'> {
  readonly name: string;
  /** From the best picture to the smallest file. */
  readonly points: readonly ComparedPoint[];
  readonly notMonotone: readonly number[];
  /** One per target, in the targets' order. */
  readonly atTargets: readonly AtTarget[];
  /** Encoding speed here in frames per second, over the newly encoded points; `null` without any. */
  readonly framesPerSecond: number | null;
}

/** An encoder compared with the first. */
export interface CurveDelta {
  readonly anchor: string;
  readonly test: string;
  /** Mean difference of rate at equal quality, in per cent; `null` if {@link refused} says why not. */
  readonly rate: BdResult | null;
  /** Mean difference of quality at equal rate; `null` if the curves share no rates. */
  readonly quality: BdResult | null;
  readonly refused: string | null;
  /**
   * 95 % confidence interval of the difference of rate in per cent, for other parts like those measured. Absent if
   * fewer than four parts with enough of both curves were measured.
   */
  readonly rate95?: readonly [low: number, high: number];
}

/** Result of `compareEncoders`. */
export interface ComparisonResult
  extends CompleteMeasure,
    Pick<SearchResult, 'source' | 'samples' | 'encodes' | 'cached'> {
  readonly kind: 'comparison';
  readonly curves: readonly ComparedCurve[];
  readonly deltas: readonly CurveDelta[];
  /** Name of the encoder that needs the least rate for equal quality; absent if some cannot be compared. */
  readonly least?: string;
  /** Encoders that the measurement cannot tell from it: the 95 % interval of their difference contains 0. */
  readonly ties?: readonly string[];
  /** Problems that did not stop the comparison, a sentence each. */
  readonly warnings: readonly string[];
}

/** Limits of shot detection. */
export interface ShotLimits {
  /** Change of the picture that counts as a cut, from 0 to 1. Default 0.3. */
  readonly threshold?: number;
  /** Shortest shot in seconds; weaker cuts near others are dropped. Default 0.5. */
  readonly minSeconds?: number;
  /** Longest shot in seconds, at least twice the shortest; longer ones are split. Default 10. */
  readonly maxSeconds?: number;
}

/** Options of `detectShots`. */
export interface ShotOptions extends ShotLimits {
  /** Who named the source. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
  /** Called for each decoded frame with the count so far and the total. */
  readonly onProgress?: (frames: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** Consecutive frames between two cuts. */
export interface Shot {
  /** First frame, from 0, and number of frames. */
  readonly first: number;
  readonly count: number;
  /** Start in seconds from the first frame of the video, and duration in seconds. */
  readonly start: number;
  readonly seconds: number;
  /** The video's start, a cut, or a split of a shot that is longer than allowed. */
  readonly begins: 'start' | 'cut' | 'split';
  /** How much its first picture differs from the one before: 0 not at all, 1 entirely. */
  readonly change: number;
}

/** Result of `detectShots`. */
export interface DetectedShots {
  /** Frames of the video, and average frames per second. */
  readonly frames: number;
  readonly frameRate: number;
  /** In order; together they cover all frames. */
  readonly shots: readonly Shot[];
}

/** Formats of tuned shots. `shell` is a POSIX shell script that makes the encode with ffmpeg. */
export const SHOT_FORMATS = ['json', 'csv', 'shell'] as const;
export type ShotFormat = (typeof SHOT_FORMATS)[number];

/** `each`: every shot reaches the targets; `whole`: all frames together do, with the fewest bytes. */
export type ShotGoal = 'each' | 'whole';

/** Options of `tuneShots`. */
export interface TuneShotsOptions
  extends Omit<EncodingOptions, 'full' | 'onStage'>,
    EncoderChoice,
    ShotLimits {
  /** Targets, all of which must be reached. Default: a mean of 95. */
  readonly targets?: readonly QualityTarget[];
  /** Default `each`. */
  readonly goal?: ShotGoal;
  /** Path for the joined shots, with audio and subtitles copied. Ends in .mp4, .m4v, .mov, .mkv or .webm. */
  readonly output?: string;
  /** Write it even if the goal is missed. Default false. */
  readonly keepMissed?: boolean;
  /** Called when a stage begins or progresses. */
  readonly onStage?: (stage: ShotStage) => void;
  /** Called with each shot once its value is known; with the goal `whole`, after the last encode. */
  readonly onShot?: (shot: TunedShot) => void;
}

/** Progress of shot tuning, with the current shot. */
export type ShotStage =
  | (SearchStage & { readonly shot?: number; readonly shots?: number })
  | { readonly kind: 'joining'; readonly shots: number };

/** A shot and the value to encode it with. */
export interface TunedShot extends Shot, Pick<EncodedPoint, 'value' | 'bytes' | 'kbps' | 'pooled'> {
  /** From 1. */
  readonly number: number;
  /** Distance of the shot by itself above the hardest target; negative if it misses one. */
  readonly margin: number;
  /** All known points, from the best picture to the smallest file. */
  readonly points: readonly EncodedPoint[];
}

/** One value for all shots that reaches the same goal, from a normal encode of the whole source. */
export interface SingleSetting {
  /** The value with the smallest file that reaches the goal; the closest one if none does. */
  readonly value: number;
  readonly bytes: number;
  readonly reached: boolean;
}

/** The joined file. Pooled values are of all frames, scored against the source. */
export interface JoinedEncode extends Pick<FinalEncode, 'bytes' | 'kbps' | 'pooled' | 'reached'> {
  readonly file: string;
  /**
   * Largest difference of the first metric from the shots' own scores: inside shots, and at their first and last
   * frames, where motion is measured across the cut.
   */
  readonly difference: { readonly within: number; readonly edges: number };
}

/** Result of `tuneShots`. */
export interface TuneShotsResult
  extends Pick<SearchResult, 'encoder' | 'version' | 'parameter' | 'targets' | 'encodes' | 'cached'> {
  /** The source as given. */
  readonly source: string;
  /** ffmpeg's arguments that open it, if it is a sequence of pictures. */
  readonly opening?: readonly string[];
  /** Presentation time of the first frame in seconds, on the file's own clock. */
  readonly startTime: number;
  /** Seconds by which sound or subtitles begin before the first frame; 0 if none do. */
  readonly lead: number;
  /** For each shot, a time on the file's own clock between its first frame and the one before. */
  readonly seeks: readonly number[];
  readonly goal: ShotGoal;
  readonly shots: readonly TunedShot[];
  readonly reached: boolean;
  /** Distance of the worst shot (for the goal `whole`, the whole) above the hardest target. */
  readonly margin: number;
  /** Of all shots together. */
  readonly bytes: number;
  readonly kbps: number;
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  readonly single: SingleSetting;
  /** Fraction of the single setting's bytes that the shots' settings save; negative if they take more. */
  readonly saving: number;
  readonly final: JoinedEncode | null;
  /** The requested output if it was not written because the goal is missed; else `null`. */
  readonly unwritten: string | null;
  readonly warnings: readonly string[];
  /** Arguments of ffmpeg for each shot, between input and output. */
  readonly args: readonly (readonly string[])[];
}

/**
 * Parses a target in the grammar of gates: `95`, `p5>=90`, `vmaf.p5>=90`, `psnr_y.min>=38`, `cambi.max<=5`.
 * @throws {AnyvmafError} `usage`
 */
export function parseTarget(text: string): QualityTarget {
  const { metric, statistic, relation, bound } = parseLimit(text, 'target');
  return { metric, statistic, ...(relation === '>=' ? { atLeast: bound } : { atMost: bound }) };
}
