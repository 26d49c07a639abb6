/**
 * @module test/unit/web/schedule
 * When the page does its work: pieces in tasks, calls that are spaced, and the beat that what grows is drawn on.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BEAT, inTurn, newsAfter, spaced } from '../../../web/src/schedule.js';

/** Milliseconds since a time; a timer of none takes one here. */
const since = (start: number) => (time: number) => Math.round((time - start) / 10) * 10;

beforeEach(() => {
  // Half a beat after one.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(10 * BEAT - (performance.now() % BEAT) + BEAT / 2);
});
afterEach(() => vi.useRealTimers());

describe('pieces of work', () => {
  it('are done soon and in order, also those that a piece adds', () => {
    const done: string[] = [];
    inTurn(() => {
      done.push('a');
      inTurn(() => done.push('c'));
    });
    inTurn(() => done.push('b'));
    expect(done).toEqual([]);
    vi.runAllTimers();
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('share a task only while it is short', () => {
    const tasks: number[] = [];
    let task = 0;
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const work = () => {
      tasks.push(task);
      now += 10;
    };
    for (let i = 0; i < 3; i++) inTurn(work);
    for (; vi.getTimerCount() > 0; task++) vi.advanceTimersToNextTimer();
    clock.mockRestore();
    expect(tasks).toEqual([0, 1, 2]);
  });

  it('go on after one that throws', () => {
    const done: string[] = [];
    inTurn(() => {
      throw new Error('broken');
    });
    inTurn(() => done.push('next'));
    expect(() => vi.runAllTimers()).toThrow('broken');
    vi.runAllTimers();
    expect(done).toEqual(['next']);
  });
});

describe('calls that are spaced', () => {
  it('are one however often they are asked for, and the next waits', () => {
    const times: number[] = [];
    const call = spaced(() => times.push(performance.now()), 100);
    const start = performance.now();
    call();
    call();
    vi.advanceTimersByTime(1);
    call();
    vi.runAllTimers();
    expect(times.map(since(start))).toEqual([0, 100]);
  });

  it('fall on the same beat when they follow what grows', () => {
    const beats: number[] = [];
    const note = () => beats.push(performance.now());
    const calls = [spaced(note, BEAT, () => true), spaced(note, BEAT, () => true)];
    const start = performance.now();
    calls[0]?.();
    vi.advanceTimersByTime(50);
    calls[1]?.();
    vi.advanceTimersByTime(BEAT);
    for (const call of calls) call();
    vi.runAllTimers();
    expect(beats.map(since(start))).toEqual([BEAT / 2, BEAT / 2, (3 * BEAT) / 2, (3 * BEAT) / 2]);
  });

  it('do not come any more once they are stopped, waiting ones neither', () => {
    const work = vi.fn();
    const call = spaced(work, 0);
    call();
    call.stop();
    call();
    vi.runAllTimers();
    expect(work).not.toHaveBeenCalled();
  });
});

describe('news of a run', () => {
  it('come on every beat at first, and on every other when it takes long', () => {
    expect([0, 14_000, 16_000, 3_600_000].map(newsAfter)).toEqual([BEAT, BEAT, 2 * BEAT, 2 * BEAT]);
  });
});
