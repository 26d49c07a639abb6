/**
 * @module engine/workers/worker-body
 * Handles messages in a worker. Platforms provide port, files and measurers.
 */
import { AnyvmafError, type ErrorData, errorData } from '../../core/errors.js';
import { copyPlanes } from '../../core/frame.js';
import { limitError } from '../../core/system-limits.js';
import type { FrameSource, SourceDescriptor } from '../../media/types.js';
import type { TinyRuntimes } from '../../tiny/types.js';
import type { GpuKind, GpuMeasurer, GpuUse } from '../backends/composite.js';
import { coreMeasurers } from '../backends/core/extractor.js';
import type { ExtractionPlan, HeatmapStore, InstantKind, Measurer } from '../backends/measurer.js';
import { historyNeeds, viewPlanes, writeHistory } from '../backends/measurer.js';
import type { Chunk, FromWorker, MeasuredChunk, ToWorker, WorkerSetup } from '../contract/platform.js';
import { ChunkMeasurer, openPictures, PairMeasurer, type PairOutputs } from './measure.js';

/** Milliseconds between progress messages: one costs as much as a tenth of a cheap frame. */
const PROGRESS_TIME = 20;

export interface WorkerTools {
  post(message: FromWorker, transfer?: ArrayBuffer[]): void;
  reopen(descriptor: SourceDescriptor): Promise<FrameSource> | FrameSource;
  runtimes(onnxruntime?: string): Promise<TinyRuntimes>;
  /** @throws {AnyvmafError} `backend` if there is no GPU, with advice */
  openGpu(): Promise<GpuKind>;
  heatmaps?(): Promise<HeatmapStore>;
}

/** @returns the handler of messages, to call in order of arrival */
export function createWorkerBody(tools: WorkerTools): (message: ToWorker) => void {
  let work: Work | null = null;
  let failed = false;
  let aborted = false;

  async function handle(message: ToWorker): Promise<void> {
    if (message.kind === 'abort') {
      await work?.close().catch(() => {});
      tools.post({ kind: 'stopped' });
      return;
    }
    if (failed || aborted) return;
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
    if (message.kind === 'abort') {
      aborted = true;
      work?.abort();
    }
    last = last.then(() => handle(message));
  };
}

