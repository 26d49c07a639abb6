/**
 * @module score/measure
 * Measures chunks of two open videos with one extractor: the inner loop, the same in a worker and in the caller's thread.
 */
import {
  type ExtractionPlan,
  type FrameExtractor,
  type HistoryNeeds,
  historyNeeds,
  type PicturesRead,
  picturesRead,
} from '../backend/types.js';
import type { FramePlanes } from '../media/types.js';
import { type HeatmapWriter, writeHeatmaps } from './heatmaps.js';
import { type OpenPair, readPair } from './pair.js';
import type { Chunk, EndOfPair } from './protocol.js';
import type { PictureScorers } from './tiny.js';

/** Records of a chunk: fewer than asked where a video ended. */
export interface MeasuredChunk {
  readonly count: number;
  readonly records: Float64Array<ArrayBuffer>;
  readonly ended: EndOfPair | null;
}

/** What else takes the pairs that are measured. */
export interface Takers {
  readonly pictures?: PictureScorers | undefined;
  readonly heatmaps?: HeatmapWriter | undefined;
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
  /** The pair that may follow without priming, because the extractor holds its history. */
  #next = 0;

  constructor(
    extractor: FrameExtractor,
    plan: ExtractionPlan,
    pair: OpenPair,
    subsample: number,
    { pictures, heatmaps }: Takers = {},
  ) {
    this.#pictures = pictures;
    this.#heatmaps = heatmaps;
    this.#extractor = extractor;
    this.#pair = pair;
    this.#history = historyNeeds(plan);
    this.#wanted = [picturesRead(plan, false), picturesRead(plan, true)];
    this.#subsample = subsample;
  }

  /**
   * Measures the pairs of `chunk`.
   * @param measured called after each pair; what it returns is awaited, and may reject to stop
   */
  async measure(chunk: Chunk, measured: () => Promise<void> | undefined): Promise<MeasuredChunk> {
    const { length } = this.#extractor.layout;
    const records = new Float64Array(chunk.count * length);
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
      if (ended) return { count: done, records: records.slice(0, done * length), ended };
      if (listed) this.#pictures?.take(...planes);
      this.#extractor.extract(records, done * length, listed);
      if (listed && this.#heatmaps) writeHeatmaps(this.#extractor, index, this.#heatmaps);
      if (listed && this.#pictures)
        await this.#pictures.score(index, records, done * length + this.#extractor.layout.pictures);
      this.#next = index + 1;
      const pause = measured();
      if (pause) await pause;
    }
    return { count: chunk.count, records, ended: null };
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
