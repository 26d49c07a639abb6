/**
 * @module engine/workers/dispatch
 * Gives the workers of a pool their work: chunks of two random-access videos that they read for themselves, or frames that only
 * the calling thread has (pipes, streams, a caller's own), with bounded buffering. If a GPU may be slower than the core's
 * workers, both begin the run and the faster side finishes it alone.
 */

import type { FramePlanes } from '../../core/frame.js';
import type { GpuState } from '../backends/composite.js';
import {
  allocateFrame,
  copyHistory,
  type ExtractionPlan,
  type HistoryNeeds,
  historyNeeds,
  viewPlanes,
} from '../backends/measurer.js';
import type { Chunk, FromWorker } from '../contract/platform.js';
import type { Extent } from '../pair/pair.js';
import { GPU_SHARE, type WorkerPool } from './worker-pool.js';

interface Pace {
  /** Pairs still to measure. */
  pairs: number;
  /** Milliseconds with work, up to `since`. */
  busy: number;
  since: number;
  measured: number;
}

/** Estimates from the workers' rates when each will be done. */
class Balance {
  readonly #pool: WorkerPool;
  readonly #paces: Pace[];

  constructor(pool: WorkerPool) {
    this.#pool = pool;
    this.#paces = Array.from({ length: pool.size }, () => ({ pairs: 0, busy: 0, since: 0, measured: 0 }));
  }

  give(worker: number, pairs: number): void {
    const pace = this.#paces[worker] as Pace;
    if (pace.pairs === 0) pace.since = performance.now();
    pace.pairs += pairs;
  }

  take(worker: number, measured: number): void {
    const pace = this.#paces[worker] as Pace;
    const now = performance.now();
    pace.busy += now - pace.since;
    pace.since = now;
    pace.measured += measured;
    pace.pairs -= measured;
  }

  /**
   * Whether to leave a chunk to another worker that would measure all `left` pairs, this chunk included, before
   * this worker had measured the chunk. The fastest never leaves one.
   */
  leaves(worker: number, count: number, left: number): boolean {
    const end = this.#end(worker, count);
    return this.#others(worker).some((other) => this.#end(other, left) < end);
  }

