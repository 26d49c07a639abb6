/**
 * @module test/unit/web/section
 * A part of the result follows frames that come: where it is seen at once, elsewhere when it gets into sight, and all of
 * it once no more come.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { following, type Section } from '../../../web/src/results/section.js';

/** Stands for the browser's, which tells what is on the screen. */
class Sight {
  static last: Sight | undefined;
  watched: unknown;
  constructor(readonly told: (entries: { isIntersecting: boolean }[]) => void) {
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

/** A section that is followed, what was done to it, and whether frames still come. */
function followed({ content = true, growing = true }: { content?: boolean; growing?: boolean } = {}) {
  const state = { content, growing };
  // All that a follower knows of its element.
  const element = { hidden: !content } as HTMLElement;
  const section = {
    element,
    update: vi.fn(),
    hasContent: () => state.content,
    complete: vi.fn(),
    close: vi.fn(),
  } satisfies Section;
  const follower = following(section, 1000, () => state.growing);
  const sight = (seen: boolean) => Sight.last?.told([{ isIntersecting: seen }]);
  /** Lets all happen that is due within a few updates. */
  const pass = () => vi.advanceTimersByTime(5000);
  return { state, element, section, follower, sight, pass };
}

describe('while frames come', () => {
  it('what is in sight is drawn as they come, no more often than it may be', () => {
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

  it('what is out of sight is not drawn, and is once it gets there', () => {
    const { section, follower, sight, pass } = followed();
    sight(false);
    follower.update();
    pass();
    expect(section.update).not.toHaveBeenCalled();
    sight(true);
    pass();
    expect(section.update).toHaveBeenCalledOnce();
  });

  it('what comes into sight is not drawn again when nothing came meanwhile', () => {
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

  it('what had nothing to show and now has takes its place, drawn once, so that it can come into sight', () => {
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

it('all is drawn once no more frames come, also what was never seen', () => {
  const { state, section, follower, sight, pass } = followed();
  sight(false);
  pass();
  state.growing = false;
  follower.update();
  pass();
  expect(section.update).toHaveBeenCalledOnce();
});

it('what does not grow is drawn wherever it is', () => {
  const { section, sight, pass } = followed({ growing: false });
  sight(false);
  pass();
  expect(section.update).toHaveBeenCalledOnce();
});

it('is complete at once where all of it is asked for, and not drawn for that again', () => {
  const { section, follower, sight, pass } = followed();
  sight(false);
  pass();
  follower.complete();
  expect(section.update).toHaveBeenCalledOnce();
  expect(section.complete).toHaveBeenCalledOnce();
  const [[drawn = 0] = [], [completed = 0] = []] = [section.update, section.complete].map(
    ({ mock }) => mock.invocationCallOrder,
  );
  expect(drawn).toBeLessThan(completed);
  section.update.mockClear();
  sight(true);
  pass();
  expect(section.update).not.toHaveBeenCalled();
});

it('what is closed is drawn no more and watches nothing', () => {
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
