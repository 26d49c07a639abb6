/**
 * @module engine/inputs/shared-inspection
 * Preflight's and alignment's inspection of a reference that several runs share, decoded once.
 */
import type { RecordedThumbs } from '../../media/align/recorded.js';
import type { SideMeasurements } from '../../media/preflight/types.js';

/** An inspection of a reference. The first run that needs a part passes how to read it; its signal does not abort it. */
export class SharedInspection {
  readonly #stop = new AbortController();
  #thumbs: RecordedThumbs | undefined;
  #measured: Promise<SideMeasurements> | undefined;

  /** Thumbnails from the first frame after those to skip. */
  thumbs(record: (signal: AbortSignal) => RecordedThumbs): RecordedThumbs {
    this.#thumbs ??= record(this.#stop.signal);
    return this.#thumbs;
  }

  /** Borders and sharpness of a few frames. */
  measured(measure: (signal: AbortSignal) => Promise<SideMeasurements>): Promise<SideMeasurements> {
    this.#measured ??= measure(this.#stop.signal);
    return this.#measured;
  }

  /** Aborts pending reads. */
  abort(reason?: unknown): void {
    this.#stop.abort(reason);
  }
}
