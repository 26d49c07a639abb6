/**
 * @module search/types
 * What searches, ladders, comparisons and tuned shots are asked, and what they answer; encoders and targets read from text.
 */
import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import type { Origin } from '../core/origin.js';
import { showValue } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import type { BdResult } from '../report/bd-rate.js';
import { parseLimit } from '../report/limits.js';
import type { PooledMetric } from '../report/types.js';
import type { ParameterName, ValueRange } from './encoders.js';
import type { CompleteTarget, Estimate, QualityTarget, Statistic } from './targets.js';

/** What everything that encodes a source is told. */
export interface EncodingOptions extends Pick<ScoreOptions, 'models' | 'features' | 'threads' | 'signal'> {
  /** Encode the whole source for every point, not samples of it. Default false; `min` and `worst_second` always do. */
  readonly full?: boolean;
  /** Pixel format of the encodes. Default: the source's, or the nearest that the encoder takes. */
  readonly pixelFormat?: string;
  /** Folder for points of earlier searches; false keeps none. Default: the user's cache. */
  readonly cache?: string | false;
  /** Bytes of temporary files at most. Default 8 GB. */
  readonly scratchBytes?: number;
  /** Who named the source. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
  /** Called with what is being done. */
  readonly onStage?: (stage: SearchStage) => void;
}

/** An encoder, and what of it is searched. */
export interface EncoderChoice {
  /** ffmpeg's name of the encoder: `libx264`, `libsvtav1`. */
  readonly encoder: string;
  /** Options of the encoder by name, as ffmpeg has them: `{ preset: 'slow' }`. */
  readonly encoderOptions?: Readonly<Record<string, string>>;
  /** What is searched. Default: the encoder's own scale of constant quality; `bitrate` where it has none. */
  readonly parameter?: ParameterName;
  /** Values to search. Default: all that the encoder has. */
  readonly range?: ValueRange;
}

/** What to encode with, and what to reach. */
export interface SearchOptions extends EncodingOptions, EncoderChoice {
  /** What to reach, all of it. Default: a mean of 95. */
  readonly targets?: readonly QualityTarget[];
  /** Largest value of the first target that will do: a better encode is larger than it need be. */
  readonly atMost?: number;
  /** Largest size of the video track, as a share of the source's. */
  readonly maxSize?: number;
  /** Encode every value of {@link range} instead of searching. Default false. */
  readonly all?: boolean;
  /** Encode the whole source with the value that was found, and score that too. Default false; implied by {@link output}. */
  readonly verify?: boolean;
  /** Where to write the whole source encoded with the value found, sound and subtitles copied. */
  readonly output?: string;
  /** Write it even where it misses the target or another bound. Default false. */
  readonly keepMissed?: boolean;
  /** When it asks to, the search ends with the best that it has, and its result is marked as unfinished. */
  readonly finish?: AbortSignal;
  /** Called as each point is known. */
  readonly onPoint?: (point: SearchPoint) => void;
}

/** What a search is doing. */
export type SearchStage =
  | { readonly kind: 'reading' }
  /** Decodes the source to find where its shots begin. */
  | { readonly kind: 'finding'; readonly frames: number; readonly total: number }
  | { readonly kind: 'cutting'; readonly samples: number; readonly frames: number }
  | {
      readonly kind: 'encoding' | 'scoring';
      readonly encoder: string;
      /** Where pictures are encoded in another size than the source's. */
      readonly size: PictureSize | null;
      readonly value: number;
      readonly whole: boolean;
      /** Frames of it that are done, once some are; the last report has all. */
      readonly frames?: number;
      readonly total?: number;
    };

/** A value that was encoded and scored. */
export interface EncodedPoint {
  readonly value: number;
  /** Bytes of the scored frames. */
  readonly bytes: number;
  /** Kilobits per second of the scored frames. */
  readonly kbps: number;
  /** Pooled values of the metrics that were measured, by name. */
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  /** Frames that were encoded per second of wall-clock time; `null` where that was not kept. */
  readonly framesPerSecond: number | null;
  /** Seconds of wall-clock time that the encode took, also in an earlier search; absent where that was not kept. */
  readonly encodeSeconds?: number;
  /** It was known from an earlier search. */
  readonly cached: boolean;
}

