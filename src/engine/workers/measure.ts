/**
 * @module engine/workers/measure
 * Measures frame pairs with one measurer: the loop of workers, the calling thread and scorers of pushed frames.
 */
import type { InputRole } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../media/align/thumbnail.js';
import type { TinyRuntimes } from '../../tiny/types.js';
import type { GpuKind, GpuMeasurer, GpuState, GpuUse } from '../backends/composite.js';
import { coreMeasurers } from '../backends/core/extractor.js';
import {
  type ExtractionPlan,
  type FrameSlot,
  findExcess,
  type HeatmapStore,
  type HeatmapWriter,
  historyNeeds,
  type InstantKind,
  type Measurer,
  type PicturesRead,
  picturesRead,
} from '../backends/measurer.js';
import type { PictureScorers } from '../backends/tiny.js';
import type { Chunk, MeasuredChunk, WorkerSetup } from '../contract/platform.js';
import { type ReadablePair, readPair } from '../pair/pair.js';

export interface MeasuringTools {
  runtimes(onnxruntime?: string): Promise<TinyRuntimes>;
  /** @throws {AnyvmafError} `backend` if there is no GPU, with advice */
  openGpu(): Promise<GpuKind>;
  heatmaps?: (() => Promise<HeatmapStore>) | undefined;
  /** Called when the GPU is open, or there is none to try, and when it is lost. */
  onGpu?(state: GpuState): void;
}

/** What measures in one thread. */
export interface Measuring {
  readonly chunks: ChunkMeasurer;
  readonly gpu: GpuMeasurer | undefined;
  readonly pictures: PictureScorers | undefined;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * @returns `null` if a GPU is only `tried` and there is none
 * @throws {AnyvmafError} as {@link openGpuMeasurer} and {@link PictureScorers.open}
 */
export async function openMeasuring(setup: WorkerSetup, tools: MeasuringTools): Promise<Measuring | null> {
  const { plan } = setup;
  const core = await coreMeasurers(setup.modules, setup.implementation);
  const gpu = setup.gpu && (await openGpu(tools, core, plan, setup.gpu));
  if (gpu && !gpu.measurer) return null;
  const measurer = gpu?.measurer ?? core.open(plan);
  let heatmaps: HeatmapWriter | undefined;
  let pictures: PictureScorers | undefined;
  const end = async () => {
    (gpu ?? measurer).close();
    heatmaps?.close();
    await pictures?.close();
  };
  try {
    heatmaps = setup.heatmaps && (await tools.heatmaps?.())?.open(setup.heatmaps);
    if (setup.pictures) {
      const { PictureScorers } = await import('../backends/tiny.js');
      const runtimes = () => tools.runtimes(setup.onnxruntime);
      pictures = await PictureScorers.open(setup.pictures, runtimes, plan.format);
    }
  } catch (error) {
    await end();
    throw error;
  }
  const chunks = new ChunkMeasurer(measurer, plan, { ...setup, pictures, heatmaps });
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= end();
    return ending;
  };
  return { chunks, gpu, pictures, close };
}

async function openGpu(tools: MeasuringTools, core: InstantKind, plan: ExtractionPlan, use: GpuUse) {
  const { openGpuMeasurer } = await import('../backends/composite.js');
  const report = () => tools.onGpu?.(gpu.state);
  const gpu = await openGpuMeasurer(() => tools.openGpu(), core, plan, use, report);
  report();
  return gpu;
}

/** `signs` is ignored if some pictures are not read. */
export interface ChunkOptions extends Pick<WorkerSetup, 'subsample' | 'signs'> {
  readonly pictures?: PictureScorers | undefined;
  readonly heatmaps?: HeatmapWriter | undefined;
}

/**
 * Reads and measures chunks: all values of records, and heatmaps. Other pairs than multiples of `subsample` get only the values
 * that need every frame. Reads the history of a chunk again if a metric needs it.
 */
export class ChunkMeasurer {
  readonly #measurer: Measurer;
  readonly #plan: ExtractionPlan;
  readonly #options: ChunkOptions;
  /** Pictures to read of pairs that subsampling skips, and of others. */
  readonly #wanted: readonly [unlisted: PicturesRead, listed: PicturesRead];
  readonly #signer: Signer | undefined;
  /** Pairs in flight, oldest first. */
  readonly #inFlight: Promise<void>[] = [];

