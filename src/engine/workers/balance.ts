/**
 * @module engine/workers/balance
 * Which of several workers of unequal speed is to take what is left of a run, so that none keeps the others waiting at its end.
 */
import type { WorkerPool } from './worker-pool.js';

/** What a worker has measured, in which time, and what it has to do. */
interface Pace {
  /** Pairs that it has still to measure. */
  pairs: number;
  /** Milliseconds in which it had work, up to `since`. */
  busy: number;
  since: number;
  measured: number;
}

/** Follows the workers of a pool, and knows from their rates when each will be done. */
export class Balance {
  readonly #pool: WorkerPool;
  readonly #now: () => number;
  readonly #paces: Pace[];

  constructor(pool: WorkerPool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
    this.#paces = Array.from({ length: pool.size }, () => ({ pairs: 0, busy: 0, since: 0, measured: 0 }));
  }

  /** Notes that a worker is given so many more pairs. */
  give(worker: number, pairs: number): void {
    const pace = this.#paces[worker] as Pace;
    if (pace.pairs === 0) pace.since = this.#now();
    pace.pairs += pairs;
  }

  /** Notes that a worker measured so many of them. */
  take(worker: number, measured: number): void {
    const pace = this.#paces[worker] as Pace;
    const now = this.#now();
    pace.busy += now - pace.since;
    pace.since = now;
    pace.measured += measured;
    pace.pairs -= measured;
  }

  /**
   * Whether to leave a chunk to others: one of them would measure all that is left before this worker measured the chunk.
   * The fastest never leaves one.
   * @param left pairs that nobody has yet, with those of the chunk
   */
  leaves(worker: number, count: number, left: number): boolean {
    const end = this.#end(worker, count);
    return this.#others(worker).some((other) => this.#end(other, left) < end);
  }

  /** Whether a worker that is given so many pairs is, as far as is known, not done later than all of them together would be. */
  fits(worker: number, count: number, left: number): boolean {
    const all = [worker, ...this.#others(worker)];
    const rate = all.reduce((sum, one) => sum + this.#rate(one), 0);
    const pairs = all.reduce((sum, one) => sum + (this.#paces[one] as Pace).pairs, left);
    return !(this.#end(worker, count) > pairs / rate);
  }

  /** The other workers that take chunks and whose rate is known. */
  #others(worker: number): number[] {
    return [...this.#paces.keys()].filter(
      (other) => other !== worker && this.#pool.share(other) > 0 && this.#rate(other) > 0,
    );
  }

  /** Milliseconds until a worker is done, if it is given so many pairs; NaN while its rate is unknown. */
  #end(worker: number, count: number): number {
    const rate = this.#rate(worker);
    return rate > 0 ? ((this.#paces[worker] as Pace).pairs + count) / rate : Number.NaN;
  }

  /** Pairs per millisecond, 0 while unknown. What a GPU measured tells nothing of the core that took over from it. */
  #rate(worker: number): number {
    const { busy, measured } = this.#paces[worker] as Pace;
    const lost = (this.#pool.gpus.get(worker)?.lost ?? null) !== null;
    return busy > 0 && !lost ? measured / busy : 0;
  }
}
