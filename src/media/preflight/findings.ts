/**
 * @module media/preflight/findings
 * What preflight finds: codes and types of findings, and of the facts that they are made from.
 */
import type { FfmpegCommand, Hint } from '../../core/errors.js';
import type { BothOf, VideoFormat } from '../../core/frame.js';
import type { OptionsOf } from '../../core/options.js';
import type { PictureSize } from '../../core/size.js';
import type { TrackFacts } from '../decoder.js';
import type { FieldStep } from '../evidence/fields.js';
import type { Framing } from '../evidence/framing.js';
import type { AlignResult } from '../pairing/types.js';

/** Every code of a {@link Finding}. Names and meanings are stable; docs/preflight.md explains each and its fix. */
export const FINDING_CODES = [
  // Pictures
  ...['raw-geometry', 'size', 'sample-aspect', 'display-aspect'],
  ...['rotation', 'crop', 'framing', 'black-borders'],
  // Time
  ...['frame-rate', 'no-frame-rate', 'frame-count', 'lost-frames', 'duration', 'variable-frame-rate'],
  ...['missing-frames', 'duplicate-frames', 'clock-set-back', 'interlaced'],
  ...['offset', 'offset-unclear', 'unrelated'],
  // Samples
  ...['bit-depth', 'chroma-format', 'color-range', 'levels', 'chroma', 'primaries', 'transfer', 'matrix'],
  ...['dynamic-range', 'dolby-vision', 'hdr', 'film-grain'],
  // The comparison as a whole
  ...['identical', 'tracks', 'swapped', 'model-size', 'viewing-distance'],
  // The whole run
  ...['slip', 'freeze', 'unwatched'],
  // Preflight itself
  'unchecked',
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

/**
 * `error`: the pair cannot be compared as requested. `warning`: the score probably does not mean what the user
 * thinks; `strict` makes it an error. `info`: frames were converted, or something else is worth knowing.
 */
export type Severity = 'error' | 'warning' | 'info';

/** A value as in the report; `null` if the video does not state it. */
export type FindingValue = string | number | boolean | null;

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** A full sentence with both values and their effect on the score. */
  readonly message: string;
  /** The reference's value; absent if the finding is not about one. */
  readonly reference?: FindingValue;
  readonly distorted?: FindingValue;
  /**
   * {@link hint} as text: an option in the API's notation (`offset: 12`; report writers may use another), else an
   * ffmpeg command that prepares one of the files.
   */
  readonly fix?: string;
  /** The fix as data; absent if there is nothing to do, and in findings read from a report. */
  readonly hint?: Hint;
  /** Code of the finding that explains this one, which is then an info without a fix: fixing the cause fixes both. */
  readonly follows?: FindingCode;
  /** Places in the run, at most the first 50. */
  readonly places?: readonly FindingPlace[];
}

export interface FindingPlace {
  /** Number of the first affected pair, as in the report's frames. */
  readonly frame: number;
  /** `slip`: frames that distorted runs further ahead, negative if behind. `freeze`: number of repeated pairs. */
  readonly frames: number;
}

/** Black borders around the picture, in samples. */
export type Borders = Readonly<Record<'left' | 'top' | 'right' | 'bottom', number>>;

/** Measurements of a few frames spread over a video. */
export interface SideMeasurements {
  /** 0-based numbers of the measured frames, or of their pairs if both videos use these. */
  readonly frames: readonly number[];
  /** {@link sharpness} of each; `null` for a frame without contrast. */
  readonly sharpness: readonly (number | null)[];
  /**
   * Borders that are black in all frames bright enough to judge; `null` if none is. `certain` includes only black,
   * `possible` also dark samples, so that night skies cause no findings.
   */
  readonly borders: { readonly certain: Borders; readonly possible: Borders } | null;
  /** Each frame shrunk to 16 x 16 averages in 8-bit levels, whatever its aspect ratio. */
  readonly squares?: readonly Float32Array[];
  /** The same with 64 x 64 averages, to detect enlarged parts. */
  readonly pictures?: readonly Float32Array[];
  /** Consecutive frames compared at these places, if frames of the stored size were read. */
  readonly fields?: readonly FieldStep[];
  /** Cb and Cr of each frame in 16 x 16 averages, 128 for grey; `null` for a frame without chroma. */
  readonly chroma?: readonly (ChromaSquares | null)[];
}

export interface ChromaSquares {
  readonly cb: Float32Array;
  readonly cr: Float32Array;
}

/** Members of {@link TrackFacts} that Y4M and raw files lack. */
type Optional = Omit<TrackFacts, keyof VideoFormat | 'name' | 'frameCount' | 'container'>;

/** One of the two videos: `TrackFacts` or `VideoInfo` with times and measurements. */
export interface SideFacts extends VideoFormat, Partial<Optional> {
  readonly name: string;
  readonly container?: string;
  /** Settings that x264 or x265 recorded in the stream. */
  readonly encoderSettings?: string;
  readonly frameCount: number | null;
  /** Presentation times of all frames in seconds, ascending. */
  readonly timestamps?: Float64Array | null;
  /** Seconds at which the file's clock jumps back; {@link timestamps} continue regardless. */
  readonly setBacks?: readonly number[];
  readonly measured?: SideMeasurements;
}

export interface ModelInUse {
  /** Built-in version (`vmaf_v0.6.1`), path or key; the name determines the model's screen. */
  readonly name: string;
}

/** How the two will be compared. Options that the user set suppress their warnings. */
export interface PreflightContext extends Omit<OptionsOf<'pair'>, 'offset'> {
  /** Default: one model, vmaf_v0.6.1. Empty: features only. */
  readonly models?: readonly ModelInUse[];
  /** Extractors that run. Default: those of the models. */
  readonly extractors?: readonly string[];
  /** Extractors that treat frames without a rate as stills, written as features with a rate. */
  readonly rated?: readonly string[];
  /** Default: the reference's size. */
  readonly comparedSize?: PictureSize;
  /** Distorted frame i is compared with reference frame i + offset. Default 0. */
  readonly offset?: number;
  /** Frames skipped at the start of each, before the offset. Default: none. */
  readonly skipped?: { readonly reference: number; readonly distorted: number };
  /** True if the offset comes from the alignment, not from the user. */
  readonly offsetSearched?: boolean;
  /** True if the user selected a part of the videos (`range`, `frameCount`), so that lengths may differ. */
  readonly partial?: boolean;
  /** True if each video is converted to light by its own range, matrix and transfer, which may then differ. */
  readonly light?: boolean;
  /** Alignment of the first seconds, if checked. */
  readonly alignment?: AlignResult;
  /** Set if pixels show that one video is a crop of the other; absent if scaling fits as well. */
  readonly framing?: Framing;
}

export type Values = readonly [reference: FindingValue, distorted: FindingValue];

export type Both = BothOf<SideFacts>;

export type Role = FfmpegCommand['side'];

/** Both videos, and how they will be compared. */
export interface PairFacts extends Both, PreflightContext {}