  constructor(measurer: Measurer, plan: ExtractionPlan, options: ChunkOptions) {
    this.#measurer = measurer;
    this.#plan = plan;
    this.#options = options;
    this.#wanted = [picturesRead(plan, false), picturesRead(plan, true)];
    const readAll = this.#wanted[1].reference && this.#wanted[1].distorted && options.subsample === 1;
    this.#signer = options.signs && readAll ? new Signer(plan.format) : undefined;
  }

  /** @param measured called after each pair; awaits its promise, which may reject to stop */
  async measure(
    pair: ReadablePair,
    chunk: Chunk,
    measured?: () => Promise<void> | undefined,
  ): Promise<MeasuredChunk> {
    const { length } = this.#measurer.layout;
    const records = new Float64Array(chunk.count * length);
    const signatures = this.#signer && new Uint8Array(chunk.count * PAIR_BYTES);
    let ended = (await this.#prime(pair, chunk.first)) ? null : { reference: true, distorted: false };
    let count = 0;
    for (; count < chunk.count && !ended; count++) {
      const slot = this.#measurer.slot(chunk.first + count);
      const listed = slot.index % this.#options.subsample === 0;
      const wanted = this.#wanted[listed ? 1 : 0];
      const reading = readPair(pair, slot.index, slot.reference, slot.distorted, wanted);
      // File readers return synchronously; await only streams and blobs.
      ended = reading instanceof Promise ? await reading : reading;
      if (ended) break;
      if (signatures) this.#sign(slot, signatures, count * PAIR_BYTES);
      const record = records.subarray(count * length, (count + 1) * length);
      const working = this.#measure(slot, record, listed, wanted);
      if (working) await working;
      const pause = measured?.();
      if (pause) await pause;
    }
    while (this.#inFlight.length > 0) await this.#inFlight.shift();
    const whole = count === chunk.count;
    return {
      count,
      records: whole ? records : records.slice(0, count * length),
      ended,
      ...(signatures && { signatures: whole ? signatures : signatures.slice(0, count * PAIR_BYTES) }),
    };
  }

  #sign({ reference, distorted }: FrameSlot, into: Uint8Array, at: number): void {
    this.#signer?.sign(reference.y, into, at);
    this.#signer?.sign(distorted.y, into, at + SIGNATURE_BYTES);
  }

  /** @returns a promise to await before requesting the next slot */
  #measure(
    slot: FrameSlot,
    record: Float64Array,
    listed: boolean,
    read: PicturesRead,
  ): Promise<void> | undefined {
    const { pictures } = this.#options;
    if (listed) pictures?.take(slot.reference, slot.distorted);
    const { layout, slots } = this.#measurer;
    // Before measuring, which may move the slot's memory. Unread planes may hold anything.
    const { bitDepth } = this.#plan.format;
    const excessOf = (role: InputRole) => (read[role] ? findExcess(planesOf(slot[role]), bitDepth) : 0);
    const excess = layout.excess >= 0 && [excessOf('reference'), excessOf('distorted')];
    const measuring = this.#measurer.measure(slot, record, listed);
    const finish = () => {
      if (excess) record.set(excess, layout.excess);
      return listed ? this.#finish(slot, record) : undefined;
    };
    const working = measuring ? measuring.then(finish) : finish();
    if (!working) return undefined;
    // Whoever awaits this pair gets its error.
    working.catch(() => {});
    this.#inFlight.push(working);
    // Picture models take one pair at a time.
    return this.#inFlight.length < (pictures ? 1 : slots) ? undefined : this.#inFlight.shift();
  }

  #finish(slot: FrameSlot, record: Float64Array): Promise<void> | undefined {
    const { heatmaps, pictures } = this.#options;
    if (heatmaps) {
      for (const [file, bytes] of this.#measurer.heatmaps(slot).entries())
        heatmaps.write(file, slot.index * bytes.length, bytes);
    }
    return pictures?.score(slot.index, record, this.#measurer.layout.pictures);
  }

  /** Reads the history of pair `first`, unless the measurer holds it; false past the end. */
  async #prime({ reference, distorted, skip }: ReadablePair, first: number): Promise<boolean> {
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

const planesOf = ({ y, cb, cr, alpha }: FramePlanes): Uint8Array[] =>
  [y, cb, cr, alpha].filter((plane) => plane !== undefined);
