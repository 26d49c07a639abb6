/**
 * @module engine/inputs/frame-observer
 * Observes the frames of a pair while it is scored, for alignment and preflight, so that nothing is decoded twice.
 */
import type { AlignResult } from '../../media/align/types.js';
import { alignThumbs, PassingThumbs } from '../../media/align.js';
import type { MappedSource } from '../../media/pairing/mapped.js';
import { LumaMeter, rescaleBorders, spreadFrames } from '../../media/preflight/measure.js';
import type { SideFacts, SideMeasurements } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import type { ReadyInputs } from './known.js';
import { observedSource } from './observed-source.js';

/** What both videos' pictures show. */
export interface Observed {
  readonly alignment: AlignResult;
  readonly reference: SideMeasurements;
  readonly distorted: SideMeasurements;
}

/** What to observe. */
export interface ObserverOptions {
  /** What is known of the two before they are brought together. */
  readonly facts: { readonly reference: SideFacts; readonly distorted: SideFacts };
  /** Pairs there will be, where known. */
  readonly expected: number | null;
  /** Pairs whose borders and sharpness are measured. */
  readonly measured: number;
  /** The alignment where it is known already; otherwise how to search it, around the offset in use. */
  readonly alignment: AlignResult | Search;
}

/** Offsets tried to either side of one, and frames used for that at most. */
interface Search {
  readonly offset: number;
  /** Reference frames per distorted frame. */
  readonly rateRatio: number;
  /** Reference frame of each distorted one, from the first of both that are read, where the ratio does not tell. */
  readonly partners?: ArrayLike<number> | undefined;
  readonly window: number;
  readonly maxFrames: number;
}

/** Observes each pair that is read, in order. */
export class FrameObserver {
  readonly #options: ObserverOptions;
  readonly #at: ReadonlySet<number>;
  readonly #thumbs: PassingThumbs[] = [];
  readonly #meters: LumaMeter[] = [];
  readonly #alignment: Promise<AlignResult>;
  /** What failed while frames were observed: thrown by {@link result}, not to whoever reads frames. */
  #defect: { readonly error: unknown } | undefined;
  /** The pair as it is to be read now. */
  readonly pair: ReadyInputs;

  constructor(pair: ReadyInputs, options: ObserverOptions) {
    this.#options = options;
    this.#at = new Set(spreadFrames(options.expected, options.measured));
    const { alignment, facts } = options;
    const reference = this.#observed(pair.reference, pair.skipReference, facts.reference);
    const distorted = this.#observed(pair.distorted, pair.skipDistorted, facts.distorted, pair.mapped);
    this.pair = { ...pair, reference, distorted };
    this.#alignment = 'reason' in alignment ? Promise.resolve(alignment) : this.#search(alignment);
    const finished = () => this.#end();
    this.#alignment.then(finished, finished);
  }

  /** What the pictures show. Call once all pairs were read. */
  async result(): Promise<Observed> {
    this.#end();
    const alignment = await this.#alignment;
    if (this.#defect) throw this.#defect.error;
    const [reference, distorted] = this.#meters.map(({ result }) => result);
    if (!reference || !distorted) throw new Error('both videos are observed');
    const { facts } = this.#options;
    const format = this.pair.reference.info;
    return {
      alignment,
      reference: { ...reference, borders: rescaleBorders(reference.borders, format, facts.reference) },
      distorted: { ...distorted, borders: rescaleBorders(distorted.borders, format, facts.distorted) },
    };
  }

  async #search({ offset, rateRatio, partners, window, maxFrames }: Search): Promise<AlignResult> {
    const [first, second] = this.#thumbs;
    if (!first || !second) throw new Error('both videos are observed');
    return alignThumbs(first, second, { rateRatio, window, maxFrames }, { base: offset, partners });
  }

  #end(): void {
    for (const thumbs of this.#thumbs) thumbs.end();
  }

  /** A source whose frames are observed once they are read. */
  #observed(
    source: FrameSource,
    skip: number,
    { colorRange }: SideFacts,
    mapped?: MappedSource,
  ): FrameSource {
    const thumbs = new PassingThumbs((mapped ?? source).info);
    // The search knows what to make of different rates, but not of frames that come twice or not at all.
    mapped?.showAll((luma) => this.#attempt(() => thumbs.add(luma)) ?? false);
    const meter = new LumaMeter({ ...source.info, ...(colorRange && { colorRange }) });
    this.#thumbs.push(thumbs);
    this.#meters.push(meter);
    let next = skip;
    return observedSource(source, (index, luma) => {
      // A frame may be read again, as the history of those after it.
      if (index !== next) return;
      this.#attempt(() => {
        if (!mapped) thumbs.add(luma);
        if (this.#at.has(index - skip)) meter.add(index - skip, luma);
      });
      next++;
    });
  }

  /** Observes a frame, unless that has failed before. */
  #attempt<T>(observe: () => T): T | undefined {
    if (this.#defect) return undefined;
    try {
      return observe();
    } catch (error) {
      this.#defect = { error };
      return undefined;
    }
  }
}
