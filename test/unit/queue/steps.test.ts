/**
 * @module test/unit/queue/steps
 * The steps of jobs, repeated, late, interrupted or reordered: complete parts are checked, the first result counts, and sweeps
 * repair losses. How cost grows, by simulated fleets: an exhaustive run has a thousand workers and a hundred thousand parts, and
 * prints the cost; docs/many-machines.md has the numbers. Addresses of queues, whose password no message shows.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { QueueConnection, queueAddress, withoutPassword } from '../../../src/queue/connect.js';
import { type Stored, type Task, taskId } from '../../../src/queue/job.js';
import { LostFile } from '../../../src/queue/results-folder.js';
import { runTask, type Scorer, sweep, type TaskEnd, type TaskTools } from '../../../src/queue/run-task.js';
import type { JobStore } from '../../../src/queue/store.js';
import { type Clock, type EndedJob, followJobs, type SubmitTools } from '../../../src/queue/submit.js';
import { MemoryQueue, MemoryStore, Tally, testJob } from '../../support/memory-queue.js';
import { seeded } from '../../support/random.js';
import { exhaustive, tier } from '../../support/tier.js';

const never = new AbortController().signal;

/** A fleet in memory whose scorer writes the parts it merged. */
function fleet(count: number, changes: Partial<Scorer> = {}, tally = new Tally()) {
  const queue = new MemoryQueue(tally);
  const store = new MemoryStore(tally);
  const discarded: string[] = [];
  const measured: number[] = [];
  const tools: TaskTools = {
    queue,
    store,
    files: {
      discard: async (_, stored) => void discarded.push(JSON.stringify(stored)),
      clear: async () => {},
    },
    scorer: {
      pair: async () => ({ count }),
      part: async (_, number) => {
        measured.push(number);
        return { text: `part ${number}` };
      },
      merge: async (_, parts) => {
        const inOrder = [...parts].sort(([a], [b]) => a - b);
        return { line: { text: inOrder.map(([, part]) => (part as { text: string }).text).join() } };
      },
      ...changes,
    },
  };
  /** Runs a task, and repeats it after an I/O error. */
  const run = async (task: Task, attempts = 3): Promise<TaskEnd> => {
    try {
      const ended = await runTask(task, tools, never);
      queue.end(task);
      return ended;
    } catch (error) {
      if (attempts <= 1 || !(error instanceof AnyvmafError) || error.code !== 'io') throw error;
      return run(task, attempts - 1);
    }
  };
  const runAll = async () => {
    for (let task = queue.take(); task; task = queue.take()) await run(task);
  };
  return { queue, store, tools, run, runAll, discarded, measured };
}

const job = testJob(1);
const pair: Task = { kind: 'pair', job };
const part = (number: number, count = 3): Task => ({ kind: 'part', job, number, count });
const merged = { kind: 'scored', line: { text: 'part 1,part 2,part 3' } };

/** A store that a worker read before the others had ended. */
function afterwards(store: MemoryStore): JobStore {
  return new Proxy(store, {
    get: (target, name: keyof JobStore) =>
      name === 'begin' ? async () => ({ settled: false, part: false }) : target[name].bind(target),
  });
}