/** A value that was encoded and scored, and how good it is. */
export interface SearchPoint extends EncodedPoint {
  /** The first target's statistic. */
  readonly quality: number;
  /** How far it is above the hardest of the targets; negative where it misses one. */
  readonly margin: number;
}

/** Why the answer is not what was asked for. */
export type SearchShortfall =
  /** No value reaches the targets; `by` is how far the nearest one stays below. */
  | { readonly reason: 'target'; readonly by: number }
  /** The value that reaches the targets makes a file of this share of the source's size. */
  | { readonly reason: 'size'; readonly share: number }
  /** The coarsest value that reaches the targets gives more than `atMost`. */
  | { readonly reason: 'above'; readonly by: number };

/** The answer. */
export interface SearchResult {
  readonly kind: 'search';
  /** Name of the source. */
  readonly source: string;
  readonly encoder: string;
  /** Of ffmpeg and the encoder. */
  readonly version: string;
  readonly parameter: ParameterName;
  /** The value to encode with; the nearest one where {@link shortfall} says why there is none. */
  readonly value: number;
  readonly targets: readonly CompleteTarget[];
  readonly shortfall: SearchShortfall | null;
  /** Every point that is known, from the best picture to the smallest file. */
  readonly points: readonly SearchPoint[];
  /** What the first target's statistic will be of the whole video. */
  readonly predicted: Estimate;
  /** Size of the whole video track that the samples let expect, in bytes. */
  readonly predictedBytes: number;
  /**
   * It was asked to finish before it knew: the value is the best so far. Then values among which the answer lies, to go on with as
   * the range; else `null`.
   */
  readonly unfinished: { readonly min: number; readonly max: number } | null;
  /** Values that are worse although they make larger files: the curve is not monotone there. */
  readonly notMonotone: readonly number[];
  /** Samples as frames of the source; `null` where the whole was encoded. */
  readonly samples: readonly { readonly first: number; readonly count: number }[] | null;
  /** Encodes that this search made, and points that it had from earlier ones. */
  readonly encodes: number;
  readonly cached: number;
  /** Of the final encode, where one was made. */
  readonly final: FinalEncode | null;
  /** The file that was asked for and not written, since it misses what was asked of it. */
  readonly unwritten: string | null;
  /** What of the source the encode does not have, what few players decode, and what was found on scoring it; a sentence each. */
  readonly warnings: readonly string[];
  /** The command that makes the final encode: a program and its arguments. */
  readonly command: readonly string[];
}

/** The whole source, encoded with the value found. */
export interface FinalEncode {
  /** Where it is; `null` where it was made to be scored only. */
  readonly file: string | null;
  readonly bytes: number;
  readonly kbps: number;
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  /** The statistic of each of the targets, in their order. */
  readonly qualities: readonly number[];
  /** Whether it reaches the targets. */
  readonly reached: boolean;
}

/** A result whose points can be drawn. */
export type CurveResult = SearchResult | LadderResult | ComparisonResult;

/** What a result can be written as. */
export type ResultFormat = 'text' | 'json' | 'csv' | 'html';

/**
 * Parses an encoder with its options: `libx264`, `libx264:preset=slow:tune=film`.
 * @throws {AnyvmafError} `usage`
 */
export function parseEncoder(text: string): Required<Pick<EncoderChoice, 'encoder' | 'encoderOptions'>> {
  requireText('text', text, 'an encoder such as libx264:preset=slow');
  const [encoder = '', ...rest] = text.split(':');
  const options = rest.map((option) => /^([^=]+)=(.*)$/s.exec(option));
  if (encoder === '' || options.includes(null)) {
    throw usageError(
      `the encoder is ${showValue(text)}, but it must be ffmpeg's name of one, with options after it where wanted, such as ` +
        'libx264:preset=slow.',
    );
  }
  const pairs = options.map((option) => [option?.[1] ?? '', option?.[2] ?? ''] as const);
  return { encoder, encoderOptions: Object.fromEntries(pairs) };
}

