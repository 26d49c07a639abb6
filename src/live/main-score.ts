/**
 * @module live/main-score
 * The score that a measurement is mainly about, frame by frame: a change of models that replaces it takes over at its frame.
 */
import type { SwapOutcome } from '../engine/contract/types.js';

export class MainScore {
  #now: string | undefined;
  /** Changes whose frame is still to come, in their order. */
  readonly #coming: SwapOutcome[] = [];

  /** @param first key of the score of the first model */
  begin(first: string | undefined): void {
    this.#now = first;
  }

  swap(swap: SwapOutcome): void {
    this.#coming.push(swap);
  }

  /** Goes on to a frame; frames come in order. @returns the key of its score */
  at(frame: number): string | undefined {
    for (let next = this.#coming[0]; next && next.frame <= frame; next = this.#coming[0]) {
      this.#coming.shift();
      if (next.from === this.#now) this.#now = next.to;
    }
    return this.#now;
  }

  /** The key of the score of the latest frame. */
  get now(): string | undefined {
    return this.#now;
  }
}
