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

/** Seconds of measuring that tell a speed. */
const TELLING = 1;

/** Frames per second from the first frames on: opening files and starting workers says nothing of what is to come. */
export class Speed {
  #first: { readonly done: number; readonly seconds: number } | undefined;

  /**
   * @param done frames so far
   * @param seconds of the run so far, without pauses
   * @returns `undefined` while it is too early to tell
   */
  at(done: number, seconds: number): number | undefined {
    if (done > 0) this.#first ??= { done, seconds };
    if (!this.#first || seconds - this.#first.seconds < TELLING) return undefined;
    return (done - this.#first.done) / (seconds - this.#first.seconds);
  }
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
