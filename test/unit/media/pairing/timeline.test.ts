/** Pairing by presentation time (src/media/pairing/timeline.ts). */
import { describe, expect, it } from 'vitest';
import {
  framePartners,
  frameRatio,
  isConstantRate,
  pairTimes,
  ratesDiffer,
  type TimesToPair,
} from '../../../../src/media/pairing/timeline.js';

const cfr = (frames: number, rate: number) => Float64Array.from({ length: frames }, (_, n) => n / rate);
const without = (times: Float64Array, ...frames: number[]) => times.filter((_, n) => !frames.includes(n));
const rounded = (times: Float64Array) => times.map((time) => Math.round(time * 1000) / 1000);

function pair(reference: Float64Array, distorted: Float64Array, more: Partial<TimesToPair> = {}) {
  return pairTimes({
    reference,
    distorted,
    origin: { reference: 0, distorted: 0 },
    start: 0,
    end: reference.length,
    ...more,
  });
}
const upTo = (count: number, first = 0) => Array.from({ length: count }, (_, n) => first + n);

describe('pairing by time', () => {
  it.each([
    ['equal times', cfr(100, 25), cfr(100, 25)],
    ['times rounded to milliseconds', cfr(1000, 60), rounded(cfr(1000, 60))],
    ['29.97 against a rounded 29.97', cfr(3000, 30000 / 1001), rounded(cfr(3000, 30000 / 1001))],
    ['variable rate, the same in both', without(cfr(90, 30), 3, 4, 50), without(cfr(90, 30), 3, 4, 50)],
  ])('goes frame by frame: %s', (_, reference, distorted) => {
    const paired = pair(reference, distorted);
    expect([...paired.frames]).toEqual(upTo(reference.length));
    expect(paired).toMatchObject({
      policy: 'nearest',
      consecutive: true,
      missing: [],
      repeated: [],
      dropped: [],
    });
  });

  it('pairs two videos of a single frame', () => {
    for (const times of [cfr(1, 25), Float64Array.of(3.2)]) {
      expect(pair(cfr(1, 25), times)).toMatchObject({ frames: Int32Array.of(0), missing: [], repeated: [] });
    }
  });

  it('shows a single frame for as long as a frame of the other video', () => {
    expect([...pair(cfr(10, 25), cfr(1, 25)).frames]).toEqual([0]);
    expect([...pair(cfr(1, 25), cfr(10, 25)).frames]).toEqual([0]);
  });

  it('pairs nothing where all of the distorted video is skipped', () => {
    const skipping = (distorted: number) => ({ origin: { reference: 0, distorted } });
    expect([...pair(cfr(50, 25), cfr(50, 25), skipping(49)).frames]).toEqual([49]);
    for (const frames of [50, 51, 1_000_000])
      expect([...pair(cfr(50, 25), cfr(50, 25), skipping(frames)).frames]).toEqual([]);
  });

  it('goes on after a frame that is missing', () => {
    const paired = pair(cfr(10, 25), without(cfr(10, 25), 4));
    // Between two equally near frames the earlier one is still on the screen.
    expect([...paired.frames]).toEqual([0, 1, 2, 3, 3, 4, 5, 6, 7, 8]);
    expect(paired).toMatchObject({ consecutive: false, missing: [4], repeated: [3], dropped: [] });
  });

  it('leaves out a frame that the reference lacks', () => {
    const paired = pair(without(cfr(10, 25), 4), cfr(10, 25));
    expect([...paired.frames]).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9]);
    expect(paired).toMatchObject({ missing: [], repeated: [], dropped: [4] });
  });

  it('takes every second frame of twice the rate, and holds each of half the rate', () => {
    const [fast, slow] = [cfr(20, 50), cfr(10, 25)];
    expect([...pair(slow, fast).frames]).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    const held = pair(fast, slow);
    expect([...held.frames]).toEqual(upTo(20).map((n) => n >> 1));
    expect(held.missing).toEqual(upTo(10).map((n) => 2 * n + 1));
    expect(held.repeated).toEqual(upTo(10));
  });

  it('knows the same frames at another speed', () => {
    const paired = pair(cfr(240, 24), cfr(240, 25));
    expect(paired).toMatchObject({ policy: 'number', consecutive: true });
    expect([...paired.frames]).toEqual(upTo(240));
    // As long, but with other frames: converted, not retimed.
    expect(pair(cfr(240, 24), cfr(250, 25)).policy).toBe('nearest');
  });

  it('ends with the shorter video', () => {
    expect(pair(cfr(100, 25), cfr(60, 25)).frames).toHaveLength(60);
    expect(pair(cfr(60, 25), cfr(100, 25)).frames).toHaveLength(60);
  });

  it('starts where the caller says, in both', () => {
    const offset = pair(cfr(50, 25), cfr(40, 25), { origin: { reference: 10, distorted: 0 }, start: 10 });
    expect([...offset.frames]).toEqual(upTo(40));
    const range = pair(cfr(50, 25), cfr(50, 25), {
      origin: { reference: 0, distorted: 3 },
      start: 20,
      end: 30,
    });
    expect([...range.frames]).toEqual(upTo(10, 23));
  });

  it('takes a shift between clocks for what it is', () => {
    // 11 frames of 50 are five and a half of 25: the distorted frame shown then is the sixth, half a frame later.
    const paired = pair(cfr(20, 50), cfr(40, 25), { origin: { reference: 0, distorted: 6 }, shift: 0.22 });
    expect([...paired.frames].slice(0, 5)).toEqual([5, 6, 6, 7, 7]);
  });

  it('does not depend on where clocks begin', () => {
    const late = cfr(30, 25).map((time) => time + 10);
    expect([...pair(cfr(30, 25), late).frames]).toEqual(upTo(30));
  });
});

