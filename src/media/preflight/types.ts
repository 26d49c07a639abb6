/**
 * @module media/preflight/types
 * Types of preflight: facts and measurements of two videos in, findings out.
 */

import type { VideoFormat } from '../../core/frame.js';
import type { Hint } from '../../core/hint.js';
import type { OptionsOf } from '../../core/options.js';
import type { PictureSize } from '../../core/size.js';
import type { AlignResult } from '../align/types.js';
import type { TrackFacts } from '../decoder.js';
import type { FieldStep } from '../evidence/fields.js';
import type { Framing } from '../evidence/framing.js';

export type { FfmpegCommand, Hint, OptionHint, PrepareHint } from '../../core/hint.js';

/**
 * Every code of a {@link Finding}. Codes are stable: their names and meanings never change. docs/preflight.md explains
 * each and what to do.
 */
export const FINDING_CODES = [
  // Pictures
  'raw-geometry',
  'size',
  'sample-aspect',
  'display-aspect',
  'rotation',
  'crop',
  'framing',
  'black-borders',
  // Time
  'frame-rate',
  'no-frame-rate',
  'frame-count',
  'lost-frames',
  'duration',
  'variable-frame-rate',
  'missing-frames',
  'duplicate-frames',
  'clock-set-back',
  'interlaced',
  'offset',
  'offset-unclear',
  'unrelated',
  // Samples
  'bit-depth',
  'chroma-format',
  'color-range',
  'levels',
  'chroma',
  'primaries',
  'transfer',
  'matrix',
  'dynamic-range',
  'dolby-vision',
  'hdr',
  'film-grain',
  // The comparison as a whole
  'identical',
  'tracks',
  'swapped',
  'model-size',
  'viewing-distance',
  // The whole run
  'slip',
  'freeze',
  'unwatched',
  // Preflight itself
  'unchecked',
] as const;

/** The code of a finding. */
export type FindingCode = (typeof FINDING_CODES)[number];

/**
 * `error`: the pair cannot be compared as asked. `warning`: the score probably does not mean what the user thinks;
 * `strict` makes it an error. `info`: frames were changed, or something is worth knowing.
 */
export type Severity = 'error' | 'warning' | 'info';

/** A value as in the report; `null` if the video does not state it. */
export type FindingValue = string | number | boolean | null;

/** A fact about a pair that the user should know. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** A full sentence with both values and their effect on the score. */
  readonly message: string;
  /** The reference's value; absent if the finding is not about one. */
  readonly reference?: FindingValue;
  readonly distorted?: FindingValue;
  /**
   * {@link hint} as text: an option in the API's notation (`offset: 12`; a report's writer may use another), or, if no
   * option helps, an ffmpeg command that prepares one of the files. Absent if there is nothing to do.
   */
  readonly fix?: string;
  /** The fix as data; absent if there is nothing to do, and in findings read from a report. */
  readonly hint?: Hint;
  /**
   * Code of the finding that explains this one. It is then an info without a fix: what resolves the other resolves both.
   */
  readonly follows?: FindingCode;
  /** Places in the run, at most the first 50. */
  readonly places?: readonly FindingPlace[];
}

/** A place in a run. */
export interface FindingPlace {
  /** Number of the first affected pair, as in the report's frames. */
  readonly frame: number;
  /**
   * `slip`: frames by which the distorted video runs further ahead from there on, negative if it falls behind.
   * `freeze`: number of pairs that repeat the previous picture.
   */
  readonly frames: number;
}

/** Black borders around the picture, in samples. */
export interface Borders {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Measurements of the luma of a few frames spread over a video. */
export interface SideMeasurements {
  /** 0-based numbers of the measured frames, or of their pairs if both videos use these. */
  readonly frames: readonly number[];
  /** {@link sharpness} of each; `null` for a frame without contrast. */
  readonly sharpness: readonly (number | null)[];
  /**
   * Borders that are black in all frames bright enough to judge; `null` if no frame was. `certain` includes only black,
   * `possible` also dark samples, so that night skies cause no findings.
   */
  readonly borders: { readonly certain: Borders; readonly possible: Borders } | null;
  /** Each frame shrunk to 16 x 16 averages in 8-bit levels, whatever its shape. */
  readonly squares?: readonly Float32Array[];
  /** Each frame shrunk to 64 x 64 averages likewise, to see which part of a picture it shows. */
  readonly pictures?: readonly Float32Array[];
  /** Steps between consecutive frames at these places, as far as pictures of their stored size were read. */
  readonly fields?: readonly FieldStep[];
  /** Cb and Cr of each frame shrunk likewise, 128 where there is no colour; `null` for a frame without chroma. */
  readonly chroma?: readonly (ChromaSquares | null)[];
}

/** Averages of both chroma planes in 8-bit levels. */
export interface ChromaSquares {
  readonly cb: Float32Array;
  readonly cr: Float32Array;
}

/** Members of {@link TrackFacts} that Y4M and raw files lack are optional here. */
type Optional = Omit<TrackFacts, keyof VideoFormat | 'name' | 'frameCount' | 'container'>;

/**
 * One of the two videos: a `TrackFacts` or a `VideoInfo`, with measurements added:
 * `{ ...facts, timestamps, measured }`.
 */
export interface SideFacts extends VideoFormat, Partial<Optional> {
  readonly name: string;
  readonly container?: string;
  /** What its encoder, x264 or x265, says of how it encoded. */
  readonly encoderSettings?: string;
  readonly frameCount: number | null;
  /** Presentation times of all frames in seconds, ascending. */
  readonly timestamps?: Float64Array | null;
  /** Seconds at which the file's clock is set back; {@link timestamps} continue as if it was not. */
  readonly setBacks?: readonly number[];
  readonly measured?: SideMeasurements;
}

/** A model of the run. */
export interface ModelInUse {
  /** Built-in version (`vmaf_v0.6.1`), path or key; the name determines the model's screen. */
  readonly name: string;
  /** Viewing distance in screen heights from a feature option; overrides the name. */
  readonly viewingDistance?: number;
}

/** How the two will be compared: as the user asks, whose explicit options suppress their warnings, and what came of it. */
export interface PreflightContext extends Omit<OptionsOf<'pair'>, 'offset'> {
  /** Default: one model, vmaf_v0.6.1. Empty: features only. */
  readonly models?: readonly ModelInUse[];
  /** Names of the extractors that run. Default: those of the models. */
  readonly extractors?: readonly string[];
  /** Those of them that take frames without a rate for stills, as features with a rate. */
  readonly rated?: readonly string[];
  /** The compared size. Default: the reference's. */
  readonly comparedSize?: PictureSize;
  /** Distorted frame i is compared with reference frame i + offset. Default 0. */
  readonly offset?: number;
  /** Frames left out at the start of each, before the offset. Default: none. */
  readonly skipped?: { readonly reference: number; readonly distorted: number };
  /** True if the offset is from the alignment, not from the user. */
  readonly offsetSearched?: boolean;
  /** True if the user selected a part of the videos (`range`, `frameCount`): lengths may differ. */
  readonly partial?: boolean;
  /** True if each video becomes light by its own range, matrix and transfer, which may differ. */
  readonly light?: boolean;
  /** Result of the alignment check on the first seconds, if it ran. */
  readonly alignment?: AlignResult;
  /** What pixels say of videos whose sizes differ: that one shows a part of the other. Absent if scaling fits as well. */
  readonly framing?: Framing;
  /** Viewing distance in screen heights, if the user set it. */
  readonly viewingDistance?: number;
}
