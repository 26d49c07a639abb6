/**
 * @module engine/workers/dispatch
 * Shares out chunks of two random-access videos among workers that read for themselves.
 */

import type { Extent } from '../inputs/pair.js';
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
}

/**
 * Has every chunk measured. A worker that is done takes the next chunk, or as many at once as is its share; chunks in a row
 * are one to it.
 */
export async function dispatch(
  pool: WorkerPool,
  chunks: Iterator<Chunk, void>,
  sink: RecordSink,
  { gate, ahead = () => false }: Dispatching = {},
): Promise<Extent> {
  let extent: Extent = { pairs: 0, ended: null };
  let ended = false;
  let refuse: (reason: unknown) => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  /** Per worker: chunks it has to do, and pairs of the one it is at that were counted already. */
  const workers = Array.from({ length: pool.size }, () => ({ chunks: 0, counted: 0 }));
  let next = chunks.next().value;

  /** Gives a worker the next chunk, if there is one and it may have it. */
  function assign(number: number): boolean {
    const worker = workers[number];
    if (!worker || !next || ended || pool.share(number) === 0) return false;
    if (worker.chunks > 1 || (worker.chunks === 1 && !ahead(next))) return false;
    const chunk = take(next, pool.share(number));
    worker.chunks++;
    const post = () => pool.post(number, { kind: 'measure', chunk });
    const wait = gate?.();
    if (wait) wait.then(post).catch(refuse);
    else post();
    return true;
  }

  /** Takes so many chunks as one, if there are. */
  function take(first: Chunk, share: number): Chunk {
    let { count } = first;
    next = chunks.next().value;
    for (let taken = 1; taken < share && next; taken++) {
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
      worker.counted += message.pairs;
      sink.measured(message.pairs);
    }
    // Workers that read for themselves are sent no frames.
    if (message.kind !== 'records') return;
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
  });
  assignAll();
  await Promise.race([pool.until(() => workers.every(({ chunks }) => chunks === 0)), refused]);
  return extent;
}
