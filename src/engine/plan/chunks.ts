/**
 * @module engine/plan/chunks
 * Splits a run into chunks and chooses the number of workers.
 */

import type { ExtractionPlan } from '../backends/types.js';
import type { Chunk } from '../contract/protocol.js';

/** Longest chunk if the caller sets no size. */
const LONGEST = 16;
/** Chunk size while the number of frames is unknown. */
const WITHOUT_TOTAL = 8;

/**
 * Yields chunks in order, endlessly while the total is unknown. With several workers, sizes shrink towards the end, so
 * that all finish at about the same time.
 * @param total the pair after the last, `null` while unknown
 */
export function* cutChunks(
  total: number | null,
  workers: number,
  fixed?: number,
  from = 0,
): Generator<Chunk, void> {
  for (let first = from; total === null || first < total; ) {
    const left = total === null ? Number.POSITIVE_INFINITY : total - first;
    const fair =
      total === null
        ? WITHOUT_TOTAL
        : Math.min(LONGEST, workers === 1 ? left : Math.ceil(left / (2 * workers)));
    const count = Math.min(left, fixed ?? fair);
    yield { first, count };
    first += count;
  }
}

/** Whether a busy worker may queue this chunk: what follows must still even out that it is behind by as much. */
export function mayWait({ first, count }: Chunk, total: number | null, workers: number): boolean {
  return workers === 1 || (total !== null && total - first - count >= workers * count);
}

/** Limits workers to those that get a chunk. @param longest pairs per chunk, if that does not depend on the workers */
export function usefulThreads(threads: number, total: number | null, longest = 1): number {
  return total === null ? threads : Math.min(threads, Math.max(1, Math.ceil(total / longest)));
}

/** Milliseconds of work that justify starting a worker. */
const WORTH_A_WORKER = 60;
/** Assumed pairs of a run of unknown length, for choosing workers. */
const LIKELY_TOTAL = 500;

/**
 * Default number of workers: 0 if the run would end before they start, else limited by cores and work.
 * @param expected total pairs, `null` while unknown: then 500 are assumed, so that small frames get few workers
 */
export function chooseThreads(cores: number, plan: ExtractionPlan, expected: number | null): number {
  const milliseconds = coreTime(plan, expected);
  if (milliseconds < 2 * WORTH_A_WORKER) return 0;
  return Math.min(cores, expected ?? LIKELY_TOTAL, Math.floor(milliseconds / WORTH_A_WORKER));
}

/** Estimated milliseconds of one thread with the core. @param expected as in {@link chooseThreads} */
export function coreTime({ calls, format }: ExtractionPlan, expected: number | null): number {
  const perSample = calls.reduce((sum, { cost }) => sum + cost, 0);
  return (format.width * format.height * (expected ?? LIKELY_TOTAL) * perSample) / 1e6;
}