describe('a cut pair', () => {
  it('is merged by the worker that ends last, in any order', async () => {
    const { next: random } = seeded(4);
    for (let round = 0; round < tier(8, 20); round++) {
      const { run, store, queue } = fleet(3);
      await queue.add([pair]);
      await run(queue.take() as Task);
      const parts = [1, 2, 3].map((number) => ({ number, at: random() })).sort((a, b) => a.at - b.at);
      const ends = [];
      for (const { number } of parts) ends.push((await run(part(number))).settled);
      expect(ends).toEqual([undefined, undefined, job.key]);
      expect(store.settled.get(job.key)).toEqual(merged);
      expect(store.known.size + store.open.size).toBe(0);
    }
  });

  it('does not measure existing parts after a worker died between its part and the merge', async () => {
    const { run, store, measured } = fleet(3);
    await store.cut(job, 3);
    for (const number of [1, 2, 3]) await store.putPart(job.key, number, { text: `part ${number}` });
    await run(part(3));
    expect(measured).toEqual([]);
    expect(store.settled.get(job.key)).toEqual(merged);
  });

  it('keeps the first of two results of one part, and discards the late one', async () => {
    const late = fleet(3, { part: async (_, number) => ({ text: `late ${number}` }) });
    const { run, store, tools, discarded } = fleet(3);
    await run(pair);
    await run(part(2));
    const other = { ...tools, scorer: late.tools.scorer, store: afterwards(store) };
    const end = await runTask(part(2), other, never);
    expect(end).toEqual({});
    expect(discarded).toEqual(['{"text":"late 2"}']);
    await run(part(1));
    await run(part(3));
    expect(store.settled.get(job.key)).toEqual(merged);
    // Later still: the job has ended.
    expect(await runTask(part(1), { ...tools, store: afterwards(store) }, never)).toEqual({});
    expect(store.known.size).toBe(0);
  });

  it('measures parts again whose files are lost, and fails if they are always lost', async () => {
    let losses = 1;
    const { runAll, store, measured, queue } = fleet(3, {
      merge: async () => (losses-- > 0 ? { lost: [2] } : { line: { text: 'merged' } }),
    });
    await queue.add([pair]);
    await runAll();
    expect(measured).toEqual([1, 2, 3, 2]);
    expect(store.settled.get(job.key)).toMatchObject({ line: { text: 'merged' } });

    const always = fleet(3, { merge: async () => ({ lost: [1, 2] }) });
    await always.queue.add([pair]);
    await expect(always.runAll()).rejects.toThrow(/2 of 3 parts cannot be read.*--results DIR/);
  });

  it('starts again if nothing is known of it', async () => {
    const { runAll, run, store, queue } = fleet(3);
    await run(part(2));
    expect(queue.ids).toEqual([taskId(pair)]);
    await runAll();
    expect(store.settled.get(job.key)).toEqual(merged);
  });

  it('is cut once, whatever other workers find', async () => {
    const { run, store, tools } = fleet(3);
    await run(pair);
    const other = { ...tools.scorer, pair: async () => ({ count: 5 }) };
    await runTask(pair, { ...tools, scorer: other, store: afterwards(store) }, never);
    expect(store.known.get(job.key)?.count).toBe(3);
    expect(await runTask(part(1, 5), tools, never)).toEqual({});
    expect(store.known.get(job.key)?.parts.size).toBe(0);
  });

  it('reports why parts do not belong together', async () => {
    const refusal = new AnyvmafError('mismatch', 'the parts are of other files.');
    const { runAll, queue, store } = fleet(2, { merge: () => Promise.reject(refusal) });
    await queue.add([pair]);
    await expect(runAll()).rejects.toBe(refusal);
    expect(store.settled.size).toBe(0);
  });
});

const looks = (tools: TaskTools, dead: readonly { taskId: string; task: Task; reason: string }[] = []) =>
  sweep({
    ...tools,
    files: { ...tools.files, jobs: async () => [] },
    dead: async () => dead.map((one) => ({ ...one, attempts: 1 })),
  });

describe('a sweep', () => {
  it('starts a merge that is missing', async () => {
    const { tools, store, queue, runAll, measured } = fleet(3);
    await store.cut(job, 3);
    for (const number of [1, 2, 3]) await store.putPart(job.key, number, { text: `part ${number}` });
    expect(await looks(tools)).toMatchObject({ merges: 1, resumed: 0 });
    expect(queue.ids).toEqual([`${job.key}-merge`]);
    await runAll();
    expect(measured).toEqual([]);
    expect(store.settled.get(job.key)).toEqual(merged);
    expect(await looks(tools)).toMatchObject({ merges: 0, resumed: 0 });
  });

  it('has lost parts measured, but not parts that wait', async () => {
    const { tools, store, queue, run, runAll, measured } = fleet(3);
    await queue.add([pair]);
    await run(queue.take() as Task);
    expect(await looks(tools)).toMatchObject({ merges: 0, resumed: 0 });
    await run(queue.take() as Task);
    for (const id of queue.ids) queue.lose(id);
    expect(await looks(tools)).toMatchObject({ resumed: 1 });
    await runAll();
    expect(measured.sort()).toEqual([1, 2, 3]);
    expect(store.settled.get(job.key)).toEqual(merged);
  });

  it('reports a task whose workers all died', async () => {
    const { tools, store } = fleet(3);
    const reason = 'job stalled more than allowable limit';
    const dead = [{ taskId: taskId(part(2)), task: part(2), reason }];
    expect(await looks(tools, dead)).toMatchObject({ failed: 1 });
    const message = expect.stringContaining('every worker');
    expect(store.settled.get(job.key)).toMatchObject({ kind: 'failed', code: 'internal', message });
    expect(await looks(tools, dead)).toMatchObject({ failed: 0 });
  });
});

