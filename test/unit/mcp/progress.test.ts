/**
 * @module test/unit/mcp/progress
 * Progress notifications: each higher than the one before, one per percent, with frames and speed.
 */
import { expect, it } from 'vitest';
import { CallProgress, type ProgressNotice } from '../../../src/mcp/progress.js';

function listen() {
  const heard: ProgressNotice[] = [];
  const clock = { now: 0 };
  const progress = new CallProgress(
    (notice) => heard.push(notice),
    () => clock.now,
  );
  return { heard, clock, progress };
}

it('sends one notice per percent however many reports there are, each higher than the last', () => {
  const { heard, progress } = listen();
  for (let done = 0; done <= 10_000; done++) progress.report({ done, total: 10_000, fps: 100 });
  expect(heard).toHaveLength(101);
  for (const [i, { progress: value }] of heard.entries())
    expect(value).toBeGreaterThan(heard[i - 1]?.progress ?? -1);
  expect(heard.at(-1)).toEqual({
    progress: 10_000,
    total: 10_000,
    message: '100 %: 10000/10000 frames, 100.0 fps',
  });
});

it('sends every frame of a short clip, and keeps quiet about what it heard before', () => {
  const { heard, progress } = listen();
  for (const done of [1, 2, 2, 1, 3]) progress.report({ done, total: 3 });
  expect(heard.map((notice) => notice.progress)).toEqual([1, 2, 3]);
});

it('sends at intervals, without a total, while the number of frames is unknown', () => {
  const { heard, clock, progress } = listen();
  for (let done = 1; done <= 100; done++) {
    clock.now += 50;
    progress.report({ done, total: null, fps: 20 });
  }
  expect(heard).toHaveLength(10);
  expect(heard[0]).toEqual({ progress: 1, message: '1 frames, 20.0 fps' });
});

it('says that a call waits, below everything that comes later', () => {
  const { heard, progress } = listen();
  progress.wait('vmaf_score', 2, 4);
  progress.wait('vmaf_score', 1, 4);
  progress.wait('vmaf_score', 0, 4);
  progress.report({ done: 1, total: 2 });
  expect(heard.map((notice) => notice.progress)).toEqual([0, 0.5, 2 / 3, 1]);
  expect(heard[0]?.message).toBe('vmaf_score waits for its turn: 4 running, 2 calls before it');
  expect(heard[2]?.message).toContain('next in line');
});

it('is silent about numbers that are none', () => {
  const { heard, progress } = listen();
  progress.report({ done: Number.NaN, total: 10 });
  progress.report({ done: 5, total: Number.NaN, fps: Number.POSITIVE_INFINITY });
  expect(heard).toEqual([{ progress: 5, message: '5 frames' }]);
});
