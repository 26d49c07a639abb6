/**
 * @module engine/workers/extras
 * Measures further calls of a run from some pair on, beside those of its plan: of pairs that pass through the calling
 * thread, or of stored ones that workers read once more.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { type ExtractionPlan, picturesRead, planesRead } from '../backends/types.js';
import { cutChunks } from '../plan/chunks.js';
import { dispatch, type RecordSink } from './dispatch.js';
import { copyPlanes } from './frame-buffer.js';
import type { PairQueue } from './pair-queue.js';
import type { Chunk, WorkerHandle, WorkerSetup } from './protocol.js';
import { WorkerPool } from './worker-pool.js';

/**
 * Measures further calls.
 * @param sink makes what takes their records, which are numbered as the pairs are
 * @param wished number of the first pair that is wanted, if earlier ones can still be read
 * @returns number of the first pair that is measured, a multiple of the subsampling
 * @throws {AnyvmafError} `feature` if this run cannot
 */
export type Extend = (plan: ExtractionPlan, sink: (first: number) => RecordSink, wished: number) => number;

/** Records of a queue that counts its pairs from 0. */
function shifted(sink: RecordSink, first: number): RecordSink {
  return {
    add: (from, count, records) => sink.add(first + from, count, records),
    measured: (pairs) => sink.measured(pairs),
  };
}

/** @throws {AnyvmafError} `feature` if a plan reads chroma and the frames that pass through come without */
export function requirePlanes(plan: ExtractionPlan, chroma: boolean): void {
  if (chroma || planesRead(plan) === 1) return;
  throw new AnyvmafError(
    'feature',
    'The new model reads chroma, which this run does not read; start it with a feature that does, such as ciede.',
  );
}

/** @throws {AnyvmafError} `feature` if a plan reads pictures that the run itself does not */
export function requirePictures(plan: ExtractionPlan, run: ExtractionPlan, subsample: number): void {
  const kinds = subsample > 1 ? [true, false] : [true];
  const lacking = kinds.some((spatial) => {
    const [needs, has] = [picturesRead(plan, spatial), picturesRead(run, spatial)];
    return (needs.reference && !has.reference) || (needs.distorted && !has.distorted);
  });
  if (!lacking) return;
  throw new AnyvmafError(
    'feature',
    'The new model reads pictures that this run leaves out; start it with a feature that reads all, such as vif.',
  );
}

/** Planes of both pictures of a pair, those that a plan reads at least. */
type PlanesOf = (plan: ExtractionPlan) => readonly [reference: FramePlanes, distorted: FramePlanes];

/** A queue and the first pair that it takes. */
interface PassingQueue {
  readonly queue: PairQueue;
  readonly plan: ExtractionPlan;
  readonly first: number;
}

/** Further calls of pairs that pass through the calling thread. */
export class PassingExtras {
  readonly #open: (plan: ExtractionPlan, sink: RecordSink) => PairQueue;
  readonly #subsample: number;
  readonly #queues: PassingQueue[] = [];

  /** Number of the pair that passes next. */
  #next: number;

  /** @param next pairs that have passed already */
  constructor(subsample: number, open: (plan: ExtractionPlan, sink: RecordSink) => PairQueue, next = 0) {
    this.#subsample = subsample;
    this.#open = open;
    this.#next = next;
  }

  extend(plan: ExtractionPlan, sink: (first: number) => RecordSink): number {
    const first = Math.ceil(this.#next / this.#subsample) * this.#subsample;
    // The queue opens first: where that fails, nobody waits for its records.
    let target: RecordSink | undefined;
    const queue = this.#open(plan, {
      add: (from, count, records) => target?.add(from, count, records),
      measured: () => {},
    });
    target = shifted(sink(first), first);
    this.#queues.push({ queue, plan, first });
    return first;
  }

  /**
   * Takes a pair; `undefined` where nobody wants it.
   * @param planes of both pictures, those that a plan reads at least
   */
  take(index: number, planes: PlanesOf): Promise<void> | undefined {
    this.#next = index + 1;
    const wanted = this.#queues.filter(({ first }) => first <= index);
    return wanted.length > 0 ? this.#give(wanted, planes) : undefined;
  }

  async #give(queues: readonly PassingQueue[], planes: PlanesOf): Promise<void> {
    for (const { queue, plan } of queues) {
      const [reference, distorted] = planes(plan);
      const room = await queue.room();
      copyPlanes(reference, room.reference);
      copyPlanes(distorted, room.distorted);
      await queue.submit();
    }
  }

  async finish(): Promise<void> {
    for (const { queue } of this.#queues) await queue.finish();
  }

  async close(): Promise<void> {
    for (const { queue } of this.#queues.splice(0)) await queue.close();
  }
}

/** A run of stored pairs that workers read for themselves. */
interface StoredRun {
  /** Setup of its workers, the pair included. */
  readonly setup: WorkerSetup;
  readonly bound: number | null;
  readonly threads: number;
  readonly startWorker: () => WorkerHandle;
  readonly stopped: () => boolean;
  readonly gate: () => Promise<void> | undefined;
  /** Receives the pools, to terminate them when the run is aborted. */
  onPool(pool: WorkerPool): void;
}

/** Further calls of stored pairs. */
export class StoredExtras {
  readonly #run: StoredRun;
  readonly #running: Promise<void>[] = [];
  /** Pairs that the run itself has given out. */
  #given = 0;

  constructor(run: StoredRun) {
    this.#run = run;
  }

  /** Follows what the run gives out. */
  *follow(chunks: Iterable<Chunk>): Generator<Chunk, void> {
    for (const chunk of chunks) {
      this.#given = chunk.first + chunk.count;
      yield chunk;
    }
  }

  readonly extend: Extend = (plan, sink, wished) => {
    const { setup, threads, onPool } = this.#run;
    const first = Math.floor(Math.max(0, wished) / setup.subsample) * setup.subsample;
    const pool = new WorkerPool();
    onPool(pool);
    const { module, implementation, subsample, pair } = setup;
    const own = { module, implementation, subsample, plan, ...(pair && { pair }) };
    pool.start(this.#run.startWorker, Math.max(1, threads), own);
    const done = this.#measure(pool, first, sink(first));
    // Whoever waits for the run gets its failure.
    done.catch(() => {});
    this.#running.push(done);
    return first;
  };

  /** Waits until all is measured. */
  async finish(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #measure(pool: WorkerPool, first: number, sink: RecordSink): Promise<void> {
    const { gate } = this.#run;
    await pool.unlessFailed(dispatch(pool, this.#chunks(first, pool.size), sink, { gate }));
    await pool.stop();
  }

  /** The chunks from a pair on, as far as the run itself goes. */
  *#chunks(first: number, workers: number): Generator<Chunk, void> {
    const { bound, stopped } = this.#run;
    for (const chunk of cutChunks(bound === null ? null : bound - first, workers)) {
      if (stopped() && first + chunk.first >= this.#given) return;
      yield { first: first + chunk.first, count: chunk.count };
    }
  }
}
