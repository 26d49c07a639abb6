/**
 * @module test/unit/media/pairing
 * Frames of two videos side by side: by time, in a given order, in one format (src/media/pairing).
 */
import { describe, expect, it } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../src/core/frame.js';
import type { DecodedSource } from '../../../src/media/decoder.js';
import {
  adaptSource,
  commonFormat,
  describeConversion,
  formatConverter,
} from '../../../src/media/pairing/convert.js';
import { Fan, mappedSource } from '../../../src/media/pairing/sources.js';
import {
  distortedRange,
  framePartners,
  frameRatio,
  isConstantRate,
  pairTimes,
  type TimesToPair,
} from '../../../src/media/pairing/timeline.js';
import type { FrameSource } from '../../../src/media/types.js';
import { cfr, REFERENCE, rounded, upTo, without } from '../../support/align.js';

function pair(reference: Float64Array, distorted: Float64Array, more: Partial<TimesToPair> = {}) {
  const all = { origin: { reference: 0, distorted: 0 }, start: 0, end: reference.length };
  return pairTimes({ reference, distorted, ...all, ...more });
}

describe('pairing by time', () => {
  it('continues after frames with equal times', () => {
    const steady = cfr(8, 25);
    const equal = Float64Array.from(steady, (time, n) => (n === 4 ? (steady[3] ?? 0) : time));
    expect([...pair(steady, equal).frames]).toEqual(upTo(8));
    expect(pair(steady, equal).missing).toEqual([4]);
  });

  it.each([
    ['equal times', cfr(100, 25), cfr(100, 25)],
    ['times rounded to milliseconds', cfr(1000, 60), rounded(cfr(1000, 60))],
    ['29.97 against a rounded 29.97', cfr(3000, 30000 / 1001), rounded(cfr(3000, 30000 / 1001))],
    ['variable rate, the same in both', without(cfr(90, 30), 3, 4, 50), without(cfr(90, 30), 3, 4, 50)],
  ])('is frame by frame: %s', (_, reference, distorted) => {
    const paired = pair(reference, distorted);
    expect([...paired.frames]).toEqual(upTo(reference.length));
    const faults = { missing: [], repeated: [], dropped: [] };
    expect(paired).toMatchObject({ policy: 'nearest', consecutive: true, ...faults });
  });

  it.each([
    ['60 to 30', 60, 30, 0, 60, [0, 30]],
    ['50 to 25, a part', 50, 25, 9, 21, [5, 11]],
    ['60 to 24', 60, 24, 0, 60, [0, 24]],
  ])('finds the distorted frames of reference frames: %s', (_, first, second, start, end, [from, to]) => {
    const times = { reference: cfr(60, first), distorted: cfr(60 * (second / first), second) };
    const origin = { reference: 0, distorted: 0 };
    expect(distortedRange({ ...times, origin, start, end })).toEqual({ start: from, end: to });
  });

  it('pairs videos of a single frame, which lasts as long as a frame of the other video', () => {
    for (const times of [cfr(1, 25), Float64Array.of(3.2)])
      expect(pair(cfr(1, 25), times)).toMatchObject({ frames: Int32Array.of(0), missing: [], repeated: [] });
    expect([...pair(cfr(10, 25), cfr(1, 25)).frames]).toEqual([0]);
    expect([...pair(cfr(1, 25), cfr(10, 25)).frames]).toEqual([0]);
  });

  it('pairs nothing if all of the distorted video is skipped', () => {
    const skipping = (distorted: number) => ({ origin: { reference: 0, distorted } });
    expect([...pair(cfr(50, 25), cfr(50, 25), skipping(49)).frames]).toEqual([49]);
    for (const frames of [50, 51, 1_000_000])
      expect([...pair(cfr(50, 25), cfr(50, 25), skipping(frames)).frames]).toEqual([]);
  });

  it('continues after a missing frame, and leaves out a frame that the reference lacks', () => {
    const paired = pair(cfr(10, 25), without(cfr(10, 25), 4));
    // Of two equally near frames the earlier one is still on the screen.
    expect([...paired.frames]).toEqual([0, 1, 2, 3, 3, 4, 5, 6, 7, 8]);
    expect(paired).toMatchObject({ consecutive: false, missing: [4], repeated: [3], dropped: [] });
    const fewer = pair(without(cfr(10, 25), 4), cfr(10, 25));
    expect([...fewer.frames]).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9]);
    expect(fewer).toMatchObject({ missing: [], repeated: [], dropped: [4] });
  });

  it('takes every second frame of twice the rate, and holds each of half the rate', () => {
    const [fast, slow] = [cfr(20, 50), cfr(10, 25)];
    expect([...pair(slow, fast).frames]).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    const held = pair(fast, slow);
    expect([...held.frames]).toEqual(upTo(20).map((n) => n >> 1));
    expect(held.missing).toEqual(upTo(10).map((n) => 2 * n + 1));
    expect(held.repeated).toEqual(upTo(10));
  });

  it('recognises the same frames at another speed', () => {
    const paired = pair(cfr(240, 24), cfr(240, 25));
    expect(paired).toMatchObject({ policy: 'number', consecutive: true });
    expect([...paired.frames]).toEqual(upTo(240));
    // As long, but other frames: converted, not retimed.
    expect(pair(cfr(240, 24), cfr(250, 25)).policy).toBe('nearest');
  });

  it.each([
    ['later', { reference: 12, distorted: 0 }, 12, upTo(228)],
    ['earlier', { reference: 0, distorted: 12 }, 0, upTo(228, 12)],
  ] as const)('pairs them by number if one begins %s', (_, origin, start, expected) => {
    const paired = pair(cfr(240, 24), cfr(240, 25), { origin, start });
    expect([paired.policy, [...paired.frames]]).toEqual(['number', expected]);
  });

  it('ends with the shorter video, and starts where the caller says', () => {
    expect(pair(cfr(100, 25), cfr(60, 25)).frames).toHaveLength(60);
    expect(pair(cfr(60, 25), cfr(100, 25)).frames).toHaveLength(60);
    const offset = pair(cfr(50, 25), cfr(40, 25), { origin: { reference: 10, distorted: 0 }, start: 10 });
    expect([...offset.frames]).toEqual(upTo(40));
    const part = { origin: { reference: 0, distorted: 3 }, start: 20, end: 30 };
    const range = pair(cfr(50, 25), cfr(50, 25), part);
    expect([...range.frames]).toEqual(upTo(10, 23));
  });

  it('accounts for a shift between clocks, and not for where clocks begin', () => {
    // 11 frames of 50 are five and a half of 25: the distorted frame shown then is the sixth, half a frame later.
    const paired = pair(cfr(20, 50), cfr(40, 25), { origin: { reference: 0, distorted: 6 }, shift: 0.22 });
    expect([...paired.frames].slice(0, 5)).toEqual([5, 6, 6, 7, 7]);
    const late = cfr(30, 25).map((time) => time + 10);
    expect([...pair(cfr(30, 25), late).frames]).toEqual(upTo(30));
  });
});

