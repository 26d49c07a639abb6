/**
 * @module queue/protocol
 * Messages between a worker and the processes that score for it.
 */
import type { ErrorCode } from '../core/errors.js';
import type { ScoredPair } from './run-task.js';
import type { QueueJob, Stored } from './types.js';

/** What a scoring process may touch. */
export interface ScoringRules {
  /** Real paths of the folders whose files may be read. */
  readonly allow: readonly string[];
  /** Hosts whose files may be read by URL, and below which results may be. */
  readonly hosts: readonly string[];
  /** The folder of results, or its URL. */
  readonly results?: string;
  /** Most threads of a run. */
  readonly threads: number;
}

/** Something to do. */
export type ScoringWork =
  | { readonly kind: 'pair'; readonly job: QueueJob }
  | { readonly kind: 'part'; readonly job: QueueJob; readonly number: number; readonly count: number }
  | {
      readonly kind: 'merge';
      readonly job: QueueJob;
      readonly parts: readonly (readonly [number: number, part: Stored])[];
    };

/** To a scoring process. */
export type ToScoring =
  | { readonly kind: 'rules'; readonly rules: ScoringRules }
  | { readonly kind: 'work'; readonly ticket: number; readonly work: ScoringWork }
  | { readonly kind: 'stop'; readonly ticket: number };

/** What came of work. */
export interface ScoringResult {
  readonly scored?: ScoredPair;
  readonly count?: number;
  readonly part?: Stored;
  readonly lost?: readonly number[];
}

/** From a scoring process. */
export type FromScoring =
  | { readonly kind: 'progress'; readonly ticket: number; readonly frames: number }
  | { readonly kind: 'done'; readonly ticket: number; readonly result: ScoringResult }
  | {
      readonly kind: 'failed';
      readonly ticket: number;
      readonly code: ErrorCode;
      readonly message: string;
      /** It took longer than it may: no reason to try again. */
      readonly late?: boolean;
    };
