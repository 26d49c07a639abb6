/**
 * @module test/unit/search/shots
 * Shots: cuts in pictures, limits of length, bytes shared among curves, times of joined frames, and settings.
 */
import { describe, expect, it } from 'vitest';
import { clockOf, lookup, segmentStamps, unevenTimes } from '../../../src/search/commands.js';
import { CutFinder, detectShots, frameLimits, spaced, split, THUMBNAIL } from '../../../src/search/cuts.js';
import {
  allocate,
  bytesAt,
  type Curve,
  type FrameValues,
  valuesAt,
} from '../../../src/search/shot-encodes.js';
import { tuneShots } from '../../../src/search/shots.js';
import { parseTarget, type ShotOptions, type TuneShotsOptions } from '../../../src/search/types.js';
import { type FakeHost, type FakeShot, fakeEncoding, scenePicture } from '../../support/encoding-host.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const { width, height } = THUMBNAIL;

const picture = (scene: number, time: number, light = 1) => scenePicture(THUMBNAIL, scene, time, light);

function cutsIn(pictures: readonly Uint8Array[]): readonly number[] {
  const finder = new CutFinder(25);
  for (const one of pictures) finder.add(one);
  return finder.cuts();
}

const scene = (number: number, frames: number, light = 1) =>
  Array.from({ length: frames }, (_, time) => picture(number, time, light));

describe('cuts', () => {
  it.each([
    ['where scenes change, however they move', [...scene(0, 20), ...scene(3, 15), ...scene(5, 30)], [20, 35]],
    ['in the dark', [...scene(0, 20, 0.15), ...scene(3, 20, 0.15)], [20]],
    ['close to each other', [...scene(0, 20), ...scene(3, 4), ...scene(5, 20)], [20, 24]],
  ])('are found %s', (_, pictures, cuts) => expect(cutsIn(pictures)).toEqual(cuts));

  it('are not a flash, nor a dropout, of up to a fifth of a second', () => {
    const flashed = (level: number, length: number) => {
      const flash = Array<Uint8Array>(length).fill(new Uint8Array(width * height).fill(level));
      return cutsIn(scene(1, 50).toSpliced(25, 0, ...flash));
    };
    expect([flashed(250, 1), flashed(250, 3), flashed(16, 5)]).toEqual([[], [], []]);
  });

  it('are not a fade to black and back, nor a dissolve', () => {
    const faded = Array.from({ length: 44 }, (_, i) => picture(1, i, Math.min(1, Math.abs(i - 22) / 20)));
    expect(cutsIn(faded)).toEqual([]);
    const mixed = Array.from({ length: 36 }, (_, i) => {
      const share = Math.max(0, Math.min(1, (i - 8) / 20));
      const [a, b] = [picture(1, i), picture(4, i)];
      return a.map((level, at) => level * (1 - share) + (b[at] as number) * share);
    });
    expect(cutsIn(mixed)).toEqual([]);
  });

  it('are none in a still picture, and none in noise', () => {
    expect(cutsIn(Array<Uint8Array>(30).fill(picture(2, 0)))).toEqual([]);
    const { next } = seeded(7);
    const noise = Array.from({ length: 16 }, () =>
      Uint8Array.from({ length: width * height }, () => Math.floor(next() * 256)),
    );
    expect(cutsIn(noise)).toEqual([]);
  });
});

