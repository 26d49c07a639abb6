/**
 * @module engine/workers/worker-body
 * Handles messages in a worker. Platforms provide port, files and measurers.
 */
import { AnyvmafError, type ErrorData, errorData, type InputRole } from '../../core/errors.js';
import { copyPlanes, type FramePlanes } from '../../core/frame.js';
import { limitError } from '../../core/system-limits.js';
import type { FrameSource, SourceDescriptor } from '../../media/types.js';
import type { GpuState } from '../backends/composite.js';
import { type ExtractionPlan, viewPlanes } from '../backends/measurer.js';
import type { Chunk, FromWorker, SentPair, ToWorker, WorkerSetup } from '../contract/platform.js';
import type { ReadablePair } from '../pair/pair.js';
import { type MeasuringTools, openMeasuring } from './measure.js';

/** Milliseconds between progress messages: one costs as much as a tenth of a cheap frame. */
const PROGRESS_TIME = 20;

export interface WorkerTools extends Omit<MeasuringTools, 'onGpu'> {
  post(message: FromWorker, transfer?: ArrayBuffer[]): void;
  reopen(descriptor: SourceDescriptor): Promise<FrameSource> | FrameSource;
}

/** @returns the handler of messages, to call in order of arrival */
export function createWorkerBody(tools: WorkerTools): (message: ToWorker) => void {
  let work: Work | null = null;
  let sent = new SentPairs();
  let failed = false;
  let aborted = false;

  async function handle(message: ToWorker, ofChunk: SentPairs): Promise<void> {
    if (message.kind === 'abort') {
      await work?.close().catch(() => {});
      tools.post({ kind: 'stopped' });
      return;
    }
    if (failed || aborted) return;
    try {
      if (message.kind === 'start') work = await startWork(tools, message.setup);
      else if (message.kind === 'stop') {
        await work?.close();
        tools.post({ kind: 'stopped' });
      } else if (message.kind === 'measure') await work?.measure(message.chunk, ofChunk);
    } catch (error) {
      failed = true;
      tools.post({ kind: 'failed', ...describe(error) });
    }
  }

  let last = Promise.resolve();
  return (message) => {
    if (message.kind === 'pair') return sent.add(message);
    if (message.kind === 'end') return sent.end();
    if (message.kind === 'measure') sent = new SentPairs();
    if (message.kind === 'abort') {
      aborted = true;
      work?.abort();
    }
    const ofChunk = sent;
    last = last.then(() => handle(message, ofChunk));
  };
}

/** The pairs of a chunk that the engine sends; reading one waits for it. */
class SentPairs {
  readonly #pairs = new Map<number, SentPair>();
  #ended = false;
  #waiting: (() => void)[] = [];
  /** Buffers that were read. */
  readonly used: ArrayBuffer[] = [];

  add(pair: SentPair): void {
    this.#pairs.set(pair.index, pair);
    this.#wake();
  }

  /** No further pair comes. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  pairOf(plan: ExtractionPlan): ReadablePair {
    const side = (role: InputRole) => ({
      readFrame: (index: number, into: FramePlanes) => this.#read(index, role, plan, into),
    });
    return {
      reference: side('reference'),
      distorted: side('distorted'),
      skip: { reference: 0, distorted: 0 },
    };
  }

  async #read(index: number, role: InputRole, plan: ExtractionPlan, into: FramePlanes): Promise<boolean> {
    while (!this.#pairs.has(index)) {
      if (this.#ended) return false;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const buffer = this.#pairs.get(index)?.[role];
    if (!buffer) throw new Error(`the ${role} frame of pair ${index} was not sent`);
    copyPlanes(viewPlanes(buffer, plan), into);
    this.used.push(buffer);
    return true;
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

/** Serialises an error: known errors keep their code, others are internal. */
function describe(error: unknown): ErrorData {
  const known = error instanceof AnyvmafError ? error : limitError(error);
  if (known) return errorData(known);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'internal', message: `A worker failed while measuring frames (${reason}).` };
}

/** A started worker. */
interface Work {
  /** @param sent its pairs, unless this worker reads the videos itself */
  measure(chunk: Chunk, sent: SentPairs): Promise<void>;
  abort(): void;
  close(): Promise<void>;
}

/** @returns `null` if a GPU is only `tried` and there is none: the worker gets no work */
async function startWork(tools: WorkerTools, setup: WorkerSetup): Promise<Work | null> {
  const { pair, plan } = setup;
  const onGpu = (state: GpuState) => tools.post({ kind: 'gpu', state });
  const measuring = await openMeasuring(setup, { ...tools, onGpu });
  if (!measuring) return null;
  const { chunks, gpu, pictures } = measuring;
  if (pictures) tools.post({ kind: 'sessions', sessions: pictures.facts });
  const open = pair && {
    reference: await tools.reopen(pair.reference),
    distorted: await tools.reopen(pair.distorted),
    skip: pair.skip,
  };
  let [current, told, aborted] = [new SentPairs(), performance.now(), false];
  const refuseAborted = () => {
    if (aborted) throw new AnyvmafError('aborted', 'The run was aborted.');
  };
  return {
    async measure(chunk, sent) {
      current = sent;
      let pairs = 0;
      const measured = await chunks.measure(open ?? sent.pairOf(plan), chunk, () => {
        refuseAborted();
        pairs++;
        const [buffers, now] = [sent.used.splice(0), performance.now()];
        if (buffers.length === 0 && now - told < PROGRESS_TIME) return undefined;
        tools.post({ kind: 'progress', pairs, buffers }, buffers);
        [told, pairs] = [now, 0];
        return undefined;
      });
      refuseAborted();
      // The counts of picture models come before the last records.
      if (pictures?.counts) tools.post({ kind: 'sessions', sessions: pictures.facts });
      if (gpu) tools.post({ kind: 'gpu', state: gpu.state });
      const { records, signatures } = measured;
      const buffers = [records.buffer, ...(signatures ? [signatures.buffer] : [])];
      tools.post({ kind: 'records', first: chunk.first, ...measured }, buffers);
    },
    abort() {
      aborted = true;
      current.end();
      gpu?.close();
    },
    async close() {
      await measuring.close();
      await open?.reference.close();
      await open?.distorted.close();
    },
  };
}
