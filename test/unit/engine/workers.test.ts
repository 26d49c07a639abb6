/**
 * @module test/unit/engine/workers
 * How pairs reach workers: chunks for workers that read, frames for workers that are fed, and a pair that cannot be read.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FramePlanes } from '../../../src/core/frame.js';
import type { GpuState } from '../../../src/engine/backends/composite.js';
import type {
  Chunk,
  FromWorker,
  ToWorker,
  WorkerHandle,
  WorkerSetup,
} from '../../../src/engine/contract/platform.js';
import { readPair } from '../../../src/engine/pair/pair.js';
import { cutChunks, mayWait } from '../../../src/engine/plan/plan.js';
import { type Dispatching, dispatch, Feeder } from '../../../src/engine/workers/dispatch.js';
import { WorkerPool } from '../../../src/engine/workers/worker-pool.js';
import type { FrameSource } from '../../../src/media/types.js';
import { CARD } from '../../support/gpu-engine.js';
import { planOf } from '../../support/metric.js';

/** A worker that measures only on request. */
class ReadingWorker implements WorkerHandle {
  readonly chunks: Chunk[] = [];
  send: (message: FromWorker) => void = () => {};

  post(message: ToWorker): void {
    if (message.kind === 'measure') this.chunks.push(message.chunk);
  }

  listen(onMessage: (message: FromWorker) => void): void {
    this.send = onMessage;
  }

  async terminate(): Promise<void> {}

  /** Ends the oldest chunk. @param told pairs reported as progress before */
  finish(told = 0): void {
    const chunk = this.chunks.shift();
    if (!chunk) throw new Error('there is nothing to do');
    if (told > 0) this.send({ kind: 'progress', pairs: told, buffers: [] });
    this.send({ kind: 'records', ...chunk, records: new Float64Array(), ended: null });
  }
}

const GPU: GpuState = { adapter: CARD, calls: [0], others: {}, pairs: 0, lost: null };
const TINY = { width: 4, height: 4, bitDepth: 8, chroma: '420' } as const;
const setupFor = (features: readonly string[]): WorkerSetup => ({
  modules: { core: new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])) },
  plan: planOf(features, TINY).extraction,
  implementation: 'simd128',
  subsample: 1,
});

