/**
 * @module engine/results/progress
 * Counts measured pairs and reports progress to the caller.
 */
import type { Progress } from '../contract/types.js';

/** Milliseconds between two calls of the caller's function. */
const INTERVAL = 100;

export class Meter {
  readonly #report: ((progress: Progress) => void) | undefined;
  readonly #total: number | null;
  readonly #start = performance.now();
  #done = 0;
  #latest = this.#start;
  #reported = this.#start;

  /** @param total pairs expected, `null` while unknown */
  constructor(report: ((progress: Progress) => void) | undefined, total: number | null) {
    this.#report = report;
    this.#total = total;
  }

  /** Pairs per second from the start to the latest pair. */
  get fps(): number {
    const { seconds } = this;
    return seconds > 0 ? this.#done / seconds : 0;
  }

  /** Seconds from the start to the latest pair. */
  get seconds(): number {
    return (this.#latest - this.#start) / 1000;
  }

  get done(): number {
    return this.#done;
  }

  count(pairs = 1): void {
    this.#done += pairs;
    this.#latest = performance.now();
    if (this.#latest - this.#reported < INTERVAL) return;
    this.#reported = this.#latest;
    this.#tell(this.#total);
  }

  finish(): void {
    this.#tell(this.#done);
  }

  #tell(framesTotal: number | null): void {
    const { fps } = this;
    const secondsLeft =
      framesTotal === null || fps === 0 ? null : Math.max(0, framesTotal - this.#done) / fps;
    this.#report?.({ framesDone: this.#done, framesTotal, fps, secondsLeft });
  }
}
