/**
 * @module test/unit/media/evidence-time
 * What times say of two videos: how many frames a second each shows, and which of their frames pair (src/media/evidence).
 */
import { describe, expect, it } from 'vitest';
import type { Fraction } from '../../../src/core/rational.js';
import {
  declaredRate,
  meantRate,
  type RateFacts,
  rateOf,
  ratesDiffer,
} from '../../../src/media/evidence/rate.js';
import { isSamePicture, partnersInTime, tellsApart } from '../../../src/media/evidence/same-moment.js';

const cfr = (frames: number, rate: number) => Float64Array.from({ length: frames }, (_, n) => n / rate);
const without = (times: Float64Array, ...frames: number[]) => times.filter((_, n) => !frames.includes(n));
const rounded = (times: Float64Array, clock = 0.001) => times.map((time) => Math.round(time / clock) * clock);
const fps = (num: number, den = 1): Fraction => ({ num, den });
const fewer = (times: Float64Array) => times.filter((_, n) => n % 11 !== 5 && n % 17 !== 3);
/** Frames of a telecined film that are shown for two fields, then three. */
const telecined = Float64Array.from({ length: 120 }, (_, n) => ((n + (n >> 1) / 2) * 1001) / 30000);

describe('the rate of a video', () => {
  it.each<[string, Fraction | undefined, RateFacts]>([
    ['that of its times', fps(25), { timestamps: cfr(50, 25) }],
    ['that of its times in whole milliseconds', fps(30), { timestamps: rounded(cfr(300, 30)) }],
    ['one by 1.001 in whole milliseconds', fps(30000, 1001), { timestamps: rounded(cfr(300, 30000 / 1001)) }],
    ['told in hundredths of a second', fps(30), { timestamps: rounded(cfr(90, 30), 0.01) }],
    [
      'that of 30 frames in 0.97 s, not of a clock',
      fps(30),
      { timestamps: rounded(cfr(30, 30)), frameRate: fps(1000) },
    ],
    [
      'the commonest where frames were lost',
      fps(25),
      { timestamps: without(cfr(100, 25), 30, 41, 42, 80), frameRate: fps(24126, 1000) },
    ],
    [
      'the commonest where a seventh was lost',
      fps(30000, 1001),
      { timestamps: rounded(fewer(cfr(300, 30000 / 1001))) },
    ],
    [
      'the declared one that rounding cannot tell apart',
      fps(30000, 1001),
      { timestamps: rounded(cfr(20, 30)), frameRate: fps(30000, 1001) },
    ],
    [
      'the declared one where no interval is common',
      fps(24000, 1001),
      { timestamps: telecined, frameRate: fps(24000, 1001) },
    ],
    ['the declared one without times', fps(50), { frameRate: fps(50), timestamps: null }],
    ['unknown for one frame', undefined, { timestamps: cfr(1, 25) }],
  ])('is %s', (_, expected, facts) => {
    expect(rateOf(facts)).toEqual(expected);
  });

  it.each<[number, Fraction | undefined]>([
    [25, fps(25)],
    [29.9700299, fps(30000, 1001)],
    [23.976, fps(24000, 1001)],
    [12.5, fps(25, 2)],
    [17.123, fps(17123, 1000)],
    [0, undefined],
  ])('%d frames a second is a fraction that is meant', (perSecond, expected) => {
    expect(meantRate(perSecond)).toEqual(expected);
  });

  it('is declared by the nominal one, unless that is a clock or another rate', () => {
    expect(declaredRate(fps(24126, 1000), fps(25))).toEqual(fps(25));
    expect(declaredRate(undefined, fps(25))).toEqual(fps(25));
    expect(declaredRate(fps(24000, 1001), fps(24))).toEqual(fps(24000, 1001));
    expect(declaredRate(fps(25), fps(50))).toEqual(fps(25));
    expect(declaredRate(fps(30), fps(90000))).toEqual(fps(30));
    expect(declaredRate(undefined, fps(1000))).toBeUndefined();
  });

  it.each<[boolean, string, RateFacts, RateFacts]>([
    [true, 'by a thousandth', { timestamps: cfr(300, 30) }, { timestamps: cfr(300, 30000 / 1001) }],
    [true, 'by one frame a second', { timestamps: cfr(300, 24) }, { timestamps: cfr(300, 25) }],
    [true, 'as declared', { frameRate: fps(24) }, { frameRate: fps(24000, 1001) }],
    [
      false,
      'by rounding',
      { timestamps: cfr(300, 30000 / 1001) },
      { timestamps: rounded(cfr(250, 30000 / 1001)) },
    ],
    [false, 'by frames lost', { timestamps: cfr(300, 60) }, { timestamps: without(cfr(300, 60), 7, 8, 100) }],
    [
      false,
      'by frames lost, of which one side has no times',
      { frameRate: fps(25) },
      { timestamps: without(cfr(60, 25), 7, 8, 30) },
    ],
    [
      false,
      'for a single picture',
      { timestamps: cfr(1, 1), frameRate: fps(1) },
      { frameRate: fps(25), frameCount: 1 },
    ],
    [false, 'where intervals are all kinds', { timestamps: telecined }, { timestamps: cfr(300, 60) }],
  ])('differs (%s) %s', (expected, _, first, second) => {
    expect(ratesDiffer(first, second)).toBe(expected);
    expect(ratesDiffer(second, first)).toBe(expected);
  });
});