function start(size: number, chunks: Iterator<Chunk, void>, dispatching?: Dispatching, gpus = 0) {
  const workers = Array.from({ length: size }, () => new ReadingWorker());
  let started = 0;
  const pool = new WorkerPool();
  const setup = setupFor(['psnr']);
  const startWorker = () => workers[started++] ?? new ReadingWorker();
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

const firsts = (workers: readonly ReadingWorker[]) =>
  workers.map(({ chunks }) => chunks.map(({ first }) => first));

describe('chunks', () => {
  it('go to whichever worker is free, one at a time', async () => {
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

  it('may be queued once every worker has one', async () => {
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

  it('are counted once, by progress or by records', async () => {
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

describe('queued chunks', () => {
  it('leave no worker idle for more than a frame at the end, and none in between with one worker', () => {
    for (const [total, size] of [
      [24, 1],
      [48, 2],
      [144, 2],
      [500, 3],
      [1000, 8],
    ] as const) {
      // A simulation with equal frames: the worker that is free first takes what it may.
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

  /** Milliseconds until all pairs are measured. @param times of a pair, by worker; the first has the GPU */
  async function simulate(times: readonly number[], total: number, chunkFrames?: number) {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const size = times.length;
    const ahead = (chunk: Chunk) => mayWait(chunk, total, size);
    const { workers, added, extent } = start(size, cutChunks(total, size, chunkFrames), { ahead, total }, 1);
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
    return Math.max(...ends);
  }

  it.each([0.1, 0.5, 1, 4, 40])('end together if the GPU is %f times as fast as a worker', async (speed) => {
    const [total, perPair] = [4000, 40];
    const taken = await simulate([perPair / speed, perPair, perPair], total);
    expect((taken * (2 + speed)) / (total * perPair)).toBeLessThan(1.05);
  });

  it('end together in a short run with few chunks a worker', async () => {
    const [total, perPair, speed, cores] = [240, 75, 40, 14];
    const times = [perPair / speed, ...Array.from({ length: cores }, () => perPair)];
    const taken = await simulate(times, total, 4);
    expect((taken * (cores + speed)) / (total * perPair)).toBeLessThan(1.3);
  });

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

const FEATURES = ['motion', 'motion=motion_five_frame_window=true', 'psnr'];

/** A worker that answers only on request, and records its messages. */
class FedWorker implements WorkerHandle {
  readonly received: ToWorker[] = [];
  #send: (message: FromWorker) => void = () => {};
  #measured = 0;
  readonly #returned = new Set<ArrayBuffer>();

  post(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.received.push(structuredClone(message, { transfer }));
  }

  listen(onMessage: (message: FromWorker) => void): void {
    this.#send = onMessage;
  }

  async terminate(): Promise<void> {}

  /** Measures the oldest waiting pair. */
  measureOne(): void {
    const pair = this.pairs[this.#measured++];
    if (!pair) throw new Error('nothing waits');
    const read = this.history.map(({ reference }) => reference).filter((frame) => !this.#returned.has(frame));
    for (const frame of read) this.#returned.add(frame);
    const buffers = [...read, pair.reference].concat(pair.distorted ?? []);
    this.#send({ kind: 'progress', pairs: 1, buffers });
  }

  get chunks(): Chunk[] {
    return this.received.flatMap((message) => (message.kind === 'measure' ? message.chunk : []));
  }

  get pairs() {
    return this.#sent.filter(({ measured }) => measured);
  }

  /** Pairs before the first of their chunk. */
  get history() {
    return this.#sent.filter(({ measured }) => !measured);
  }

  get #sent() {
    let first = 0;
    return this.received.flatMap((message) => {
      if (message.kind === 'measure') first = message.chunk.first;
      return message.kind === 'pair' ? { ...message, measured: message.index >= first } : [];
    });
  }

  get waiting(): number {
    return this.pairs.length - this.#measured;
  }

  endChunk(first: number, count: number): void {
    this.#send({ kind: 'records', first, count, records: new Float64Array(), ended: null });
  }
}

const sampleOf = (frame: ArrayBuffer) => new Uint8Array(frame)[0] ?? 0;

function feed(workers: number, chunkFrames?: number) {
  const slow = Array.from({ length: workers }, () => new FedWorker());
  let started = 0;
  const pool = new WorkerPool();
  const setup = setupFor(FEATURES);
  pool.start(() => slow[started++] ?? new FedWorker(), workers, setup);
  const feeder = new Feeder(pool, setup.plan, { add: () => {}, measured: () => {} }, { chunkFrames });
  let index = 0;
  /** Submits a pair if there is room. */
  async function submit(): Promise<boolean> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, 5));
    const room = await Promise.race([feeder.room(), late]);
    if (!room) return false;
    room.reference.y.fill(++index);
    room.distorted.y.fill(index);
    feeder.submit();
    return true;
  }
  return { slow, feeder, submit };
}

describe('the feeder', () => {
  it.each([
    [1, undefined, 2],
    [2, undefined, 4],
    [3, 5, 15],
    [2, 1, 4],
    [1, 1000, 16],
  ])('has at most a chunk for each of %i workers (%s pairs) in flight', async (workers, chunk, most) => {
    const { slow, submit } = feed(workers, chunk);
    let taken = 0;
    while (taken < 100 && (await submit())) taken++;
    expect(taken).toBe(most);
    // One measured pair makes no room in a chunk of two; all but one of a worker's pairs do.
    for (const worker of slow) while (worker.waiting > 1) worker.measureOne();
    expect(await submit()).toBe(true);
  });

  it('spreads the first pairs over the workers, so that the first frame is reported soon', async () => {
    const { slow, submit } = feed(3);
    for (let i = 0; i < 6; i++) expect(await submit()).toBe(true);
    for (const [number, worker] of slow.entries()) {
      expect(worker.chunks).toEqual([
        { first: number, count: 1 },
        { first: number + 3, count: 1 },
      ]);
    }
    expect(await submit()).toBe(false);
    for (const worker of slow) worker.measureOne();
    await submit();
    // From then on, a worker keeps its chunk for a second pair.
    expect(slow[0]?.chunks.at(-1)).toEqual({ first: 6, count: 2 });
  });

  it('reuses returned buffers', async () => {
    const { slow, feeder, submit } = feed(1);
    await submit();
    await submit();
    slow[0]?.measureOne();
    const { reference } = await feeder.room();
    // A new buffer would be zero.
    expect(reference.y[0]).toBeGreaterThan(0);
  });

  it('has one pair of buffers for the room, however often it is asked', async () => {
    const { feeder } = feed(1);
    await feeder.room();
    const allocated = vi.spyOn(globalThis, 'ArrayBuffer');
    await feeder.room();
    expect(allocated).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('sends a chunk the two reference frames before it, unless the worker has them', async () => {
    const { slow, submit } = feed(2, 2);
    for (let i = 0; i < 4; i++) await submit();
    expect(slow[0]?.history).toEqual([]);
    expect(slow[1]?.chunks).toEqual([{ first: 2, count: 2 }]);
    const earlier = slow[1]?.history ?? [];
    expect(earlier.map(({ index, reference }) => [index, sampleOf(reference)])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(earlier.every(({ distorted }) => distorted === undefined)).toBe(true);
    // The second worker is free first, and continues after its own pairs.
    slow[1]?.measureOne();
    await submit();
    expect(slow[1]?.chunks.at(-1)).toEqual({ first: 4, count: 2 });
    expect(slow[1]?.history).toHaveLength(2);
  });

  it.each([
    [1, [1, 1, 2]],
    [2, [1, 2, 3, 4]],
    [5, [4, 5, 9, 10]],
  ])('sends the history that a later chunk needs: chunks of %i', async (chunk, values) => {
    const { slow, submit } = feed(2, chunk);
    for (let i = 0; i < 2 * chunk; i++) await submit();
    // The first worker is free first, and lacks the history that the second one has.
    while ((slow[0]?.waiting ?? 0) > 0) slow[0]?.measureOne();
    for (let i = 0; i < chunk; i++) await submit();
    const sent = slow.flatMap(({ history }) => history.map(({ reference }) => sampleOf(reference)));
    expect(sent.sort((a, b) => a - b)).toEqual(values);
  });

  it('allocates no buffers for chunks of a single pair once the workers return them', async () => {
    const { slow, submit } = feed(2, 1);
    const step = async () => {
      await submit();
      for (const worker of slow) if (worker.waiting > 0) worker.measureOne();
    };
    for (let i = 0; i < 8; i++) await step();
    const allocated = vi.spyOn(globalThis, 'ArrayBuffer');
    for (let i = 0; i < 20; i++) await step();
    expect(allocated).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('waits for every chunk at the end', async () => {
    const { slow, feeder, submit } = feed(2, 2);
    for (let i = 0; i < 3; i++) await submit();
    const end = feeder.finish();
    expect(slow[1]?.received.at(-1)).toEqual({ kind: 'end' });
    slow[1]?.endChunk(2, 1);
    slow[0]?.endChunk(0, 2);
    expect(await end).toBe(3);
  });
});

it('a pair leaves no unhandled rejection if one read fails at once and the other later', async () => {
  const left: unknown[] = [];
  const note = (reason: unknown) => left.push(reason);
  const source = (readFrame: FrameSource['readFrame']) =>
    ({ readFrame, seekable: true }) as unknown as FrameSource;
  const planes = {} as FramePlanes;
  process.on('unhandledRejection', note);
  try {
    const pair = {
      reference: source(() => new Promise((_, reject) => setTimeout(reject, 5, new Error('late')))),
      distorted: source(() => {
        throw new Error('at once');
      }),
      skip: { reference: 0, distorted: 0 },
    };
    expect(() => readPair(pair, 0, planes, planes)).toThrow('at once');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(left).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
