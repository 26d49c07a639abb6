/**
 * @module media/preflight/types
 * What preflight looks at and what it says: facts and measurements of two videos in, findings out.
 */
import type { FrameRatePolicy, ScaleFilter } from '../../core/choices.js';
import type { VideoFormat } from '../../core/frame.js';
import type { Hint } from '../../core/hint.js';
import type { AlignResult } from '../align/types.js';
import type { TrackFacts } from '../decoder.js';

export type { FfmpegCommand, Hint, OptionHint, PrepareHint } from '../../core/hint.js';

/**
 * Every code that a {@link Finding} may have. Codes are stable: one is never renamed or given another meaning.
 * docs/preflight.md says what each means and what to do.
 */
export const FINDING_CODES = [
  // Pictures
  'raw-geometry',
  'size',
  'sample-aspect',
  'display-aspect',
  'rotation',
  'crop',
  'black-borders',
  // Time
  'frame-rate',
  'frame-count',
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
  'primaries',
  'transfer',
  'matrix',
  'hdr',
  // The comparison as a whole
  'identical',
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

/** What a finding is about. */
export type FindingCode = (typeof FINDING_CODES)[number];

/**
 * `error`: the pair cannot be compared as asked. `warning`: the score probably does not mean what the user thinks;
 * `strict` makes it an error. `info`: something was done to the frames, or is worth knowing.
 */
export type Severity = 'error' | 'warning' | 'info';

/** A value as the report shows it; `null` where the video does not say. */
export type FindingValue = string | number | boolean | null;

/** One thing about a pair that its user should know. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** One full sentence with both values, and what they mean for the score. */
  readonly message: string;
  /** What was found in the reference; absent where the finding is not about a value of it. */
  readonly reference?: FindingValue;
  readonly distorted?: FindingValue;
  /**
   * {@link hint} in words: an option as programs write it (`offset: 12`; a report's writer may have named it otherwise), or,
   * where none helps, an ffmpeg command that prepares one of the files. Absent where nothing needs to be done.
   */
  readonly fix?: string;
  /** What resolves it, as data; absent where nothing needs to be done, and from findings read from a report. */
  readonly hint?: Hint;
  /** Where in the run it was found; the first 50 places at most. */
  readonly places?: readonly FindingPlace[];
}

/** A place in a run. */
export interface FindingPlace {
  /** Number of the first pair concerned, as in the report's frames. */
  readonly frame: number;
  /**
   * `slip`: frames by which the distorted video runs further ahead from there on, negative where it falls behind.
   * `freeze`: pairs that repeat the picture before.
   */
  readonly frames: number;
}

/** Rows and columns of black around the picture, in samples. */
export interface Borders {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What the luma of a few frames spread over a video shows. */
export interface SideMeasurements {
  /** 0-based numbers of the frames looked at, or of the pairs that they were in, where both videos are told alike. */
  readonly frames: readonly number[];
  /** {@link sharpness} of each; `null` of a frame without contrast. */
  readonly sharpness: readonly (number | null)[];
  /**
   * Borders black in all frames bright enough to tell; `null` when none was. `certain` counts only what is certainly
   * black, `possible` also what is merely dark, so that night skies do not make findings.
   */
  readonly borders: { readonly certain: Borders; readonly possible: Borders } | null;
  /** Each frame shrunk to 16 x 16 averages in 8-bit levels, whatever its shape. */
  readonly squares?: readonly Float32Array[];
}

/** Members of {@link TrackFacts} that a Y4M or raw file does not have are optional here. */
type Optional = Omit<TrackFacts, keyof VideoFormat | 'name' | 'frameCount' | 'container'>;

/**
 * One of the two videos. A `TrackFacts` or a `VideoInfo` is one as it is; add what was measured:
 * `{ ...facts, timestamps, measured }`.
 */
export interface SideFacts extends VideoFormat, Partial<Optional> {
  readonly name: string;
  readonly container?: string;
  readonly frameCount: number | null;
  /** Presentation times of all frames in seconds, ascending. */
  readonly timestamps?: Float64Array | null;
  /** Seconds at which the file's clock is set back, where it is; {@link timestamps} count on as if it had not been. */
  readonly setBacks?: readonly number[];
  readonly measured?: SideMeasurements;
}

/** A model of the run. */
export interface ModelInUse {
  /** Built-in version (`vmaf_v0.6.1`), path or key; what stands in it decides which screen it is for. */
  readonly name: string;
  /** Screen heights between viewer and screen that a feature option asks for; overrides what the name says. */
  readonly viewingDistance?: number;
}

/** How the two are going to be compared. What the user asked for by an option is no longer warned of. */
export interface PreflightContext {
  /** Default: one model, vmaf_v0.6.1. Empty: features only. */
  readonly models?: readonly ModelInUse[];
  /** `scale`, when the user gave it. Without it different sizes are scaled bicubic, with a warning. */
  readonly scale?: 'none' | ScaleFilter;
  /** The size at which frames are compared. Default: the reference's. */
  readonly comparedSize?: { readonly width: number; readonly height: number };
  /** `frameRatePolicy`, when the user gave it. */
  readonly frameRatePolicy?: FrameRatePolicy;
  /** Frame i of the distorted video is compared with frame i + offset of the reference. Default 0. */
  readonly offset?: number;
  /** Whether the offset is what the alignment says, and not one that the user gave. */
  readonly offsetSearched?: boolean;
  /** True when the frames are deliberately part of the videos (`range`, `frameCount`): lengths need not agree. */
  readonly partial?: boolean;
  /** Result of the alignment check on the first seconds, when it ran. */
  readonly alignment?: AlignResult;
  /** Screen heights between viewer and screen, when the user said so. */
  readonly viewingDistance?: number;
}