/** What stands for the quality of an encode. */
export interface QualityMeasure {
  /** Name of the metric in a report's frames. Default: that of the first model. */
  readonly metric?: string;
  /** Default `mean`. */
  readonly statistic?: Statistic;
}

/** Where curves of quality over rate are measured. */
export interface CurveOptions extends EncodingOptions, QualityMeasure {
  /**
   * Qualities at which each curve is measured, each searched for. Default: none; then values of the parameter
   * around the encoder's usual one, seven unless the range has a step.
   */
  readonly targets?: readonly number[];
}

/** How rungs are spread: evenly in quality, or evenly in the logarithm of the rate. */
export type Spacing = 'rate' | 'quality';

/** What a ladder is built of. */
export interface LadderOptions extends CurveOptions, EncoderChoice {
  /** Sizes of pictures: whole ones, or heights, whose widths keep the source's shape. None larger than the source. */
  readonly sizes: readonly (PictureSize | number)[];
  /** Rungs to choose, 1 to 32. Default 5. */
  readonly rungs?: number;
  /** Default `rate`. */
  readonly spacing?: Spacing;
  /** Qualities of the lowest and the highest rung. Default: 40 and 96 of a model's score; else, and beyond what was measured, the ends of the hull. */
  readonly between?: { readonly min: number; readonly max: number };
  /** Called as each point is known. */
  readonly onPoint?: (point: LadderPoint) => void;
}

/** An encode of one size. */
export interface LadderPoint extends EncodedPoint, PictureSize {
  /** The statistic of the metric that the ladder goes by, at the source's size. */
  readonly quality: number;
}

/** The curve of one size. */
export interface LadderCurve extends PictureSize {
  /** From the best picture to the smallest file. */
  readonly points: readonly LadderPoint[];
  /** Values that are worse although they make larger files: the curve is not monotone there. */
  readonly notMonotone: readonly number[];
}

/** From which rate on a size is the best one. */
export interface Takeover extends PictureSize {
  /** Kilobits per second; the least measured rate for the first size. */
  readonly kbps: number;
  readonly quality: number;
}

/** The answer of a ladder. */
export interface LadderResult extends Pick<SearchResult, 'encoder' | 'version' | 'parameter' | 'samples'> {
  readonly kind: 'ladder';
  /** Name of the source. */
  readonly source: string;
  readonly metric: string;
  readonly statistic: Statistic;
  readonly spacing: Spacing;
  /** Frames of the source per second, on average. */
  readonly frameRate: number;
  /** A curve for each size, the largest first. */
  readonly curves: readonly LadderCurve[];
  /** Points that no mixture of others beats: corners of the convex hull of quality over rate, by rate. */
  readonly hull: readonly LadderPoint[];
  /** Sizes by the rate from which they are the best one. */
  readonly takeovers: readonly Takeover[];
  /** The rungs, by rate; each was encoded and measured. */
  readonly rungs: readonly LadderPoint[];
  /** Encodes that were made, and points that were known from before. */
  readonly encodes: number;
  readonly cached: number;
  /**
   * The command that encodes all rungs for DASH and HLS: a program and its arguments. `anyvmaf ladder --master master.m3u8` then
   * writes what the streams take into the playlist.
   */
  readonly command: readonly string[];
  /** As in a search's result. */
  readonly warnings: readonly string[];
}

/** An encoder to compare, with a name to tell presets apart. */
export interface ComparedEncoder extends EncoderChoice {
  /** Default: the encoder's name and its options. */
  readonly name?: string;
}

/** What is compared. */
export interface CompareOptions extends CurveOptions {
  /** 1 to 16; all others are compared with the first. */
  readonly encoders: readonly ComparedEncoder[];
  /** Qualities that BD-rates go over. Default: 60 to 97 of a model's score, which people watch; else, and where curves share none of it, all. */
  readonly between?: { readonly min: number; readonly max: number } | undefined;
  /** Called as each point is known. */
  readonly onPoint?: (point: ComparedPoint) => void;
}

/** An encode of one of several encoders. */
export interface ComparedPoint extends EncodedPoint {
  /** The encoder's, as {@link ComparedEncoder} has it. */
  readonly name: string;
  readonly quality: number;
}

