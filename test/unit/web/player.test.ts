/**
 * @module test/unit/web/player
 * A film goes by at its own speed, whatever the machine: with each of its pictures, or with some of them, and never backwards.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Player } from '../../../web/src/frames/player.js';

const RATE = 25;
/** Milliseconds of a frame on the screen. */
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
 * Plays until it stops or the time is over.
 * @param delay milliseconds from asking for a frame until it is on show
 * @param upcoming which frame comes first
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

describe('playing', () => {
  it('shows every picture in its time where they come fast enough', () => {
    const { seen, steps } = play({ seconds: 4, last: 1000, delay: 0 });
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
    expect(seen.at(-1)).toBe(4 * RATE);
    expect(new Set(steps)).toEqual(new Set([1]));
  });

  it('keeps its speed and passes pictures over where they come slower', () => {
    const { seen, steps } = play({ seconds: 4, last: 1000, delay: 150 });
    expect(Math.abs((seen.at(-1) ?? 0) - 4 * RATE)).toBeLessThanOrEqual(5);
    expect(seen.length).toBeLessThan(30);
    expect(Math.max(...steps)).toBeLessThanOrEqual(5);
  });

  it('goes slower rather than pass over more than eight at once', () => {
    const { seen } = play({ seconds: 4, last: 1000, delay: 900 });
    for (let i = 1; i < seen.length; i++) expect((seen[i] ?? 0) - (seen[i - 1] ?? 0)).toBeLessThanOrEqual(8);
    expect(seen.at(-1)).toBeLessThan(4 * RATE);
  });

  it('takes pictures that are there rather than those that are due, and keeps its speed', () => {
    // Every fourth is there.
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

  it('stops at the last frame, and begins anew from there', () => {
    const first = play({ seconds: 9, last: 30, delay: 0 });
    expect(first.seen.at(-1)).toBe(30);
    expect(first.states).toEqual([true, false]);
    expect(first.took).toBeLessThan(1400);
    const again = play({ seconds: 1, last: 30, delay: 0, from: 30 });
    expect(again.seen.slice(0, 2)).toEqual([0, 1]);
  });
});
