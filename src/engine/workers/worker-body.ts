/**
 * @module engine/workers/worker-body
 * What a worker does with the messages it gets. Platforms bring only the port, the files and the extractor.
 */

import { AnyvmafError, type ErrorData, errorData } from '../../core/errors.js';
import type { Implementation } from '../../core/module.js';
import { limitError } from '../../core/system-limits.js';
import type { FrameSource, SourceDescriptor } from '../../media/types.js';
import type { TinyRuntimes } from '../../tiny/types.js';
import type { ExtractionPlan, FrameExtractor } from '../backends/types.js';
import { type HeatmapStore, type HeatmapWriter, writeHeatmaps } from '../results/heatmaps.js';
import type { PictureModel, PictureScorers } from '../results/tiny.js';
import { copyPlanes, viewPlanes, writeHistory } from './frame-buffer.js';
import { ChunkMeasurer } from './measure.js';
import type { FromWorker, ToWorker, WorkerSetup } from './protocol.js';

/** Milliseconds between two messages that say how far a chunk is: one costs as much as a tenth of a cheap frame. */
const TELLING = 20;

/** What a platform lends its workers. */
export interface WorkerTools {
  /** Sends a message to the engine. */
  post(message: FromWorker, transfer?: ArrayBuffer[]): void;
  /** Opens a video of which the engine sent the recipe. */
  reopen(descriptor: SourceDescriptor): Promise<FrameSource> | FrameSource;
  /** What runs picture models here. */
  runtimes(onnxruntime?: string): Promise<TinyRuntimes>;
  /** Makes an extractor with its own memory. */
  createExtractor(
    module: WebAssembly.Module,
    plan: ExtractionPlan,
    implementation: Implementation,
  ): FrameExtractor;
  /** Absent where no heatmaps can be written. */
  heatmaps?(): Promise<HeatmapStore>;
}

/** @returns the function to call with each message, in the order of arrival */
export function createWorkerBody(tools: WorkerTools): (message: ToWorker) => void {
  let work: Work | null = null;
  let failed = false;

  async function handle(message: ToWorker): Promise<void> {
    if (failed) return;
    try {
      if (message.kind === 'start') work = await Work.start(tools, message.setup);
      else if (message.kind === 'stop') {
        await work?.close();
        tools.post({ kind: 'stopped' });
      } else if (work) await work.handle(message);
    } catch (error) {
      failed = true;
      tools.post({ kind: 'failed', ...describe(error) });
    }
  }

  let last = Promise.resolve();
  return (message) => {
    last = last.then(() => handle(message));
  };
}

