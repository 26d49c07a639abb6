/**
 * @module engine/workers/dispatch
 * Shares out chunks of two random-access videos among workers that read for themselves. Where a GPU may be slower than the
 * workers of the core, both begin the run, and whoever is faster goes on alone.
 */

import type { GpuState } from '../backends/gpu.js';
import type { Chunk, FromWorker } from '../contract/protocol.js';
import type { Extent } from '../pair/pair.js';
import { GPU_SHARE, type WorkerPool } from './worker-pool.js';

/** What a worker has measured, in which time, and what it has to do. */
interface Pace {
  /** Pairs that it has still to measure. */
  pairs: number;
  /** Milliseconds in which it had work, up to `since`. */
  busy: number;
  since: number;
  measured: number;
}

/** Follows the workers of a pool, and knows from their rates when each will be done. */
class Balance {
  readonly #pool: WorkerPool;
  readonly #now: () => number;
  readonly #paces: Pace[];

  constructor(pool: WorkerPool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
    this.#paces = Array.from({ length: pool.size }, () => ({ pairs: 0, busy: 0, since: 0, measured: 0 }));
  }

  /** Notes that a worker is given so many more pairs. */
  give(worker: number, pairs: number): void {
    const pace = this.#paces[worker] as Pace;
    if (pace.pairs === 0) pace.since = this.#now();
    pace.pairs += pairs;
  }

  /** Notes that a worker measured so many of them. */
  take(worker: number, measured: number): void {
    const pace = this.#paces[worker] as Pace;
    const now = this.#now();
    pace.busy += now - pace.since;
    pace.since = now;
    pace.measured += measured;
    pace.pairs -= measured;
  }

  /**
   * Whether to leave a chunk to others: one of them would measure all that is left before this worker measured the chunk.
   * The fastest never leaves one.
   * @param left pairs that nobody has yet, with those of the chunk
   */
  leaves(worker: number, count: number, left: number): boolean {
    const end = this.#end(worker, count);
    return this.#others(worker).some((other) => this.#end(other, left) < end);
  }

  /** Whether a worker that is given so many pairs is, as far as is known, not done later than all of them together would be. */
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

  /** Milliseconds until a worker is done, if it is given so many pairs; NaN while its rate is unknown. */
  #end(worker: number, count: number): number {
    const rate = this.#rate(worker);
    return rate > 0 ? ((this.#paces[worker] as Pace).pairs + count) / rate : Number.NaN;
  }

  /** Pairs per millisecond, 0 while unknown. What a GPU measured tells nothing of the core that took over from it. */
  #rate(worker: number): number {
    const { busy, measured } = this.#paces[worker] as Pace;
    const lost = (this.#pool.gpus.get(worker)?.lost ?? null) !== null;
    return busy > 0 && !lost ? measured / busy : 0;
  }
}

/** Where records go as they arrive, in any order of chunks. */
export interface RecordSink {
  /** Records of `count` consecutive pairs from `first` on. */
  add(first: number, count: number, records: Float64Array): void;
  /** So many more pairs are measured. */
  measured(pairs: number): void;
  /** Signatures of pairs from `first` on, where workers send them. */
  signed?(first: number, signatures: Uint8Array): void;
}

/** How chunks are handed out. */
export interface Dispatching {
  /** Asked before a chunk is handed out, which waits for what it returns. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /**
   * Whether a worker may be given this chunk while it has another one to do, so that it need not wait for the next.
   * Default: no chunk.
   */
  readonly ahead?: (chunk: Chunk) => boolean;
  /** Number of the first pair. Default 0. */
  readonly first?: number;
  /** Whether to hand out no more chunks. */
  readonly stopped?: (() => boolean) | undefined;
  /** The pair after the last, if known: where a GPU takes part, what is left towards the end goes by the workers' rates. */
  readonly total?: number | null;
}

/**
 * Has every chunk measured. A worker that is done takes the next chunk, or as many at once as is its share; chunks in a row
 * are one to it.
 */
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
  /** Per worker: chunks it has to do, and pairs of the one it is at that were counted already. */
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
      // Its share is another one now.
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

  /** One for each before anybody gets a second. */
  #assignAll(): void {
    while (this.#workers.filter((_, number) => this.#assign(number)).length > 0);
  }

  /** Gives a worker the next chunk, if there is one and it may have it. */
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

  /** Whether a worker may be given a chunk while it is at another. Beside a GPU, the core's workers take too long for that. */
  #mayHoldTwo(number: number, next: Chunk): boolean {
    return this.#ahead(next) && (!this.#balance || this.#pool.gpus.has(number));
  }

  /** Takes as many chunks as one as are a worker's share, if there are. */
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

  /** Pairs from a chunk to the end. */
  #left({ first }: Chunk): number {
    return this.#total - first;
  }

  /** Counts pairs of the chunk that a worker is at. */
  #count(number: number, worker: { counted: number }, pairs: number): void {
    this.#balance?.take(number, pairs);
    worker.counted += pairs;
    this.#sink.measured(pairs);
  }

  /** Takes the records of a chunk, and gives out more. */
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
      // Chunks past the end are empty; the one with the smallest end knows which video was short.
      if (!this.#ended || pairs < this.#extent.pairs) this.#extent = { pairs, ended };
      this.#ended = true;
    } else if (!this.#ended) this.#extent = { pairs: Math.max(this.#extent.pairs, pairs), ended: null };
    while (this.#assign(number));
    if (!this.#balance) return;
    // Those that left a chunk to others are asked again.
    for (const [other, { chunks }] of this.#workers.entries()) if (chunks === 0) this.#assign(other);
  }
}

/** Milliseconds and pairs of the GPU after which a decision is made. */
const PROBE_TIME = 700;
const PROBE_PAIRS = 24;

/** What came of it. */
export interface MeasuredRates {
  /** Pairs per second, side by side. */
  readonly gpu: number;
  readonly core: number;
}

/** Watches a pool of one worker with a GPU and others with the core. */
export class BackendProbe {
  readonly #pool: WorkerPool;
  readonly #now: () => number;
  /** When the GPU was done with its first pairs, and how many pairs there were then of either. */
  #start: { readonly time: number; readonly gpu: number; readonly core: number } | undefined;
  #result: MeasuredRates | undefined;

  constructor(pool: WorkerPool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
    pool.observe(() => this.#look());
  }

  /** What was measured, once it is decided. */
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
    // Its first pairs take longer than those after them.
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

  /** Sets what the GPU's worker and the others get from now on. */
  #share(ofGpu: number, ofOthers: number): void {
    for (let worker = 0; worker < this.#pool.size; worker++)
      this.#pool.setShare(worker, this.#pool.gpus.has(worker) ? ofGpu : ofOthers);
  }
}
