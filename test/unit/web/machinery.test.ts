/**
 * @module test/unit/web/machinery
 * The page's machinery: scheduling, result sections that follow incoming frames, playback, and files sent to workers.
 */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Cell } from '../../../web/src/dom.js';
import { FileNumbers, KnownFiles } from '../../../web/src/engine/calls.js';
import { Player } from '../../../web/src/frames/viewer/transport.js';
import { following, type Section } from '../../../web/src/results/view.js';
import { BEAT, inTurn, newsAfter, oneByOne, spaced } from '../../../web/src/schedule.js';

describe('scheduling', () => {
  /** Milliseconds since a time, rounded: fake timers of 0 ms take 1 ms. */
  const since = (start: number) => (time: number) => Math.round((time - start) / 10) * 10;

  beforeEach(() => {
    // Start halfway between two beats.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.advanceTimersByTime(10 * BEAT - (performance.now() % BEAT) + BEAT / 2);
  });
  afterEach(() => vi.useRealTimers());

  describe('queued work', () => {
    it('runs soon and in order, including work queued meanwhile', () => {
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

    it('shares a task only while the task is short', () => {
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

    it('continues after a piece that throws', () => {
      const done: string[] = [];
      inTurn(() => {
        throw new Error('broken');
      });
      inTurn(() => done.push('next'));
      expect(() => vi.runAllTimers()).toThrow('broken');
      vi.runAllTimers();
      expect(done).toEqual(['next']);
    });

    it('is spread over time, until the rest is finished at once or stopped', () => {
      const start = performance.now();
      const run = () => {
        const times: number[] = [];
        const pieces = Array.from({ length: 4 }, () => () => times.push(since(start)(performance.now())));
        return { times, sequence: oneByOne(pieces, 100) };
      };
      const [whole, finished, stopped] = [run(), run(), run()];
      vi.advanceTimersByTime(250);
      finished.sequence.finish();
      stopped.sequence.stop();
      vi.runAllTimers();
      expect(whole.times).toEqual([100, 200, 300, 400]);
      expect(finished.times).toEqual([100, 200, 250, 250]);
      expect(stopped.times).toEqual([100, 200]);
    });
  });

  describe('spaced calls', () => {
    it('are merged while one is pending, and the next one waits', () => {
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

    it('fall on the same beat during a run', () => {
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

    it('run at once when the run has ended, and are spaced as usual after that', () => {
      let growing = true;
      const times: number[] = [];
      const call = spaced(
        () => times.push(performance.now()),
        BEAT,
        () => growing,
      );
      const start = performance.now();
      call();
      vi.advanceTimersByTime(BEAT);
      call();
      vi.advanceTimersByTime(50);
      growing = false;
      call();
      vi.advanceTimersByTime(50);
      call();
      vi.runAllTimers();
      expect(times.map(since(start))).toEqual([BEAT / 2, BEAT + 50, 2 * BEAT + 50]);
    });

    it('do not run once stopped, not even a pending one', () => {
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
    it('arrive on every beat at first, and on every second beat of a long run', () => {
      expect([0, 14_000, 16_000, 3_600_000].map(newsAfter)).toEqual([BEAT, BEAT, 2 * BEAT, 2 * BEAT]);
    });
  });
});

describe('a section of the results', () => {
  /** Replaces the browser's IntersectionObserver. */
  class Sight {
    static last: Sight | undefined;
    watched: unknown;
    constructor(readonly notify: (entries: { isIntersecting: boolean }[]) => void) {
      Sight.last = this;
    }
    observe(element: unknown): void {
      this.watched = element;
    }
    disconnect(): void {
      this.watched = undefined;
    }
  }

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('IntersectionObserver', Sight);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** A followed section with spies; `state` says whether frames still arrive. */
  function followed({ content = true, growing = true }: { content?: boolean; growing?: boolean } = {}) {
    const state = { content, growing };
    const element = { hidden: !content } as HTMLElement;
    const section = {
      element,
      update: vi.fn(),
      hasContent: () => state.content,
      complete: vi.fn(),
      close: vi.fn(),
    } satisfies Section;
    const follower = following(section, 1000, () => state.growing);
    const sight = (seen: boolean) => Sight.last?.notify([{ isIntersecting: seen }]);
    /** Runs everything that is due within a few updates. */
    const pass = () => vi.advanceTimersByTime(5000);
    return { state, element, section, follower, sight, pass };
  }

  describe('while frames arrive', () => {
    it('is updated in view, but no more often than allowed', () => {
      const { section, follower, sight, pass } = followed();
      sight(true);
      pass();
      section.update.mockClear();
      for (let i = 0; i < 20; i++) {
        follower.update();
        vi.advanceTimersByTime(100);
      }
      pass();
      expect(section.update.mock.calls.length).toBeGreaterThanOrEqual(2);
      expect(section.update.mock.calls.length).toBeLessThanOrEqual(3);
    });

    it('is not updated out of view, but once it comes into view', () => {
      const { section, follower, sight, pass } = followed();
      sight(false);
      follower.update();
      pass();
      expect(section.update).not.toHaveBeenCalled();
      sight(true);
      pass();
      expect(section.update).toHaveBeenCalledOnce();
    });

    it('is not updated on coming into view if no frames arrived meanwhile', () => {
      const { section, sight, pass } = followed();
      sight(true);
      pass();
      section.update.mockClear();
      sight(false);
      pass();
      sight(true);
      pass();
      expect(section.update).not.toHaveBeenCalled();
    });

    it('is updated once when it gets content, so that it can come into view', () => {
      const { state, element, section, follower, sight, pass } = followed({ content: false });
      sight(false);
      pass();
      expect(element.hidden).toBe(true);
      state.content = true;
      follower.update();
      pass();
      expect(element.hidden).toBe(false);
      expect(section.update).toHaveBeenCalledOnce();
      follower.update();
      pass();
      expect(section.update).toHaveBeenCalledOnce();
    });
  });

  it('is updated after the last frame, even if it was never in view', () => {
    const { state, section, follower, sight, pass } = followed();
    sight(false);
    pass();
    state.growing = false;
    follower.update();
    pass();
    expect(section.update).toHaveBeenCalledOnce();
  });

  it('that does not grow is updated wherever it is', () => {
    const { section, sight, pass } = followed({ growing: false });
    sight(false);
    pass();
    expect(section.update).toHaveBeenCalledOnce();
  });

  it('is updated and completed at once on request, and not updated again', () => {
    const { section, follower, sight, pass } = followed();
    sight(false);
    pass();
    follower.complete();
    expect(section.update).toHaveBeenCalledOnce();
    expect(section.complete).toHaveBeenCalledOnce();
    const [updated = 0] = section.update.mock.invocationCallOrder;
    expect(updated).toBeLessThan(section.complete.mock.invocationCallOrder[0] ?? 0);
    section.update.mockClear();
    sight(true);
    pass();
    expect(section.update).not.toHaveBeenCalled();
  });

  it('is neither updated nor observed once closed', () => {
    const { section, follower, sight, pass } = followed();
    sight(true);
    follower.update();
    follower.close();
    pass();
    follower.update();
    sight(false);
    sight(true);
    pass();
    expect(section.update).not.toHaveBeenCalled();
    expect(section.close).toHaveBeenCalledOnce();
    expect(Sight.last?.watched).toBeUndefined();
  });
});

describe('playback', () => {
  const RATE = 25;
  /** Milliseconds between repaints. */
  const PAINT = 1000 / 60;

  let clock = 0;
  let waiting: ((time: number) => void) | undefined;

  beforeEach(() => {
    clock = 0;
    waiting = undefined;
    vi.stubGlobal('requestAnimationFrame', (callback: (time: number) => void) => {
      waiting = callback;
      return 1;
    });
    vi.stubGlobal('cancelAnimationFrame', () => {
      waiting = undefined;
    });
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
  });

  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  /**
   * Plays until the player stops or the time is over.
   * @param delay milliseconds from requesting a frame until it is on show
   * @param upcoming the first available frame from this one on
   */
  function play(options: {
    readonly seconds: number;
    readonly last: number;
    readonly delay: number;
    readonly from?: number;
    readonly upcoming?: (frame: number) => number;
  }) {
    const { seconds, last, delay, from = 0, upcoming = (frame: number) => frame } = options;
    const begun = clock;
    let frame = from;
    let shownAt = 0;
    const seen: number[] = [];
    const steps: number[] = [];
    const states: boolean[] = [];
    const player = new Player(
      () => ({ rate: RATE, frame, last, shown: clock >= shownAt, upcoming }),
      (next, step) => {
        frame = next;
        shownAt = clock + delay;
        seen.push(next);
        steps.push(step);
      },
      (playing) => states.push(playing),
    );
    player.play();
    while (player.playing && clock - begun < 1000 * seconds) {
      clock += PAINT;
      waiting?.(clock);
    }
    return { seen, steps, states, took: clock - begun };
  }

  it('shows every frame if frames load fast enough', () => {
    const { seen, steps } = play({ seconds: 4, last: 1000, delay: 0 });
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
    expect(seen.at(-1)).toBe(4 * RATE);
    expect(new Set(steps)).toEqual(new Set([1]));
  });

  it('skips frames if they load slowly', () => {
    const { seen, steps } = play({ seconds: 4, last: 1000, delay: 150 });
    expect(Math.abs((seen.at(-1) ?? 0) - 4 * RATE)).toBeLessThanOrEqual(5);
    expect(seen.length).toBeLessThan(30);
    expect(Math.max(...steps)).toBeLessThanOrEqual(5);
  });

  it('slows down rather than skip more than eight at once', () => {
    const { seen } = play({ seconds: 4, last: 1000, delay: 900 });
    for (let i = 1; i < seen.length; i++) expect((seen[i] ?? 0) - (seen[i - 1] ?? 0)).toBeLessThanOrEqual(8);
    expect(seen.at(-1)).toBeLessThan(4 * RATE);
  });

  it('prefers available frames, here every fourth, to the frame that is due', () => {
    const { seen } = play({
      seconds: 4,
      last: 1000,
      delay: 0,
      upcoming: (frame) => 4 * Math.ceil(frame / 4),
    });
    expect(seen.every((frame) => frame % 4 === 0)).toBe(true);
    expect(seen.every((frame, i) => i === 0 || frame > (seen[i - 1] ?? 0))).toBe(true);
    expect(Math.abs((seen.at(-1) ?? 0) - 4 * RATE)).toBeLessThanOrEqual(4);
  });

  it('stops at the last frame, and restarts from there', () => {
    const first = play({ seconds: 9, last: 30, delay: 0 });
    expect(first.seen.at(-1)).toBe(30);
    expect(first.states).toEqual([true, false]);
    expect(first.took).toBeLessThan(1400);
    const again = play({ seconds: 1, last: 30, delay: 0, from: 30 });
    expect(again.seen.slice(0, 2)).toEqual([0, 1]);
  });
});

const file = (name: string) => new File(['x'], name, { lastModified: 1 });

/** Copies a message as structured cloning does. */
function arrived(value: unknown): unknown {
  if (value instanceof File) return new File([value], value.name, { lastModified: value.lastModified });
  if (Array.isArray(value)) return value.map(arrived);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, arrived(inner)]));
}

describe('files sent to a worker', () => {
  const sent = () => {
    const [page, worker] = [new FileNumbers(), new KnownFiles()];
    return <T>(argument: T): T => {
      const copy = arrived(argument);
      worker.restore(copy, page.of(argument));
      return copy as T;
    };
  };

  it('keep their identity, wherever they are in the argument', () => {
    const send = sent();
    const [a, b] = [file('a.mp4'), file('b.mp4')];
    const first = send({ reference: a, distorted: [b, a], options: { threads: 2 } });
    expect(first.reference).not.toBe(a);
    expect(first.distorted).toEqual([expect.any(File), first.reference]);
    expect(first.options).toEqual({ threads: 2 });
    const second = send({ source: { key: 'k', reference: a, distorted: b } });
    expect(second.source.reference).toBe(first.reference);
    expect(second.source.distorted).toBe(first.distorted[0]);
    expect(send({ files: { model: b } }).files.model).toBe(first.distorted[0]);
  });

  it('stay distinct with equal names, sizes and times', () => {
    const send = sent();
    const [a, b] = [file('same.mp4'), file('same.mp4')];
    const { reference, distorted } = send({ reference: a, distorted: b });
    expect(reference).not.toBe(distorted);
    const swapped = send({ reference: b, distorted: a });
    expect([swapped.reference, swapped.distorted]).toEqual([distorted, reference]);
    expect(swapped.reference).toBe(distorted);
  });

  it('may be absent, and other values are left alone', () => {
    const send = sent();
    for (const argument of [
      undefined,
      null,
      3,
      'text',
      { reference: null },
      [1, 2],
      { bytes: new Uint8Array(9) },
    ])
      expect(send(argument)).toEqual(argument);
  });

  it('are remembered by the hundreds, the most recent ones longest', () => {
    const send = sent();
    const kept = file('kept.mp4');
    const first = send({ file: kept }).file;
    for (let i = 0; i < 400; i++) {
      send({ file: file(`${i}.mp4`) });
      if (i % 100 === 0) expect(send({ file: kept }).file).toBe(first);
    }
    const old = file('old.mp4');
    const before = send({ file: old }).file;
    for (let i = 0; i < 400; i++) send({ file: file(`${i}.mp4`) });
    const after = send({ file: old }).file;
    expect(after).not.toBe(before);
    expect(after.name).toBe('old.mp4');
  });
});

it('a cell tells nobody a value that a watcher has replaced', () => {
  const cell = new Cell(0);
  const seen: number[] = [];
  cell.watch((value) => {
    if (value === 1) cell.value = 2;
  });
  cell.watch((value) => seen.push(value));
  cell.value = 1;
  expect(seen).toEqual([0, 2]);
});
