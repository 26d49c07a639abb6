/**
 * @module engine/workers/measure
 * Measures chunks of two open videos with one extractor: the inner loop, the same in a worker and in the caller's thread.
 */

import type { FramePlanes } from '../../core/frame.js';
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../media/align/signature.js';
import {
  type ExtractionPlan,
  type FrameExtractor,
  type HistoryNeeds,
  historyNeeds,
  type PicturesRead,
  picturesRead,
} from '../backends/types.js';
import { type OpenPair, readPair } from '../inputs/pair.js';
import { type HeatmapWriter, writeHeatmaps } from '../results/heatmaps.js';
import type { PictureScorers } from '../results/tiny.js';
import type { Chunk, EndOfPair } from './protocol.js';

/** Records of a chunk: fewer than asked where a video ended. */
export interface MeasuredChunk {
  readonly count: number;
  readonly records: Float64Array<ArrayBuffer>;
  readonly ended: EndOfPair | null;
  /** Of the pairs, where they are taken. */
  readonly signatures?: Uint8Array<ArrayBuffer>;
}

/** What else takes the pairs that are measured. */
export interface Takers {
  readonly pictures?: PictureScorers | undefined;
  readonly heatmaps?: HeatmapWriter | undefined;
  /** Whether to take a signature of every picture; not done where some are not read. */
  readonly signs?: boolean | undefined;
}

/** Reads and measures chunk after chunk. Frames before a chunk are read again as history where a metric needs them. */
export class ChunkMeasurer {
  readonly #extractor: FrameExtractor;
  readonly #pair: OpenPair;
  readonly #history: HistoryNeeds;
  /** What is read of pairs that subsampling leaves out, and of those that it lists. */
  readonly #wanted: readonly [unlisted: PicturesRead, listed: PicturesRead];
  readonly #subsample: number;
  readonly #pictures: PictureScorers | undefined;
  readonly #heatmaps: HeatmapWriter | undefined;
  readonly #signer: Signer | undefined;
  /** The pair that may follow without priming, because the extractor holds its history. */
  #next = 0;

  constructor(
    extractor: FrameExtractor,
    plan: ExtractionPlan,
    pair: OpenPair,
    subsample: number,
    { pictures, heatmaps, signs }: Takers = {},
  ) {
    this.#pictures = pictures;
    this.#heatmaps = heatmaps;
    this.#extractor = extractor;
    this.#pair = pair;
    this.#history = historyNeeds(plan);
    this.#wanted = [picturesRead(plan, false), picturesRead(plan, true)];
    const readAll = this.#wanted[1].reference && this.#wanted[1].distorted && subsample === 1;
    this.#signer = signs && readAll ? new Signer(plan.format) : undefined;
    this.#subsample = subsample;
  }

  /**
   * Measures the pairs of `chunk`.
   * @param measured called after each pair; what it returns is awaited, and may reject to stop
   */
  async measure(chunk: Chunk, measured: () => Promise<void> | undefined): Promise<MeasuredChunk> {
    const { length } = this.#extractor.layout;
    const records = new Float64Array(chunk.count * length);
    const signatures = this.#signer && new Uint8Array(chunk.count * PAIR_BYTES);
    if (this.#next !== chunk.first && !(await this.#prime(chunk.first))) {
      return { count: 0, records: new Float64Array(), ended: { reference: true, distorted: false } };
    }
    for (let done = 0; done < chunk.count; done++) {
      const index = chunk.first + done;
      const planes = [this.#extractor.referencePlanes(), this.#extractor.distortedPlanes()] as const;
      const listed = index % this.#subsample === 0;
      const reading = readPair(this.#pair, index, ...planes, this.#wanted[listed ? 1 : 0]);
      // File readers answer at once; only streams and blobs make us wait.
      const ended = reading instanceof Promise ? await reading : reading;
      if (ended) {
        const signed = signatures && { signatures: signatures.slice(0, done * PAIR_BYTES) };
        return { count: done, records: records.slice(0, done * length), ended, ...signed };
      }
      if (signatures) this.#sign(planes, signatures, done * PAIR_BYTES);
      if (listed) this.#pictures?.take(...planes);
      this.#extractor.extract(records, done * length, listed);
      if (listed && this.#heatmaps) writeHeatmaps(this.#extractor, index, this.#heatmaps);
      if (listed && this.#pictures)
        await this.#pictures.score(index, records, done * length + this.#extractor.layout.pictures);
      this.#next = index + 1;
      const pause = measured();
      if (pause) await pause;
    }
    return { count: chunk.count, records, ended: null, ...(signatures && { signatures }) };
  }

  #sign(planes: readonly [FramePlanes, FramePlanes], into: Uint8Array, at: number): void {
    this.#signer?.sign(planes[0].y, into, at);
    this.#signer?.sign(planes[1].y, into, at + SIGNATURE_BYTES);
  }

  /** Brings the extractor into the state it would have after all pairs before `first`; false past the end. */
  async #prime(first: number): Promise<boolean> {
    const { reference, distorted, skipReference, skipDistorted } = this.#pair;
    const { frames, chroma, distorted: both } = this.#history;
    const kept = (planes: FramePlanes): FramePlanes => (chroma ? planes : { y: planes.y });
    this.#extractor.reset();
    for (let index = Math.max(0, first - frames); index < first; index++) {
      const referencePlanes = kept(this.#extractor.referencePlanes());
      if (!(await reference.readFrame(skipReference + index, referencePlanes))) return false;
      const distortedPlanes = kept(this.#extractor.distortedPlanes());
      if (both && !(await distorted.readFrame(skipDistorted + index, distortedPlanes))) return false;
      this.#extractor.prime();
    }
    return true;
  }
}