/** No result needs a file. */
const IN_REDIS: SubmitTools['files'] = {
  read: async (_, stored) => ('text' in stored ? stored.text : ''),
  clear: async () => {},
};

/** A submitter without messages, whose clock the test moves. */
function submitter(queue: MemoryQueue, store: MemoryStore, meanwhile: () => Promise<void>) {
  let now = 0;
  const tools: SubmitTools = {
    queue,
    store,
    files: IN_REDIS,
    listen: async () => async () => {},
    retry: async (failed) => {
      const keys = failed.map(({ key }) => key);
      await store.reopen(keys, false);
      await queue.add(failed.map((one) => ({ kind: 'pair', job: one })));
    },
    clock: {
      now: () => now,
      wait: async (milliseconds) => {
        now += milliseconds;
        await meanwhile();
      },
    },
  };
  return tools;
}

describe('following', () => {
  const jobs = Array.from({ length: 7 }, (_, i) => testJob(i + 1));

  async function all(ended: AsyncIterable<EndedJob>): Promise<readonly number[]> {
    const lines: number[] = [];
    for await (const { job: one } of ended) lines.push(one.line);
    return lines.sort();
  }

  const follow = (tools: SubmitTools, retryFailed = false, signal = never) =>
    followJobs(jobs, tools, { retryFailed, signal });

  it('yields each job once even if no message arrives', async () => {
    const { queue, store, runAll } = fleet(3);
    expect(await all(follow(submitter(queue, store, runAll)))).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect([...store.settled.values()].every(({ kind }) => kind === 'taken')).toBe(true);
  });

  it('submits again what Redis lost, and follows existing jobs', async () => {
    const { queue, store, runAll, measured } = fleet(3);
    let looks = 0;
    const tools = submitter(queue, store, async () => {
      if (looks++ === 0) for (const id of queue.ids.slice(0, 5)) queue.lose(id);
      else await runAll();
    });
    expect(await all(follow(tools))).toHaveLength(7);
    expect(measured).toHaveLength(21);
  });

  it('resumes after another process ended: an outcome is forgotten once it is on disk', async () => {
    const { queue, store, runAll, measured } = fleet(3);
    const tools = submitter(queue, store, runAll);
    const first = follow(tools);
    await first.next();
    await first.next();
    // Killed between two: the second outcome was given, and not acknowledged.
    await first.return();
    expect([...store.settled.values()].filter(({ kind }) => kind === 'taken')).toHaveLength(1);
    const open = jobs.filter(({ key }) => store.settled.get(key)?.kind !== 'taken');
    expect(await all(followJobs(open, tools, { retryFailed: false, signal: never }))).toHaveLength(6);
    expect(measured).toHaveLength(21);
  });

  it('scores again jobs of another results file', async () => {
    const { queue, store, runAll } = fleet(3);
    const tools = submitter(queue, store, runAll);
    await all(follow(tools));
    expect(await all(follow(tools))).toHaveLength(7);
  });

  it('leaves a failed job alone until a retry', async () => {
    let broken = true;
    const { queue, store, runAll } = fleet(3, {
      pair: async ({ line }) => {
        if (broken && line === 4) throw new AnyvmafError('media', 'it is no video.');
        return { line: { text: `line ${line}` } };
      },
    });
    const work = async () => {
      try {
        await runAll();
      } catch {
        await store.settle(testJob(3).key, { kind: 'failed', code: 'media', message: 'it is no video.' });
        queue.lose(taskId({ kind: 'pair', job: testJob(3) }));
        await runAll();
      }
    };
    const tools = submitter(queue, store, work);
    const failures: unknown[] = [];
    for await (const { outcome } of follow(tools))
      if (outcome.kind === 'failed') failures.push(outcome.message);
    expect(failures).toEqual(['it is no video.']);
    broken = false;
    const again = (retryFailed: boolean) => followJobs([testJob(3)], tools, { retryFailed, signal: never });
    for await (const { outcome, job: one } of again(false))
      expect([one.line, outcome.kind]).toEqual([4, 'failed']);
    for await (const { outcome } of again(true)) expect(outcome).toEqual({ kind: 'scored', line: 'line 4' });
  });

  it('goes on after a lost file of results, keeps the outcome, and scores the job again on a retry', async () => {
    const { queue, store, runAll, measured } = fleet(3);
    const lost = new Set([testJob(3).key]);
    const cleared: string[] = [];
    const usual = submitter(queue, store, runAll);
    const tools: SubmitTools = {
      ...usual,
      retry: async (failed) => {
        // The new result has its file.
        lost.clear();
        await usual.retry(failed);
      },
      files: {
        read: async (key, stored) => {
          if (lost.has(key)) throw new LostFile('io', 'the result is missing');
          return IN_REDIS.read(key, stored);
        },
        clear: async (key) => void cleared.push(key),
      },
    };
    const outcomes: unknown[] = [];
    for await (const { job: one, outcome } of follow(tools)) if (one.line === 4) outcomes.push(outcome);
    expect(outcomes).toEqual([{ kind: 'failed', code: 'io', message: 'the result is missing' }]);
    expect(store.settled.get(testJob(3).key)?.kind).toBe('scored');
    expect(cleared).toHaveLength(6);
    expect(cleared).not.toContain(testJob(3).key);
    const again: unknown[] = [];
    for await (const { outcome } of followJobs([testJob(3)], tools, { retryFailed: true, signal: never }))
      again.push(outcome);
    expect(again).toEqual([{ kind: 'scored', line: 'part 1,part 2,part 3' }]);
    expect(measured).toHaveLength(7 * 3 + 3);
  });

  it('stops when aborted, and leaves the jobs in the queue', async () => {
    const { queue, store } = fleet(3);
    const stop = new AbortController();
    const tools = submitter(queue, store, async () => stop.abort(new Error('stopped')));
    await expect(all(follow(tools, false, stop.signal))).rejects.toThrow('stopped');
    expect(queue.ids).toHaveLength(7);
  });
});

