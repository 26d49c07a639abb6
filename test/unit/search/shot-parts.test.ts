/**
 * @module test/unit/search/shot-parts
 * What shots are made of, without ffmpeg: cuts in pictures, limits of length, bytes shared among curves, and times.
 */
import { describe, expect, it } from 'vitest';
import { allocate, bytesAt, type Curve, type FrameValues, valuesAt } from '../../../src/search/allocate.js';
import { CutFinder, THUMBNAIL } from '../../../src/search/cuts.js';
import { frameLimits, split } from '../../../src/search/shots.js';
import { spaced } from '../../../src/search/source-cuts.js';
import { clockOf, lookup, segmentStamps } from '../../../src/search/stamps.js';
import { seeded } from '../../support/random.js';

const { width, height } = THUMBNAIL;

/** A picture of a scene: waves that move with `time`, by a pattern of the scene's own. */
function picture(scene: number, time: number, light = 1): Uint8Array {
  return Uint8Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [(i % width) + time, Math.floor(i / width)];
    const wave = Math.sin((x * (scene + 2)) / 11 + scene * 2) * Math.cos((y * (scene + 1)) / 7 - scene);
    return Math.max(0, Math.min(255, (128 + 100 * wave) * light));
  });
}

function cutsIn(pictures: readonly Uint8Array[]): readonly number[] {
  const finder = new CutFinder(25);
  for (const one of pictures) finder.add(one);
  return finder.cuts();
}

const scene = (number: number, frames: number) =>
  Array.from({ length: frames }, (_, time) => picture(number, time));

describe('cuts', () => {
  it('are found where scenes change, however they move', () => {
    expect(cutsIn([...scene(0, 20), ...scene(3, 15), ...scene(5, 30)])).toEqual([20, 35]);
  });

  it('are found close to each other', () => {
    expect(cutsIn([...scene(0, 20), ...scene(3, 4), ...scene(5, 20)])).toEqual([20, 24]);
  });

  it('are not a flash, nor a dropout, of up to a fifth of a second', () => {
    const white = new Uint8Array(width * height).fill(250);
    const black = new Uint8Array(width * height).fill(16);
    for (const [picture, length] of [
      [white, 1],
      [white, 3],
      [black, 5],
    ] as const) {
      const shot = scene(1, 50);
      expect(
        cutsIn([...shot.slice(0, 25), ...Array<Uint8Array>(length).fill(picture), ...shot.slice(25)]),
      ).toEqual([]);
    }
  });

  it('are not a fade to black and back, nor a dissolve', () => {
    const faded = Array.from({ length: 60 }, (_, i) => picture(1, i, Math.min(1, Math.abs(i - 30) / 20)));
    expect(cutsIn(faded)).toEqual([]);
    const mixed = Array.from({ length: 60 }, (_, i) => {
      const share = Math.max(0, Math.min(1, (i - 20) / 20));
      const [a, b] = [picture(1, i), picture(4, i)];
      return a.map((level, at) => level * (1 - share) + (b[at] as number) * share);
    });
    expect(cutsIn(mixed)).toEqual([]);
  });

  it('are none in a still picture, and none in noise', () => {
    expect(cutsIn(Array<Uint8Array>(30).fill(picture(2, 0)))).toEqual([]);
    const { next } = seeded(7);
    const noise = Array.from({ length: 30 }, () =>
      Uint8Array.from({ length: width * height }, () => Math.floor(next() * 256)),
    );
    expect(cutsIn(noise)).toEqual([]);
  });
});

describe('limits of length', () => {
  it('leave out the weaker of two cuts that are too close, and those at the ends', () => {
    const changes: number[] = [];
    for (const [at, change] of [
      [3, 0.9],
      [40, 0.5],
      [45, 0.8],
      [96, 0.9],
    ] as const)
      changes[at] = change;
    expect(spaced([3, 40, 45, 96], changes, 100, 10)).toEqual([45]);
    expect(spaced([3, 40, 45, 96], changes, 100, 3)).toEqual([3, 40, 45, 96]);
  });

  it('split a long run into parts that are whole, in order, and no longer than allowed', () => {
    const { next } = seeded(11);
    for (let turn = 0; turn < 200; turn++) {
      const longest = 2 + Math.floor(next() * 50);
      const run = { first: Math.floor(next() * 100), count: 1 + Math.floor(next() * 400) };
      const changes = Array.from({ length: 600 }, () => next());
      const parts = split(run, longest, changes);
      let at = run.first;
      for (const part of parts) {
        expect(part.first).toBe(at);
        expect(part.count).toBeGreaterThan(0);
        expect(part.count).toBeLessThanOrEqual(longest);
        at += part.count;
      }
      expect(at).toBe(run.first + run.count);
    }
  });

  it('follow what else limits a shot', () => {
    expect(frameLimits({}, 25, 10_000)).toEqual({ shortest: 13, longest: 250 });
    expect(frameLimits({}, 25, 40)).toEqual({ shortest: 13, longest: 40 });
    expect(frameLimits({ maxSeconds: 600 }, 60, 1e9)).toEqual({ shortest: 30, longest: 2000 });
    expect(frameLimits({}, 25, 0)).toEqual({ shortest: 1, longest: 2 });
  });
});