describe('limits of length', () => {
  it('leave out the weaker of two cuts that are too close, and those at the ends', () => {
    const changes: number[] = Object.assign([], { 3: 0.9, 40: 0.5, 45: 0.8, 96: 0.9 });
    expect(spaced([3, 40, 45, 96], changes, 100, 10)).toEqual([45]);
    expect(spaced([3, 40, 45, 96], changes, 100, 3)).toEqual([3, 40, 45, 96]);
  });

  it('split a long run into parts that are whole, in order, and no longer than allowed', () => {
    const { next } = seeded(11);
    for (let turn = 0; turn < tier(50, 200); turn++) {
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
    for (let turn = 0; turn < tier(12, 40); turn++) {
      const places = [0, 3, 6, 9, 12];
      const curves = Array.from({ length: 4 }, () =>
        curve(places, 1000 + 100_000 * next(), 90 + 10 * next(), 0.5 + 3 * next()),
      );
      const target = 72 + 15 * next();
      const margin = (shots: readonly FrameValues[]) => mean(shots) - target;
      const gain = ({ vmaf = [] }: FrameValues) => vmaf.reduce((sum, one) => sum + one, 0);
      const chosen = allocate({ curves, places: curves.map(() => places), gain, margin });
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

  it('are set while a shot is measured if they are uneven, and fit into one argument of 128 KiB', () => {
    const hour = Float64Array.from({ length: 4001 }, (_, i) => 3600 + 0.04 * i + 0.01 * (i % 2));
    const facts = { track, times: hour };
    const set = unevenTimes(facts, { first: 0, count: 4000 }) ?? [];
    expect(set.slice(0, 3)).toEqual([0, 50_000, 80_000]);
    expect(lookup(set).replaceAll(',', '\\,').length).toBeLessThan(120_000);
    expect(unevenTimes(facts, { first: 0, count: 4001 })).toBeUndefined();
    const close = Float64Array.of(0, 0.04, 0.1, 0.1, 0.3);
    expect(unevenTimes({ track, times: close }, { first: 0, count: 5 })).toBeUndefined();
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

const film = (...frames: number[]): FakeShot[] => frames.map((count) => ({ frames: count }));
/** Three shots, the second harder and the third easier than the first. */
const THREE = { shots: film(22, 19, 21) };

describe('shots of a source', () => {
  const found = async (shots: readonly FakeShot[], options: ShotOptions = {}) =>
    (await detectShots(fakeEncoding({ shots }).platform, 'film.mkv', { minSeconds: 0.2, ...options })).shots;

  it('go from cut to cut, and are one where there is none or what there is is too short', async () => {
    expect(await found(THREE.shots)).toMatchObject([
      { first: 0, count: 22, start: 0, seconds: 0.88, begins: 'start', change: 0 },
      { first: 22, count: 19, start: 0.88, begins: 'cut' },
      { first: 41, count: 21, start: 1.64, begins: 'cut' },
    ]);
    expect(await found(film(30))).toMatchObject([{ first: 0, count: 30 }]);
    const joined = await found(film(3, 3), { minSeconds: 0.5 });
    expect(joined).toMatchObject([{ first: 0, count: 6, begins: 'start' }]);
    expect(await found(film(1))).toMatchObject([{ first: 0, count: 1, start: 0, seconds: 0.04 }]);
  });

  it('are taken in parts where they are long', async () => {
    const shots = await found(film(12, 9, 11), { minSeconds: 0.1, maxSeconds: 0.24 });
    expect(shots.map(({ begins }) => begins)).toEqual(['start', 'split', 'cut', 'split', 'cut', 'split']);
    expect(Math.max(...shots.map(({ count }) => count))).toBeLessThanOrEqual(6);
    expect(shots.reduce((sum, { count }) => sum + count, 0)).toBe(32);
  });

  it('are refused where fewer frames decode than are listed', async () => {
    const { platform } = fakeEncoding({ shots: film(20) }, { damaged: 2 });
    const refusal = await refusalOf('media', () => detectShots(platform, 'film.mkv'));
    expect(refusal).toContain('lists 20 frames but decodes to 18');
  });

  it.each([
    [{ threshold: 2 }, /threshold is 2/],
    [{ minSeconds: 3, maxSeconds: 5 }, /at least twice/],
    [{ maxSeconds: 0 }, /maxSeconds is 0/],
    [{ nonesuch: 1 }, /There is no option "nonesuch"/],
  ])('are not looked for with %j', async (options, message) => {
    expect(await refusalOf('usage', () => found(THREE.shots, options as ShotOptions))).toMatch(message);
  });
});

describe('settings of shots', () => {
  const usual = { encoder: 'libx264', encoderOptions: { preset: 'ultrafast' }, minSeconds: 0.2 };
  const AT_85 = { targets: [{ atLeast: 85 }] };
  const tune = (host: FakeHost, options: Partial<TuneShotsOptions> = {}) =>
    tuneShots(host.platform, 'film.mkv', { ...usual, range: { min: 16, max: 44, step: 4 }, ...options });

  it('reach the target each with the largest value, and tell what that saves', async () => {
    const host = fakeEncoding(THREE);
    const seen: number[] = [];
    const result = await tune(host, { ...AT_85, onShot: ({ number }) => seen.push(number) });
    expect(seen).toEqual([1, 2, 3]);
    for (const { value, margin, points, pooled } of result.shots) {
      const better = points.find((point) => point.value > value && (point.pooled.vmaf?.mean ?? 0) >= 85);
      expect({ better, holds: margin >= 0 }).toEqual({ better: undefined, holds: true });
      expect(margin).toBeCloseTo((pooled.vmaf?.mean ?? 0) - 85, 9);
    }
    const values = result.shots.map(({ value }) => value);
    expect(new Set(values).size).toBeGreaterThan(1);
    expect(result).toMatchObject({ reached: true, single: { value: Math.min(...values), reached: true } });
    expect(result.bytes).toBe(result.shots.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(result.saving).toBeCloseTo(1 - result.bytes / result.single.bytes, 12);
    expect(result.saving).toBeGreaterThan(0);
    // Headers are the same for all values, and one frame to either side is not encoded.
    const { args, frames } = host.encodes[0]?.request ?? { args: [] };
    expect(args.slice(-2)).toEqual(['-x264-params', 'stitchable=1']);
    expect(frames).toEqual({ first: 0, count: 22 });
    expect(host.encodes.find(({ request }) => request.frames?.first === 1)?.request.frames?.count).toBe(19);
    expect({ folders: host.folders, files: host.files() }).toEqual({ folders: 0, files: [] });
  });

  it('are compared with one encode of the whole that was made, which may do better than its shots apart', async () => {
    // An encoder that sees the whole makes more of it.
    const host = fakeEncoding(THREE, { bend: (quality, _, { isSource }) => quality + (isSource ? 8 : 0) });
    const { shots, single, saving, bytes, encodes } = await tune(host, AT_85);
    expect(single.value).toBeGreaterThan(Math.min(...shots.map(({ value }) => value)));
    const made = host.encodes.findLast(({ request, value }) => request.isSource && value === single.value);
    expect(made?.request.args).not.toContain('-x264-params');
    expect(encodes).toBe(host.encodes.length);
    const all = host.encodes.filter(({ request }) => request.isSource).map(({ value }) => value);
    expect(Math.max(...all)).toBeGreaterThan(single.value);
    expect(saving).toBeCloseTo(1 - bytes / single.bytes, 12);
    const apart = await tune(fakeEncoding(THREE), AT_85);
    expect(saving).toBeLessThan(apart.saving);
  });

  it('reach it together with fewer bytes than each by itself, and say so where they cannot', async () => {
    const host = fakeEncoding(THREE);
    const whole = await tune(host, { goal: 'whole', ...AT_85 });
    expect(whole.reached).toBe(true);
    expect(whole.pooled.vmaf?.mean).toBeGreaterThanOrEqual(85);
    const each = await tune(host, AT_85);
    expect(whole.bytes).toBeLessThan(each.bytes);
    expect(each).toMatchObject({ reached: true });
    expect(await tune(host, AT_85)).toMatchObject({ encodes: 0 });
    const missed = await tune(host, { goal: 'whole', targets: [{ atLeast: 100.5 }] });
    expect(missed).toMatchObject({ reached: false });
    expect(missed.margin).toBeLessThan(0);
    expect(missed.shots.every(({ value }) => value === 16)).toBe(true);
    const output = 'joined.mp4';
    const asked = { goal: 'whole', targets: [{ atLeast: 100.5 }], output } as const;
    expect(await tune(host, asked)).toMatchObject({ final: null, unwritten: output });
    expect(host.written()).toEqual([]);
    const kept = await tune(host, { ...asked, keepMissed: true });
    expect(kept).toMatchObject({ final: { reached: false }, unwritten: null });
    expect(host.written()).toEqual([output]);
  });

  it.each([
    [[12, 15], 60, 'libx264'],
    [[12, 15, 18], 70, 'libx264'],
    [[12, 15], 85, 'libx265'],
  ])('%j reach %i together with no more bytes than one value for all', async (frames, atLeast, encoder) => {
    const host = fakeEncoding({ shots: film(...frames) });
    const asked = { encoder, range: undefined, goal: 'whole', targets: [{ atLeast }] } as const;
    const { reached, saving } = await tune(host, asked);
    expect(reached).toBe(true);
    expect(saving).toBeGreaterThanOrEqual(0);
  });

  const OTHERS = ['cvvdp>=9.3', 'ssimulacra2>=60', 'butteraugli.norm3<=2.5'];

  it.each(OTHERS)('reach %s, each or together with fewer bytes, up or down', async (text) => {
    const host = fakeEncoding(THREE);
    const targets = [parseTarget(text)];
    const each = await tune(host, { targets, output: 'joined.mp4' });
    expect(each).toMatchObject({ reached: true, final: { reached: true, difference: { within: 0 } } });
    expect(Math.min(...each.shots.map(({ margin }) => margin))).toBeCloseTo(each.margin, 9);
    const whole = await tune(host, { goal: 'whole', targets });
    expect(whole).toMatchObject({ reached: true, single: { reached: true } });
    expect(whole.bytes).toBeLessThan(each.bytes);
    expect(whole.margin).toBeLessThanOrEqual(each.margin);
  });

  it('are joined with the scores of the shots, and removed where the joined file shows others', async () => {
    const host = fakeEncoding(THREE);
    const stages: string[] = [];
    const onStage: TuneShotsOptions['onStage'] = ({ kind }) => stages.push(kind);
    const result = await tune(host, { ...AT_85, output: 'joined.mp4', onStage });
    const difference = { within: 0, edges: 0 };
    expect(result.final).toMatchObject({ file: 'joined.mp4', reached: true, difference });
    expect(result.final?.pooled.vmaf?.mean).toBeCloseTo(result.pooled.vmaf?.mean ?? Number.NaN, 9);
    expect(result.final?.bytes).toBe(result.bytes);
    expect([stages[0], stages.at(-1), stages.includes('finding')]).toEqual(['reading', 'joining', true]);
    // What is joined is encoded once more where only its points are known.
    const known = host.encodes.length;
    await tune(host, { ...AT_85, output: 'again.mp4' });
    expect(host.encodes.length - known).toBe(3);

    // The last encode of a value is another picture than the one that was measured.
    let encodes = 0;
    const fickle = fakeEncoding(THREE, { bend: (quality) => quality - (++encodes > 3 ? 2 : 0) });
    const fixed = { range: { min: 26, max: 26 }, targets: [{ atLeast: 1 }] };
    await tune(fickle, fixed);
    const refusal = await refusalOf('media', () => tune(fickle, { ...fixed, output: 'joined.mp4' }));
    expect(refusal).toMatch(/differs from the shots by up to 2\.00 within a shot, so shots of libx264/);
  });

  it('leave nothing when they are stopped while joining, and refuse the source as output at once', async () => {
    const host = fakeEncoding(THREE);
    const stop = new AbortController();
    const onStage: TuneShotsOptions['onStage'] = ({ kind }) => kind === 'joining' && stop.abort();
    const fixed = { range: { min: 26, max: 26 }, targets: [{ atLeast: 1 }] };
    const task = tune(host, { ...fixed, output: 'a.mp4', onStage, signal: stop.signal });
    await expect(task).rejects.toMatchObject({ name: 'AbortError' });
    expect(host.files()).toEqual([]);
    const said: string[] = [];
    const late = tune(host, { output: 'film.mkv', onStage: ({ kind }) => said.push(kind) });
    await expect(late).rejects.toThrow('is the source');
    // Said before hours of work, not after.
    expect(said).toEqual(['reading']);
  });

  it.each<[Partial<Record<keyof TuneShotsOptions | 'full', unknown>>, string, RegExp]>([
    [{ encoder: 'libx265x' }, 'usage', /no video encoder "libx265x"/],
    [{ encoderOptions: { f: 'tee' } }, 'usage', /no option "f"/],
    [{ goal: 'all' }, 'usage', /one of each, whole/],
    [{ full: true }, 'usage', /no option "full"/],
    [{ scratchBytes: 2000 }, 'io', /temporary files/],
    [{ output: '/nonexistent/x.txt' }, 'usage', /must end in \.mp4/],
  ])('are not looked for with %j', async (options, code, message) => {
    const task = tune(fakeEncoding(THREE), options as Partial<TuneShotsOptions>);
    await expect(task).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