  /** Whether a worker with so many more pairs would, as far as known, end no later than all workers together. */
  fits(worker: number, count: number, left: number): boolean {
    const all = [worker, ...this.#others(worker)];
    const rate = all.reduce((sum, one) => sum + this.#rate(one), 0);
    const pairs = all.reduce((sum, one) => sum + (this.#paces[one] as Pace).pairs, left);
    return !(this.#end(worker, count) > pairs / rate);
  }

  /** The other workers that take chunks and whose rate is known. */
  #others(worker: number): number[] {
    return [...this.#paces.keys()].filter(
      (other) => other !== worker && this.#pool.share(other) > 0 && this.#rate(other) > 0,
    );
  }

  /** Milliseconds until a worker with so many more pairs is done; NaN while its rate is unknown. */
  #end(worker: number, count: number): number {
    const rate = this.#rate(worker);
    return rate > 0 ? ((this.#paces[worker] as Pace).pairs + count) / rate : Number.NaN;
  }

  /** Pairs per millisecond, 0 while unknown: a lost GPU's rate says nothing of the core that took over. */
  #rate(worker: number): number {
    const { busy, measured } = this.#paces[worker] as Pace;
    const lost = (this.#pool.gpus.get(worker)?.lost ?? null) !== null;
    return busy > 0 && !lost ? measured / busy : 0;
  }
}

/** Takes records as they arrive, in any order of chunks. */
export interface RecordSink {
  /** Takes the records of `count` consecutive pairs from `first` on. */
  add(first: number, count: number, records: Float64Array): void;
  /** Counts pairs measured since the last call. */
  measured(pairs: number): void;
  /** Takes signatures of pairs from `first` on, if workers send them. */
  signed?(first: number, signatures: Uint8Array): void;
}

export interface Dispatching {
  /** Called before each chunk; a returned promise delays it. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /** Whether a busy worker may be given this chunk in advance, so that it need not wait. Default: never. */
  readonly ahead?: (chunk: Chunk) => boolean;
  /** Number of the first pair. Default 0. */
  readonly first?: number;
  readonly stopped?: (() => boolean) | undefined;
  /** The pair after the last, if known: with a GPU, the last chunks are then balanced by the workers' rates. */
  readonly total?: number | null;
}

/** Has all chunks measured; an idle worker takes the next one, or several in a row as one, by its share. */
export function dispatch(
  pool: WorkerPool,
  chunks: Iterator<Chunk, void>,
  sink: RecordSink,
  options: Dispatching = {},
): Promise<Extent> {
  return new Dispatcher(pool, chunks, sink, options).run();
}

class Dispatcher {
  readonly #pool: WorkerPool;
  readonly #chunks: Iterator<Chunk, void>;
  readonly #sink: RecordSink;
  readonly #options: Dispatching;
  /** Chunks to do, per worker. */
  readonly #workers: readonly { chunks: number }[];
  readonly #balance: Balance | undefined;
  #next: Chunk | undefined;
  #extent: Extent;
  #ended = false;
  #refuse: (reason: unknown) => void = () => {};
  readonly #refused = new Promise<never>((_, reject) => {
    this.#refuse = reject;
  });

  constructor(pool: WorkerPool, chunks: Iterator<Chunk, void>, sink: RecordSink, options: Dispatching) {
    const { first = 0, total = null } = options;
    this.#extent = { pairs: first, ended: null };
    this.#pool = pool;
    this.#chunks = chunks;
    this.#sink = sink;
    this.#options = options;
    this.#workers = Array.from({ length: pool.size }, () => ({ chunks: 0 }));
    this.#balance = total !== null && pool.gpus.size > 0 ? new Balance(pool) : undefined;
    this.#advance();
  }

  async run(): Promise<Extent> {
    this.#pool.receive((number, message, measured) => {
      // A GPU's state changes its share.
      if (message.kind === 'gpu') this.#assignAll();
      // Workers that read for themselves are sent no frames.
      if (message.kind !== 'progress' && message.kind !== 'records') return;
      this.#balance?.take(number, measured);
      this.#sink.measured(measured);
      if (message.kind === 'records') this.#take(number, message);
    });
    this.#assignAll();
    const done = this.#pool.until(() => this.#workers.every(({ chunks }) => chunks === 0));
    await Promise.race([done, this.#refused]);
    return this.#extent;
  }

  #advance(): void {
    this.#next = this.#chunks.next().value ?? undefined;
  }

  /** Gives each worker one chunk before any gets a second. */
  #assignAll(): void {
    while (this.#workers.filter((_, number) => this.#assign(number)).length > 0);
  }

  #assign(number: number): boolean {
    const worker = this.#workers[number];
    const next = this.#next;
    if (!worker || !next || this.#ended || this.#options.stopped?.() || this.#pool.share(number) === 0)
      return false;
    if (worker.chunks > 1 || (worker.chunks === 1 && !this.#mayHoldTwo(number, next))) return false;
    if (this.#balance?.leaves(number, next.count, this.#left(next))) return false;
    const chunk = this.#join(number, next);
    this.#balance?.give(number, chunk.count);
    worker.chunks++;
    const post = () => this.#pool.post(number, { kind: 'measure', chunk });
    const wait = this.#options.gate?.();
    if (wait) wait.then(post).catch(this.#refuse);
    else post();
    return true;
  }

  /** Whether a worker may queue a second chunk. Beside a GPU, the core's workers are too slow for that. */
  #mayHoldTwo(number: number, next: Chunk): boolean {
    return this.#options.ahead?.(next) === true && (!this.#balance || this.#pool.gpus.has(number));
  }

  /** Joins as many chunks into one as are a worker's share, if there are. */
  #join(number: number, first: Chunk): Chunk {
    let { count } = first;
    this.#advance();
    for (let taken = 1; taken < this.#pool.share(number) && this.#next; taken++) {
      if (this.#balance && !this.#balance.fits(number, count + this.#next.count, this.#left(first))) break;
      count += this.#next.count;
      this.#advance();
    }
    return { first: first.first, count };
  }

  #left({ first }: Chunk): number {
    return (this.#options.total ?? Number.POSITIVE_INFINITY) - first;
  }

  #take(
    number: number,
    { first, count, records, signatures, ended }: FromWorker & { readonly kind: 'records' },
  ): void {
    const worker = this.#workers[number];
    if (worker) worker.chunks--;
    if (signatures) this.#sink.signed?.(first, signatures);
    this.#sink.add(first, count, records);
    const pairs = first + count;
    if (ended) {
      // Chunks past the end are empty; the one with the smallest end tells which video was short.
      if (!this.#ended || pairs < this.#extent.pairs) this.#extent = { pairs, ended };
      this.#ended = true;
    } else if (!this.#ended) this.#extent = { pairs: Math.max(this.#extent.pairs, pairs), ended: null };
    while (this.#assign(number));
    if (!this.#balance) return;
    // Those that left a chunk to others may want one now.
    for (const [other, { chunks }] of this.#workers.entries()) if (chunks === 0) this.#assign(other);
  }
}

/** Milliseconds, and pairs of the GPU, after which the probe decides. */
const PROBE_TIME = 700;
const PROBE_PAIRS = 24;

/** Pairs per second of GPU and core, measured side by side. */
export interface MeasuredRates {
  readonly gpu: number;
  readonly core: number;
}

/** Compares the GPU of one worker of a pool with the core of the others. */
export class BackendProbe {
  readonly #pool: WorkerPool;
  readonly #now: () => number;
  /** When the GPU had measured its first pairs, and the pairs of either side by then. */
  #start: { readonly time: number; readonly gpu: number; readonly core: number } | undefined;
  #result: MeasuredRates | undefined;

  constructor(pool: WorkerPool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
    pool.observe(() => this.#look());
  }

  get result(): MeasuredRates | undefined {
    return this.#result;
  }

  #look(): void {
    const [number, state] = [...this.#pool.gpus][0] ?? [];
    if (number === undefined || !state?.adapter) return;
    if (state.lost !== null) this.#share(1, 1);
    else if (!this.#result) this.#decide(number, state);
  }

  #decide(number: number, { pairs }: GpuState): void {
    // The GPU's first pairs take longer than later ones.
    if (pairs === 0) return;
    const gpu = this.#pool.measured(number);
    const workers = Array.from({ length: this.#pool.size }, (_, worker) => this.#pool.measured(worker));
    const core = workers.reduce((sum, measured) => sum + measured, -gpu);
    const time = this.#now();
    this.#start ??= { time, gpu, core };
    const elapsed = time - this.#start.time;
    const measured = gpu - this.#start.gpu;
    if (elapsed < PROBE_TIME || (measured < PROBE_PAIRS && elapsed < 10 * PROBE_TIME)) return;
    const rate = (count: number) => (1000 * count) / elapsed;
    this.#result = { gpu: rate(measured), core: rate(core - this.#start.core) };
    if (this.#result.gpu > this.#result.core) this.#share(GPU_SHARE, 0);
    else this.#share(0, 1);
  }

  #share(ofGpu: number, ofOthers: number): void {
    for (let worker = 0; worker < this.#pool.size; worker++)
      this.#pool.setShare(worker, this.#pool.gpus.has(worker) ? ofGpu : ofOthers);
  }
}

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
    return { reference: viewPlanes(reference, this.#plan), distorted: viewPlanes(distorted, this.#plan) };
  }

  #buffer(): ArrayBuffer {
    return this.#free.pop() ?? allocateFrame(this.#plan);
  }
}
