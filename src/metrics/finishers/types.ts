/**
 * @module metrics/finishers/types
 * What every extractor's last step has in common: records in, features out.
 */

import type { VideoFormat } from '../../core/frame.js';
import type { MetricVariant } from '../../core/kernel.js';
import type { ExtractorInstance } from '../options.js';

/**
 * Hands over the value of a feature of a frame, both by number and internal name. Features that the run does not emit
 * and frames that it does not list are ignored, so a finisher offers all it has.
 */
export type Emit = (frame: number, feature: string, value: number) => void;

/** Turns the measurements of one extractor instance into its features, frame by frame in order. */
export interface ExtractorFinisher {
  /**
   * Takes the next frame.
   * @param record the frame's record from this instance's first double on
   */
  push(frame: number, record: Float64Array, emit: Emit): void;
  /** Ends the sequence: emits what had to wait for later frames. */
  flush?(emit: Emit): void;
  /** Values for the whole sequence by internal name. */
  aggregates?(): Readonly<Record<string, number>>;
}

/** An extractor that is one metric of the core and a last step. */
export interface FurtherExtractor {
  /**
   * What to measure for an instance; `null` when its features need no measurement.
   * @throws {AnyvmafError} `feature` when the extractor cannot work on the format or with its options
   */
  measure(instance: ExtractorInstance, format: VideoFormat): MetricVariant | null;
  /** The last step of an instance, from what {@link measure} asked for. */
  finish(instance: ExtractorInstance, format: VideoFormat): ExtractorFinisher;
}
