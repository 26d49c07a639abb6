/**
 * @module test/unit/web/frames-store
 * The viewer's pictures: the wanted frame first, its neighbours before they are asked for, nothing that is of no use
 * any more, and never more bytes than allowed.
 */
import { describe, expect, it } from 'vitest';
import { ByteCache } from '../../../web/src/frames/byte-cache.js';
import type { ShownPair } from '../../../web/src/frames/draw.js';
import type { FramesCall, PairSource } from '../../../web/src/frames/serve.js';
import { FrameStore } from '../../../web/src/frames/store.js';

const SIDE = 100;
/** Two pictures of four bytes a sample. */
const BYTES = 2 * 4 * SIDE * SIDE;

const file = {} as File;
const source = (key: string, total = 1000): PairSource => ({
  key,
  reference: file,
  distorted: file,
  options: {},
  total,
});

interface Asked extends FramesCall {
  readonly signal: AbortSignal;
  /** Gives pictures, in the order in which the engine would. */
  give(...frames: number[]): void;
  take(pair: ShownPair): void;
  end(error?: Error): Promise<void>;
  /** Gives all that was asked for, the wanted frame first, and ends. */
  all(): Promise<void>;
}

/** A store whose engine is the test. */
function storeOf(budget = 100 * BYTES) {
  const asked: Asked[] = [];
  const open = new Set<string>();
  const ready: number[] = [];
  const failed: unknown[] = [];
  const picture = (name: string): ImageBitmap => {
    open.add(name);
    const bitmap: ImageBitmap = { width: SIDE, height: SIDE, close: () => open.delete(name) };
    return bitmap;
  };
  let made = 0;
  const pair = (index: number): ShownPair => {
    const facts = {
      frame: index,
      time: null,
      bitDepth: 8,
      matrix: 'bt709',
      range: 'limited',
      guessed: false,
    } as const;
    made++;
    return {
      index,
      sampleAspect: 1,
      width: SIDE,
      height: SIDE,
      reference: picture(`reference ${index} ${made}`),
      distorted: picture(`distorted ${index} ${made}`),
      facts: { reference: facts, distorted: facts },
    };
  };
  const store = new FrameStore(
    (call, { signal, onEvent }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const give = (...frames: number[]) => {
          for (const frame of frames) onEvent(pair(frame));
        };
        const end = (error?: Error) => {
          if (error) reject(error);
          else resolve();
          return new Promise<void>((done) => setTimeout(done, 0));
        };
        const all = () => {
          const { first, from, to } = call;
          give(first, ...numbers(from, to).filter((frame) => frame !== first));
          return end();
        };
        asked.push({ ...call, signal, take: onEvent, give, end, all });
      }),
    { ready: (shown) => ready.push(shown.index), failed: (error) => failed.push(error) },
    budget,
  );
  const last = (): Asked => {
    const call = asked.at(-1);
    if (!call) throw new Error('nothing was asked');
    return call;
  };
  /** Gives a picture as it is, or rough. */
  const give = (call: Asked, frame: number, rough: boolean) => call.take({ ...pair(frame), rough });
  return { store, asked, last, open, ready, failed, give };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('pictures of frames', () => {
  it('come with their neighbours, the wanted one first', () => {
    const { store, last, ready } = storeOf();
    store.want(source('a'), 50);
    const { first, from, to } = last();
    expect({ first, from, to }).toEqual({ first: 50, from: 48, to: 53 });
    expect(ready).toEqual([]);
    last().give(50);
    expect(ready).toEqual([50]);
  });

  it('are fetched ahead while one is looked at, so that a step finds the next one there', async () => {
    const { store, asked, last, ready } = storeOf();
    store.want(source('a'), 50);
    await last().all();
    expect([last().from, last().to]).toEqual([54, 60]);
    await last().all();
    const calls = asked.length;
    for (let frame = 51; frame <= 56; frame++) store.want(source('a'), frame);
    expect(ready).toEqual([50, 51, 52, 53, 54, 55, 56]);
    // More are fetched when less than half of the way ahead is left.
    expect(asked.length).toBe(calls + 1);
    expect([last().first, last().to]).toEqual([61, 66]);
  });

  it('are fetched backwards for who goes backwards', async () => {
    const { store, last } = storeOf();
    store.want(source('a'), 50);
    await last().all();
    await last().all();
    store.want(source('a'), 49);
    expect([last().from, last().to]).toEqual([39, 47]);
  });

  it('end where the video ends', async () => {
    const { store, asked, last } = storeOf();
    store.want(source('a', 3), 1);
    expect([last().from, last().to]).toEqual([0, 2]);
    await last().all();
    expect(asked).toHaveLength(1);
  });

  it('are not waited for any more when others are wanted', () => {
    const { store, asked, last, open, ready } = storeOf();
    store.want(source('a'), 50);
    store.want(source('a'), 500);
    const [stale] = asked;
    expect(stale?.signal.aborted).toBe(true);
    expect(last().first).toBe(500);
    stale?.give(50);
    expect(open.size).toBe(0);
    last().give(500);
    expect(ready).toEqual([500]);
  });

  it('do not arrive while none is wanted', () => {
    const { store, last, ready, open } = storeOf();
    store.want(source('a'), 50);
    const call = last();
    store.rest();
    call.give(50);
    expect([ready, [...open]]).toEqual([[], []]);
    store.want(source('a'), 50);
    last().give(50);
    expect(ready).toEqual([50]);
  });

  it('keep coming when what is under way leads to the frame', () => {
    const { store, asked, last, ready } = storeOf();
    store.want(source('a'), 50);
    store.want(source('a'), 52);
    expect(asked).toHaveLength(1);
    last().give(50, 48, 49, 51, 52);
    expect(ready).toEqual([52]);
  });

  it('of two encodes are not mistaken for each other', () => {
    const { store, last, ready } = storeOf();
    store.want(source('a'), 50);
    last().give(50);
    store.want(source('b'), 50);
    expect(last().source.key).toBe('b');
    expect(ready).toEqual([50]);
    last().give(50);
    expect(ready).toEqual([50, 50]);
    store.want(source('a'), 50);
    expect(ready).toEqual([50, 50, 50]);
  });

  for (const room of [2, 3, 5, 12]) {
    it(`are never more than allowed, and fetching comes to rest: room for ${room}`, async () => {
      const { store, asked, last, open } = storeOf(room * BYTES);
      store.want(source('a'), 50);
      for (let calls = 0; calls !== asked.length; ) {
        calls = asked.length;
        expect(calls).toBeLessThan(10);
        const { first, from, to } = last();
        for (const frame of [first, ...numbers(from, to).filter((frame) => frame !== first)]) {
          last().give(frame);
          expect(store.bytes).toBeLessThanOrEqual(room * BYTES);
          expect(open.size).toBe((2 * store.bytes) / BYTES);
        }
        await last().end();
      }
      const before = asked.length;
      store.want(source('a'), 51);
      expect(open.size).toBeGreaterThan(0);
      // The next one was there, whatever the room.
      expect(asked.slice(before).every(({ first }) => first !== 51)).toBe(true);
      store.close();
      expect(open.size).toBe(0);
      expect(store.bytes).toBe(0);
    });
  }

  it('that cannot be had are said to be so, but only those that are wanted', async () => {
    const { store, last, failed } = storeOf();
    store.want(source('a'), 50);
    last().give(50);
    await last().end(new Error('a neighbour is damaged'));
    expect(failed).toEqual([]);
    store.want(source('a'), 51);
    await last().end(new Error('it is damaged'));
    expect(failed).toEqual([new Error('it is damaged')]);
  });
});

