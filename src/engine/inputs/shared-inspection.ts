/**
 * @module engine/inputs/shared-inspection
 * What preflight and alignment see of a reference that several runs share, decoded once for all of them.
 */
import type { RecordedThumbs } from '../../media/align/recorded.js';
import type { SideMeasurements } from '../../media/preflight/types.js';

/** An inspection of a reference. The first run that needs a part says how to read it; its own signal does not end it. */
export class SharedInspection {
  readonly #stop = new AbortController();
  #thumbs: RecordedThumbs | undefined;
  #measured: Promise<SideMeasurements> | undefined;

  /** Thumbnails from the first frame that counts. */
  thumbs(record: (signal: AbortSignal) => RecordedThumbs): RecordedThumbs {
    this.#thumbs ??= record(this.#stop.signal);
    return this.#thumbs;
  }

  /** Borders and sharpness of a few frames. */
  measured(measure: (signal: AbortSignal) => Promise<SideMeasurements>): Promise<SideMeasurements> {
    this.#measured ??= measure(this.#stop.signal);
    return this.#measured;
  }

  /** Ends what is still being read. */
  abort(reason?: unknown): void {
    this.#stop.abort(reason);
  }
}
