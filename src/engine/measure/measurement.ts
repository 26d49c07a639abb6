/**
 * @module engine/measure/measurement
 * What measures the frames of a run, whichever backend it is: opened once models are known, planned once the format is.
 */
import type { OpenPair } from '../../media/pairing/prepare.js';
import type { ReportParts } from '../../report/build.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { Continuity } from '../inputs/continuity.js';
import type { Extent } from '../pair/pair.js';
import type { RequestedModels } from '../plan/plan.js';
import type { Meter } from '../results/progress.js';

/** What was measured, as far as the report has it from the backend. */
export type Measured = Pick<
  ReportParts,
  | 'frameNumbers'
  | 'series'
  | 'aggregates'
  | 'pooled'
  | 'models'
  | 'tiny'
  | 'compat'
  | 'backend_used'
  | 'implementation'
  | 'native'
  | 'measurers'
  | 'swaps'
  | 'threads'
  | 'warnings'
> & { readonly extent: Extent };

/** What a backend knows of a run once its first frame is measured. */
export type MeasurementStart = Pick<
  Measured,
  'models' | 'tiny' | 'compat' | 'backend_used' | 'implementation' | 'native' | 'threads'
> & {
  /** Names of the metrics, in the report's order. */
  readonly metrics: readonly string[];
};

/** A backend with the models of a run. */
export interface OpenBackend {
  /** Models that predict, for the checks of the pair. */
  readonly requested: RequestedModels;
  /**
   * Prepares for a pair.
   * @throws {AnyvmafError} when its format cannot be measured
   */
  plan(pair: OpenPair): PlannedMeasurement;
}

/** A run that can start. */
export interface PlannedMeasurement {
  /** Whether the calling thread is free while measuring. */
  isAside(expected: number | null): boolean;
  /** Measures all pairs; called once. */
  measure(work: MeasurementWork): Promise<Measured>;
  /** Aborts and waits until all is released. May be called after its end. */
  close(): Promise<void>;
}

/** Raw measurements of some pairs of a run. */
export type Recorded = Pick<
  Measured,
  'extent' | 'backend_used' | 'implementation' | 'measurers' | 'threads' | 'warnings'
> & {
  /** Facts of picture models' sessions. */
  readonly sessions: readonly TinySessionFacts[];
};

/** Inputs of measuring. */
export interface MeasurementWork {
  /** The pair as it is to be read: the one that was planned, perhaps observed. */
  readonly pair: OpenPair;
  /** Number of the first pair to measure. Default 0. */
  readonly first?: number;
  /** Pairs there are at most, as far as is known. */
  readonly expected: number | null;
  /** Pairs after which to stop, `null` for the end of the videos. */
  readonly bound: number | null;
  readonly meter: Meter;
  /** Takes signatures of pairs that only workers read. */
  readonly continuity?: Continuity;
  /** Call once, before the first frame is reported. */
  readonly onStart: (start: MeasurementStart) => void;
}