describe('pictures of a film', () => {
  /** What was asked for last: each frame of it. */
  const frames = ({ from, to, step = 1 }: FramesCall) =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);

  it('come at the steps at which they are shown, a few ahead', async () => {
    const { store, asked, last, ready } = storeOf();
    store.want(source('a'), 10, 4);
    expect(frames(last())).toEqual([10, 14, 18, 22]);
    last().give(10, 14, 18, 22);
    await last().end();
    expect(ready).toEqual([10]);
    const calls = asked.length;
    store.want(source('a'), 14, 4);
    expect(ready).toEqual([10, 14]);
    expect(asked.slice(calls).map(frames)).toEqual([[26, 30, 34, 38]]);
  });

  it('never lie before what was asked for, at whatever steps they are shown', async () => {
    const { store, asked, last } = storeOf();
    let reached = -1;
    let at = 0;
    for (const step of [1, 5, 8, 2, 1, 7, 3, 3, 1]) {
      const next = store.upcoming(source('a'), at + step);
      expect(next).toBeGreaterThanOrEqual(at + step);
      store.want(source('a'), next, step);
      at = next;
      const call = last();
      if (call === asked.at(-1) && call.from > reached) {
        expect(call.from).toBeGreaterThan(reached);
        reached = call.to;
        last().give(...frames(call));
        await last().end();
      }
    }
    const starts = asked.map(({ from }) => from);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });

  it('are those that come first: there, under way, or the one that is due', () => {
    const { store, last } = storeOf();
    expect(store.upcoming(source('a'), 7)).toBe(7);
    store.want(source('a'), 10, 4);
    expect(store.upcoming(source('a'), 11)).toBe(14);
    expect(store.upcoming(source('a'), 23)).toBe(23);
    expect(store.upcoming(source('b'), 11)).toBe(11);
    last().give(10, 14, 18);
    expect(store.upcoming(source('a'), 12)).toBe(14);
    expect(store.upcoming(source('a'), 19)).toBe(22);
  });

  it('may be rough, and are replaced when it stops', async () => {
    const { store, asked, last, ready, give } = storeOf();
    store.want(source('a'), 10, 1);
    give(last(), 10, true);
    expect(ready).toEqual([10]);
    store.want(source('a'), 10);
    expect(asked.at(-2)?.signal.aborted).toBe(true);
    expect(ready).toEqual([10]);
    expect(last().step).toBeUndefined();
    // The decoder has passed what lies before it.
    expect([last().from, last().first]).toEqual([10, 10]);
    last().give(10);
    expect(ready).toEqual([10, 10]);
    // An exact one does for a film.
    await last().end();
    store.want(source('a'), 10, 1);
    expect(ready).toEqual([10, 10, 10]);
  });

  it('end with the film', () => {
    const { store, last } = storeOf();
    store.want(source('a', 20), 15, 3);
    expect(frames(last())).toEqual([15, 18]);
  });
});

