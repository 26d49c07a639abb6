/**
 * @module web/setup/progress
 * Progress and speed of a run of several encodes, without pauses.
 */
import type { Progress } from 'anyvmaf';

/** Frames of all encodes of a run. */
export interface Sum {
  readonly done: number;
  /** `null` while an encode's length is unknown. */
  readonly total: number | null;
}

/** Sums up the progress of all encodes. */
export function sumProgress(progress: readonly (Progress | null)[]): Sum {
  let done = 0;
  let total: number | null = 0;
  for (const one of progress) {
    done += one?.framesDone ?? 0;
    total = total === null || one === null || one.framesTotal === null ? null : total + one.framesTotal;
  }
  return { done, total };
}

/** Measures the time that a run was not paused. */
export class Stopwatch {
  #active = 0;
  #since: number | null = null;

  /** Starts or stops at a time in milliseconds. */
  run(running: boolean, now: number): void {
    if (running) this.#since ??= now;
    else if (this.#since !== null) {
      this.#active += now - this.#since;
      this.#since = null;
    }
  }

  /** Seconds measured so far. */
  seconds(now: number): number {
    return (this.#active + (this.#since === null ? 0 : now - this.#since)) / 1000;
  }
}
