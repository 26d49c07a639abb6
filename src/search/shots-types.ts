/**
 * @module search/shots-types
 * What a division into shots and the tuning of each are asked, and what they answer.
 */
import type { Origin } from '../core/origin.js';
import type { PooledMetric } from '../report/types.js';
import type { ParameterName } from './encoders.js';
import type { CompleteTarget, QualityTarget } from './targets.js';
import type { EncodedPoint, EncoderChoice, EncodingOptions, SearchStage } from './types.js';

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
export const SHOT_FORMATS = ['json', 'csv', 'shell'] as const;
export type ShotFormat = (typeof SHOT_FORMATS)[number];

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
