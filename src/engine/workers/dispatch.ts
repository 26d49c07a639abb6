/**
 * @module engine/workers/dispatch
 * Shares out chunks of two random-access videos among workers that read for themselves.
 */

import type { Extent } from '../inputs/pair.js';
import { Balance } from './balance.js';
import type { Chunk } from './protocol.js';
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
  /** Pairs in all, if known: where a GPU takes part, what is left towards the end goes by the workers' rates. */
  readonly total?: number | null;
}

/**
 * Has every chunk measured. A worker that is done takes the next chunk, or as many at once as is its share; chunks in a row
 * are one to it.
 */
export async function dispatch(
  pool: WorkerPool,
  chunks: Iterator<Chunk, void>,
  sink: RecordSink,
  { gate, ahead = () => false, total = null }: Dispatching = {},
): Promise<Extent> {
  let extent: Extent = { pairs: 0, ended: null };
  let ended = false;
  let refuse: (reason: unknown) => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  /** Per worker: chunks it has to do, and pairs of the one it is at that were counted already. */
  const workers = Array.from({ length: pool.size }, () => ({ chunks: 0, counted: 0 }));
  const balance = total !== null && pool.gpus.size > 0 ? new Balance(pool) : undefined;
  let next = chunks.next().value;

  /** Gives a worker the next chunk, if there is one and it may have it. */
  function assign(number: number): boolean {
    const worker = workers[number];
    if (!worker || !next || ended || pool.share(number) === 0) return false;
    if (worker.chunks > 1 || (worker.chunks === 1 && !ahead(next))) return false;
    if (balance?.leaves(number, next.count, left(next))) return false;
    const chunk = take(number, next);
    balance?.give(number, chunk.count);
    worker.chunks++;
    const post = () => pool.post(number, { kind: 'measure', chunk });
    const wait = gate?.();
    if (wait) wait.then(post).catch(refuse);
    else post();
    return true;
  }

  /** Pairs from a chunk to the end. */
  function left({ first }: Chunk): number {
    return (total ?? Number.POSITIVE_INFINITY) - first;
  }

  /** Takes as many chunks as one as are a worker's share, if there are. */
  function take(number: number, first: Chunk): Chunk {
    let { count } = first;
    next = chunks.next().value;
    for (let taken = 1; taken < pool.share(number) && next; taken++) {
      if (balance && !balance.fits(number, count + next.count, left(first))) break;
      count += next.count;
      next = chunks.next().value;
    }
    return { first: first.first, count };
  }

  /** One for each before anybody gets a second. */
  function assignAll(): void {
    while (workers.filter((_, number) => assign(number)).length > 0);
  }

  pool.receive((number, message) => {
    const worker = workers[number];
    if (!worker) return;
    // Its share is another one now.
    if (message.kind === 'gpu') assignAll();
    if (message.kind === 'progress') {
      balance?.take(number, message.pairs);
      worker.counted += message.pairs;
      sink.measured(message.pairs);
    }
    // Workers that read for themselves are sent no frames.
    if (message.kind !== 'records') return;
    balance?.take(number, message.count - worker.counted);
    sink.measured(message.count - worker.counted);
    worker.counted = 0;
    worker.chunks--;
    if (message.signatures) sink.signed?.(message.first, message.signatures);
    sink.add(message.first, message.count, message.records);
    const pairs = message.first + message.count;
    if (message.ended) {
      // Chunks past the end are empty; the one with the smallest end knows which video was short.
      if (!ended || pairs < extent.pairs) extent = { pairs, ended: message.ended };
      ended = true;
    } else if (!ended) extent = { pairs: Math.max(extent.pairs, pairs), ended: null };
    while (assign(number));
    // Those that left a chunk to others are asked again.
    if (balance) for (const [other, { chunks }] of workers.entries()) if (chunks === 0) assign(other);
  });
  assignAll();
  await Promise.race([pool.until(() => workers.every(({ chunks }) => chunks === 0)), refused]);
  return extent;
}
