/**
 * @module test/unit/parsing/parser
 * A worker that parses foreign bytes is terminated when it makes no progress, and only then.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { MediaError } from '../../../src/media/errors.js';
import { bytesReader } from '../../../src/media/readers.js';
import { Parser } from '../../../src/parsing/parser.js';
import {
  errorOf,
  type FromParser,
  type ParserWorker,
  refusalOf,
  type ToParser,
  type WorkerDeath,
} from '../../../src/parsing/protocol.js';
import { type Monitor, serveParser } from '../../../src/parsing/serve.js';

interface Calls {
  work(argument: number): number;
}

const REASON = { code: 'media', subject: 'a.mkv cannot be read' } as const;

/** A worker that sends what the test says. */
class FakeWorker implements ParserWorker {
  readonly posted: ToParser[] = [];
  terminated = 0;
  large = false;
  say: (message: FromParser) => void = () => {};
  die: (how: WorkerDeath) => void = () => {};

  isTooLarge(): boolean {
    return this.large;
  }
  post(message: ToParser): void {
    this.posted.push(message);
  }
  listen(onMessage: (message: FromParser) => void, onDeath: (how: WorkerDeath) => void): void {
    this.say = onMessage;
    this.die = onDeath;
  }
  terminate(): void {
    this.terminated++;
  }
}

/** A call in progress, in a worker that may be silent for a second. */
function callUnderWay(signal?: AbortSignal) {
  const worker = new FakeWorker();
  const parser = new Parser<Calls>(worker, null);
  const outcome = parser.call('work', 1, { signal }).then(String, (error: unknown) => error);
  worker.say({ kind: 'ready' });
  worker.say({ kind: 'patience', silence: 1000, reason: REASON });
  return { worker, parser, outcome };
}