/** What an encoder needs for a quality. */
export interface AtTarget {
  readonly target: number;
  /** Value of the parameter; the nearest where none reaches the target. */
  readonly value: number;
  readonly kbps: number;
  readonly quality: number;
  readonly reached: boolean;
  /** Kilobits per second at the target itself, read off the curve; `null` where that does not reach it. */
  readonly kbpsAt: number | null;
}

/** The curve of one encoder. */
export interface ComparedCurve extends Pick<SearchResult, 'encoder' | 'version' | 'parameter'> {
  readonly name: string;
  /** From the best picture to the smallest file. */
  readonly points: readonly ComparedPoint[];
  readonly notMonotone: readonly number[];
  /** For each of the targets, in their order. */
  readonly atTargets: readonly AtTarget[];
  /** Frames that it encoded per second here, over the points that were not known from before; `null` without any. */
  readonly framesPerSecond: number | null;
}

/** An encoder against the first. */
export interface CurveDelta {
  readonly anchor: string;
  readonly test: string;
  /** Mean difference of rate at equal quality, in per cent; `null` where {@link refused} says why. */
  readonly rate: BdResult | null;
  /** Mean difference of quality at equal rate. */
  readonly quality: BdResult | null;
  readonly refused: string | null;
  /**
   * Per cent within which the difference of rate lies with 95 % confidence: whether other parts like those that were measured
   * would come out likewise. Absent where fewer than four parts with enough of both curves were measured.
   */
  readonly rate95?: readonly [low: number, high: number];
}

/** The answer of a comparison. */
export interface ComparisonResult extends Pick<SearchResult, 'samples'> {
  readonly kind: 'comparison';
  readonly source: string;
  readonly metric: string;
  readonly statistic: Statistic;
  readonly curves: readonly ComparedCurve[];
  readonly deltas: readonly CurveDelta[];
  /** The encoder that needs least for equal quality, by its name. */
  readonly least?: string;
  /** Others that the measurement does not tell from it: the 95 % interval of their difference contains 0. */
  readonly ties?: readonly string[];
  readonly encodes: number;
  readonly cached: number;
  /** What went wrong beside the work, a sentence each. */
  readonly warnings: readonly string[];
}

/** What counts as a shot. */
export interface ShotLimits {
  /** Change of the picture at which a cut is one, from 0 to 1. Default 0.3. */
  readonly threshold?: number;
  /** Shortest shot in seconds: weaker cuts near others are left out. Default 0.5. */
  readonly minSeconds?: number;
  /** Longest shot in seconds, at least twice the shortest: longer ones are taken in parts. Default 10. */
  readonly maxSeconds?: number;
}

