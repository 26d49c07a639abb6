/**
 * @module engine/workers/measure
 * Measures frame pairs with one measurer: the loop of workers, the calling thread and scorers of pushed frames.
 */
import type { FramePlanes } from '../../core/frame.js';
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../media/align/thumbnail.js';
import type { PairSources } from '../../media/pairing/prepare.js';
import type { TinyRuntimes } from '../../tiny/types.js';
import {
  type ExtractionPlan,
  type FrameSlot,
  type HeatmapWriter,
  historyNeeds,
  type Measurer,
  type PicturesRead,
  picturesRead,
} from '../backends/measurer.js';
import type { PictureScorers } from '../backends/tiny.js';
import type { Chunk, EndOfPair, MeasuredChunk, WorkerSetup } from '../contract/platform.js';
import { readPair } from '../pair/pair.js';

export interface PairOutputs {
  readonly pictures?: PictureScorers;
  readonly heatmaps?: HeatmapWriter;
}

/** @throws {AnyvmafError} as {@link PictureScorers.open} */
export async function openPictures(
  { pictures, plan }: WorkerSetup,
  runtimes: () => Promise<TinyRuntimes>,
): Promise<PictureScorers | undefined> {
  if (!pictures) return undefined;
  const { PictureScorers } = await import('../backends/tiny.js');
  return PictureScorers.open(pictures, runtimes, plan.format);
}

/** Measures pairs: all values of a record, and heatmaps. */
export class PairMeasurer {
  readonly #measurer: Measurer;
  readonly #subsample: number;
  readonly #outputs: PairOutputs;
  /** Pairs in flight, oldest first. */
  readonly #inFlight: Promise<void>[] = [];

  /** @param subsample other pairs than multiples of this get only the values that need every frame */
  constructor(measurer: Measurer, subsample: number, outputs: PairOutputs = {}) {
    this.#measurer = measurer;
    this.#subsample = subsample;
    this.#outputs = outputs;
  }

  /** Completes `record` by {@link settle} at the latest. @returns a promise to await before requesting the next slot */
  measure(slot: FrameSlot, record: Float64Array): Promise<void> | undefined {
    const listed = slot.index % this.#subsample === 0;
    if (listed) this.#outputs.pictures?.take(slot.reference, slot.distorted);
    const measuring = this.#measurer.measure(slot, record, listed);
    const finish = () => (listed ? this.#finish(slot, record) : undefined);
    const working = measuring ? measuring.then(finish) : finish();
    if (!working) return undefined;
    // Whoever awaits this pair gets its error.
    working.catch(() => {});
    this.#inFlight.push(working);
    // Picture models take one pair at a time.
    const most = this.#outputs.pictures ? 1 : this.#measurer.slots;
    return this.#inFlight.length < most ? undefined : this.#inFlight.shift();
  }

  async settle(): Promise<void> {
    while (this.#inFlight.length > 0) await this.#inFlight.shift();
  }

  #finish(slot: FrameSlot, record: Float64Array): Promise<void> | undefined {
    const { heatmaps, pictures } = this.#outputs;
    if (heatmaps) {
      for (const [file, bytes] of this.#measurer.heatmaps(slot).entries())
        heatmaps.write(file, slot.index * bytes.length, bytes);
    }
    return pictures?.score(slot.index, record, this.#measurer.layout.pictures);
  }
}

/** `signs` is ignored if some pictures are not read. */
export type ChunkOptions = PairOutputs & Pick<WorkerSetup, 'subsample' | 'signs'>;

/** Reads and measures chunks. Reads the history of a chunk again if a metric needs it. */
export class ChunkMeasurer {
  readonly #measurer: Measurer;
  readonly #pairs: PairMeasurer;
  readonly #plan: ExtractionPlan;
  readonly #pair: PairSources;
  readonly #subsample: number;
  /** Pictures to read of pairs that subsampling skips, and of others. */
  readonly #wanted: readonly [unlisted: PicturesRead, listed: PicturesRead];
  readonly #signer: Signer | undefined;

  constructor(measurer: Measurer, plan: ExtractionPlan, pair: PairSources, options: ChunkOptions) {
    const { subsample, signs } = options;
    this.#measurer = measurer;
    this.#pairs = new PairMeasurer(measurer, subsample, options);
    this.#plan = plan;
    this.#pair = pair;
    this.#subsample = subsample;
    this.#wanted = [picturesRead(plan, false), picturesRead(plan, true)];
    const readAll = this.#wanted[1].reference && this.#wanted[1].distorted && subsample === 1;
    this.#signer = signs && readAll ? new Signer(plan.format) : undefined;
  }

  /** @param measured called after each pair; awaits its promise, which may reject to stop */
  async measure(chunk: Chunk, measured: () => Promise<void> | undefined): Promise<MeasuredChunk> {
    const { length } = this.#measurer.layout;
    const records = new Float64Array(chunk.count * length);
    const signatures = this.#signer && new Uint8Array(chunk.count * PAIR_BYTES);
    let ended = (await this.#prime(chunk.first)) ? null : { reference: true, distorted: false };
    let count = 0;
    for (; count < chunk.count && !ended; count++) {
      const slot = this.#measurer.slot(chunk.first + count);
      const reading = this.#read(slot);
      // File readers return synchronously; await only streams and blobs.
      ended = reading instanceof Promise ? await reading : reading;
      if (ended) break;
      if (signatures) this.#sign(slot, signatures, count * PAIR_BYTES);
      const working = this.#pairs.measure(slot, records.subarray(count * length, (count + 1) * length));
      if (working) await working;
      const pause = measured();
      if (pause) await pause;
    }
    await this.#pairs.settle();
    const whole = count === chunk.count;
    return {
      count,
      records: whole ? records : records.slice(0, count * length),
      ended,
      ...(signatures && { signatures: whole ? signatures : signatures.slice(0, count * PAIR_BYTES) }),
    };
  }

  #read({ index, reference, distorted }: FrameSlot): EndOfPair | null | Promise<EndOfPair | null> {
    const wanted = this.#wanted[index % this.#subsample === 0 ? 1 : 0];
    return readPair(this.#pair, index, reference, distorted, wanted);
  }

  #sign({ reference, distorted }: FrameSlot, into: Uint8Array, at: number): void {
    this.#signer?.sign(reference.y, into, at);
    this.#signer?.sign(distorted.y, into, at + SIGNATURE_BYTES);
  }

  /** Reads the history of pair `first`, unless the measurer holds it; false past the end. */
  async #prime(first: number): Promise<boolean> {
    const { reference, distorted, skip } = this.#pair;
    const { frames, chroma, distorted: both } = historyNeeds(this.#plan);
    const kept = (planes: FramePlanes): FramePlanes => (chroma ? planes : { y: planes.y });
    for (let index = Math.max(0, first - frames); index < first; index++) {
      if (this.#measurer.holds(index, first)) continue;
      const slot = this.#measurer.slot(index);
      if (!(await reference.readFrame(skip.reference + index, kept(slot.reference)))) return false;
      if (both && !(await distorted.readFrame(skip.distorted + index, kept(slot.distorted)))) return false;
      this.#measurer.keep(slot);
    }
    return true;
  }
}