describe('frames per frame of the other video', () => {
  it.each([
    [1, 'equal rates', cfr(100, 25), cfr(90, 25)],
    [1, 'rates that differ by rounding', cfr(100, 24), rounded(cfr(100, 24000 / 1001))],
    [1, 'a few frames lost, others in time', cfr(100, 25), without(cfr(100, 25), 20, 41, 42, 80)],
    [2, 'half of the frames', cfr(100, 50), cfr(50, 25)],
    [0.4, 'more frames', cfr(48, 24), cfr(120, 60)],
    [1, 'the same frames at another speed', cfr(240, 24), cfr(240, 25)],
    [1, 'another speed, without the first frames', cfr(240, 24), cfr(216, 25)],
    [24 / 25, 'as long, with other frames', cfr(240, 24), cfr(250, 25)],
  ])('are %d: %s', (expected, _, reference, distorted) => {
    expect(frameRatio(reference, distorted)).toBeCloseTo(expected, 6);
  });

  it('are one if times are unknown, and go by times if rates vary', () => {
    expect(frameRatio(null, cfr(10, 25))).toBe(1);
    const both = { reference: 0, distorted: 0 };
    expect(framePartners(cfr(50, 25), cfr(25, 12.5), both)).toBeUndefined();
    const gaps = without(cfr(12, 25), 3, 4, 8);
    expect([...(framePartners(cfr(10, 25), gaps, both) ?? [])]).toEqual([0, 1, 2, 5, 6, 7, 9, 10, 11]);
    const later = framePartners(cfr(20, 50), gaps, { reference: 4, distorted: 2 });
    expect([...(later ?? [])]).toEqual([0, 6, 8, 10, 14, 16, 18]);
  });

  it('do not mistake an offset for a speed', () => {
    // Ten seconds of both, compared from the tenth reference frame on: as many are left, but at other times.
    const paired = pair(cfr(250, 25), cfr(240, 24), { origin: { reference: 10, distorted: 0 }, start: 10 });
    expect(paired.policy).toBe('nearest');
  });
});

