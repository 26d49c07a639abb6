/**
 * @module engine/workers/dispatch
 * Distributes chunks of two random-access videos among workers that read for themselves. If a GPU may be slower than
 * the core's workers, both begin the run and the faster side finishes it alone.
 */

import type { GpuState } from '../backends/gpu.js';
import type { Chunk, FromWorker } from '../contract/protocol.js';
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
  readonly #now: () => number;
  readonly #paces: Pace[];

  constructor(pool: WorkerPool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
    this.#paces = Array.from({ length: pool.size }, () => ({ pairs: 0, busy: 0, since: 0, measured: 0 }));
  }

  give(worker: number, pairs: number): void {
    const pace = this.#paces[worker] as Pace;
    if (pace.pairs === 0) pace.since = this.#now();
    pace.pairs += pairs;
  }

  take(worker: number, measured: number): void {
    const pace = this.#paces[worker] as Pace;
    const now = this.#now();
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
  readonly #gate: Dispatching['gate'];
  readonly #stopped: () => boolean;
  readonly #ahead: (chunk: Chunk) => boolean;
  readonly #total: number;
  /** Per worker: chunks to do, and pairs of the current one that are already counted. */
  readonly #workers: readonly { chunks: number; counted: number }[];
  readonly #balance: Balance | undefined;
  #next: Chunk | undefined;
  #extent: Extent;
  #ended = false;
  #refuse: (reason: unknown) => void = () => {};
  readonly #refused = new Promise<never>((_, reject) => {
    this.#refuse = reject;
  });

  constructor(
    pool: WorkerPool,
    chunks: Iterator<Chunk, void>,
    sink: RecordSink,
    { gate, ahead = () => false, first = 0, stopped = () => false, total = null }: Dispatching,
  ) {
    this.#extent = { pairs: first, ended: null };
    this.#pool = pool;
    this.#chunks = chunks;
    this.#sink = sink;
    this.#gate = gate;
    this.#ahead = ahead;
    this.#stopped = stopped;
    this.#total = total ?? Number.POSITIVE_INFINITY;
    this.#workers = Array.from({ length: pool.size }, () => ({ chunks: 0, counted: 0 }));
    this.#balance = total !== null && pool.gpus.size > 0 ? new Balance(pool) : undefined;
    this.#advance();
  }

  async run(): Promise<Extent> {
    this.#pool.receive((number, message) => {
      const worker = this.#workers[number];
      if (!worker) return;
      // A GPU's state changes its share.
      if (message.kind === 'gpu') this.#assignAll();
      if (message.kind === 'progress') this.#count(number, worker, message.pairs);
      // Workers that read for themselves are sent no frames.
      if (message.kind === 'records') this.#take(number, worker, message);
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
    if (!worker || !next || this.#ended || this.#stopped() || this.#pool.share(number) === 0) return false;
    if (worker.chunks > 1 || (worker.chunks === 1 && !this.#mayHoldTwo(number, next))) return false;
    if (this.#balance?.leaves(number, next.count, this.#left(next))) return false;
    const chunk = this.#join(number, next);
    this.#balance?.give(number, chunk.count);
    worker.chunks++;
    const post = () => this.#pool.post(number, { kind: 'measure', chunk });
    const wait = this.#gate?.();
    if (wait) wait.then(post).catch(this.#refuse);
    else post();
    return true;
  }

  /** Whether a worker may queue a second chunk. Beside a GPU, the core's workers are too slow for that. */
  #mayHoldTwo(number: number, next: Chunk): boolean {
    return this.#ahead(next) && (!this.#balance || this.#pool.gpus.has(number));
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
    return this.#total - first;
  }

  #count(number: number, worker: { counted: number }, pairs: number): void {
    this.#balance?.take(number, pairs);
    worker.counted += pairs;
    this.#sink.measured(pairs);
  }

  #take(
    number: number,
    worker: { chunks: number; counted: number },
    { first, count, records, signatures, ended }: FromWorker & { readonly kind: 'records' },
  ): void {
    this.#count(number, worker, count - worker.counted);
    worker.counted = 0;
    worker.chunks--;
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