describe('frames that pair at equal times', () => {
  const none = { reference: [], distorted: [] };
  const odd = Float64Array.of(0, 0.033, 0.1, 0.117, 0.35, 0.4, 0.4333, 1.2);

  it.each([
    ['with any intervals', odd, odd],
    ['on clocks of milliseconds', odd, rounded(odd.map((time) => time + 7.0004))],
    ['on a clock of hundredths', cfr(60, 30), rounded(cfr(60, 30), 0.01)],
    ['of a telecined film and its encode', telecined, rounded(telecined)],
  ])('are all: %s', (_, reference, distorted) => {
    expect(partnersInTime({ reference, distorted })).toEqual({
      alone: none,
      after: { reference: 0, distorted: 0 },
    });
  });

  it('are not those that one side lacks', () => {
    const times = cfr(20, 25);
    expect(partnersInTime({ reference: times, distorted: without(times, 4, 9, 10) }).alone).toEqual({
      reference: [4, 9, 10],
      distorted: [],
    });
    expect(partnersInTime({ reference: without(times, 4), distorted: times })).toEqual({
      alone: { reference: [], distorted: [4] },
      after: { reference: 0, distorted: 0 },
    });
  });

  it('are not those of another rate, nor those after the end', () => {
    expect(partnersInTime({ reference: cfr(8, 50), distorted: cfr(4, 25) }).alone.reference).toEqual([
      1, 3, 5,
    ]);
    expect(partnersInTime({ reference: cfr(8, 25), distorted: cfr(3, 25) })).toEqual({
      alone: none,
      after: { reference: 5, distorted: 0 },
    });
  });

  it('are counted from the frames that are compared first', () => {
    const first = { reference: 0, distorted: 2 };
    expect(partnersInTime({ reference: odd.subarray(2), distorted: odd, first }).alone).toEqual(none);
  });
});

describe('content that cannot tell offsets', () => {
  const picture = (level: (x: number, y: number) => number) =>
    Float32Array.from({ length: 64 * 36 }, (_, k) => level(k % 64, Math.floor(k / 64)));
  const flat = picture((x) => 40 + x);
  const noisy = picture((x, y) => 40 + x + (((x * 7 + y * 13) % 5) - 2));
  const ball = picture((x, y) => (Math.hypot(x - 20, y - 20) < 2 ? 180 : 40 + x));

  it('shows the same picture, whatever noise is on it', () => {
    expect(isSamePicture(flat, noisy, 64)).toBe(true);
    expect(isSamePicture(flat, ball, 64)).toBe(false);
  });

  it.each([
    [false, 'a still', 100, 0],
    [false, 'one cut among slides', 100, 1],
    [true, 'something that moves now and then', 100, 5],
    [true, 'the few frames of a short clip', 9, 1],
  ])('(%s for %s) differs in few frames', (expected, _, frames, moved) => {
    const pairs = Array.from({ length: frames }, (_, n) => [flat, n < moved ? ball : noisy] as const);
    expect(tellsApart(pairs, 64)).toBe(expected);
  });
});