it('random faults lose and repeat nothing', async () => {
  for (let seed = 1; seed <= tier(15, 40); seed++) {
    const { next: random } = seeded(seed);
    const written = new Map<string, number>();
    const { queue, store, tools } = fleet(1 + Math.floor(random() * 6));
    function maybe<A extends unknown[], R>(work: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
      return async (...args) => {
        if (random() < 0.15) throw new Error('killed');
        return work(...args);
      };
    }
    const { scorer } = tools;
    const faulty: TaskTools = {
      ...tools,
      scorer: { ...scorer, part: maybe(scorer.part), merge: maybe(scorer.merge) },
    };
    const step = async () => {
      for (let i = 0; i < 30; i++) {
        const task = queue.take();
        if (!task) break;
        const killed = await runTask(task, faulty, never).then(
          () => false,
          () => true,
        );
        // A killed worker's task comes back, is done twice, or is forgotten by Redis.
        const fate = random();
        queue.end(task);
        if (killed ? fate < 0.8 : fate < 0.1) await queue.add([task]);
      }
      const some: Stored = { text: 'late' };
      const [key] = [...store.known.keys()];
      if (key && random() < 0.1) await store.putPart(`${key.slice(0, -1)}f`, 1, some);
      await looks(tools);
    };
    const jobs = Array.from({ length: 10 }, (_, i) => testJob(i + 1));
    const ended = followJobs(jobs, submitter(queue, store, step), { retryFailed: false, signal: never });
    for await (const { job: one } of ended) written.set(one.key, (written.get(one.key) ?? 0) + 1);
    expect([...written.values()], `seed ${seed}`).toEqual(jobs.map(() => 1));
    expect(store.open.size, `seed ${seed}`).toBe(0);
  }
});

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
  const clock = new JumpingClock();
  const { next: random } = seeded(jobs * parts);
  // A part of ten seconds: a file, of which Redis has the name.
  const name = `part-12345-67890-${'0'.repeat(16)}.json`;
  const file: Stored = { file: name, bytes: 500_000, sha256: 'f'.repeat(64) };
  const line = { text: 'x'.repeat(4000) };
  let merges = 0;
  const work = async (least: number) => clock.wait(least * (0.8 + 0.4 * random()));
  const changes: Partial<Scorer> = {
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
  };
  const { queue, store, tools } = fleet(parts, changes, tally);
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
      await looks(tools);
    }
  };
  const all = Array.from({ length: jobs }, (_, i) => testJob(i + 1));
  const following = (async () => {
    const listen = async (heard: (key: string) => void) => {
      listeners.push(heard);
      return async () => {};
    };
    const submitting = { queue, store, files: IN_REDIS, clock, listen, retry: async () => {} };
    const run = followJobs(all, submitting, { retryFailed: false, signal: never });
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

describe('an address', () => {
  it('has host, port, database, user, password, TLS and a name', () => {
    expect(queueAddress('rediss://ann:p%40ss%2Fw@queue.example:7000/3?queue=night')).toEqual({
      ...{ host: 'queue.example', port: 7000, database: 3, username: 'ann', password: 'p@ss/w' },
      ...{ tls: true, name: 'night', shown: 'rediss://ann:***@queue.example:7000/3?queue=night' },
    });
    expect(queueAddress('redis://[::1]')).toMatchObject({ host: '::1', port: 6379, database: 0, tls: false });
    expect(queueAddress('valkey://v')).toMatchObject({ host: 'v', name: 'anyvmaf' });
    const socket = queueAddress('redis+unix:///run/a%20b.sock?db=2');
    expect(socket).toMatchObject({ path: '/run/a b.sock', database: 2 });
  });

  it('takes its password from the environment, unless it has one', () => {
    const env = { ANYVMAF_QUEUE_PASSWORD: 'secret' };
    expect(queueAddress('redis://h', env).password).toBe('secret');
    expect(queueAddress('redis://:own@h', env).password).toBe('own');
    expect(queueAddress('redis://h').password).toBeUndefined();
  });

  it.each([
    ['localhost:6379', /is not the URL of a Redis server/],
    ['http://h', /is not the URL of a Redis server/],
    ['redis://:pw@h/x', /must have a database number/],
    ['redis://:pw@h?queue=a/b', /must have a queue name of 1 to 64 letters/],
    ['redis://:pw@h?queue=__proto__&x=1', /has x after the question mark, which takes queue;/],
    [
      'redis://:pw@h/0?db=3',
      /has db after the question mark, which takes queue; give redis:\/\/HOST:PORT\/DATABASE/,
    ],
    ['redis+unix:///s?db=1&x=1', /has x after the question mark, which takes queue, db;/],
    ['redis+unix://host/path', /must have the path of a socket and no host/],
    ['redis://:pw@', /is not the URL|has no host/],
    ['', /is not the URL of a Redis server/],
  ])('%s is refused, without its password', (text, why) => {
    const refuse = () => queueAddress(text);
    expect(refuse).toThrow(why);
    expect(refuse).not.toThrow(/pw/);
  });

  it.each([
    ['redis://u:pw@h/1', 'redis://u:***@h/1'],
    ['at redis://:p:w@x@h: no', 'at redis://:***@h: no'],
    ['rediss://u@h', 'rediss://u@h'],
    ['nothing here', 'nothing here'],
  ])('%s is shown as %s', (text, shown) => {
    expect(withoutPassword(text)).toBe(shown);
  });
});

it('a queue without its packages advises to install them', async () => {
  const missing = () => Promise.reject(new Error("Cannot find package 'bullmq'"));
  await expect(QueueConnection.open(queueAddress('redis://h'), false, missing)).rejects.toThrow(
    /needs the packages bullmq and ioredis.*npm install bullmq ioredis/,
  );
});
