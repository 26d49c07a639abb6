/**
 * @module test/node/engine/gate
 * A run that is held up at its gate: nothing is read meanwhile, and the result is that of a run without one.
 */
import { describe, expect, it } from 'vitest';
import type { ScoreOptions, ScoreRequest } from '../../../src/engine/contract/types.js';
import { scorePair } from '../../../src/engine/score.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { ALL_FEATURES, file, ownSource, SMALL, scratchFolder, y4mPair } from '../../support/clips.js';

const folder = scratchFolder();
const FRAMES = 12;
const pair = y4mPair(SMALL, FRAMES);
const options: ScoreOptions = { noPrediction: true, features: ALL_FEATURES };

/** Lets `before` asks pass, then holds everyone up until it is opened. */
function barrier(before: number) {
  let open = () => {};
  let asked = 0;
  let reached = () => {};
  const closed = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    closed,
    open,
    gate() {
      if (++asked <= before) return undefined;
      reached();
      return opened;
    },
  };
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 60));

describe('a gate', () => {
  const files = (): ScoreRequest => ({
    reference: file(folder, 'r.y4m', pair.reference),
    distorted: file(folder, 'd.y4m', pair.distorted),
  });
  const sources = (reads: { count: number }): ScoreRequest => ({
    reference: ownSource(pair.clip, 'reference', FRAMES, { onRead: () => void reads.count++ }),
    distorted: ownSource(pair.clip, 'distorted', FRAMES),
  });

  it.each([0, 2])('holds reading up and changes no value, %i threads', async (threads) => {
    const plain = await scorePair(nodePlatform, sources({ count: 0 }), { ...options, threads });
    const reads = { count: 0 };
    const { gate, closed, open } = barrier(4);
    const run = scorePair(nodePlatform, sources(reads), { ...options, threads, gate });
    await closed;
    await moment();
    const held = reads.count;
    await moment();
    expect(reads.count).toBe(held);
    expect(held).toBeLessThan(FRAMES);
    open();
    expect((await run).frames).toEqual(plain.frames);
    expect(reads.count).toBeGreaterThanOrEqual(FRAMES);
  });

  it('holds up workers that read for themselves, chunk by chunk', async () => {
    const plain = await scorePair(nodePlatform, files(), { ...options, threads: 0 });
    const { gate, closed, open } = barrier(3);
    let frames = 0;
    const run = scorePair(nodePlatform, files(), {
      ...options,
      threads: 2,
      chunkFrames: 2,
      gate,
      onFrame: () => frames++,
    });
    await closed;
    // Three chunks of two frames were let through; motion holds the last one back until its neighbour is known.
    await expect.poll(() => frames).toBeGreaterThanOrEqual(5);
    await moment();
    expect(frames).toBeLessThanOrEqual(6);
    open();
    expect((await run).frames).toEqual(plain.frames);
  });

  it.each([0, 2])('can be left by a signal, %i threads', async (threads) => {
    const stop = new AbortController();
    const { gate, closed } = barrier(2);
    const run = scorePair(nodePlatform, files(), {
      ...options,
      threads,
      chunkFrames: 1,
      gate,
      signal: stop.signal,
    });
    await closed;
    stop.abort('enough');
    await expect(run).rejects.toBe('enough');
  });

  it.each([0, 2])('that fails ends the run with what it failed with, %i threads', async (threads) => {
    let asked = 0;
    const gate = () => (++asked < 3 ? undefined : Promise.reject(new Error('closed for good')));
    const run = scorePair(nodePlatform, files(), { ...options, threads, chunkFrames: 1, gate });
    await expect(run).rejects.toThrow('closed for good');
  });

  it('must be a function', async () => {
    const gate = 'open' as unknown as () => undefined;
    await expect(scorePair(nodePlatform, files(), { ...options, gate })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
