/**
 * @module test/unit/queue/simulation
 * Simulated fleets on the code of submitters and workers, with a clock that jumps and a queue that counts: how cost grows. An
 * exhaustive run has a thousand workers and a hundred thousand parts, and prints the cost; docs/many-machines.md has the numbers.
 */
import { expect, it } from 'vitest';
import type { Stored } from '../../../src/queue/job.js';
import { runTask, sweep, type TaskTools } from '../../../src/queue/run-task.js';
import { type Clock, followJobs } from '../../../src/queue/submit.js';
import { MemoryQueue, MemoryStore, Tally, testJob } from '../../support/memory-queue.js';
import { seeded } from '../../support/random.js';
import { exhaustive, tier } from '../../support/tier.js';

/** Milliseconds to measure a part. */
const PART = 10_000;

/** Time that jumps to the next wake-up. */
class JumpingClock implements Clock {
  #now = 0;
  readonly #waking = new Map<number, (() => void)[]>();

  now(): number {
    return this.#now;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    // In tenths of a second, so that many wake together.
    const at = Math.ceil((this.#now + Math.max(1, milliseconds)) / 100) * 100;
    return new Promise((resolve) => {
      const list = this.#waking.get(at) ?? [];
      this.#waking.set(at, list);
      list.push(resolve);
      if (signal?.aborted) resolve();
      else signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Runs until `done`. */
  async run(done: () => boolean): Promise<void> {
    while (!done()) {
      // Everything that is ready runs first.
      await new Promise((resolve) => setImmediate(resolve));
      if (done()) return;
      const next = Math.min(...this.#waking.keys());
      if (!Number.isFinite(next)) throw new Error('nobody will ever wake');
      this.#now = next;
      const woken = this.#waking.get(next) ?? [];
      this.#waking.delete(next);
      for (const wake of woken) wake();
    }
  }
}

interface World {
  readonly jobs: number;
  readonly parts: number;
  readonly workers: number;
}

/** Runs a fleet to its end. @returns its cost and duration */
async function simulate({ jobs, parts, workers }: World) {
  const tally = new Tally();
  const queue = new MemoryQueue(tally);
  const store = new MemoryStore(tally);
  const clock = new JumpingClock();
  const { next: random } = seeded(jobs * parts);
  const never = new AbortController().signal;
  // A part of ten seconds: a file, of which Redis has the name.
  const name = `part-12345-67890-${'0'.repeat(16)}.json`;
  const file: Stored = { file: name, bytes: 500_000, sha256: 'f'.repeat(64) };
  const line = { text: 'x'.repeat(4000) };
  let merges = 0;
  const work = async (least: number) => clock.wait(least * (0.8 + 0.4 * random()));
  const tools: TaskTools = {
    queue,
    store,
    files: { discard: async () => {}, clear: async () => {} },
    scorer: {
      pair: async () => {
        await work(500);
        return { count: parts };
      },
      part: async () => {
        await work(PART);
        return file;
      },
      merge: async (_, all) => {
        expect(all.size).toBe(parts);
        await work(20 * parts);
        merges++;
        return { line };
      },
    },
  };
  const listeners: ((key: string) => void)[] = [];
  let idle: (() => void)[] = [];
  queue.onAdded = () => {
    for (const wake of idle) wake();
    idle = [];
  };
  const ended = new Set<string>();
  let stopped = false;
  const worker = async () => {
    while (!stopped) {
      const task = queue.take();
      if (!task) {
        await new Promise<void>((resolve) => idle.push(resolve));
        continue;
      }
      const { settled } = await runTask(task, tools, never);
      queue.end(task);
      if (settled !== undefined) for (const heard of listeners) heard(settled);
    }
  };
  const sweeper = async () => {
    while (!stopped) {
      await clock.wait(60_000);
      await sweep({ ...tools, files: { ...tools.files, jobs: async () => [] }, dead: async () => [] });
    }
  };
  const all = Array.from({ length: jobs }, (_, i) => testJob(i + 1));
  const following = (async () => {
    const listen = async (heard: (key: string) => void) => {
      listeners.push(heard);
      return async () => {};
    };
    const tools = { queue, store, clock, listen, retry: async () => {} };
    const run = followJobs(all, tools, { retryFailed: false, signal: never });
    for await (const { job } of run) {
      expect(ended.has(job.key)).toBe(false);
      ended.add(job.key);
    }
  })();
  for (let i = 0; i < workers; i++) worker().catch(() => {});
  sweeper().catch(() => {});
  let over = false;
  const finished = following.finally(() => {
    over = true;
  });
  await clock.run(() => over);
  await finished;
  stopped = true;
  queue.onAdded();
  expect(ended.size).toBe(jobs);
  expect(merges).toBe(jobs);
  const count = jobs * parts;
  const [operations, bytes] = [tally.total / count, tally.bytes / count];
  return { tally, seconds: clock.now() / 1000, operations, bytes, ideal: (count * PART) / workers / 1000 };
}

it('a simulated fleet sends a few operations per part, however large it is', {
  timeout: 300_000,
}, async () => {
  const runs = tier(
    [
      { jobs: 20, parts: 10, workers: 10 },
      { jobs: 50, parts: 100, workers: 100 },
    ],
    [
      { jobs: 100, parts: 10, workers: 10 },
      { jobs: 100, parts: 100, workers: 100 },
      { jobs: 1000, parts: 100, workers: 1000 },
      { jobs: 100, parts: 1000, workers: 1000 },
    ],
  );
  const found = [];
  for (const world of runs) {
    const { tally, ...cost } = await simulate(world);
    found.push(cost);
    const each = [...tally.operations].map(([name, count]) => `${name} ${count}`).join(', ');
    if (exhaustive)
      console.log(
        `${world.jobs} pairs of ${world.parts} parts, ${world.workers} workers: ${cost.operations.toFixed(2)} operations and ` +
          `${cost.bytes.toFixed(0)} bytes per part, ${cost.seconds.toFixed(0)} s of ${cost.ideal.toFixed(0)} s (${each})`,
      );
  }
  // Linear: the cost of a part does not grow with the fleet.
  for (const { operations, bytes, seconds, ideal } of found) {
    expect(operations).toBeLessThan(8);
    expect(bytes).toBeLessThan(4000);
    expect(seconds).toBeLessThan(1.3 * ideal);
  }
});
