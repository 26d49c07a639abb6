/**
 * @module engine/workers/feeder
 * Brings frames that only the calling thread has (pipes, streams, a caller's own) to workers, with bounded buffering.
 */

import type { FramePlanes } from '../../core/frame.js';
import { allocateFrame, copyHistory, viewPlanes } from '../backends/frame-buffer.js';
import { type ExtractionPlan, type HistoryNeeds, historyNeeds } from '../backends/types.js';
import type { RecordSink } from './dispatch.js';
import type { WorkerPool } from './worker-pool.js';

/** Short chunks bound memory; two pairs suffice to make the repeated luma copy cheap. */
const DEFAULT_CHUNK = 2;
/** Chunks of one pair that each worker begins with: its neighbours measure the next pairs, so the first frame is reported soon. */
const SINGLE_PAIRS = 2;
/** Limit of what a caller can ask for. */
const LONGEST_CHUNK = 16;

/** Pairs in each chunk of a feeder whose caller asked for this many, or did not say. */
export function feederChunk(chunkFrames = DEFAULT_CHUNK): number {
  return Math.min(chunkFrames, LONGEST_CHUNK);
}

/** What is kept of a pair. */
interface KeptPair {
  readonly reference: Uint8Array<ArrayBuffer>;
  readonly distorted?: Uint8Array<ArrayBuffer>;
}

/** Where a feeder begins, and in what portions. */
export interface FeederOptions {
  readonly chunkFrames?: number;
  /** Number of the first pair to measure. Default 0; pairs before it are given as a lead-in. */
  readonly first?: number;
}

const NO_HISTORY: HistoryNeeds = { frames: 0, chroma: false, distorted: false };

/** Memory of one pair of frames, as a worker is sent it. */
interface FrameBuffers {
  readonly reference: ArrayBuffer;
  readonly distorted: ArrayBuffer;
}

/** Room for one pair of frames. */
export interface FramePair {
  readonly reference: FramePlanes;
  readonly distorted: FramePlanes;
}

/**
 * Takes pairs in order: {@link room}, fill it, {@link submit}. Chunks of a few pairs go to the workers in turn; a chunk
 * begins with copies of what metrics look back to. Each worker holds at most its share of pairs more than a chunk,
 * so memory depends on the number of workers only. Frames and history change hands instead of being copied, and come back.
 */
export class Feeder {
  readonly #pool: WorkerPool;
  readonly #plan: ExtractionPlan;
  readonly #chunkFrames: number;
  /** Pairs at the start that are chunks of their own. */
  readonly #singles: number;
  readonly #history: HistoryNeeds;
  /** Per worker: pairs sent and not yet measured, chunks whose records are still to come, and where it stands. */
  readonly #workers: { pending: number; chunks: number; next: number }[];
  /** What metrics look back to of the latest pairs, oldest first; only kept when more than one worker may need it. */
  #recent: KeptPair[] = [];
  readonly #free: ArrayBuffer[] = [];
  /** History that workers have taken over: room for more of it. */
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #slot: FrameBuffers | null = null;
  #index: number;
  /** Number of the first pair to measure. */
  readonly #first: number;
  /** The worker that gets the current chunk, and how many pairs of it are still to come. */
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

  /** Number of the pair at which the lead-in begins: what metrics look back to before the first pair. */
  get begins(): number {
    return Math.max(0, this.#first - this.#history.frames);
  }

  /** Where to write the next pair of the lead-in. */
  leadIn(): FramePair {
    this.#slot ??= { reference: this.#buffer(), distorted: this.#buffer() };
    return this.#view(this.#slot);
  }

  /** Keeps the pair written where {@link leadIn} said as history of the first one. */
  keep(): void {
    if (this.#slot) this.#remember(this.#slot);
  }

  /**
   * Where to write the next pair. Waits while every worker has enough to do.
   * @throws what stopped a worker
   */
  async room(): Promise<FramePair> {
    this.#pool.check();
    if (this.#left === 0) await this.#begin();
    this.#slot ??= { reference: this.#buffer(), distorted: this.#buffer() };
    return this.#view(this.#slot);
  }

  /** Sends the pair written where {@link room} said. */
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

  /**
   * Waits until every pair is measured and its records have arrived.
   * @returns number of pairs
   */
  async finish(): Promise<number> {
    if (this.#left > 0) this.#pool.post(this.#current, { kind: 'end' });
    this.#left = 0;
    await this.#pool.until(() => this.#workers.every((worker) => worker.chunks === 0));
    return this.#index;
  }

  /**
   * Starts a chunk on the worker with the least to do, once it has at most one pair left; one with a larger share gets so
   * much longer chunks, and sooner.
   */
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
    // If the chunk that begins is as long as the history, the next one looks back into that chunk.
    const last = this.#left >= this.#history.frames;
    for (const kept of this.#recent) {
      const buffers = [kept.reference.buffer, ...(kept.distorted ? [kept.distorted.buffer] : [])];
      this.#pool.post(this.#current, { kind: 'prime', ...kept }, last ? buffers : []);
    }
    if (last) this.#recent = [];
  }

  /** Keeps of a pair what the chunk after this one looks back to. */
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
