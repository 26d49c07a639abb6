/**
 * @module search/types
 * What a search for an encoder's setting is asked, and what it answers.
 */

import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import type { Origin } from '../core/origin.js';
import { showValue } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import type { PooledMetric } from '../report/types.js';
import type { ParameterName, ValueRange } from './encoders.js';
import type { Estimate } from './estimate.js';
import type { CompleteTarget, QualityTarget } from './targets.js';

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
