import { describe, expect, it } from 'vitest';
import { Feeder } from '../../../src/engine/workers/feeder.js';
import type { FromWorker, ToWorker, WorkerHandle } from '../../../src/engine/workers/protocol.js';
import { WorkerPool } from '../../../src/engine/workers/worker-pool.js';
import { planOf } from '../../support/finish.js';

const PLAN = planOf(['motion', 'motion=motion_five_frame_window=true', 'psnr'], {
  width: 4,
  height: 4,
  bitDepth: 8,
  chroma: '420',
}).extraction;

/** A worker that answers only when the test says so, and keeps what it got. */
class SlowWorker implements WorkerHandle {
  readonly received: ToWorker[] = [];
  /** Of the history that it got: its samples' value, and whether the memory came along. */
  readonly primed: { readonly value: number; readonly handed: boolean }[] = [];
  #send: (message: FromWorker) => void = () => {};
  #measured = 0;

  post(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    if (message.kind === 'prime')
      this.primed.push({
        value: message.reference[0] ?? 0,
        handed: transfer.includes(message.reference.buffer),
      });
    this.received.push(structuredClone(message, { transfer }));
  }

  listen(onMessage: (message: FromWorker) => void): void {
    this.#send = onMessage;
  }

  async terminate(): Promise<void> {}

  /** Measures the oldest pair that waits, and ends the chunk when it was the last. */
  measureOne(): void {
    const pairs = this.received.filter((message) => message.kind === 'pair');
    const pair = pairs[this.#measured++];
    if (!pair) throw new Error('nothing waits');
    this.#send({ kind: 'measured', buffers: [pair.reference, pair.distorted] });
  }

  /** Takes over all history that was sent. */
  prime(): void {
    for (const message of this.received)
      if (message.kind === 'prime') this.#send({ kind: 'primed', buffers: [message.reference.buffer] });
  }

  get waiting(): number {
    return this.received.filter((message) => message.kind === 'pair').length - this.#measured;
  }

  endChunk(first: number, count: number): void {
    this.#send({ kind: 'records', first, count, records: new Float64Array(), ended: null });
  }
}

function feed(workers: number, chunkFrames?: number) {
  const slow = Array.from({ length: workers }, () => new SlowWorker());
  let started = 0;
  const pool = new WorkerPool();
  pool.start(() => slow[started++] ?? new SlowWorker(), workers, {
    module: new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
    plan: PLAN,
    implementation: 'simd128',
    subsample: 1,
  });
  const feeder = new Feeder(pool, PLAN, { add: () => {}, measured: () => {} }, { chunkFrames });
  let index = 0;
  /** Whether there was room for one more pair. */
  async function submit(): Promise<boolean> {
    const room = await Promise.race([
      feeder.room(),
      new Promise<undefined>((resolve) => setTimeout(resolve, 5)),
    ]);
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
  ])(
    'has at most a chunk per worker and one pair under way: %i workers, chunks of %s',
    async (workers, chunk, most) => {
      const { slow, submit } = feed(workers, chunk);
      let taken = 0;
      while (taken < 100 && (await submit())) taken++;
      expect(taken).toBe(most);
      // One pair measured makes no room in a chunk of two; all but one of a worker's pairs do.
      for (const worker of slow) while (worker.waiting > 1) worker.measureOne();
      expect(await submit()).toBe(true);
    },
  );

  it('has the first pairs measured side by side, so that the first frame is soon told', async () => {
    const { slow, submit } = feed(3);
    for (let i = 0; i < 6; i++) expect(await submit()).toBe(true);
    for (const [number, worker] of slow.entries()) {
      const told = worker.received.flatMap((message) =>
        message.kind === 'begin' ? [`from ${message.first}`] : message.kind === 'end' ? ['end'] : [],
      );
      expect(told).toEqual([`from ${number}`, 'end', `from ${number + 3}`, 'end']);
    }
    expect(await submit()).toBe(false);
    for (const worker of slow) worker.measureOne();
    await submit();
    // From then on, a worker keeps what it has for a second pair.
    expect(slow[0]?.received.at(-1)?.kind).toBe('pair');
  });

  it('uses returned buffers again', async () => {
    const { slow, feeder, submit } = feed(1);
    await submit();
    await submit();
    slow[0]?.measureOne();
    const { reference } = await feeder.room();
    // A new buffer would be zero.
    expect(reference.y[0]).toBeGreaterThan(0);
  });

  it('sends a chunk the two reference frames before it, unless the worker has them', async () => {
    const { slow, submit } = feed(2, 2);
    for (let i = 0; i < 4; i++) await submit();
    const [first, second] = slow.map((worker) => worker.received.map(({ kind }) => kind));
    expect(first).toEqual(['start', 'begin', 'pair', 'pair', 'end']);
    expect(second).toEqual(['start', 'begin', 'prime', 'prime', 'pair', 'pair', 'end']);
    const primed = slow[1]?.received.filter((message) => message.kind === 'prime');
    expect(primed?.map(({ reference }) => reference[0])).toEqual([1, 2]);
    // The second worker is free first, and goes on with what follows its own pairs.
    slow[1]?.measureOne();
    await submit();
    const later = slow[1]?.received.slice(second?.length);
    expect(later?.map(({ kind }) => kind)).toEqual(['begin', 'pair']);
    expect(later?.[0]).toEqual({ kind: 'begin', first: 4 });
  });

  it.each([
    [1, [1, 1, 2], 0],
    [2, [1, 2, 3, 4], 4],
    [5, [4, 5, 9, 10], 4],
  ])('hands history over where no later chunk needs it: chunks of %i', async (chunk, values, handed) => {
    const { slow, submit } = feed(2, chunk);
    for (let i = 0; i < 2 * chunk; i++) await submit();
    slow[1]?.prime();
    // The first worker is free first, and lacks what the second one measures.
    while ((slow[0]?.waiting ?? 0) > 0) slow[0]?.measureOne();
    for (let i = 0; i < chunk; i++) await submit();
    const primed = slow.flatMap(({ primed }) => primed).sort((a, b) => a.value - b.value);
    expect(primed.map(({ value }) => value)).toEqual(values);
    expect(primed.filter(({ handed }) => handed)).toHaveLength(handed);
  });

  it('waits at the end for every chunk', async () => {
    const { slow, feeder, submit } = feed(2, 2);
    for (let i = 0; i < 3; i++) await submit();
    const end = feeder.finish();
    expect(slow[1]?.received.at(-1)).toEqual({ kind: 'end' });
    slow[1]?.endChunk(2, 1);
    slow[0]?.endChunk(0, 2);
    expect(await end).toBe(3);
  });
});
