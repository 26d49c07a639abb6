/**
 * @module engine/plan/chunks
 * Cuts a run into chunks and decides how many workers it is worth.
 */

import type { ExtractionPlan } from '../backends/types.js';
import type { Chunk } from '../workers/protocol.js';

/** Longest chunk handed out when the caller names no size. */
const LONGEST = 16;
/** Chunk size while the number of frames is unknown. */
const WITHOUT_TOTAL = 8;

/**
 * Chunks in order, without end while the total is unknown. Sizes shrink towards the end, so that no worker has much
 * left when the others are done; one alone has no others.
 * @param total pairs in all, `null` while unknown
 * @param fixed size asked for by the caller
 */
export function* cutChunks(total: number | null, workers: number, fixed?: number): Generator<Chunk, void> {
  for (let first = 0; total === null || first < total; ) {
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

/**
 * Whether a worker may have a chunk in hand while it is at another: what is left after it must still even out that one
 * of them is behind by as much.
 * @param total pairs in all, `null` while unknown
 */
export function mayWait({ first, count }: Chunk, total: number | null, workers: number): boolean {
  return workers === 1 || (total !== null && total - first - count >= workers * count);
}

/**
 * Of the workers asked for, as many as get a chunk; at least one.
 * @param total pairs there can be, `null` while unknown
 * @param longest pairs in the longest chunk handed out, when the size of chunks does not follow from the workers
 */
export function usefulThreads(threads: number, total: number | null, longest = 1): number {
  return total === null ? threads : Math.min(threads, Math.max(1, Math.ceil(total / longest)));
}

/** Milliseconds of work that starting a worker is worth. */
const WORTH_A_WORKER = 60;
/** Pairs that a run of unknown length is taken to have when its workers are chosen. */
const LIKELY_TOTAL = 500;

/**
 * Workers for a run whose caller did not say: none when it would be over before they have started, otherwise as many
 * as there are cores and work for.
 * @param expected pairs in all, `null` while unknown: then 500 are assumed, so that small frames get few workers
 */
export function chooseThreads(cores: number, plan: ExtractionPlan, expected: number | null): number {
  const milliseconds = coreTime(plan, expected);
  if (milliseconds < 2 * WORTH_A_WORKER) return 0;
  return Math.min(cores, expected ?? LIKELY_TOTAL, Math.floor(milliseconds / WORTH_A_WORKER));
}

/** Milliseconds that one thread would take with the core. @param expected as in {@link chooseThreads} */
export function coreTime({ calls, format }: ExtractionPlan, expected: number | null): number {
  const perSample = calls.reduce((sum, { cost }) => sum + cost, 0);
  return (format.width * format.height * (expected ?? LIKELY_TOTAL) * perSample) / 1e6;
}