/** How to find shots. */
export interface ShotOptions extends ShotLimits {
  /** Who named the source. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
  /** Called with each frame that was looked at, and how many there are. */
  readonly onProgress?: (frames: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** Consecutive frames between two cuts. */
export interface Shot {
  /** Its first frame, from 0, and how many it has. */
  readonly first: number;
  readonly count: number;
  /** When its first frame is shown, in seconds from the first of the video, and how long all of it. */
  readonly start: number;
  readonly seconds: number;
  /** The video's start, a cut, or a place in a shot that is longer than allowed. */
  readonly begins: 'start' | 'cut' | 'split';
  /** How much its first picture differs from the one before: 0 nothing, 1 everything. */
  readonly change: number;
}

/** The shots of a video. */
export interface DetectedShots {
  /** Frames of the video, and how many a second on average. */
  readonly frames: number;
  readonly frameRate: number;
  /** In order; together they are all frames. */
  readonly shots: readonly Shot[];
}

/** Forms of a result. `shell` is a script for a POSIX shell that makes the encode with ffmpeg. */
export type ShotFormat = 'json' | 'csv' | 'shell';

/** What is to hold: `each`: every shot reaches the targets; `whole`: all frames together do, with the fewest bytes. */
export type ShotGoal = 'each' | 'whole';

/** What to encode with, and what to reach. */
export interface TuneShotsOptions
  extends Omit<EncodingOptions, 'full' | 'onStage'>,
    EncoderChoice,
    ShotLimits {
  /** What to reach, all of it. Default: a mean of 95. */
  readonly targets?: readonly QualityTarget[];
  /** Default `each`. */
  readonly goal?: ShotGoal;
  /** Where to write the shots joined, sound and subtitles copied. Its name ends in .mp4, .m4v, .mov, .mkv or .webm. */
  readonly output?: string;
  /** Write it even where the goal is missed. Default false. */
  readonly keepMissed?: boolean;
  /** Called with what is being done. */
  readonly onStage?: (stage: ShotStage) => void;
  /** Called with each shot once its value is known; with the goal `whole`, after the last encode. */
  readonly onShot?: (shot: TunedShot) => void;
}

/** What is being done, and in which shot. */
export type ShotStage =
  | (SearchStage & { readonly shot?: number; readonly shots?: number })
  | { readonly kind: 'joining'; readonly shots: number };

/** A shot, and what to encode it with. */
export interface TunedShot extends Shot {
  /** From 1. */
  readonly number: number;
  /** The value to encode with. */
  readonly value: number;
  /** Of the shot encoded so. */
  readonly bytes: number;
  readonly kbps: number;
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  /** How far it is above the hardest of the targets by itself; negative where it misses one. */
  readonly margin: number;
  /** Every point that is known, from the best picture to the smallest file. */
  readonly points: readonly EncodedPoint[];
}

/** One value for all shots that reaches the same goal, in a normal encode of the whole that was made and scored. */
export interface SingleSetting {
  /** The largest such value; the nearest one where none reaches it. */
  readonly value: number;
  readonly bytes: number;
  /** Whether it reaches the goal. */
  readonly reached: boolean;
}

/** The joined file. */
export interface JoinedEncode {
  readonly file: string;
  readonly bytes: number;
  readonly kbps: number;
  /** Of all frames, scored against the source. */
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  /** Whether it reaches the goal. */
  readonly reached: boolean;
  /**
   * Largest difference of the first metric from the shots' own scores: within shots, and at their first and last frames, where
   * motion is measured across the cut.
   */
  readonly difference: { readonly within: number; readonly edges: number };
}

/** The answer. */
export interface TuneShotsResult {
  /** The source as it was named. */
  readonly source: string;
  /** Seconds at which its first frame is shown, by the file's own clock. */
  readonly startTime: number;
  readonly encoder: string;
  /** Of ffmpeg and the encoder. */
  readonly version: string;
  readonly parameter: ParameterName;
  readonly goal: ShotGoal;
  readonly targets: readonly CompleteTarget[];
  readonly shots: readonly TunedShot[];
  /** Whether the goal is reached. */
  readonly reached: boolean;
  /** How far the worst shot (or, with the goal `whole`, the whole) is above the hardest target. */
  readonly margin: number;
  /** Of all shots together. */
  readonly bytes: number;
  readonly kbps: number;
  readonly pooled: Readonly<Record<string, PooledMetric>>;
  readonly single: SingleSetting;
  /** Share of the single setting's bytes that the shots' settings save; negative where they take more. */
  readonly saving: number;
  /** Encodes that were made, and points that were known from earlier runs. */
  readonly encodes: number;
  readonly cached: number;
  /** The joined file, where one was made. */
  readonly final: JoinedEncode | null;
  /** The file that was asked for and not written, since the goal is missed. */
  readonly unwritten: string | null;
  /** As in a search's result. */
  readonly warnings: readonly string[];
  /** Arguments of ffmpeg for each shot, between its input and its output. */
  readonly args: readonly (readonly string[])[];
}

/**
 * Parses a target as people write it, in the grammar of gates: `95`, `p5>=90`, `vmaf.p5>=90`, `psnr_y.min>=38`,
 * `cambi.max<=5`.
 * @throws {AnyvmafError} `usage`
 */
export function parseTarget(text: string): QualityTarget {
  const { metric, statistic, relation, bound } = parseLimit(text, 'target');
  if (statistic === 'worst_second' && relation === '<=')
    throw usageError(
      `the target is ${showValue(text)}, but a search knows worst seconds only of metrics whose low values are the worse; use max.`,
    );
  return { metric, statistic, ...(relation === '>=' ? { atLeast: bound } : { atMost: bound }) };
}