/** Serialises an error: known errors keep their code, others are internal. */
function describe(error: unknown): ErrorData {
  const known = error instanceof AnyvmafError ? error : limitError(error);
  if (known) return errorData(known);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A worker failed while measuring frames (${reason}).` };
}

/** Opens the worker's GPU; reports its state now and when it is lost. */
async function openGpu(tools: WorkerTools, core: InstantKind, plan: ExtractionPlan, use: GpuUse) {
  const { openGpuMeasurer } = await import('../backends/composite.js');
  const report = () => tools.post({ kind: 'gpu', state: gpu.state });
  const gpu = await openGpuMeasurer(() => tools.openGpu(), core, plan, use, report);
  report();
  return gpu;
}

/** A started worker: its measurer, and its videos if it reads them itself. */
class Work {
  readonly #tools: WorkerTools;
  readonly #setup: WorkerSetup;
  readonly #measurer: Measurer;
  readonly #gpu: GpuMeasurer | undefined;
  readonly #sources: readonly FrameSource[];
  readonly #outputs: PairOutputs;
  readonly #chunks: ChunkMeasurer | null;
  readonly #pairs: PairMeasurer;
  #aborted = false;
  /** Time of the last progress message. */
  #sent = performance.now();
  /** The chunk that the engine is sending, and its records so far. */
  #fed: { readonly first: number; readonly records: Float64Array[] } = { first: 0, records: [] };
  /** Next pair of history. */
  #earlier = 0;

  private constructor(
    tools: WorkerTools,
    setup: WorkerSetup,
    measurer: Measurer,
    sources: readonly FrameSource[],
    outputs: PairOutputs,
    gpu?: GpuMeasurer,
  ) {
    const { plan, subsample, pair, signs } = setup;
    this.#tools = tools;
    this.#setup = setup;
    this.#measurer = measurer;
    this.#gpu = gpu;
    this.#sources = sources;
    this.#outputs = outputs;
    this.#pairs = new PairMeasurer(this.#measurer, subsample, outputs);
    const [reference, distorted] = sources;
    const open = pair && reference && distorted && { ...pair, reference, distorted };
    const options = { ...outputs, subsample, signs };
    this.#chunks = open ? new ChunkMeasurer(this.#measurer, plan, open, options) : null;
  }

  /** @returns `null` if a GPU is only `tried` and there is none: the worker gets no work */
  static async start(tools: WorkerTools, setup: WorkerSetup): Promise<Work | null> {
    const { pair, plan } = setup;
    const core = await coreMeasurers(setup.modules, setup.implementation);
    const gpu = setup.gpu && (await openGpu(tools, core, plan, setup.gpu));
    if (gpu && !gpu.measurer) return null;
    const sources = pair ? [await tools.reopen(pair.reference), await tools.reopen(pair.distorted)] : [];
    const pictures = await openPictures(setup, () => tools.runtimes(setup.onnxruntime));
    if (pictures) tools.post({ kind: 'sessions', sessions: pictures.facts });
    const heatmaps = setup.heatmaps && (await tools.heatmaps?.())?.open(setup.heatmaps);
    return new Work(tools, setup, gpu?.measurer ?? core.open(plan), sources, { pictures, heatmaps }, gpu);
  }

  abort(): void {
    this.#aborted = true;
    void this.#gpu?.close();
  }

  async close(): Promise<void> {
    await (this.#gpu ?? this.#measurer).close();
    this.#outputs.heatmaps?.close();
    await this.#outputs.pictures?.close();
    for (const source of this.#sources) await source.close();
  }

  async handle(message: Exclude<ToWorker, { kind: 'start' | 'stop' | 'abort' }>): Promise<void> {
    switch (message.kind) {
      case 'measure':
        return this.#measureChunk(message.chunk);
      case 'begin':
        this.#fed = { first: message.first, records: [] };
        this.#earlier = Math.max(0, message.first - historyNeeds(this.#setup.plan).frames);
        return;
      case 'prime':
        return this.#prime(message);
      case 'pair':
        return this.#measurePair(message.reference, message.distorted);
      case 'end': {
        await this.#pairs.settle();
        const { first, records } = this.#fed;
        const joined = new Float64Array(records.length * this.#measurer.layout.length);
        for (const [i, record] of records.entries()) joined.set(record, i * record.length);
        this.#sendRecords({ first, count: records.length, records: joined, ended: null });
      }
    }
  }

  async #measureChunk(chunk: Chunk): Promise<void> {
    if (!this.#chunks) throw new Error('measure was asked of a worker without videos');
    let pairs = 0;
    const measured = await this.#chunks.measure(chunk, () => {
      if (this.#aborted) throw new AnyvmafError('aborted', 'The run was aborted.');
      pairs++;
      const now = performance.now();
      if (now - this.#sent < PROGRESS_TIME) return undefined;
      this.#tools.post({ kind: 'progress', pairs });
      this.#sent = now;
      pairs = 0;
      return undefined;
    });
    this.#sendRecords({ first: chunk.first, ...measured });
  }

  #sendRecords(chunk: Chunk & MeasuredChunk): void {
    this.#sendCounts();
    if (this.#gpu) this.#tools.post({ kind: 'gpu', state: this.#gpu.state });
    const { records, signatures } = chunk;
    const buffers = [records.buffer, ...(signatures ? [signatures.buffer] : [])];
    this.#tools.post({ kind: 'records', ...chunk }, buffers);
  }

  /** Sends the counts of picture models, before the last records. */
  #sendCounts(): void {
    const { pictures } = this.#outputs;
    if (pictures?.counts) this.#tools.post({ kind: 'sessions', sessions: pictures.facts });
  }

  /** Keeps a pair of history, and returns its memory. */
  #prime({ reference, distorted }: ToWorker & { readonly kind: 'prime' }): void {
    const { plan } = this.#setup;
    const slot = this.#measurer.slot(this.#earlier++);
    writeHistory(reference, plan, slot.reference);
    if (distorted) writeHistory(distorted, plan, slot.distorted);
    this.#measurer.keep(slot);
    const buffers = [reference.buffer, ...(distorted ? [distorted.buffer] : [])];
    this.#tools.post({ kind: 'primed', buffers }, buffers);
  }

  async #measurePair(reference: ArrayBuffer, distorted: ArrayBuffer): Promise<void> {
    const { plan } = this.#setup;
    const { first, records } = this.#fed;
    const slot = this.#measurer.slot(first + records.length);
    copyPlanes(viewPlanes(reference, plan), slot.reference);
    copyPlanes(viewPlanes(distorted, plan), slot.distorted);
    const record = new Float64Array(this.#measurer.layout.length);
    records.push(record);
    await this.#pairs.measure(slot, record);
    this.#tools.post({ kind: 'measured', buffers: [reference, distorted] }, [reference, distorted]);
  }
}