describe('a jump', () => {
  it('does not wait for the frames before it, which who steps back gets', async () => {
    const { store, last } = storeOf();
    store.want(source('a'), 500);
    await last().all();
    store.want(source('a'), 90);
    expect([last().from, last().first, last().to]).toEqual([90, 90, 93]);
    await last().all();
    store.want(source('a'), 89);
    expect([last().from, last().first]).toEqual([79, 89]);
  });
});

describe('a cache by bytes', () => {
  it('drops what was not used for longest', () => {
    const dropped: string[] = [];
    const cache = new ByteCache<string, string>(30, 1, (value) => dropped.push(value));
    for (const name of ['a', 'b', 'c']) cache.set(name, name, 10);
    cache.get('a');
    cache.set('d', 'd', 10);
    expect(dropped).toEqual(['b']);
    expect(cache.bytes).toBe(30);
    cache.set('e', 'e', 25);
    expect(dropped).toEqual(['b', 'c', 'a', 'd']);
  });

  it('keeps the least number however large, and frees what is set again', () => {
    const dropped: number[] = [];
    const cache = new ByteCache<string, number>(10, 2, (value) => dropped.push(value));
    cache.set('a', 1, 50);
    cache.set('b', 2, 50);
    expect(dropped).toEqual([]);
    cache.set('a', 3, 50);
    expect(dropped).toEqual([1]);
    cache.clear();
    expect(dropped).toEqual([1, 2, 3]);
    expect(cache.bytes).toBe(0);
  });
});
