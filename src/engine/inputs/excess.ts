/**
 * @module engine/inputs/excess
 * Tells of samples above the range of their bit depth, once for each video.
 */
import { describeExcess, EXCESS_ADVICE, type Excess, readExcess } from '../backends/excess.js';

/** Reads the records of one run, frame by frame in order. */
export class ExcessNotes {
  readonly #bitDepth: number;
  /** The first frame of each video in which one was met. */
  readonly #met = new Map<'reference' | 'distorted', Excess & { readonly frame: number }>();

  constructor(bitDepth: number) {
    this.#bitDepth = bitDepth;
  }

  /** Takes what a record has of frame `frame`. */
  take(frame: number, reference: number, distorted: number): void {
    for (const [side, found] of [
      ['reference', reference],
      ['distorted', distorted],
    ] as const) {
      const excess = this.#met.has(side) ? undefined : readExcess(found);
      if (excess) this.#met.set(side, { ...excess, frame });
    }
  }

  /** What is to be said of the run: full sentences. */
  warnings(): string[] {
    return [...this.#met].map(
      ([side, { frame, ...excess }]) =>
        `Frame ${frame} of the ${side} video ${describeExcess(excess, this.#bitDepth)}, so its values mean nothing; ${EXCESS_ADVICE}.`,
    );
  }
}
