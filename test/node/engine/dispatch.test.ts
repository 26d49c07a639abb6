/**
 * @module test/node/engine/dispatch
 * How chunks are handed to workers that read for themselves: in turn, one ahead where that is asked for, all counted.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GpuState } from '../../../src/engine/backends/gpu.js';
import { cutChunks, mayWait } from '../../../src/engine/plan/chunks.js';
import { type Dispatching, dispatch } from '../../../src/engine/workers/dispatch.js';
import type {
  Chunk,
  FromWorker,
  ToWorker,
  WorkerHandle,
  WorkerSetup,
} from '../../../src/engine/workers/protocol.js';
import { WorkerPool } from '../../../src/engine/workers/worker-pool.js';
import { planOf } from '../../support/finish.js';
import { CARD } from '../../support/gpu-engine.js';

/** A worker that measures only when the test says so. */
class SlowWorker implements WorkerHandle {
  readonly chunks: Chunk[] = [];
  send: (message: FromWorker) => void = () => {};

  post(message: ToWorker): void {
    if (message.kind === 'measure') this.chunks.push(message.chunk);
  }

  listen(onMessage: (message: FromWorker) => void): void {
    this.send = onMessage;
  }

  async terminate(): Promise<void> {}

  /** Ends the oldest chunk, of which `told` pairs were told before. */
  finish(told = 0): void {
    const chunk = this.chunks.shift();
    if (!chunk) throw new Error('there is nothing to do');
    if (told > 0) this.send({ kind: 'progress', pairs: told });
    this.send({ kind: 'records', ...chunk, records: new Float64Array(), ended: null });
  }
}

const GPU: GpuState = { adapter: CARD, calls: [0], others: {}, pairs: 0, lost: null };

function start(size: number, chunks: Iterator<Chunk, void>, dispatching?: Dispatching, gpus = 0) {
  const workers = Array.from({ length: size }, () => new SlowWorker());
  let started = 0;
  const pool = new WorkerPool();
  const setup: WorkerSetup = {
    module: new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
    plan: planOf(['psnr'], { width: 4, height: 4, bitDepth: 8, chroma: '420' }).extraction,
    implementation: 'simd128',
    subsample: 1,
  };
  const startWorker = () => workers[started++] ?? new SlowWorker();
  pool.start(startWorker, gpus, { ...setup, gpu: 'shared' });
  pool.start(startWorker, size - gpus, setup);
  for (const { send } of workers.slice(0, gpus)) send({ kind: 'gpu', state: GPU });
  const counts: number[] = [];
  const added: number[] = [];
  const extent = dispatch(
    pool,
    chunks,
    { add: (first) => void added.push(first), measured: (pairs) => void counts.push(pairs) },
    dispatching,
  );
  return { workers, counts, added, extent };
}

const firsts = (workers: readonly SlowWorker[]) =>
  workers.map(({ chunks }) => chunks.map(({ first }) => first));

describe('chunks', () => {
  it('go to whoever is done, one at a time', async () => {
    const { workers, added, extent } = start(2, cutChunks(10, 2, 3));
    expect(firsts(workers)).toEqual([[0], [3]]);
    workers[1]?.finish();
    expect(firsts(workers)).toEqual([[0], [6]]);
    workers[1]?.finish();
    workers[1]?.finish();
    workers[0]?.finish();
    expect(await extent).toEqual({ pairs: 10, ended: null });
    expect(added).toEqual([3, 6, 9, 0]);
  });

  it('may wait in hand, once every worker has one', async () => {
    const { workers, extent } = start(2, cutChunks(18, 2, 3), { ahead: ({ first }) => first < 9 });
    expect(firsts(workers)).toEqual([[0, 6], [3]]);
    workers[0]?.finish();
    expect(firsts(workers)).toEqual([[6], [3]]);
    workers[0]?.finish();
    expect(firsts(workers)).toEqual([[9], [3]]);
    workers[1]?.finish();
    expect(firsts(workers)).toEqual([[9], [12]]);
    workers[1]?.finish();
    workers[1]?.finish();
    workers[0]?.finish();
    expect(await extent).toEqual({ pairs: 18, ended: null });
  });

  it('are counted once, whether told on the way or by their records', async () => {
    const { workers, counts, extent } = start(1, cutChunks(9, 1, 4), { ahead: () => true });
    workers[0]?.finish(3);
    workers[0]?.finish();
    workers[0]?.finish(1);
    await extent;
    expect(counts.filter((count) => count > 0)).toEqual([3, 1, 4, 1]);
  });

  it('are not handed out past the end of a video', async () => {
    const { workers, extent } = start(1, cutChunks(null, 1, 4), { ahead: () => true });
    expect(firsts(workers)).toEqual([[0, 4]]);
    const ended = { reference: false, distorted: true };
    workers[0]?.send({ kind: 'records', first: 0, count: 2, records: new Float64Array(), ended });
    workers[0]?.send({ kind: 'records', first: 4, count: 0, records: new Float64Array(), ended });
    expect(await extent).toEqual({ pairs: 2, ended });
  });
});