describe('frames of one per frame of the other', () => {
  it.each([
    [1, 'equal rates', cfr(100, 25), cfr(90, 25)],
    [1, 'rates that rounding tells apart', cfr(100, 24), rounded(cfr(100, 24000 / 1001))],
    [2, 'half of the frames', cfr(100, 50), cfr(50, 25)],
    [0.4, 'more frames', cfr(48, 24), cfr(120, 60)],
    [1, 'the same frames at another speed', cfr(240, 24), cfr(240, 25)],
    [1, 'the same at another speed, of which the first are missing', cfr(240, 24), cfr(216, 25)],
    [24 / 25, 'as long, with other frames', cfr(240, 24), cfr(250, 25)],
  ])('are %d: %s', (expected, _, reference, distorted) => {
    expect(frameRatio(reference, distorted)).toBeCloseTo(expected, 6);
  });

  it('are one where times are not known', () => {
    expect(frameRatio(null, cfr(10, 25))).toBe(1);
  });

  it('are told by times where rates vary', () => {
    const both = { reference: 0, distorted: 0 };
    expect(framePartners(cfr(50, 25), cfr(25, 12.5), both)).toBeUndefined();
    const gaps = without(cfr(12, 25), 3, 4, 8);
    expect([...(framePartners(cfr(10, 25), gaps, both) ?? [])]).toEqual([0, 1, 2, 5, 6, 7, 9, 10, 11]);
    const later = framePartners(cfr(20, 50), gaps, { reference: 4, distorted: 2 });
    expect([...(later ?? [])]).toEqual([0, 6, 8, 10, 14, 16, 18]);
  });

  it('do not make a speed of an offset', () => {
    // Ten seconds of both, compared from the tenth reference frame on: as many are left, but at other times.
    const paired = pair(cfr(250, 25), cfr(240, 24), { origin: { reference: 10, distorted: 0 }, start: 10 });
    expect(paired.policy).toBe('nearest');
  });
});

describe('rates', () => {
  it('differ by more than rounding', () => {
    expect(ratesDiffer(cfr(300, 30), cfr(300, 30000 / 1001))).toBe(true);
    expect(ratesDiffer(cfr(300, 24), cfr(300, 25))).toBe(true);
    expect(ratesDiffer(cfr(300, 30000 / 1001), rounded(cfr(250, 30000 / 1001)))).toBe(false);
    expect(ratesDiffer(cfr(300, 60), without(cfr(300, 60), 7, 8, 100))).toBe(false);
    expect(ratesDiffer(cfr(1, 60), cfr(100, 25))).toBe(false);
  });

  it('are constant when every frame is near its place', () => {
    expect(isConstantRate(rounded(cfr(500, 60)))).toBe(true);
    expect(isConstantRate(without(cfr(500, 60), 100))).toBe(false);
  });
});
