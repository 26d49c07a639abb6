/**
 * @module engine/workers/backend-probe
 * Whether a GPU or the workers of the core are to measure a run: both begin it, and whoever is faster goes on alone.
 */
import type { GpuState } from '../backends/gpu.js';
import type { WorkerPool } from './worker-pool.js';
import { GPU_SHARE } from './worker-pool.js';

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