/** Heartbeats of a worker without progress. @param every milliseconds between them */
async function beats(worker: FakeWorker, count: number, every: number, waiting = false) {
  for (let i = 0; i < count; i++) {
    await vi.advanceTimersByTimeAsync(every);
    worker.say({ kind: 'alive', progress: 0, waiting });
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a parser', () => {
  it('terminates a worker without heartbeats, and names its input', async () => {
    const { worker, parser, outcome } = callUnderWay();
    await vi.advanceTimersByTimeAsync(1000);
    expect(worker.terminated).toBe(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(worker.terminated).toBe(1);
    const error = await outcome;
    expect(error).toBeInstanceOf(AnyvmafError);
    const text = /^a\.mkv cannot be read: aborted after 1\.1 s without progress; [^\n]*$/;
    const message = expect.stringMatching(text);
    expect(error).toMatchObject({ code: 'media', message });
    expect(parser.ended).toBe(true);
    await expect(parser.call('work', 2)).rejects.toBe(error);
  });

  it('waits for as many heartbeats of a starved worker as of others', async () => {
    const { worker, outcome } = callUnderWay();
    await beats(worker, 100, 300);
    expect(worker.terminated).toBe(0);
    await beats(worker, 2, 300);
    expect(worker.terminated).toBe(1);
    expect(String(await outcome)).toContain('after 30.4 s without progress');
  });

  it('terminates a worker without progress after four times as long, however few its heartbeats', async () => {
    const { worker, outcome } = callUnderWay();
    await beats(worker, 44, 900);
    expect(worker.terminated).toBe(0);
    await vi.advanceTimersByTimeAsync(900);
    expect(worker.terminated).toBe(1);
    expect(String(await outcome)).toContain('after 40.1 s without progress');
  });

  it('keeps a worker that makes progress, however long it takes', async () => {
    const { worker, outcome } = callUnderWay();
    for (let progress = 1; progress <= 300; progress++) {
      await vi.advanceTimersByTimeAsync(900);
      worker.say({ kind: 'alive', progress, waiting: false });
    }
    worker.say({ kind: 'answer', id: 0, value: 7 });
    expect(await outcome).toBe('7');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(worker.terminated).toBe(0);
  });

  it('terminates a worker without progress unless it waits for bytes', async () => {
    const { worker, outcome } = callUnderWay();
    await beats(worker, 300, 100, true);
    expect(worker.terminated).toBe(0);
    await beats(worker, 102, 100);
    expect(worker.terminated).toBe(1);
    expect(String(await outcome)).toContain('after 10.2 s without progress');
  });

  it('does not blame the worker for a busy caller', async () => {
    const { worker } = callUnderWay();
    // A thread that was busy for a minute runs its timer once.
    vi.setSystemTime(Date.now() + 60_000);
    await vi.advanceTimersByTimeAsync(200);
    expect(worker.terminated).toBe(0);
  });

  it('terminates the worker with the reason when the caller aborts', async () => {
    const controller = new AbortController();
    const { worker, outcome } = callUnderWay(controller.signal);
    const reason = new AnyvmafError('aborted', 'enough');
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    expect(worker.terminated).toBe(1);
  });

  it('reports a file that fills the memory or crashes the worker', async () => {
    const full = callUnderWay();
    full.worker.die({ outOfMemory: true, how: 'its process ended with SIGABRT.' });
    const tooMuch = { code: 'media', message: expect.stringContaining('takes more memory') };
    expect(await full.outcome).toMatchObject(tooMuch);
    const large = callUnderWay();
    large.worker.large = true;
    await vi.advanceTimersByTimeAsync(100);
    expect(await large.outcome).toMatchObject(tooMuch);
    expect(large.worker.terminated).toBe(1);
    const crashed = callUnderWay();
    crashed.worker.die({ outOfMemory: false, how: 'its process ended with SIGSEGV.' });
    expect(String(await crashed.outcome)).toContain('a.mkv cannot be read: its process ended with SIGSEGV.');
  });
});

/** Serves functions to a caller whose messages come from the test. */
function serving(functions: (watched: Monitor) => Record<string, (argument: never) => Promise<unknown>>) {
  const said: FromParser[] = [];
  const take = serveParser(
    (message) => said.push(message),
    async (_task: null, watched: Monitor) => functions(watched),
  );
  take({ kind: 'begin', task: null });
  return { said, take };
}

describe('a served function', () => {
  it('reads lent bytes through its caller, with heartbeats while it runs', async () => {
    const { said, take } = serving((watched) => ({
      async work() {
        const bytes = new Uint8Array(4);
        const got = await watched.input(10).read(8, [bytes]);
        watched.progress();
        return [got, ...bytes];
      },
    }));
    take({ kind: 'call', id: 5, name: 'work', argument: null });
    await vi.advanceTimersByTimeAsync(350);
    expect(said[0]).toEqual({ kind: 'ready' });
    expect(said[1]).toEqual({ kind: 'read', id: 0, position: 8, length: 4 });
    expect(said.at(-1)).toEqual({ kind: 'alive', progress: 0, waiting: true });
    take({ kind: 'bytes', id: 0, bytes: Uint8Array.of(8, 9).buffer });
    await vi.advanceTimersByTimeAsync(1);
    expect(said.at(-1)).toEqual({ kind: 'answer', id: 5, value: [2, 8, 9, 0, 0] });
    const count = said.length;
    await vi.advanceTimersByTimeAsync(1000);
    expect(said).toHaveLength(count);
  });

  it('has heartbeats in work that blocks timers, as it makes progress, ten a second', async () => {
    const { said, take } = serving((watched) => ({
      async work(steps: number) {
        for (let step = 0; step < steps; step++) {
          // A hundred steps a second, without a turn of the event loop.
          vi.setSystemTime(Date.now() + 10);
          now += 10;
          watched.progress();
        }
        return steps;
      },
    }));
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    take({ kind: 'call', id: 1, name: 'work', argument: 95 });
    await vi.advanceTimersByTimeAsync(1);
    clock.mockRestore();
    const signs = said.filter(({ kind }) => kind === 'alive');
    const steps = [10, 20, 30, 40, 50, 60, 70, 80, 90];
    expect(signs).toEqual(steps.map((progress) => ({ kind: 'alive', progress, waiting: false })));
    expect(said.at(-1)).toEqual({ kind: 'answer', id: 1, value: 95 });
  });

  it('gets the bytes that the caller lends, and no more than exist', async () => {
    const worker = new FakeWorker();
    const parser = new Parser<Calls>(worker, null);
    parser.lend(bytesReader(Uint8Array.of(1, 2, 3)));
    worker.say({ kind: 'read', id: 3, position: 2, length: 1e12 });
    await vi.advanceTimersByTimeAsync(1);
    expect(worker.posted.at(-1)).toEqual({ kind: 'bytes', id: 3, bytes: Uint8Array.of(3).buffer });
  });

  it('is refused bytes without input, and terminated with a worker that cannot work', async () => {
    const { worker, outcome } = callUnderWay();
    worker.say({ kind: 'read', id: 3, position: 0, length: 8 });
    await vi.advanceTimersByTimeAsync(1);
    const message = 'A parser worker failed (Error: the parser has no input).';
    expect(worker.posted.at(-1)).toEqual({ kind: 'unread', id: 3, refusal: { code: 'internal', message } });
    worker.say({ kind: 'unusable', refusal: { code: 'backend', message: 'No module.' } });
    expect(await outcome).toMatchObject({ code: 'backend', message: 'No module.' });
    // Later messages change nothing.
    worker.say({ kind: 'answer', id: 0, value: 1 });
    expect(worker.terminated).toBe(1);
  });

  const unusable = { kind: 'unusable', refusal: { code: 'backend', message: 'No module.' } } as const;

  it('is terminated at once if its worker cannot load', () => {
    const worker = new FakeWorker();
    new Parser<Calls>(worker, null);
    worker.say(unusable);
    expect([worker.terminated, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it.each([{ kind: 'ready' } as const, unusable])(
    'is terminated if its worker is $kind only after it was closed',
    async (message) => {
      const worker = new FakeWorker();
      const parser = new Parser<Calls>(worker, null);
      const made: NodeJS.Timeout[] = [];
      const { setTimeout: fake } = globalThis;
      // Without vi, which would restore this fake in a later file.
      const noting = (...args: Parameters<typeof fake>) => made[made.push(fake(...args)) - 1];
      Object.assign(globalThis, { setTimeout: noting });
      parser.close();
      Object.assign(globalThis, { setTimeout: fake });
      expect(made.map((timer) => timer.hasRef())).toEqual([false]);
      expect(worker.terminated).toBe(0);
      worker.say(message);
      expect([worker.terminated, vi.getTimerCount()]).toEqual([1, 0]);
      await expect(parser.call('work', 1)).rejects.toMatchObject({ code: 'aborted' });
    },
  );
});

describe('a served parser', () => {
  it('refuses an unknown function, bytes that are not available, and a failed preparation', async () => {
    const { said, take } = serving(({ input }) => ({
      first: async () => {
        const bytes = new Uint8Array(1);
        await input(9).read(0, [bytes]);
        return bytes[0];
      },
    }));
    take({ kind: 'call', id: 1, name: 'none', argument: 0 });
    take({ kind: 'call', id: 2, name: 'first', argument: 0 });
    await vi.advanceTimersByTimeAsync(1);
    const read = said.find((message) => message.kind === 'read');
    const id = read?.id ?? -1;
    take({ kind: 'unread', id, refusal: { code: 'io', message: 'Gone.' } });
    await vi.advanceTimersByTimeAsync(1);
    expect(said.filter(({ kind }) => kind === 'refused')).toEqual([
      { kind: 'refused', id: 1, refusal: refusalOf(new Error('there is no function none')) },
      { kind: 'refused', id: 2, refusal: { code: 'io', message: 'Gone.' } },
    ]);
    const failing = serving(() => {
      throw new AnyvmafError('backend', 'No part.');
    });
    await vi.advanceTimersByTimeAsync(1);
    const refusal = { code: 'backend', message: 'No part.' };
    expect(failing.said.at(-1)).toEqual({ kind: 'unusable', refusal });
  });

  it.each([
    [new MediaError('damaged', 7, 'Bad.', { file: 'a.y4m' }), { reason: 'damaged', frame: 7, file: 'a.y4m' }],
    [new AnyvmafError('usage', 'Wrong.', { role: 'reference' }), { code: 'usage', role: 'reference' }],
    [new TypeError('x'), { code: 'internal', message: 'A parser worker failed (TypeError: x).' }],
    ['y', { code: 'internal', message: 'A parser worker failed (y).' }],
  ])('%s crosses to the caller', (error, expected) => {
    const crossed = errorOf(structuredClone(refusalOf(error)));
    expect(crossed).toBeInstanceOf(error instanceof MediaError ? MediaError : AnyvmafError);
    expect(crossed).toMatchObject(expected);
  });
});
