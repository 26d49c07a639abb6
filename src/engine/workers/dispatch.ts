/**
 * @module engine/workers/dispatch
 * Shares out chunks of two random-access videos among workers that read for themselves.
 */

import type { Chunk, FromWorker } from '../contract/protocol.js';
import type { Extent } from '../pair/pair.js';
import { Balance } from './balance.js';
import type { WorkerPool } from './worker-pool.js';

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
