/**
 * @module engine/measure/measurement
 * The interface of backends: opened once models are known, planned once the format is.
 */
import type { OpenPair } from '../../media/pairing/prepare.js';
import type { ReportParts } from '../../report/build.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { Continuity } from '../inputs/continuity.js';
import type { Extent } from '../pair/pair.js';
import type { RequestedModels } from '../plan/plan.js';
import type { Meter } from '../results/progress.js';

/** What a backend contributes to the report. */
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

/** What a backend reports once its first frame is measured. */
export type MeasurementStart = Pick<
  Measured,
  'models' | 'tiny' | 'compat' | 'backend_used' | 'implementation' | 'native' | 'threads'
> & {
  /** In the report's order. */
  readonly metrics: readonly string[];
};

export interface OpenBackend {
  /** Models that predict, for the checks of the pair. */
  readonly requested: RequestedModels;
  /** @throws {AnyvmafError} if the pair's format cannot be measured */
  plan(pair: OpenPair): PlannedMeasurement;
}

export interface PlannedMeasurement {
  /** Whether the calling thread is free while measuring. */
  isAside(expected: number | null): boolean;
  /** Measures all pairs. Call once. */
  measure(work: MeasurementWork): Promise<Measured>;
  /** Aborts, and waits until everything is released. May be called after the end. */
  close(): Promise<void>;
}

/** Raw measurements of some pairs of a run. */
export type Recorded = Pick<
  Measured,
  'extent' | 'backend_used' | 'implementation' | 'measurers' | 'threads' | 'warnings'
> & {
  readonly sessions: readonly TinySessionFacts[];
};

export interface MeasurementWork {
  /** The pair to read: the planned one, perhaps observed. */
  readonly pair: OpenPair;
  /** Number of the first pair to measure. Default 0. */
  readonly first?: number;
  /** Most pairs, as far as known. */
  readonly expected: number | null;
  /** Pairs after which to stop; `null` for the end of the videos. */
  readonly bound: number | null;
  readonly meter: Meter;
  /** Takes signatures of pairs that only workers read. */
  readonly continuity?: Continuity;
  /** Call once, before the first frame is reported. */
  readonly onStart: (start: MeasurementStart) => void;
}