describe('chunks in hand', () => {
  it('leave no worker idle for more than a frame at the end, and none between where there is one worker', () => {
    for (const [total, size] of [
      [24, 1],
      [48, 2],
      [144, 2],
      [500, 3],
      [1000, 8],
    ] as const) {
      // Equal frames, simulated: whoever ends first takes what it may have.
      const chunks = cutChunks(total, size);
      let next = chunks.next().value;
      const ends = new Array<number>(size).fill(0);
      const held: number[][] = ends.map(() => []);
      const take = (worker: number, most: number) => {
        const hand = held[worker] ?? [];
        while (next && hand.length < most && (hand.length === 0 || mayWait(next, total, size))) {
          hand.push(next.count);
          next = chunks.next().value;
        }
      };
      for (const most of [1, 2]) for (let worker = 0; worker < size; worker++) take(worker, most);
      while (held.some((hand) => hand.length > 0)) {
        const due = held.map((hand, worker) => (ends[worker] ?? 0) + (hand[0] ?? Number.POSITIVE_INFINITY));
        const worker = due.indexOf(Math.min(...due));
        ends[worker] = due[worker] ?? 0;
        held[worker]?.shift();
        if (size === 1 && next) expect(held[0]).not.toEqual([]);
        take(worker, 2);
      }
      expect(ends.reduce((sum, end) => sum + end, 0)).toBe(total);
      expect(Math.max(...ends) - Math.min(...ends), `${total} on ${size}`).toBeLessThanOrEqual(1);
    }
  });
});

describe('chunks of a GPU and workers', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([0.1, 0.5, 1, 4, 40])(
    'end together where the GPU is %f times as fast as a worker',
    async (speed) => {
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now);
      const [total, perPair] = [4000, 40];
      const times = [perPair / speed, perPair, perPair];
      const ahead = (chunk: Chunk) => mayWait(chunk, total, times.length);
      const { workers, added, extent } = start(3, cutChunks(total, 3), { ahead, total }, 1);
      const begun = times.map(() => 0);
      const ends = times.map(() => 0);
      for (;;) {
        const due = workers.map(({ chunks: [chunk] }, i) =>
          chunk ? (begun[i] ?? 0) + chunk.count * (times[i] ?? 0) : Number.POSITIVE_INFINITY,
        );
        const first = Math.min(...due);
        if (first === Number.POSITIVE_INFINITY) break;
        const idle = workers.map(({ chunks }) => chunks.length === 0);
        const worker = due.indexOf(first);
        now = first;
        ends[worker] = first;
        begun[worker] = first;
        workers[worker]?.finish();
        for (const [i, was] of idle.entries()) if (was) begun[i] = now;
      }
      expect((await extent).pairs).toBe(total);
      expect(added.length).toBeGreaterThan(0);
      const ideal = (total * perPair) / (2 + speed);
      expect(Math.max(...ends) / ideal).toBeLessThan(1.05);
    },
  );

  it('are all measured when the GPU is lost', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { workers, extent } = start(2, cutChunks(40, 2, 4), { total: 40 }, 1);
    const [gpu, other] = workers;
    now = 10;
    gpu?.finish();
    now = 500;
    other?.finish();
    gpu?.send({ kind: 'gpu', state: { ...GPU, lost: 'it is gone' } });
    while (workers.some(({ chunks }) => chunks.length > 0)) {
      now += 100;
      for (const worker of workers) if (worker.chunks.length > 0) worker.finish();
    }
    expect(await extent).toEqual({ pairs: 40, ended: null });
  });
});
