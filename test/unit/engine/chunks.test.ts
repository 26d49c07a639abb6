import { describe, expect, it } from 'vitest';
import type { ExtractionPlan } from '../../../src/engine/backends/types.js';
import { chooseThreads, cutChunks, usefulThreads } from '../../../src/engine/plan/chunks.js';
import { planOf } from '../../support/finish.js';
import { seeded } from '../../support/random.js';

/** What vmaf_v0.6.1 measures. */
function plan(width: number, height: number): ExtractionPlan {
  return planOf(['vif', 'adm', 'motion'], { width, height, bitDepth: 8, chroma: '420' }).extraction;
}

describe('chunks', () => {
  it('follow each other without gap up to the last pair', () => {
    const random = seeded(20261);
    for (let round = 0; round < 100; round++) {
      const total = random.int(0, 300);
      const workers = random.int(1, 20);
      const fixed = random.int(0, 1) ? random.int(1, 40) : undefined;
      const where = `seed ${random.seed}: ${total} pairs, ${workers} workers, size ${fixed}`;
      let next = 0;
      for (const { first, count } of cutChunks(total, workers, fixed)) {
        expect(first, where).toBe(next);
        expect(count, where).toBeGreaterThan(0);
        if (fixed) expect(count, where).toBeLessThanOrEqual(fixed);
        next += count;
      }
      expect(next, where).toBe(total);
    }
  });

  it('leave no worker idle for more than a frame at the end', () => {
    // Equal frames: hand the chunks to whoever is free first.
    for (const [total, workers] of [
      [48, 2],
      [100, 3],
      [500, 8],
    ] as const) {
      const ends = new Array<number>(workers).fill(0);
      for (const { count } of cutChunks(total, workers)) {
        const next = ends.indexOf(Math.min(...ends));
        ends[next] = (ends[next] ?? 0) + count;
      }
      expect(Math.max(...ends) - Math.min(...ends), `${total} on ${workers}`).toBeLessThanOrEqual(1);
    }
  });

  it('go on while the total is unknown', () => {
    const chunks = cutChunks(null, 2, 3);
    for (let i = 0; i < 1000; i++) expect(chunks.next().value).toEqual({ first: 3 * i, count: 3 });
  });
});

describe('threads', () => {
  it('are none for what is over before one has started', () => {
    expect(chooseThreads(8, plan(576, 324), 2)).toBe(0);
    expect(chooseThreads(8, plan(1920, 1080), 1)).toBe(0);
  });

  it('are all cores for a clip, and for a stream of unknown length', () => {
    expect(chooseThreads(8, plan(1920, 1080), 48)).toBe(8);
    expect(chooseThreads(8, plan(1920, 1080), null)).toBe(8);
  });

  it('are few for small frames of unknown length: 500 of them at 25.5 ns a sample, 60 ms a worker', () => {
    expect(chooseThreads(8, plan(160, 90), null)).toBe(3);
    expect(chooseThreads(64, plan(64, 64), null)).toBe(0);
  });

  it('asked for are only as many as get a chunk', () => {
    expect(usefulThreads(64, 3)).toBe(3);
    expect(usefulThreads(64, 100, 8)).toBe(13);
    expect(usefulThreads(2, 100, 8)).toBe(2);
    expect(usefulThreads(64, 0)).toBe(1);
    expect(usefulThreads(64, null, 8)).toBe(64);
    const random = seeded(20262);
    for (let round = 0; round < 200; round++) {
      const [asked, total] = [random.int(1, 64), random.int(1, 300)];
      const workers = usefulThreads(asked, total);
      const where = `seed ${random.seed}: ${total} pairs, ${asked} asked for`;
      expect([...cutChunks(total, workers)].length, where).toBeGreaterThanOrEqual(workers);
    }
  });

  it('are no more than frames or cores', () => {
    expect(chooseThreads(64, plan(3840, 2160), 3)).toBe(3);
    expect(chooseThreads(1, plan(1920, 1080), 100)).toBe(1);
  });
});
