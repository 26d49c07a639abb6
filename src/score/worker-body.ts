/**
 * @module score/worker-body
 * What a worker does with the messages it gets. Platforms bring only the port, the files and the extractor.
 */
import type { ExtractionPlan, FrameExtractor } from '../backend/types.js';
import type { Implementation } from '../core/module.js';
import { AnyvmafError } from '../errors.js';
import type { FrameSource, SourceDescriptor } from '../media/types.js';
import { copyPlanes, viewPlanes, writeHistory } from './frames.js';
import { ChunkMeasurer } from './measure.js';
import type { FromWorker, ToWorker, WorkerSetup } from './protocol.js';

/** What a platform lends its workers. */
export interface WorkerTools {
  /** Sends a message to the engine. */
  post(message: FromWorker, transfer?: ArrayBuffer[]): void;
  /** Opens a video of which the engine sent the recipe. */
  reopen(descriptor: SourceDescriptor): Promise<FrameSource> | FrameSource;
  /** Makes an extractor with its own memory. */
  createExtractor(
    module: WebAssembly.Module,
    plan: ExtractionPlan,
    implementation: Implementation,
  ): FrameExtractor;
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
function describe(error: unknown): Pick<FromWorker & { kind: 'failed' }, 'code' | 'message'> {
  if (error instanceof AnyvmafError) return { code: error.code, message: error.message };
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A worker failed while measuring frames (${reason}).` };
}

/** A started worker: an extractor, and the videos when it reads them itself. */
class Work {
  readonly #tools: WorkerTools;
  readonly #setup: WorkerSetup;
  readonly #extractor: FrameExtractor;
  readonly #sources: readonly FrameSource[];
  readonly #measurer: ChunkMeasurer | null;
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
  ) {
    this.#tools = tools;
    this.#setup = setup;
    this.#extractor = extractor;
    this.#sources = sources;
    const [reference, distorted] = sources;
    this.#measurer =
      setup.pair && reference && distorted
        ? new ChunkMeasurer(extractor, setup.plan, { ...setup.pair, reference, distorted }, setup.subsample)
        : null;
  }

  static async start(tools: WorkerTools, setup: WorkerSetup): Promise<Work> {
    const { pair } = setup;
    const sources = pair ? [await tools.reopen(pair.reference), await tools.reopen(pair.distorted)] : [];
    return new Work(
      tools,
      setup,
      tools.createExtractor(setup.module, setup.plan, setup.implementation),
      sources,
    );
  }

  async close(): Promise<void> {
    this.#extractor.close();
    for (const source of this.#sources) await source.close();
  }

  async handle(message: Exclude<ToWorker, { kind: 'start' | 'stop' }>): Promise<void> {
    switch (message.kind) {
      case 'measure': {
        if (!this.#measurer) throw new Error('measure was asked of a worker without videos');
        const { first } = message.chunk;
        const { count, records, ended } = await this.#measurer.measure(message.chunk, () => {
          this.#tools.post({ kind: 'measured' });
          return undefined;
        });
        this.#tools.post({ kind: 'records', first, count, records, ended }, [records.buffer]);
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
        break;
      case 'pair':
        this.#measurePair(message.reference, message.distorted);
        break;
      case 'end': {
        const { first, index, records } = this.#fed;
        const count = index - first;
        const used = records.slice(0, count * this.#extractor.layout.length);
        this.#tools.post({ kind: 'records', first, count, records: used, ended: null }, [used.buffer]);
        break;
      }
    }
  }

  #measurePair(reference: ArrayBuffer, distorted: ArrayBuffer): void {
    const { plan, subsample } = this.#setup;
    copyPlanes(viewPlanes(reference, plan), this.#extractor.referencePlanes());
    copyPlanes(viewPlanes(distorted, plan), this.#extractor.distortedPlanes());
    const fed = this.#fed;
    const { length } = this.#extractor.layout;
    const offset = (fed.index - fed.first) * length;
    if (fed.records.length < offset + length) {
      const grown = new Float64Array(2 * fed.records.length + 4 * length);
      grown.set(fed.records);
      fed.records = grown;
    }
    this.#extractor.extract(fed.records, offset, fed.index % subsample === 0);
    fed.index++;
    this.#tools.post({ kind: 'measured', buffers: [reference, distorted] }, [reference, distorted]);
  }
}