it('a rate is constant if every frame is near its place', () => {
  expect(isConstantRate(rounded(cfr(500, 60)))).toBe(true);
  expect(isConstantRate(without(cfr(500, 60), 100))).toBe(false);
});

const facts = { ...REFERENCE, width: 4, height: 4, frameCount: 20 };

/** Frames that hold their number; like a decoder's, each can be read once, in order. */
function decoder(frames = 20, failAt = Number.POSITIVE_INFINITY) {
  const state = { read: 0, reading: 0, closed: 0 };
  const source: DecodedSource = {
    info: { ...facts, container: 'frames', warnings: [] },
    seekable: false,
    ...{ facts, decoder: 'ffmpeg', decodedBy: 'a test' },
    timestamp: () => undefined,
    async readFrame(index, into) {
      expect(++state.reading).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      state.reading--;
      if (index < state.read) throw new Error(`frame ${index} read twice`);
      if (index >= failAt) throw new Error('damaged');
      if (index >= frames) return false;
      state.read = index + 1;
      into.y.fill(index);
      into.cb?.fill(index + 100);
      into.cr?.fill(index + 200);
      return true;
    },
    close: () => void state.closed++,
  };
  return { source, state };
}

const planes = () => ({ y: new Uint8Array(16), cb: new Uint8Array(4), cr: new Uint8Array(4) });

/** The numbers in the frames of a source, which is then closed. */
async function numbersIn(source: FrameSource, pause: () => Promise<unknown> = async () => {}) {
  const found: number[] = [];
  const into = planes();
  for (let n = 0; await source.readFrame(n, into); n++) {
    const number = into.y[0] ?? -1;
    found.push(number);
    expect([into.cb[0], into.cr[3]]).toEqual([number + 100, number + 200]);
    await pause();
  }
  await source.close();
  return found;
}