/** An error as it can cross to another thread: known ones keep their code, others are the core's or ours. */
function describe(error: unknown): ErrorData {
  const known = error instanceof AnyvmafError ? error : limitError(error);
  if (known) return errorData(known);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A worker failed while measuring frames (${reason}).` };
}

/** The picture models of this worker, of which the engine is told where they run. */
async function openPictures(
  tools: WorkerTools,
  { plan, onnxruntime }: WorkerSetup,
  models: readonly PictureModel[],
): Promise<PictureScorers> {
  const { PictureScorers } = await import('../results/tiny.js');
  const pictures = await PictureScorers.open(models, () => tools.runtimes(onnxruntime), plan.format);
  tools.post({ kind: 'sessions', sessions: pictures.facts });
  return pictures;
}

/** A started worker: an extractor, and the videos when it reads them itself. */
class Work {
  readonly #tools: WorkerTools;
  readonly #setup: WorkerSetup;
  readonly #extractor: FrameExtractor;
  readonly #sources: readonly FrameSource[];
  readonly #measurer: ChunkMeasurer | null;
  readonly #pictures: PictureScorers | undefined;
  readonly #heatmaps: HeatmapWriter | undefined;
  /** When it was last told how far a chunk is. */
  #told = performance.now();
  /** The chunk being received: number of its next pair, and the records so far. */
  #fed: { first: number; index: number; records: Float64Array<ArrayBuffer> } = {
    first: 0,
    index: 0,
    records: new Float64Array(),
  };

  private constructor(
    tools: WorkerTools,
    setup: WorkerSetup,
    extractor: FrameExtractor,
    sources: readonly FrameSource[],
    pictures: PictureScorers | undefined,
    heatmaps: HeatmapWriter | undefined,
  ) {
    this.#pictures = pictures;
    this.#heatmaps = heatmaps;
    this.#tools = tools;
    this.#setup = setup;
    this.#extractor = extractor;
    this.#sources = sources;
    const [reference, distorted] = sources;
    this.#measurer =
      setup.pair && reference && distorted
        ? new ChunkMeasurer(extractor, setup.plan, { ...setup.pair, reference, distorted }, setup.subsample, {
            pictures,
            heatmaps,
            signs: setup.signs,
          })
        : null;
  }

  static async start(tools: WorkerTools, setup: WorkerSetup): Promise<Work> {
    const { pair } = setup;
    const sources = pair ? [await tools.reopen(pair.reference), await tools.reopen(pair.distorted)] : [];
    const pictures = setup.pictures ? await openPictures(tools, setup, setup.pictures) : undefined;
    const heatmaps = setup.heatmaps && (await tools.heatmaps?.())?.open(setup.heatmaps);
    return new Work(
      tools,
      setup,
      tools.createExtractor(setup.module, setup.plan, setup.implementation),
      sources,
      pictures,
      heatmaps,
    );
  }

  async close(): Promise<void> {
    this.#extractor.close();
    this.#heatmaps?.close();
    await this.#pictures?.close();
    for (const source of this.#sources) await source.close();
  }

  async handle(message: Exclude<ToWorker, { kind: 'start' | 'stop' }>): Promise<void> {
    switch (message.kind) {
      case 'measure': {
        if (!this.#measurer) throw new Error('measure was asked of a worker without videos');
        const { first } = message.chunk;
        let untold = 0;
        const { count, records, ended, signatures } = await this.#measurer.measure(message.chunk, () => {
          untold++;
          const now = performance.now();
          if (now - this.#told < TELLING) return undefined;
          this.#tools.post({ kind: 'progress', pairs: untold });
          this.#told = now;
          untold = 0;
          return undefined;
        });
        this.#tellCounts();
        this.#tools.post(
          { kind: 'records', first, count, records, ended, ...(signatures && { signatures }) },
          [records.buffer, ...(signatures ? [signatures.buffer] : [])],
        );
        break;
      }
      case 'begin':
        if (!message.continues) this.#extractor.reset();
        this.#fed = { first: message.first, index: message.first, records: new Float64Array() };
        break;
      case 'prime':
        writeHistory(message.reference, this.#setup.plan, this.#extractor.referencePlanes());
        if (message.distorted)
          writeHistory(message.distorted, this.#setup.plan, this.#extractor.distortedPlanes());
        this.#extractor.prime();
        this.#giveBack(message.reference, message.distorted);
        break;
      case 'pair':
        await this.#measurePair(message.reference, message.distorted);
        break;
      case 'end': {
        const { first, index, records } = this.#fed;
        const count = index - first;
        const used = records.slice(0, count * this.#extractor.layout.length);
        this.#tellCounts();
        this.#tools.post({ kind: 'records', first, count, records: used, ended: null }, [used.buffer]);
        break;
      }
    }
  }

  /** What picture models saw must be known when the last records are in. */
  #tellCounts(): void {
    if (this.#pictures?.counts) this.#tools.post({ kind: 'sessions', sessions: this.#pictures.facts });
  }

  /** Returns the memory of history that was sent. */
  #giveBack(...kept: readonly (Uint8Array<ArrayBuffer> | undefined)[]): void {
    const buffers = kept.flatMap((bytes) => (bytes ? [bytes.buffer] : []));
    this.#tools.post({ kind: 'primed', buffers }, buffers);
  }

  async #measurePair(reference: ArrayBuffer, distorted: ArrayBuffer): Promise<void> {
    const { plan, subsample } = this.#setup;
    const planes = [viewPlanes(reference, plan), viewPlanes(distorted, plan)] as const;
    copyPlanes(planes[0], this.#extractor.referencePlanes());
    copyPlanes(planes[1], this.#extractor.distortedPlanes());
    const fed = this.#fed;
    const { length } = this.#extractor.layout;
    const offset = (fed.index - fed.first) * length;
    if (fed.records.length < offset + length) {
      const grown = new Float64Array(2 * fed.records.length + 4 * length);
      grown.set(fed.records);
      fed.records = grown;
    }
    const listed = fed.index % subsample === 0;
    if (listed) this.#pictures?.take(...planes);
    this.#extractor.extract(fed.records, offset, listed);
    if (listed && this.#heatmaps) writeHeatmaps(this.#extractor, fed.index, this.#heatmaps);
    if (listed && this.#pictures)
      await this.#pictures.score(fed.index, fed.records, offset + this.#extractor.layout.pictures);
    fed.index++;
    this.#tools.post({ kind: 'measured', buffers: [reference, distorted] }, [reference, distorted]);
  }
}
