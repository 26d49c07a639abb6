/**
 * @module search/ladder-types
 * What a ladder of sizes and a comparison of encoders are asked, and what they answer.
 */
import type { PictureSize } from '../core/size.js';
import type { BdResult } from '../report/bd-rate.js';
import type { Statistic } from './targets.js';
import type { EncodedPoint, EncoderChoice, EncodingOptions, SearchResult } from './types.js';

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
export const SPACINGS = ['rate', 'quality'] as const;
export type Spacing = (typeof SPACINGS)[number];

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
}

/** The answer of a comparison. */
export interface ComparisonResult extends Pick<SearchResult, 'samples'> {
  readonly kind: 'comparison';
  readonly source: string;
  readonly metric: string;
  readonly statistic: Statistic;
  readonly curves: readonly ComparedCurve[];
  readonly deltas: readonly CurveDelta[];
  readonly encodes: number;
  readonly cached: number;
  /** What went wrong beside the work, a sentence each. */
  readonly warnings: readonly string[];
}