/** A curve of two frames whose quality falls by `slope` a place. */
function curve(places: readonly number[], bytes: number, best: number, slope: number): Curve {
  return places.map((at) => ({
    at,
    bytes: bytes * 2 ** (-at / 6),
    metrics: { vmaf: [[best - slope * at, best - slope * at - 1]] },
  }));
}

const mean = (shots: readonly FrameValues[]) => {
  const all = shots.flatMap((values) => values.vmaf ?? []);
  return all.reduce((sum, one) => sum + one, 0) / all.length;
};

describe('bytes shared among shots', () => {
  it('are what the best of all combinations takes, or hardly more', () => {
    const { next } = seeded(5);
    for (let turn = 0; turn < 40; turn++) {
      const places = [0, 3, 6, 9, 12];
      const curves = Array.from({ length: 4 }, () =>
        curve(places, 1000 + 100_000 * next(), 90 + 10 * next(), 0.5 + 3 * next()),
      );
      const target = 72 + 15 * next();
      const margin = (shots: readonly FrameValues[]) => mean(shots) - target;
      const chosen = allocate({ curves, places: curves.map(() => places), metric: 'vmaf', margin });
      const bytesOf = (all: readonly number[]) =>
        all.reduce((sum, at, i) => sum + bytesAt(curves[i] as Curve, at), 0);
      const holds = (all: readonly number[]) =>
        margin(all.map((at, i) => valuesAt(curves[i] as Curve, at))) >= 0;
      let least = Number.POSITIVE_INFINITY;
      for (let code = 0; code < places.length ** 4; code++) {
        const all = [0, 1, 2, 3].map(
          (shot) => places[Math.floor(code / places.length ** shot) % places.length] as number,
        );
        if (holds(all)) least = Math.min(least, bytesOf(all));
      }
      if (least === Number.POSITIVE_INFINITY) {
        expect(chosen).toEqual([0, 0, 0, 0]);
        continue;
      }
      expect(holds(chosen)).toBe(true);
      // Places lie far apart here: what is left of the margin is worth at most one step of one shot.
      expect(bytesOf(chosen)).toBeLessThan(least * 1.25);
    }
  });

  it('are read off between points: bytes by their logarithms, quality by lines', () => {
    const points = curve([0, 6, 12], 8000, 90, 1);
    expect(bytesAt(points, 6)).toBe(4000);
    expect(bytesAt(points, 3)).toBeCloseTo(8000 / Math.SQRT2, 6);
    expect(bytesAt(points, 18)).toBeCloseTo(1000, 6);
    expect(valuesAt(points, 9).vmaf).toEqual([81, 80]);
    expect(bytesAt(points.slice(0, 1), 5)).toBe(8000);
  });
});

/** What ffmpeg makes of an expression of {@link lookup}. */
function evaluated(expression: string, N: number): number {
  const lt = (a: number, b: number) => (a < b ? 1 : 0);
  const choose = (test: number, yes: number, no: number) => (test ? yes : no);
  const body = expression.replaceAll('if(', 'choose(');
  return new Function('N', 'lt', 'choose', `return ${body}`)(N, lt, choose) as number;
}

describe('times of joined frames', () => {
  const track = { frameRate: { num: 24000, den: 1001 } } as Parameters<typeof clockOf>[0]['track'];

  it('are whole frames where the rate is constant, though the container rounds', () => {
    const times = Float64Array.from({ length: 500 }, (_, i) => Math.round((i * 1001 * 1000) / 24000) / 1000);
    const clock = clockOf({ track, times });
    expect(clock.perSecond).toBe(24000);
    expect([clock.tick(-2), clock.tick(499)]).toEqual([-2002, 499 * 1001]);
  });

  it("are the frames' own where they are not even, each later than the one before", () => {
    const clock = clockOf({ track, times: Float64Array.of(0, 0.04, 0.1, 0.1, 0.3) });
    expect(clock.perSecond).toBe(1_000_000);
    expect([0, 1, 2, 3, 4].map(clock.tick)).toEqual([0, 40_000, 100_000, 100_001, 300_000]);
    expect(clock.tick(5)).toBe(375_000);
    expect(clock.tick(-1)).toBe(-75_000);
  });

  it('go to packets in decoding order, decoded before they are shown', () => {
    const clock = clockOf({ track, times: Float64Array.from({ length: 20 }, (_, i) => (i * 1001) / 24000) });
    const ranks = [0, 4, 2, 1, 3, 5];
    const { pts, dts } = segmentStamps(clock, { first: 7, count: 6 }, ranks, 2);
    expect(pts).toEqual(ranks.map((rank) => rank * 1001));
    expect(dts).toEqual([-2, -1, 0, 1, 2, 3].map((n) => n * 1001));
    expect(pts.every((time, i) => time >= (dts[i] as number))).toBe(true);
    expect(pts.map((_, n) => evaluated(lookup(pts), n))).toEqual(pts);
  });
});
