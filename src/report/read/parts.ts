/**
 * @module report/read/parts
 * What the readers of the formats hand over: what stands in the file, and nothing else.
 */
import type { FrameMetrics, Report } from '../types.js';

/** Keys of a report that hold measured values. */
export type Measured = 'frames' | 'metrics' | 'pooled_metrics' | 'aggregate_metrics' | 'distribution';

/** A report as one file has it; what it lacks is absent. */
export interface SavedParts extends Partial<Omit<Report, 'frames'>> {
  /** In the order of the file. */
  readonly frames: readonly FrameMetrics[];
  /** What a reader of the file should know, full sentences. */
  readonly notes: readonly string[];
}
