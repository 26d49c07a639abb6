/**
 * @module engine/workers/feeder
 * Sends frames that only the calling thread has (pipes, streams, a caller's own) to workers, with bounded buffering.
 */

import type { FramePlanes } from '../../core/frame.js';
import { allocateFrame, copyHistory, viewPlanes } from '../backends/frame-buffer.js';
import { type ExtractionPlan, type HistoryNeeds, historyNeeds } from '../backends/types.js';
import type { RecordSink } from './dispatch.js';
import type { WorkerPool } from './worker-pool.js';

/** Short chunks bound memory; two pairs suffice to make the repeated luma copy cheap. */
const DEFAULT_CHUNK = 2;
/** One-pair chunks that each worker begins with: workers share the first pairs, so the first frame comes soon. */
const SINGLE_PAIRS = 2;
/** Largest chunk that a caller can request. */
const LONGEST_CHUNK = 16;

export function feederChunk(chunkFrames = DEFAULT_CHUNK): number {
  return Math.min(chunkFrames, LONGEST_CHUNK);
}

interface KeptPair {
  readonly reference: Uint8Array<ArrayBuffer>;
  readonly distorted?: Uint8Array<ArrayBuffer>;
}

export interface FeederOptions {
  readonly chunkFrames?: number;
  /** Number of the first pair to measure. Default 0; earlier pairs are passed as a lead-in. */
  readonly first?: number;
}

const NO_HISTORY: HistoryNeeds = { frames: 0, chroma: false, distorted: false };

interface FrameBuffers {
  readonly reference: ArrayBuffer;
  readonly distorted: ArrayBuffer;
}

export interface FramePair {
  readonly reference: FramePlanes;
  readonly distorted: FramePlanes;
}

/**
 * Takes pairs in order: {@link room}, fill it, {@link submit}. Chunks of a few pairs go to the workers in turn,
 * each after copies of the pairs that it looks back to. A worker holds at most its share of pairs more than a chunk, so
 * memory depends only on the number of workers. Frames and history are transferred, not copied, and come back.
 */
export class Feeder {
  readonly #pool: WorkerPool;
  readonly #plan: ExtractionPlan;
  readonly #chunkFrames: number;
  /** Pairs at the start that are chunks of their own. */
  readonly #singles: number;
  readonly #history: HistoryNeeds;
  /** Per worker: pairs sent but not measured, chunks without records so far, and the pair after its last. */
  readonly #workers: { pending: number; chunks: number; next: number }[];
  /** History of the latest pairs, oldest first; kept only if another worker may need it. */
  #recent: KeptPair[] = [];
  readonly #free: ArrayBuffer[] = [];
  /** Returned history buffers, for reuse. */
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #slot: FrameBuffers | null = null;
  #index: number;
  readonly #first: number;
  /** The worker that gets the current chunk, and the number of its pairs still to come. */
  #current = 0;
  #left = 0;

  constructor(
    pool: WorkerPool,
    plan: ExtractionPlan,
    sink: RecordSink,
    { chunkFrames, first = 0 }: FeederOptions = {},
  ) {
    this.#pool = pool;
    this.#plan = plan;
    this.#index = first;
    this.#first = first;
    this.#history = pool.size > 1 || first > 0 ? historyNeeds(plan) : NO_HISTORY;
    this.#chunkFrames = feederChunk(chunkFrames);
    this.#singles = chunkFrames === undefined ? SINGLE_PAIRS * pool.size : 0;
    this.#workers = Array.from({ length: pool.size }, () => ({ pending: 0, chunks: 0, next: 0 }));
    pool.receive((number, message) => {
      const worker = this.#workers[number];
      if (!worker) return;
      if (message.kind === 'measured') {
        worker.pending--;
        this.#free.push(...message.buffers);
        sink.measured(1);
      } else if (message.kind === 'primed') {
        this.#spare.push(...message.buffers.map((buffer) => new Uint8Array(buffer)));
      } else if (message.kind === 'records') {
        worker.chunks--;
        sink.add(message.first, message.count, message.records);
      }
    });
  }

