/**
 * @module engine/workers/dispatch
 * Distributes work to a pool's workers: chunks of two random-access videos that they read themselves, or frames of the calling
 * thread (pipes, streams, a caller's own) with bounded buffering. If a GPU may be slower than the core's workers, both start
 * the run and the faster side finishes it alone.
 */
import { copyPlanes } from '../../core/frame.js';
import type { GpuState } from '../backends/composite.js';
import type { ExtractionPlan, FrameSlot, HistoryNeeds } from '../backends/measurer.js';
import { allocateFrame, historyNeeds, viewPlanes } from '../backends/measurer.js';
import type { Chunk, MeasuredChunk, SentPair } from '../contract/platform.js';
import type { Extent } from '../pair/pair.js';
import { GPU_SHARE, type WorkerPool } from './worker-pool.js';

interface Pace {
  /** Pending pairs. */
  pairs: number;
  /** Milliseconds of work, up to `since`. */
  busy: number;
  since: number;
  measured: number;
}

/** Estimates when each worker will be done, from the workers' rates. */
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

  /** Whether another worker can measure all `left` pairs, the chunk included, before this one can measure the chunk. */
  leaves(worker: number, count: number, left: number): boolean {
    const end = this.#end(worker, count);
    return this.#others(worker).some((other) => this.#end(other, left) < end);
  }

  /** Whether a worker with `count` more pairs would end no later than all workers together, as far as known. */
  fits(worker: number, count: number, left: number): boolean {
    const all = [worker, ...this.#others(worker)];
    const rate = all.reduce((sum, each) => sum + this.#rate(each), 0);
    const pairs = all.reduce((sum, each) => sum + (this.#paces[each] as Pace).pairs, left);
    return !(this.#end(worker, count) > pairs / rate);
  }

  /** Other workers that take chunks and have a known rate. */
  #others(worker: number): number[] {
    return [...this.#paces.keys()].filter(
      (other) => other !== worker && this.#pool.share(other) > 0 && this.#rate(other) > 0,
    );
  }

  /** Milliseconds until a worker with `count` more pairs is done; NaN while its rate is unknown. */
  #end(worker: number, count: number): number {
    const rate = this.#rate(worker);
    return rate > 0 ? ((this.#paces[worker] as Pace).pairs + count) / rate : Number.NaN;
  }

  /** Pairs per millisecond; 0 while unknown, as after the loss of a GPU. */
  #rate(worker: number): number {
    const { busy, measured } = this.#paces[worker] as Pace;
    const lost = (this.#pool.gpus.get(worker)?.lost ?? null) !== null;
    return busy > 0 && !lost ? measured / busy : 0;
  }
}

/** Receives chunks of records in any order. */
export interface RecordSink {
  /** Takes the records of `count` consecutive pairs from `first`. */
  add(first: number, count: number, records: Float64Array): void;
  /** Counts pairs measured since the last call. */
  measured(pairs: number): void;
  /** Takes signatures of pairs from `first`, if workers send them. */
  signed?(first: number, signatures: Uint8Array): void;
}

export interface Dispatching {
  /** Called before each chunk; a returned promise delays it. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /** Whether a busy worker may queue this chunk. Default: never. */
  readonly ahead?: (chunk: Chunk) => boolean;
  /** First pair. Default 0. */
  readonly first?: number;
  readonly stopped?: (() => boolean) | undefined;
  /** The pair after the last, if known: then, beside a GPU, the workers' rates balance the last chunks. */
  readonly total?: number | null;
}

/** Distributes all chunks: an idle worker takes the next chunk, or as many as its share, joined. */
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
  /** Pending chunks by worker. */
  readonly #workers: readonly { chunks: number }[];
  readonly #balance: Balance | undefined;
  #next: Chunk | undefined;
  #extent: Extent;
  #ended = false;

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
      if (message.kind === 'gpu') return this.#assignAll();
      this.#balance?.take(number, measured);
      this.#sink.measured(measured);
      if (message.kind === 'records') this.#take(number, message);
    });
    this.#assignAll();
    await this.#pool.until(() => this.#workers.every(({ chunks }) => chunks === 0));
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
    if (wait) wait.then(post).catch((reason) => this.#pool.fail(reason));
    else post();
    return true;
  }

  /** Whether a worker may queue a second chunk. Beside a GPU, the core's workers are too slow. */
  #mayHoldTwo(number: number, next: Chunk): boolean {
    return this.#options.ahead?.(next) === true && (!this.#balance || this.#pool.gpus.has(number));
  }

  /** Joins up to a worker's share of chunks into one. */
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

  #take(number: number, { first, count, records, signatures, ended }: Chunk & MeasuredChunk): void {
    const worker = this.#workers[number];
    if (worker) worker.chunks--;
    if (signatures) this.#sink.signed?.(first, signatures);
    this.#sink.add(first, count, records);
    const pairs = first + count;
    if (ended) {
      // Chunks past the end are empty; the chunk with the smallest end shows which video is shorter.
      if (!this.#ended || pairs < this.#extent.pairs) this.#extent = { pairs, ended };
      this.#ended = true;
    } else if (!this.#ended) this.#extent = { pairs: Math.max(this.#extent.pairs, pairs), ended: null };
    while (this.#assign(number));
    if (!this.#balance) return;
    // Workers that left a chunk to others may take one now.
    for (const [other, { chunks }] of this.#workers.entries()) if (chunks === 0) this.#assign(other);
  }
}

/** Milliseconds and GPU pairs after which the probe decides. */
const PROBE_TIME = 700;
const PROBE_PAIRS = 24;

/** Pairs per second of GPU and core, measured side by side. */
export interface MeasuredRates {
  readonly gpu: number;
  readonly core: number;
}

/** Compares the GPU of one worker with the core of the others. */
export class BackendProbe {
  readonly #pool: WorkerPool;
  readonly #now: () => number;
  /** Time of the GPU's first measured pairs, and the pairs of both sides at that time. */
  #start: { readonly time: number; readonly gpu: number; readonly core: number } | undefined;
  #result: MeasuredRates | undefined;

  constructor(pool: WorkerPool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
    pool.observe(() => this.#check());
  }

  get result(): MeasuredRates | undefined {
    return this.#result;
  }

  #check(): void {
    const [number, state] = [...this.#pool.gpus][0] ?? [];
    if (number === undefined || !state?.adapter) return;
    if (state.lost !== null) this.#share(1, 1);
    else if (!this.#result) this.#decide(number, state);
  }

  #decide(number: number, { pairs }: GpuState): void {
    // The GPU's first pairs take longer.
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

/** Short chunks bound memory; two pairs make the repeated luma copy cheap enough. */
const DEFAULT_CHUNK = 2;
/** One-pair chunks at the start per worker, so that the first frames come soon. */
const SINGLE_PAIRS = 2;
const LONGEST_CHUNK = 16;

export function feederChunk(chunkFrames = DEFAULT_CHUNK): number {
  return Math.min(chunkFrames, LONGEST_CHUNK);
}

export interface FeederOptions {
  readonly chunkFrames?: number;
  /** First pair to measure. Default 0; pass earlier pairs as a lead-in. */
  readonly first?: number;
}

const NO_HISTORY: HistoryNeeds = { frames: 0, chroma: false, distorted: false };

export type FramePair = Pick<FrameSlot, 'reference' | 'distorted'>;

/**
 * Takes pairs in order: {@link room}, fill it, {@link submit}. Sends chunks of a few pairs to the workers in turn, each after
 * its history. A worker holds at most a chunk and its share of pairs, so memory depends only on the number of workers. Buffers
 * are transferred and returned.
 */
export class Feeder {
  readonly #pool: WorkerPool;
  readonly #plan: ExtractionPlan;
  readonly #chunkFrames: number;
  /** Pairs at the start that form one-pair chunks. */
  readonly #singles: number;
  readonly #history: HistoryNeeds;
  /** By worker: unmeasured pairs, chunks without records, and the pair after its last. */
  readonly #workers: { pending: number; chunks: number; next: number }[];
  /** History of the latest pairs, oldest first, if another worker may need it. */
  #recent: SentPair[] = [];
  readonly #free: ArrayBuffer[] = [];
  #slot: Required<SentPair> | null = null;
  #index: number;
  readonly #first: number;
  /** The worker of the current chunk, and the chunk's remaining pairs. */
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
    pool.receive((number, message, measured) => {
      const worker = this.#workers[number];
      if (!worker || message.kind === 'gpu') return;
      worker.pending -= measured;
      sink.measured(measured);
      if (message.kind === 'progress') this.#free.push(...message.buffers);
      else {
        worker.chunks--;
        sink.add(message.first, message.count, message.records);
      }
    });
  }

  /** First pair of the lead-in, as far as metrics look back. */
  get begins(): number {
    return Math.max(0, this.#first - this.#history.frames);
  }

  /** Memory for the next pair of the lead-in. */
  leadIn(index: number): FramePair {
    const { reference, distorted } = this.#slot ?? { reference: this.#buffer(), distorted: this.#buffer() };
    this.#slot = { index, reference, distorted };
    return this.#view(this.#slot);
  }

  /** Keeps the pair written to {@link leadIn} as history. */
  keep(): void {
    if (this.#slot) this.#remember(this.#slot);
  }

  /** Memory for the next pair; waits while all workers are busy. @throws the error of a stopped worker */
  async room(): Promise<FramePair> {
    this.#pool.check();
    if (this.#left === 0) await this.#begin();
    return this.leadIn(this.#index);
  }

  /** Sends the pair written to {@link room}. */
  submit(): void {
    const slot = this.#slot;
    const worker = this.#workers[this.#current];
    if (!slot || !worker) throw new Error('submit needs a pair written where room said');
    this.#slot = null;
    this.#remember(slot);
    this.#send(slot);
    worker.pending++;
    worker.next = ++this.#index;
    this.#left--;
  }

  /** Waits for the records of all pairs. @returns number of pairs */
  async finish(): Promise<number> {
    if (this.#left > 0) this.#pool.post(this.#current, { kind: 'end' });
    this.#left = 0;
    await this.#pool.until(() => this.#workers.every((worker) => worker.chunks === 0));
    return this.#index;
  }

  /** Starts a chunk on the least loaded worker when its load, relative to its share, is at most one pair. */
  async #begin(): Promise<void> {
    const load = (number: number) => (this.#workers[number]?.pending ?? 0) / this.#pool.share(number);
    const least = () => {
      const ready = [...this.#workers.keys()].filter((number) => this.#pool.share(number) > 0);
      return ready.reduce((best, number) => (load(number) < load(best) ? number : best), ready[0] ?? -1);
    };
    await this.#pool.until(() => least() >= 0 && load(least()) <= 1);
    this.#current = least();
    const [first, share] = [this.#index, this.#pool.share(this.#current)];
    this.#left = first < this.#first + this.#singles ? 1 : this.#chunkFrames * share;
    const worker = this.#workers[this.#current];
    if (!worker) throw new Error('a feeder needs workers');
    this.#pool.post(this.#current, { kind: 'measure', chunk: { first, count: this.#left } });
    worker.chunks++;
    if (worker.next !== first) this.#sendHistory();
  }

  #sendHistory(): void {
    // If this chunk is as long as the history, the next one looks back only into this chunk.
    const last = this.#left >= this.#history.frames;
    for (const kept of this.#recent) this.#send(last ? kept : this.#copy(kept));
    if (last) this.#recent = [];
  }

  /** Keeps the history of the next chunk. */
  #remember(pair: SentPair): void {
    const { frames } = this.#history;
    if (this.#left > frames) return;
    if (this.#recent.length === frames) this.#free.push(...this.#recent.splice(0, 1).flatMap(buffersOf));
    this.#recent.push(this.#copy(pair));
  }

  /** Copies the planes that later pairs look back to. */
  #copy({ index, reference, distorted }: SentPair): SentPair {
    const { chroma, distorted: both } = this.#history;
    const copied = (frame: ArrayBuffer) => {
      const [into, planes] = [this.#buffer(), viewPlanes(frame, this.#plan)];
      copyPlanes(chroma ? planes : { y: planes.y }, viewPlanes(into, this.#plan));
      return into;
    };
    return {
      index,
      reference: copied(reference),
      ...(both && distorted && { distorted: copied(distorted) }),
    };
  }

  #send(pair: SentPair): void {
    this.#pool.post(this.#current, { kind: 'pair', ...pair }, buffersOf(pair));
  }

  #view({ reference, distorted }: Required<SentPair>): FramePair {
    return { reference: viewPlanes(reference, this.#plan), distorted: viewPlanes(distorted, this.#plan) };
  }

  #buffer(): ArrayBuffer {
    return this.#free.pop() ?? allocateFrame(this.#plan);
  }
}

const buffersOf = ({ reference, distorted }: SentPair): ArrayBuffer[] =>
  distorted ? [reference, distorted] : [reference];
