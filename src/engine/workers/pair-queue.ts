/**
 * @module engine/workers/pair-queue
 * Measures pairs that are pushed one by one, in the calling thread or on workers.
 */

import type { PictureScorers, TinySessionFacts } from '../backends/tiny.js';
import type { FrameSlot, Measurer } from '../backends/types.js';
import type { Platform } from '../contract/platform.js';
import type { WorkerSetup } from '../contract/protocol.js';
import type { RecordSink } from './dispatch.js';
import { Feeder, type FramePair } from './feeder.js';
import { PairMeasurer } from './measure.js';
import { WorkerPool } from './worker-pool.js';

export interface PairQueue {
  /** Returns planes for the next pair, once there is room. */
  room(): Promise<FramePair> | FramePair;
  submit(): Promise<void> | void;
  readonly sessions: readonly TinySessionFacts[];
  finish(): Promise<void>;
  /** Frees everything. May be called twice. */
  close(): Promise<void>;
}

export class LocalQueue implements PairQueue {
  readonly #measurer: Measurer;
  readonly #pairs: PairMeasurer;
  readonly #sink: RecordSink;
  readonly #pictures: PictureScorers | undefined;
  #slot: FrameSlot | undefined;
  #index = 0;
  #closed = false;

  constructor(measurer: Measurer, { subsample }: WorkerSetup, sink: RecordSink, pictures?: PictureScorers) {
    this.#pictures = pictures;
    this.#measurer = measurer;
    this.#pairs = new PairMeasurer(this.#measurer, subsample, { pictures });
    this.#sink = sink;
  }

  room(): FramePair {
    this.#slot = this.#measurer.slot(this.#index);
    return this.#slot;
  }

  get sessions(): readonly TinySessionFacts[] {
    return this.#pictures?.facts ?? [];
  }

  async submit(): Promise<void> {
    if (!this.#slot) throw new Error('submit needs a pair written where room said');
    const index = this.#index++;
    const record = new Float64Array(this.#measurer.layout.length);
    await this.#pairs.measure(this.#slot, record);
    await this.#pairs.settle();
    this.#sink.measured(1);
    this.#sink.add(index, 1, record);
  }

  async finish(): Promise<void> {}

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#measurer.close();
    await this.#pictures?.close();
  }
}

export class WorkerQueue implements PairQueue {
  readonly #pool: WorkerPool;
  readonly #feeder: Feeder;

  constructor(platform: Platform, setup: WorkerSetup, threads: number, sink: RecordSink) {
    this.#pool = new WorkerPool();
    try {
      this.#pool.start(() => platform.startWorker(), threads, setup);
    } catch (error) {
      void this.close();
      throw error;
    }
    this.#feeder = new Feeder(this.#pool, setup.plan, sink);
  }

  get sessions(): readonly TinySessionFacts[] {
    return this.#pool.sessions;
  }

  room(): Promise<FramePair> {
    return this.#feeder.room();
  }

  submit(): void {
    this.#feeder.submit();
  }

  async finish(): Promise<void> {
    await this.#feeder.finish();
    await this.#pool.stop();
  }

  close(): Promise<void> {
    return this.#pool.terminate();
  }
}