  /** Number of the first pair of the lead-in, as far as metrics look back. */
  get begins(): number {
    return Math.max(0, this.#first - this.#history.frames);
  }

  /** Returns where to write the next pair of the lead-in. */
  leadIn(): FramePair {
    this.#slot ??= { reference: this.#buffer(), distorted: this.#buffer() };
    return this.#view(this.#slot);
  }

  /** Keeps the pair written to {@link leadIn} as history of the first pair. */
  keep(): void {
    if (this.#slot) this.#remember(this.#slot);
  }

  /** Returns where to write the next pair; waits while every worker is busy enough. @throws what stopped a worker */
  async room(): Promise<FramePair> {
    this.#pool.check();
    if (this.#left === 0) await this.#begin();
    this.#slot ??= { reference: this.#buffer(), distorted: this.#buffer() };
    return this.#view(this.#slot);
  }

  /** Sends the pair written to {@link room}. */
  submit(): void {
    const slot = this.#slot;
    const worker = this.#workers[this.#current];
    if (!slot || !worker) throw new Error('submit needs a pair written where room said');
    this.#slot = null;
    this.#remember(slot);
    this.#pool.post(this.#current, { kind: 'pair', ...slot }, [slot.reference, slot.distorted]);
    worker.pending++;
    worker.next = ++this.#index;
    if (--this.#left === 0) this.#pool.post(this.#current, { kind: 'end' });
  }

  /** Waits until every pair is measured and its records have arrived. @returns number of pairs */
  async finish(): Promise<number> {
    if (this.#left > 0) this.#pool.post(this.#current, { kind: 'end' });
    this.#left = 0;
    await this.#pool.until(() => this.#workers.every((worker) => worker.chunks === 0));
    return this.#index;
  }

  /** Starts a chunk on the least loaded worker once that has at most one pair left, relative to its share. */
  async #begin(): Promise<void> {
    const load = (number: number) => (this.#workers[number]?.pending ?? 0) / this.#pool.share(number);
    const least = () => {
      const ready = [...this.#workers.keys()].filter((number) => this.#pool.share(number) > 0);
      return ready.reduce((best, number) => (load(number) < load(best) ? number : best), ready[0] ?? -1);
    };
    await this.#pool.until(() => least() >= 0 && load(least()) <= 1);
    this.#current = least();
    this.#left =
      this.#index < this.#first + this.#singles ? 1 : this.#chunkFrames * this.#pool.share(this.#current);
    const worker = this.#workers[this.#current];
    if (!worker) throw new Error('a feeder needs workers');
    const continues = worker.next === this.#index;
    this.#pool.post(this.#current, { kind: 'begin', first: this.#index });
    worker.chunks++;
    if (!continues) this.#sendHistory();
  }

  #sendHistory(): void {
    // If this chunk is as long as the history, the next one looks back into it only.
    const last = this.#left >= this.#history.frames;
    for (const kept of this.#recent) {
      const buffers = [kept.reference.buffer, ...(kept.distorted ? [kept.distorted.buffer] : [])];
      this.#pool.post(this.#current, { kind: 'prime', ...kept }, last ? buffers : []);
    }
    if (last) this.#recent = [];
  }

  /** Keeps what the next chunk looks back to. */
  #remember(pair: FrameBuffers): void {
    const { frames, distorted } = this.#history;
    if (this.#left > frames) return;
    const old = this.#recent.length === frames ? this.#recent.shift() : undefined;
    const keep = (buffer: ArrayBuffer, into = this.#spare.pop()) => copyHistory(buffer, this.#plan, into);
    this.#recent.push({
      reference: keep(pair.reference, old?.reference),
      ...(distorted && { distorted: keep(pair.distorted, old?.distorted) }),
    });
  }

  #view({ reference, distorted }: FrameBuffers): FramePair {
    return {
      reference: viewPlanes(reference, this.#plan),
      distorted: viewPlanes(distorted, this.#plan),
    };
  }

  #buffer(): ArrayBuffer {
    return this.#free.pop() ?? allocateFrame(this.#plan);
  }
}
