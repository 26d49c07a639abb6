/**
 * @module engine/inputs/frame-observer
 * Observes the frames of a pair while it is scored, for alignment and preflight, so that nothing is decoded twice.
 */

import type { InputRole } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { alignThumbs, PassingThumbs } from '../../media/align/index.js';
import type { AlignResult } from '../../media/align/types.js';
import { FIELD_RUN } from '../../media/evidence/fields.js';
import type { MappedSource } from '../../media/pairing/mapped.js';
import type { OpenPair } from '../../media/pairing/prepare.js';
import { FrameMeter, measuredPlanes, rescaleBorders, spreadFrames } from '../../media/preflight/measure.js';
import type { SideFacts, SideMeasurements } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import { observedSource } from './continuity.js';

/** Frames whose fields are measured if a video is read with gaps or repetitions: three periods of pulldown. */
const MAPPED_FIELDS = 16;

export interface Observed {
  readonly alignment: AlignResult;
  readonly reference: SideMeasurements;
  readonly distorted: SideMeasurements;
}

export interface ObserverOptions {
  /** Facts before pairing. */
  readonly facts: { readonly reference: SideFacts; readonly distorted: SideFacts };
  readonly expected: number | null;
  /** Pairs whose borders and sharpness are measured. */
  readonly measured: number;
  /** The alignment if already known, else how to search for it around the offset in use. */
  readonly alignment: AlignResult | Search;
}

/** Tries `window` offsets on either side of `offset`, using at most `maxFrames` frames. */
interface Search {
  readonly offset: number;
  /** Reference frames per distorted frame. */
  readonly rateRatio: number;
  /** Reference frame of each distorted one, counted from the first frames read, if the ratio does not tell. */
  readonly partners?: ArrayLike<number>;
  readonly window: number;
  readonly maxFrames: number;
}

export class FrameObserver {
  readonly #options: ObserverOptions;
  readonly #at: ReadonlySet<number>;
  readonly #thumbs: PassingThumbs[] = [];
  readonly #meters: FrameMeter[] = [];
  readonly #alignment: Promise<AlignResult>;
  /** Pairs measured so far, per video. */
  readonly #seen: Set<number>[] = [];
  #settled = false;
  /** Error of observing; {@link result} throws it, so that reading does not fail. */
  #defect: { readonly error: unknown } | undefined;
  /** The observed pair: read it instead of the given one. */
  readonly pair: OpenPair;

  constructor(pair: OpenPair, options: ObserverOptions) {
    this.#options = options;
    this.#at = new Set(spreadFrames(options.expected, options.measured));
    const { alignment, facts } = options;
    const mapped = (role: InputRole) => (pair.mapped?.role === role ? pair.mapped.source : undefined);
    const { skip } = pair;
    const reference = this.#observed(pair.reference, skip.reference, facts.reference, mapped('reference'));
    const distorted = this.#observed(pair.distorted, skip.distorted, facts.distorted, mapped('distorted'));
    this.pair = { ...pair, reference, distorted };
    this.#alignment = 'reason' in alignment ? Promise.resolve(alignment) : this.#search(alignment);
    const finished = () => {
      this.#settled = true;
      this.#end();
    };
    this.#alignment.then(finished, finished);
  }

  /** Whether the alignment is known, so that further pairs need only be measured. */
  get settled(): boolean {
    return this.#settled;
  }

  unmeasured(): readonly number[] {
    return [...this.#at].filter((frame) => this.#seen.some((seen) => !seen.has(frame)));
  }

  /** Measures a pair that was read elsewhere, after all with smaller numbers. */
  measure(frame: number, reference: FramePlanes, distorted: FramePlanes): void {
    this.#attempt(() => {
      for (const [i, planes] of [reference, distorted].entries()) {
        if (!this.#seen[i]?.has(frame)) this.#meters[i]?.add(frame, planes);
        this.#seen[i]?.add(frame);
      }
    });
  }

  /** Call once all pairs are read. */
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

  #observed(
    source: FrameSource,
    skip: number,
    { colorRange, width, height }: SideFacts,
    mapped?: MappedSource,
  ): FrameSource {
    // The search supports different rates, but not repeated or missing frames.
    const frames = (mapped ?? source).info;
    const thumbs = new PassingThumbs(frames);
    // Scaling destroys fields.
    const whole =
      frames.width === width && frames.height === height && frames.bitDepth === source.info.bitDepth;
    const meter = new FrameMeter({ ...source.info, ...(colorRange && { colorRange }) });
    let [shown, wanted] = [0, true];
    mapped?.showAll(
      (luma) =>
        this.#attempt(() => {
          const follows = whole && shown < MAPPED_FIELDS;
          if (follows) meter.addFields(shown++, luma);
          if (wanted) wanted = thumbs.add(luma);
          return wanted || follows;
        }) ?? false,
    );
    this.#thumbs.push(thumbs);
    this.#meters.push(meter);
    const seen = new Set<number>();
    this.#seen.push(seen);
    let next = skip;
    let planes: FramePlanes | undefined;
    const measured = (index: number) => index === next && this.#at.has(index - skip);
    return observedSource(
      source,
      (index, found) => {
        // A frame may be read again, as history of later frames.
        if (index !== next) return;
        this.#attempt(() => {
          if (!mapped) thumbs.add(found.y);
          if (!mapped && whole && this.#isFieldOf(index - skip)) meter.addFields(index - skip, found.y);
          if (!measured(index)) return;
          seen.add(index - skip);
          meter.add(index - skip, found);
        });
        next++;
      },
      (index) => {
        if (!measured(index)) return undefined;
        planes ??= measuredPlanes(source.info);
        return planes;
      },
    );
  }

  #isFieldOf(frame: number): boolean {
    for (let before = 0; before < FIELD_RUN; before++) if (this.#at.has(frame - before)) return true;
    return false;
  }

  /** Observes unless observing failed before. */
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
