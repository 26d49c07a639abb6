/**
 * @module engine/inputs/shared-inspection
 * What runs of one reference see of it apart from their scoring: looked at once for all of them.
 */
import type { RecordedThumbs } from '../../media/align/recorded.js';
import type { SideMeasurements } from '../../media/preflight/types.js';

/** Looks at a reference. Whoever wants to see something first says how to; nobody's own signal ends it for the others. */
export class ReferenceLooks {
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

  /** Ends what is still being looked at. */
  close(reason?: unknown): void {
    this.#stop.abort(reason);
  }
}