describe('a mapped source', () => {
  it('repeats and leaves out frames of a source that gives each once', async () => {
    const { source } = decoder();
    const mapped = mappedSource(source, [0, 1, 1, 1, 4, 5, 5]);
    expect(mapped.info.frameCount).toBe(7);
    expect(await numbersIn(mapped)).toEqual([0, 1, 1, 1, 4, 5, 5]);
  });

  it('has the chroma of a repeated frame whose first reader read luma only', async () => {
    const { source } = decoder();
    const mapped = mappedSource(source, [1, 1]);
    await mapped.readFrame(0, { y: new Uint8Array(16) });
    const into = planes();
    await mapped.readFrame(1, into);
    expect([into.y[0], into.cb[0], into.cr[3]]).toEqual([1, 101, 201]);
  });

  it('shows all frames in order, each once, until enough were seen', async () => {
    const mapped = mappedSource(decoder().source, [2, 4, 4, 7, 9, 12]);
    const shown: number[] = [];
    mapped.showAll((luma) => shown.push(luma[0] ?? -1) < 7);
    expect(await numbersIn(mapped)).toEqual([2, 4, 4, 7, 9, 12]);
    expect(shown).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('a fan', () => {
  it('gives every reader every frame, and decodes each once', async () => {
    const { source, state } = decoder();
    const fan = new Fan(source, 3);
    const readAll = (reader: number, pause: () => Promise<unknown>) => numbersIn(fan.tap(reader), pause);
    const soon = () => Promise.resolve();
    const later = () => new Promise((resolve) => setTimeout(resolve, 1));
    const all = await Promise.all([readAll(0, soon), readAll(1, later), readAll(2, soon)]);
    for (const found of all) expect(found).toEqual(upTo(20));
    expect(state).toMatchObject({ read: 20, closed: 1 });
  });

  it('gives each reader its own part', async () => {
    const { source, state } = decoder();
    const fan = new Fan(source, 2);
    const taps = [fan.tap(0, { start: 3, end: 12 }), fan.tap(1, { start: 0, end: Number.POSITIVE_INFINITY })];
    expect(taps.map(({ info }) => info.frameCount)).toEqual([9, 20]);
    expect(await Promise.all(taps.map((tap) => numbersIn(tap)))).toEqual([upTo(9, 3), upTo(20)]);
    expect(state).toMatchObject({ read: 20, closed: 1 });
  });

  it('holds the fastest reader back until the slowest reads or closes', async () => {
    const { source, state } = decoder();
    const fan = new Fan(source, 2);
    const [fast, slow] = [fan.tap(0), fan.tap(1)];
    let reached = 0;
    const all = (async () => {
      for (; await fast.readFrame(reached, planes()); reached++);
    })();
    const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
    await settle();
    expect(reached).toBe(8);
    expect(state.read).toBe(8);
    await slow.readFrame(0, planes());
    await settle();
    expect(reached).toBe(9);
    await slow.close();
    await all;
    expect(reached).toBe(20);
    expect(state.closed).toBe(0);
    await fast.close();
    expect(state.closed).toBe(1);
  });

  it('passes a failure on to every reader, after the frames before it', async () => {
    const { source } = decoder(20, 2);
    const fan = new Fan(source, 2);
    for (const tap of [fan.tap(0), fan.tap(1)]) {
      await tap.readFrame(0, planes());
      await tap.readFrame(1, planes());
      await expect(tap.readFrame(2, planes())).rejects.toThrow('damaged');
    }
  });
});

const format = (chroma: VideoFormat['chroma'], bitDepth: number, width = 4, height = 2): VideoFormat => ({
  ...{ width, height, bitDepth, chroma },
});
const words = (...values: number[]) => new Uint8Array(Uint16Array.from(values).buffer);

describe('the common format', () => {
  it.each([
    [format('420', 8), format('420', 10), format('420', 10)],
    [format('444', 8), format('420', 12), format('444', 12)],
    [format('422', 16), format('444', 8), format('444', 16)],
    [format('400', 8), format('420', 8), format('420', 8)],
  ])('is the higher of both', (a, b, common) => {
    expect(commonFormat(a, b)).toEqual(common);
    expect(commonFormat(b, a)).toEqual(common);
  });

  it('is described by its conversions', () => {
    expect(describeConversion(format('420', 8), format('420', 8))).toEqual([]);
    expect(describeConversion(format('420', 8), format('444', 10))).toEqual([
      '8 to 10 bit by a shift of 2',
      '4:2:0 to 4:4:4 by repeating chroma samples',
    ]);
  });
});

describe('conversion', () => {
  it.each([
    [format('444', 8), format('444', 16), [0, 130, 32768, 65407]],
    [format('420', 8, 4, 4), format('420', 10, 4, 4), [0, 3, 512, 1021]],
  ])('keeps the least full-range chroma the least', (from, to, expected) => {
    const light = { matrix: 'bt601', range: 'full', siting: 'center' } as const;
    const chroma = Uint8Array.of(0, 1, 128, 255, 0, 1, 128, 255).subarray(0, from.chroma === '444' ? 8 : 4);
    const into = { y: new Uint8Array(2 * to.width * to.height), cb: new Uint8Array(2 * chroma.length) };
    formatConverter(from, to, light)({ y: new Uint8Array(from.width * from.height), cb: chroma }, into);
    const found = [...new Uint16Array(into.cb.buffer)].slice(0, 4);
    for (const [i, value] of found.entries())
      expect(Math.abs(value - (expected[i] ?? -1))).toBeLessThanOrEqual(1);
  });

  it('shifts samples up, and fills absent chroma with grey', () => {
    const into = { y: new Uint8Array(16) };
    const y = Uint8Array.of(0, 1, 2, 3, 16, 128, 235, 255);
    formatConverter(format('400', 8), format('400', 10))({ y }, into);
    expect(into.y).toEqual(words(0, 4, 8, 12, 64, 512, 940, 1020));
    const grey = { y: new Uint8Array(16), cb: new Uint8Array(4) };
    formatConverter(format('400', 8), format('420', 10))({ y: new Uint8Array(8) }, grey);
    expect(grey.cb).toEqual(words(512, 512));
  });

  it('repeats chroma across and down, the last whole sample also where odd sizes cut one off', () => {
    const into = { y: new Uint8Array(8), cb: new Uint8Array(8), cr: new Uint8Array(8) };
    const from = { y: new Uint8Array(8), cb: Uint8Array.of(10, 20), cr: Uint8Array.of(30, 40) };
    formatConverter(format('420', 8), format('444', 8))(from, into);
    expect([...into.cb]).toEqual([10, 10, 20, 20, 10, 10, 20, 20]);
    expect([...into.cr]).toEqual([30, 30, 40, 40, 30, 30, 40, 40]);
    const half = { y: new Uint8Array(8), cb: new Uint8Array(4) };
    formatConverter(format('420', 8), format('422', 8))(from, half);
    expect([...half.cb]).toEqual([10, 20, 10, 20]);
    const odd = { y: new Uint8Array(15), cb: new Uint8Array(15) };
    const two = { y: new Uint8Array(15), cb: Uint8Array.of(1, 2) };
    formatConverter(format('420', 8, 5, 3), format('444', 8, 5, 3))(two, odd);
    expect([...odd.cb]).toEqual([1, 1, 2, 2, 2, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2]);
  });
});

describe('an adapted source', () => {
  const stored = { name: 'x', container: 'frames', frameCount: 1, warnings: [] } as const;
  const info = { ...stored, ...format('420', 8, 40, 30) };
  const source = (read: FramePlanes[]): FrameSource => ({
    info,
    seekable: false,
    readFrame(index, into) {
      if (index > 0) return false;
      read.push(into);
      into.y.fill(100);
      into.cb?.fill(90);
      into.cr?.fill(80);
      return true;
    },
    close() {},
  });

  /** The largest difference of 16-bit samples from a value. */
  const farthest = (plane: Uint8Array, value: number) =>
    new Uint16Array(plane.buffer).reduce((most, sample) => Math.max(most, Math.abs(sample - value)), 0);

  it('is the source itself if there is nothing to do', () => {
    const own = source([]);
    expect(adaptSource(own, { format: info, filter: 'bicubic' })).toBe(own);
  });

  it('resizes and converts only the planes that are read', async () => {
    const read: FramePlanes[] = [];
    const target = format('444', 10, 80, 60);
    const adapted = adaptSource(source(read), { format: target, filter: 'bicubic' });
    expect(adapted.info).toMatchObject(target);
    const y = new Uint8Array(2 * 80 * 60);
    expect(await adapted.readFrame(0, { y })).toBe(true);
    expect(read[0]?.cb).toBeUndefined();
    // A flat picture stays flat, within the rounding of swscale's vector code.
    expect(farthest(y, 400)).toBeLessThanOrEqual(4);
    const cb = new Uint8Array(2 * 80 * 60);
    await adapted.readFrame(0, { y, cb });
    expect(read[1]?.cb).toHaveLength(20 * 15);
    expect(farthest(cb, 360)).toBeLessThanOrEqual(4);
    expect(await adapted.readFrame(1, { y })).toBe(false);
  });
});
