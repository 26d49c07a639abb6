/**
 * @module engine/inputs/shared
 * What runs of one reference share: they probe it once, and preflight and alignment inspect it once.
 */

import type { RecordedThumbs } from '../../media/align/recorded.js';
import type { Decoder, TrackFacts } from '../../media/decoder.js';
import type { SideMeasurements } from '../../media/preflight/types.js';
import type { VideoInput } from '../../media/types.js';
import type { Platform } from '../contract/platform.js';

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

/** The platform with decoders that probe `input` only once. */
export function probesOnce(platform: Platform, input: VideoInput): Platform {
  const wrapped = new Map<Decoder, Decoder>();
  const once = (decoder: Decoder): Decoder => {
    let facts: Promise<TrackFacts> | undefined;
    let times: Promise<Float64Array | null> | undefined;
    // Independent of the signal of the first run that calls it.
    return {
      id: decoder.id,
      ...(decoder.probesAtOnce && { probesAtOnce: true }),
      availability: () => decoder.availability(),
      probe(video, signal) {
        if (video !== input) return decoder.probe(video, signal);
        facts ??= decoder.probe(video);
        return facts;
      },
      timestamps(video, signal, track) {
        if (video !== input) return decoder.timestamps(video, signal, track);
        times ??= decoder.timestamps(video, undefined, track);
        return times;
      },
      ...(decoder.setBacks && { setBacks: decoder.setBacks.bind(decoder) }),
      ...(decoder.trackBytes && { trackBytes: decoder.trackBytes.bind(decoder) }),
      ...(decoder.withFilters && { withFilters: decoder.withFilters.bind(decoder) }),
      open: (video, known, request) => decoder.open(video, known, request),
    };
  };
  return {
    ...platform,
    async decoders(options) {
      const decoders = await platform.decoders(options);
      for (const decoder of decoders) if (!wrapped.has(decoder)) wrapped.set(decoder, once(decoder));
      return decoders.map((decoder) => wrapped.get(decoder) ?? decoder);
    },
  };
}
