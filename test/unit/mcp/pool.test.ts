/**
 * @module test/unit/mcp/pool
 * Calls take turns: never more than the limit at a time, in the order they came, cancelled ones without a trace.
 */
import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { defaultLimit, limitFrom, WorkPool } from '../../../src/mcp/pool.js';

const never = new AbortController().signal;
setMaxListeners(0, never);
const breathe = () => new Promise((resolve) => setImmediate(resolve));

/** A task that ends when told. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('the pool', () => {
  it('runs at most its limit, in the order in which calls came', async () => {
    const pool = new WorkPool(2, 8);
    const started: number[] = [];
    let most = 0;
    let running = 0;
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        pool.run({ weight: null, signal: never }, async () => {
          started.push(i);
          most = Math.max(most, ++running);
          await breathe();
          running--;
        }),
      ),
    );
    expect(started).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(most).toBe(2);
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('shares the cores: all for one call, a part for each of several, never more than wanted', async () => {
    const pool = new WorkPool(4, 8);
    const threads: number[] = [];
    const first = gate();
    const take = (weight: number | null, until?: Promise<void>) =>
      pool.run({ weight, signal: never }, async (grant) => {
        threads.push(grant.threads);
        await until;
      });
    const calls: Promise<void>[] = [];
    for (const weight of [null, null, 1]) {
      calls.push(take(weight, first.opened));
      await breathe();
    }
    expect(threads).toEqual([8, 4, 1]);
    first.open();
    await Promise.all(calls);
    await take(3);
    expect(threads.at(-1)).toBe(3);
    // More calls than cores, all at once: one thread each.
    const small = new WorkPool(8, 2);
    const grants = await Promise.all(
      Array.from({ length: 8 }, () =>
        small.run({ weight: null, signal: never }, async (grant) => {
          await breathe();
          return grant.threads;
        }),
      ),
    );
    expect(grants).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('tells who waits how many are before it', async () => {
    const pool = new WorkPool(1, 1);
    const told: number[][] = [];
    const first = gate();
    const calls = [pool.run({ weight: null, signal: never }, () => first.opened)];
    for (let i = 0; i < 2; i++) {
      const heard: number[] = [];
      told.push(heard);
      const onWait = (ahead: number) => heard.push(ahead);
      calls.push(pool.run({ weight: null, signal: never, onWait }, async () => {}));
    }
    first.open();
    await Promise.all(calls);
    expect(told).toEqual([[0], [1, 0]]);
  });

  it('lets a cancelled call out of the queue at once, and passes a failed one on', async () => {
    const pool = new WorkPool(1, 1);
    const first = gate();
    const cancel = new AbortController();
    const running = pool.run({ weight: null, signal: never }, () => first.opened);
    const cancelled = pool.run({ weight: null, signal: cancel.signal }, async () => 'ran');
    const after = pool.run({ weight: null, signal: never }, async () => 'after');
    cancel.abort(new Error('gone'));
    await expect(cancelled).rejects.toThrow('gone');
    expect(pool.load).toEqual({ running: 1, waiting: 1 });
    first.open();
    await running;
    expect(await after).toBe('after');
    const failed = pool.run({ weight: null, signal: never }, () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('refuses the call after the thousandth that waits', async () => {
    const pool = new WorkPool(1, 1);
    const first = gate();
    const waiting = Array.from({ length: 1001 }, () =>
      pool.run({ weight: 1, signal: never }, () => first.opened),
    );
    await expect(pool.run({ weight: 1, signal: never }, async () => {})).rejects.toThrow(
      '1000 calls waiting',
    );
    first.open();
    await Promise.all(waiting);
  });
});

describe('the limit', () => {
  it('is one per core from 2 to 8, or what the variable says', () => {
    expect([1, 2, 4, 64].map(defaultLimit)).toEqual([2, 2, 4, 8]);
    expect(limitFrom(undefined, 4)).toBe(4);
    expect(limitFrom('', 4)).toBe(4);
    expect(limitFrom('12', 4)).toBe(12);
    for (const value of ['0', '-1', 'many', '1.5', '1e9'])
      expect(() => limitFrom(value, 4)).toThrow(`VMAF_MCP_MAX_CONCURRENT is "${value}"`);
  });
});
