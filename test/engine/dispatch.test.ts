/**
 * @module test/engine/dispatch
 * How chunks are handed to workers that read for themselves: in turn, one ahead where that is asked for, all counted.
 */
import { describe, expect, it } from 'vitest';
import { cutChunks, mayWait } from '../../src/engine/plan/chunks.js';
import { type Dispatching, dispatch } from '../../src/engine/workers/dispatch.js';
import type { Chunk, FromWorker, ToWorker, WorkerHandle } from '../../src/engine/workers/protocol.js';
import { WorkerPool } from '../../src/engine/workers/worker-pool.js';
import { planOf } from './finish-support.js';

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

function start(size: number, chunks: Iterator<Chunk, void>, dispatching?: Dispatching) {
  const workers = Array.from({ length: size }, () => new SlowWorker());
  let started = 0;
  const pool = new WorkerPool();
  pool.start(() => workers[started++] ?? new SlowWorker(), size, {
    module: new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
    plan: planOf(['psnr'], { width: 4, height: 4, bitDepth: 8, chroma: '420' }).extraction,
    implementation: 'simd128',
    subsample: 1,
  });
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
