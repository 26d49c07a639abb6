/**
 * @module test/unit/web/frames
 * The frame viewer: zoom and position, flicker rates, map colours, moments across encodes; loading, prefetching and caching
 * of pictures.
 */

import type { Report } from 'anyvmaf';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ByteCache } from '../../../web/src/frames/byte-cache.js';
import { fittingFull, gradient, tint } from '../../../web/src/frames/colours.js';
import type { ShownPair } from '../../../web/src/frames/draw.js';
import {
  type FramesCall,
  PairReader,
  type PairSource,
  pairingOptionsOf,
  Readers,
} from '../../../web/src/frames/serve.js';
import { Flicker, RATES, ViewSettings } from '../../../web/src/frames/settings.js';
import type { Stage } from '../../../web/src/frames/stage.js';
import { FrameStore } from '../../../web/src/frames/store.js';
import {
  bounded,
  fitted,
  isSharp,
  nextZoom,
  originOf,
  zoomedAt,
  zoomName,
} from '../../../web/src/frames/transform.js';
import { Saver } from '../../../web/src/frames/viewer/pictures.js';
import {
  besideMoment,
  frameText,
  rankingOf,
  sameMoment,
  shifted,
  subjectOf,
  versus,
  worstMoments,
} from '../../../web/src/frames/viewer/subject.js';
import {
  DEFAULT_SETTINGS,
  type EncodeResult,
  type EncodeSource,
  type PairFacts,
  pairingOf,
  type RunOptions,
} from '../../../web/src/session.js';
import { text } from '../../../web/src/text.js';
import { paired, report, vmafModel } from '../../support/report.js';

const HD = { width: 1920, height: 1080 };
const PANE = { width: 1000, height: 800 };

describe('zoom and position', () => {
  it('fits the picture by its tighter side, centred', () => {
    const view = fitted(HD, PANE);
    expect(view.zoom).toBeCloseTo(1000 / 1920, 12);
    expect(originOf(view, PANE)).toEqual({ x: 0, y: Math.round((800 - 1080 * (1000 / 1920)) / 2) });
  });

  it('keeps the sample under a point in place while zooming', () => {
    const before = { zoom: 1, x: 960, y: 540 };
    const point = { x: -300, y: 120 };
    const after = zoomedAt(before, 3.7, point);
    const under = ({ zoom, x, y }: typeof before) => [x + point.x / zoom, y + point.y / zoom];
    expect(under(after)[0]).toBeCloseTo(under(before)[0] ?? Number.NaN, 9);
    expect(under(after)[1]).toBeCloseTo(under(before)[1] ?? Number.NaN, 9);
  });

  it('starts at a whole screen pixel', () => {
    const { x, y } = originOf({ zoom: 2, x: 333.3, y: 250.1 }, { width: 999, height: 801 });
    expect([x, y]).toEqual([Math.round(499.5 - 666.6), Math.round(400.5 - 500.2)]);
  });

  it('leaves no gap beside a picture larger than its pane, and centres a smaller one', () => {
    expect(bounded({ zoom: 1, x: 0, y: 2000 }, HD, PANE)).toEqual({ zoom: 1, x: 500, y: 680 });
    expect(bounded({ zoom: 0.25, x: 0, y: 0 }, HD, PANE)).toEqual({ zoom: 0.25, x: 960, y: 540 });
  });

  it('zooms in to 32:1 at most, and out until the whole picture fits', () => {
    expect(bounded({ zoom: 100, x: 960, y: 540 }, HD, PANE).zoom).toBe(32);
    const huge = { width: 15360, height: 8640 };
    expect(bounded({ zoom: 1e-6, x: 0, y: 0 }, huge, PANE).zoom).toBeCloseTo(1000 / 15360, 12);
  });

  it('steps through whole zooms', () => {
    expect([0.52, 1, 2, 4].map((zoom) => nextZoom(zoom, 1))).toEqual([1, 2, 4, 8]);
    expect([0.52, 1, 2.5, 4].map((zoom) => nextZoom(zoom, -1))).toEqual([0.5, 0.5, 2, 2]);
    expect([nextZoom(32, 1), nextZoom(1 / 8, -1)]).toEqual([32, 1 / 8]);
  });

  it('shows samples as sharp squares only if all are equally large', () => {
    expect([1, 2, 3, 4, 5.3].map(isSharp)).toEqual([true, true, true, true, true]);
    expect([0.5, 1.3, 2.5].map(isSharp)).toEqual([false, false, false]);
  });

  it('names zooms as ratios or percentages', () => {
    expect([1, 4, 0.5, 0.521, 1.3].map(zoomName)).toEqual(['1:1', '4:1', '1:2', '52 %', '130 %']);
  });
});

describe('flicker', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Switches in ten seconds. */
  function switches(set: (flicker: Flicker) => void): number {
    let count = 0;
    const flicker = new Flicker(() => count++);
    set(flicker);
    flicker.running = true;
    vi.advanceTimersByTime(10_000);
    flicker.running = false;
    vi.advanceTimersByTime(10_000);
    return count;
  }

  it('is slow by default, and never faster than three a second, whatever rate is set', () => {
    expect(switches(() => {})).toBe(15);
    const most = switches((flicker) => {
      flicker.rate = 50;
    });
    expect(most).toBeLessThanOrEqual(30);
    expect(RATES.default).toBeLessThanOrEqual(3);
  });

  it('is faster only if allowed', () => {
    const count = switches((flicker) => {
      flicker.fast = true;
      flicker.rate = 10;
    });
    expect(count).toBe(100);
  });

  it('falls back to a safe rate when that is disallowed while it runs', () => {
    const count = switches((flicker) => {
      flicker.fast = true;
      flicker.rate = 12;
      flicker.running = true;
      flicker.fast = false;
    });
    expect(count).toBeLessThanOrEqual(30);
  });
});

describe('colours of a map', () => {
  it('are transparent without loss, and lighter and more opaque with more loss', () => {
    expect(tint(0)[3]).toBe(0);
    expect(tint(-1)).toEqual(tint(0));
    expect(tint(7)).toEqual(tint(1));
    const lightness = (share: number) => {
      const [red, green, blue] = tint(share);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    for (let i = 1; i <= 20; i++) {
      expect(lightness(i / 20)).toBeGreaterThan(lightness((i - 1) / 20));
      expect(tint(i / 20)[3]).toBeGreaterThan(tint((i - 1) / 20)[3]);
    }
  });

  it('saturate at a round value that at most a hundredth of the picture exceeds', () => {
    const density = Float32Array.from({ length: 1000 }, (_, i) => (i < 15 ? 0.31 : 0.01));
    const grid = { width: 100, height: 10, blockSize: 16, density, total: 1 };
    expect(fittingFull(grid)).toBe(0.5);
    expect(fittingFull({ ...grid, density: density.map(() => 0) })).toBe(0.02);
    expect(fittingFull({ ...grid, density: density.map(() => 99) })).toBe(5);
  });

  it('form the gradient of the legend', () => {
    expect(gradient()).toMatch(
      /^linear-gradient\(90deg, rgb\(66 10 104 \/ 0\.00\), .*rgb\(252 255 164 \/ 1\.00\)\)$/,
    );
  });
});

describe('worst moments', () => {
  const frames = [90, 50, 51, 80, 20, 95, 94, 93, 92, 91, 90, 10].map((vmaf, frameNum) => ({
    frameNum,
    metrics: { integer_motion: 1, vmaf },
  }));
  const report = {
    models: [{ name: 'vmaf' }],
    metrics: ['integer_motion', 'vmaf'],
    reference: { frameRate: { num: 3, den: 1 } },
  } as unknown as Report;

  it('are worst first, a second apart', () => {
    const rank = rankingOf(frames, report);
    expect(rank?.metric).toBe('vmaf');
    expect(worstMoments(frames, rank, report).slice(0, 3)).toEqual([11, 4, 1]);
  });

  it('are known while scores still arrive', () => {
    expect(rankingOf(frames, undefined)).toEqual({ metric: 'vmaf', worse: 'low' });
    expect(worstMoments([], rankingOf([], undefined), undefined)).toEqual([]);
  });

  it('are stepped through in order, stopping at both ends', () => {
    const moments = [11, 4, 1];
    expect(besideMoment(moments, 7, 1)).toBe(11);
    expect(besideMoment(moments, 11, 1)).toBe(4);
    expect(besideMoment(moments, 1, 1)).toBe(1);
    expect(besideMoment(moments, 11, -1)).toBe(11);
    expect(besideMoment([], 0, 1)).toBeUndefined();
  });
});

describe('one moment in several encodes', () => {
  const NEAREST = { policy: 'nearest', offset: 0 } as const;

  /** @param skipped reference frame on which the encode begins */
  function encode(name: string, skipped: number, frames: number): EncodeResult {
    const source = { reference: new File([], 'ref'), distorted: new File([], name), options: {} };
    const whole = report({ pairing: paired({}), frameCount: frames });
    return { name, frames: [], source, report: { ...whole, reference: { ...whole.reference, skipped } } };
  }
  const against = (own: EncodeResult, other: EncodeResult) => {
    const { source } = subjectOf(own, 0);
    return source && versus(own, other, source);
  };

  it('has the same reference frame, or the nearest one', () => {
    const [whole, trimmed, short] = [encode('a', 0, 100), encode('b', 12, 88), encode('c', 0, 60)];
    expect(sameMoment(whole, trimmed, 20)).toBe(8);
    expect(sameMoment(trimmed, whole, 8)).toBe(20);
    expect(sameMoment(whole, trimmed, 5)).toBe(0);
    expect(sameMoment(whole, short, 80)).toBe(59);
    // During a run, later frames may still arrive.
    expect(sameMoment(whole, { name: 'd', frames: [], skipped: 10 }, 80)).toBe(70);
    expect(sameMoment(whole, { name: 'd', frames: [] }, 80)).toBe(80);
  });

  it('is at the same time in encodes of different rates that are scored by their own frames', () => {
    const rated = (name: string, skipped: number, frames: number, num: number): EncodeResult => {
      const known = encode(name, skipped, frames).report as Report;
      const pairing = {
        ...paired({}),
        frames: { ...paired({}).frames, ...NEAREST, by: 'distorted' as const },
      };
      const reference = { ...known.reference, frameRate: { num: 25, den: 1 } };
      const distorted = { ...known.distorted, frameRate: { num, den: 2 } };
      return { name, frames: [], report: { ...known, pairing, reference, distorted } };
    };
    // From frame 12 of the reference on, two of which each frame lasts.
    const [whole, half] = [rated('a', 0, 100, 50), rated('b', 12, 44, 25)];
    expect([12, 20, 99].map((frame) => sameMoment(whole, half, frame))).toEqual([0, 4, 43]);
    expect([0, 4, 43].map((frame) => sameMoment(half, whole, frame))).toEqual([12, 20, 98]);
    expect(sameMoment(half, rated('c', 0, 50, 25), 4)).toBe(10);
  });

  it('is missing in an encode that begins later or ends earlier', () => {
    const [whole, trimmed, short] = [encode('a', 0, 100), encode('b', 12, 88), encode('c', 0, 60)];
    const has = (other: EncodeResult, frames: readonly number[]) =>
      frames.map((frame) => against(whole, other)?.has(frame));
    expect(has(trimmed, [0, 11, 12, 99])).toEqual([false, false, true, true]);
    expect(has(short, [0, 59, 60])).toEqual([true, true, false]);
    expect(against(trimmed, whole)?.has(0)).toBe(true);
  });

  it('is that of the whole video in a sampled run', () => {
    const sampled = encode('a', 0, 48);
    const sampling = { runs: 4, run_frames: 12, frames: 48, total: 400, seed: 1, level: 0.95, starts: [0] };
    const known = { ...(sampled.report as Report), sampling: { ...sampling, intervals: [] } };
    expect(subjectOf({ ...sampled, report: known }, 390)).toMatchObject({
      total: 400,
      source: { total: 400 },
    });
  });

  it('is read with the crop and the track of the encode that takes the place of the reference', () => {
    const cropped = (name: string, options: RunOptions): EncodeResult => {
      const result = encode(name, 0, 10);
      return { ...result, source: { ...(result.source as EncodeSource), options } };
    };
    const own = cropped('a', { cropReference: '96:64', cropDistorted: '90:60', skipDistorted: 3 });
    const other = cropped('b', { cropReference: '96:64', cropDistorted: '80:50', trackDistorted: 1 });
    const options = { cropReference: '80:50', cropDistorted: '90:60', trackReference: 1, offset: -3 };
    expect(against(own, other)?.source.options).toMatchObject(options);
    expect(against(own, other)?.source.options).not.toHaveProperty('skipDistorted');
  });

  it('is not compared between encodes if one lacks or repeats frames, but where both are whole', () => {
    const [whole, other] = [encode('a', 0, 100), encode('b', 0, 100)];
    const frames = paired({}).frames;
    for (const kind of ['missing', 'repeated', 'dropped'] as const) {
      const lists = { ...frames, [kind]: { count: 2, frames: [14, 15] } };
      const uneven = { ...other, report: report({ pairing: { ...paired({}), frames: lists } }) };
      expect([against(whole, uneven), against(uneven, whole)], kind).toEqual([undefined, undefined]);
    }
    // From frame 12 on, before which the other lacks two.
    const from = (result: EncodeResult, distorted: number): EncodeResult => {
      const known = result.report as Report;
      const [one, two] = [
        { ...known.reference, skipped: 12 },
        { ...known.distorted, skipped: distorted },
      ];
      return { ...result, report: { ...known, reference: one, distorted: two } };
    };
    const [own, late] = [from(whole, 12), from(other, 10)];
    expect(against(own, late)).toMatchObject({ shift: 10, source: { options: { offset: 0 } } });
    expect(against(late, own)).toMatchObject({ shift: 12, source: { options: { offset: 0 } } });
  });

  it('of a saved report is read from the frames and tracks that were scored', () => {
    const { reference, distorted, pairing = paired({}) } = encode('a', 25, 10).report as Report;
    const facts = { reference, distorted: { ...distorted, skipped: 10 } };
    const read = (about: Partial<PairFacts>) =>
      pairingOptionsOf(pairingOf({ ...facts, ...about }, DEFAULT_SETTINGS));
    expect(read({})).toMatchObject({ skipReference: 25, skipDistorted: 10, offset: 0 });
    const range = { unit: 'frames', start: 25, end: 35 } as const;
    const second = { ...pairing, range, reference: { ...pairing.reference, track: 1, tracks: 2 } };
    const expected = { skipReference: 25, skipDistorted: 10, range, trackReference: 1 };
    expect(read({ pairing: second })).toMatchObject(expected);
    const timed = { ...second, frames: { ...second.frames, policy: 'nearest' as const } };
    expect(read({ pairing: timed })).not.toHaveProperty('skipReference');
  });

  const SKIPS = { skipReference: 25, skipDistorted: 10 };
  it.each([
    // Numbers of the first pair, options and pairing of the run, frames later: the offset and the pair to read.
    ['by number', [0, 0], {}, { offset: 0 }, 2, 2, 0],
    ['by number, earlier', [9, 2], {}, { offset: 7 }, -9, -2, 0],
    ['by number, of a saved report', [25, 10], SKIPS, { offset: 0 }, 1, 16, 10],
    ['half the rate, from frame 12 on', [12, 6], {}, NEAREST, 1, 1, 12],
    ['half the rate by the encode, from frame 12 on', [12, 6], {}, { ...NEAREST, by: 'distorted' }, 1, 1, 6],
    ['half the rate by the encode, earlier', [12, 6], {}, { ...NEAREST, by: 'distorted' }, -9, -9, -3],
  ] as const)(
    'is compared with later frames of the reference: %s',
    (_, first, options, frames, by, offset, pair) => {
      const whole = encode('a', first[0], 20).report as Report;
      const pairing = { ...paired({}), frames: { ...paired({}).frames, ...frames } };
      const reference = { ...whole.reference, frameCount: 100 };
      const known = { ...whole, pairing, reference, distorted: { ...whole.distorted, skipped: first[1] } };
      const seen = shifted({ name: 'a', frames: [], report: known }, { ...source('a', 20), options }, by);
      expect(seen).toMatchObject({ shift: pair, source: { options: { offset }, total: 20 + pair } });
      expect([0, 1, 2, 3].find((frame) => seen?.has(frame))).toBe(Math.max(0, -pair));
    },
  );

  it('is distinct in two encodes with the same name', () => {
    const own = encode('own', 0, 10);
    const [first, second] = [encode('same', 0, 10), encode('same', 0, 10)];
    expect(against(own, first)?.source.key).toBe(against(own, first)?.source.key);
    expect(against(own, first)?.source.key).not.toBe(against(own, second)?.source.key);
  });
});

it.each([
  ['vmaf', 99.996, '99.99'],
  ['vmaf', 93.004, '93.00'],
  ['float_ssim', 0.99871, '0.9987'],
  ['vmaf', undefined, undefined],
])('the value of a frame is that of the results: %s %s is %s', (metric, value, expected) => {
  const result = { name: 'a', frames: [], report: report({ models: [vmafModel] }) };
  expect(frameText(result, metric, value)).toBe(expected);
  expect(frameText({ name: 'a', frames: [] }, metric, value)).toBe(expected);
});

describe('the place of most loss', () => {
  const { mapWhere, mapped } = text.frames;

  it('has “most of it” only above 50 %', () => {
    expect(mapWhere('right', 51)).toBe('Most of it is lost in the right of the picture (51 %).');
    expect(mapWhere('right', 23)).toBe('The right of the picture loses more than any other part (23 %).');
    expect(mapped.loss.total('2.00')).not.toContain('of 1');
  });
});

const SIDE = 100;
/** Of two RGBA pictures. */
const BYTES = 2 * 4 * SIDE * SIDE;

const file = {} as File;
const source = (key: string, total = 1000): PairSource => ({
  key,
  reference: file,
  distorted: file,
  options: {},
  maps: { butteraugli: false },
  total,
});

interface FakeRequest extends FramesCall {
  readonly signal: AbortSignal;
  /** Delivers pictures, in the order of the engine. */
  give(...frames: number[]): void;
  take(pair: ShownPair): void;
  end(error?: Error): Promise<void>;
  /** Delivers all requested pictures, the wanted one first, and ends. */
  all(): Promise<void>;
}

/** A store with a fake engine. */
function storeOf(budget = 100 * BYTES) {
  const requests: FakeRequest[] = [];
  const open = new Set<string>();
  const ready: number[] = [];
  const failed: unknown[] = [];
  const picture = (name: string): ImageBitmap => {
    open.add(name);
    const bitmap: ImageBitmap = { width: SIDE, height: SIDE, close: () => open.delete(name) };
    return bitmap;
  };
  let made = 0;
  const pair = (index: number): ShownPair => {
    const facts = {
      frame: index,
      time: null,
      bitDepth: 8,
      matrix: 'bt709',
      range: 'limited',
      guessed: false,
    } as const;
    made++;
    return {
      index,
      sampleAspect: 1,
      width: SIDE,
      height: SIDE,
      reference: picture(`reference ${index} ${made}`),
      distorted: picture(`distorted ${index} ${made}`),
      facts: { reference: facts, distorted: facts },
    };
  };
  const store = new FrameStore(
    (call, { signal, onEvent }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const give = (...frames: number[]) => {
          for (const frame of frames) onEvent(pair(frame));
        };
        const end = (error?: Error) => {
          if (error) reject(error);
          else resolve();
          return new Promise<void>((done) => setTimeout(done, 0));
        };
        const all = () => {
          const { first, from, to } = call;
          give(first, ...numbers(from, to).filter((frame) => frame !== first));
          return end();
        };
        requests.push({ ...call, signal, take: onEvent, give, end, all });
      }),
    { ready: (shown) => ready.push(shown.index), failed: (error) => failed.push(error) },
    budget,
  );
  const last = (): FakeRequest => {
    const call = requests.at(-1);
    if (!call) throw new Error('there is no request');
    return call;
  };
  /** Delivers an exact or rough picture. */
  const give = (call: FakeRequest, frame: number, rough: boolean) => call.take({ ...pair(frame), rough });
  return { store, requests, last, open, ready, failed, give };
}

/** A store with one wanted frame. */
function wanting(frame: number) {
  const made = storeOf();
  made.store.want(source('a'), frame);
  return made;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('pictures of frames', () => {
  it('arrive with their neighbours, the wanted one first', () => {
    const { last, ready } = wanting(50);
    const { first, from, to } = last();
    expect({ first, from, to }).toEqual({ first: 50, from: 48, to: 53 });
    expect(ready).toEqual([]);
    last().give(50);
    expect(ready).toEqual([50]);
  });

  it('are prefetched, so that the next step finds its picture', async () => {
    const { store, requests, last, ready } = wanting(50);
    await last().all();
    expect([last().from, last().to]).toEqual([54, 60]);
    await last().all();
    const calls = requests.length;
    for (let frame = 51; frame <= 56; frame++) store.want(source('a'), frame);
    expect(ready).toEqual([50, 51, 52, 53, 54, 55, 56]);
    // More are fetched when less than half of those ahead are left.
    expect(requests.length).toBe(calls + 1);
    expect([last().first, last().to]).toEqual([61, 66]);
  });

  it('are prefetched backwards when stepping backwards', async () => {
    const { store, last } = wanting(50);
    await last().all();
    await last().all();
    store.want(source('a'), 49);
    expect([last().from, last().to]).toEqual([39, 47]);
  });

  it('end at the end of the video', async () => {
    const { store, requests, last } = storeOf();
    store.want(source('a', 3), 1);
    expect([last().from, last().to]).toEqual([0, 2]);
    await last().all();
    expect(requests).toHaveLength(1);
  });

  it('are cancelled when others are wanted', () => {
    const { store, requests, last, open, ready } = wanting(50);
    store.want(source('a'), 500);
    const [stale] = requests;
    expect(stale?.signal.aborted).toBe(true);
    expect(last().first).toBe(500);
    stale?.give(50);
    expect(open.size).toBe(0);
    last().give(500);
    expect(ready).toEqual([500]);
  });

  it('do not arrive while none is wanted', () => {
    const { store, last, ready, open } = wanting(50);
    const call = last();
    store.rest();
    call.give(50);
    expect([ready, [...open]]).toEqual([[], []]);
    store.want(source('a'), 50);
    last().give(50);
    expect(ready).toEqual([50]);
  });

  it('stay requested if the current request includes the wanted frame', () => {
    const { store, requests, last, ready } = wanting(50);
    store.want(source('a'), 52);
    expect(requests).toHaveLength(1);
    last().give(50, 48, 49, 51, 52);
    expect(ready).toEqual([52]);
  });

  it('of two encodes are kept apart', () => {
    const { store, last, ready } = wanting(50);
    last().give(50);
    store.want(source('b'), 50);
    expect(last().source.key).toBe('b');
    expect(ready).toEqual([50]);
    last().give(50);
    expect(ready).toEqual([50, 50]);
    store.want(source('a'), 50);
    expect(ready).toEqual([50, 50, 50]);
  });

  for (const room of [2, 3, 5, 12]) {
    it(`stay within the budget, and prefetching ends: room for ${room}`, async () => {
      const { store, requests, last, open } = storeOf(room * BYTES);
      store.want(source('a'), 50);
      for (let calls = 0; calls !== requests.length; ) {
        calls = requests.length;
        expect(calls).toBeLessThan(10);
        const { first, from, to } = last();
        for (const frame of [first, ...numbers(from, to).filter((frame) => frame !== first)]) {
          last().give(frame);
          expect(store.bytes).toBeLessThanOrEqual(room * BYTES);
          expect(open.size).toBe((2 * store.bytes) / BYTES);
        }
        await last().end();
      }
      const before = requests.length;
      store.want(source('a'), 51);
      expect(open.size).toBeGreaterThan(0);
      // The next picture was cached at any budget.
      expect(requests.slice(before).every(({ first }) => first !== 51)).toBe(true);
      store.close();
      expect(open.size).toBe(0);
      expect(store.bytes).toBe(0);
    });
  }

  it('that fail are reported if wanted, not if prefetched', async () => {
    const { store, last, failed } = wanting(50);
    last().give(50);
    await last().end(new Error('a neighbour is damaged'));
    expect(failed).toEqual([]);
    store.want(source('a'), 51);
    await last().end(new Error('it is damaged'));
    expect(failed).toEqual([new Error('it is damaged')]);
  });
});

describe('pictures during playback', () => {
  /** The frames of a request. */
  const frames = ({ from, to, step = 1 }: FramesCall) =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);

  it('are requested at the step at which they are shown, a few ahead', async () => {
    const { store, requests, last, ready } = storeOf();
    store.want(source('a'), 10, 4);
    expect(frames(last())).toEqual([10, 14, 18, 22]);
    last().give(10, 14, 18, 22);
    await last().end();
    expect(ready).toEqual([10]);
    const calls = requests.length;
    store.want(source('a'), 14, 4);
    expect(ready).toEqual([10, 14]);
    expect(requests.slice(calls).map(frames)).toEqual([[26, 30, 34, 38]]);
  });

  it('are requested in ascending order at any steps', async () => {
    const { store, requests, last } = storeOf();
    let reached = -1;
    let at = 0;
    for (const step of [1, 5, 8, 2, 1, 7, 3, 3, 1]) {
      const next = store.upcoming(source('a'), at + step);
      expect(next).toBeGreaterThanOrEqual(at + step);
      store.want(source('a'), next, step);
      at = next;
      const call = last();
      if (call.from > reached) {
        expect(call.from).toBeGreaterThan(reached);
        reached = call.to;
        last().give(...frames(call));
        await last().end();
      }
    }
    const starts = requests.map(({ from }) => from);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });

  it('are the first available: cached, loading, or the one that is due', () => {
    const { store, last } = storeOf();
    expect(store.upcoming(source('a'), 7)).toBe(7);
    store.want(source('a'), 10, 4);
    expect(store.upcoming(source('a'), 11)).toBe(14);
    expect(store.upcoming(source('a'), 23)).toBe(23);
    expect(store.upcoming(source('b'), 11)).toBe(11);
    last().give(10, 14, 18);
    expect(store.upcoming(source('a'), 12)).toBe(14);
    expect(store.upcoming(source('a'), 19)).toBe(22);
  });

  it('may be rough, and are replaced when playback stops', async () => {
    const { store, requests, last, ready, give } = storeOf();
    store.want(source('a'), 10, 1);
    give(last(), 10, true);
    expect(ready).toEqual([10]);
    store.want(source('a'), 10);
    expect(requests.at(-2)?.signal.aborted).toBe(true);
    expect(ready).toEqual([10]);
    expect(last().step).toBeUndefined();
    // The decoder is past earlier frames.
    expect([last().from, last().first]).toEqual([10, 10]);
    last().give(10);
    expect(ready).toEqual([10, 10]);
    // Playback accepts exact pictures.
    await last().end();
    store.want(source('a'), 10, 1);
    expect(ready).toEqual([10, 10, 10]);
  });

  it('end at the end of the video', () => {
    const { store, last } = storeOf();
    store.want(source('a', 20), 15, 3);
    expect(frames(last())).toEqual([15, 18]);
  });
});

describe('a jump', () => {
  it('does not wait for the frames before it, which are loaded on stepping back', async () => {
    const { store, last } = wanting(500);
    await last().all();
    store.want(source('a'), 90);
    expect([last().from, last().first, last().to]).toEqual([90, 90, 93]);
    await last().all();
    store.want(source('a'), 89);
    expect([last().from, last().first]).toEqual([79, 89]);
  });
});

describe('readers of pairs', () => {
  /** A pending call. */
  function call() {
    let end = (_error?: Error) => {};
    const ended = new Promise<void>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve());
    });
    return { ended, end };
  }

  /** Readers that record which were made and closed. */
  function lending(room: number) {
    const readers = new Readers(room);
    const made: string[] = [];
    const closed: string[] = [];
    const make = (key: string) => () => {
      made.push(key);
      const reader = new PairReader({ reference: '', distorted: '' }, {});
      vi.spyOn(reader, 'close').mockImplementation(() => closed.push(key));
      return reader;
    };
    const use = (key: string, until: Promise<unknown> = Promise.resolve()) =>
      readers.with(key, make(key), () => until);
    return { readers, made, closed, use };
  }

  it('stay open, the most recently used ones', async () => {
    const { made, closed, use } = lending(2);
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await use(key);
    expect(made).toEqual(['a', 'b', 'c', 'b']);
    expect(closed).toEqual(['b', 'c']);
  });

  it('are never closed while in use, however many there are', async () => {
    const { made, closed, use } = lending(1);
    const calls = ['a', 'b', 'c'].map((key) => {
      const { ended, end } = call();
      return { end, used: use(key, ended) };
    });
    expect([made, closed]).toEqual([['a', 'b', 'c'], []]);
    for (const { end, used } of calls) {
      end();
      await used;
    }
    expect(closed).toEqual(['a', 'b']);
  });

  it('are shared by several calls, and released by a call that fails', async () => {
    const { made, closed, use } = lending(1);
    const { ended, end } = call();
    const failing = use('a', ended);
    await use('a');
    await use('b');
    // The second call of `a` has ended, the first one has not.
    expect([made, closed]).toEqual([['a', 'b'], ['b']]);
    end(new Error('it is damaged'));
    await expect(failing).rejects.toThrow('it is damaged');
    await use('c');
    expect(closed).toEqual(['b', 'a']);
  });

  it('all close with the viewer', async () => {
    const { readers, closed, use } = lending(3);
    const { ended, end } = call();
    await use('a');
    const reading = use('b', ended);
    readers.close();
    expect(closed).toEqual(['a', 'b']);
    end();
    await reading;
    expect(closed).toEqual(['a', 'b']);
  });
});

describe('a byte cache', () => {
  it('evicts the least recently used entries', () => {
    const dropped: string[] = [];
    const cache = new ByteCache<string, string>(30, 1, (value) => dropped.push(value));
    for (const name of ['a', 'b', 'c']) cache.set(name, name, 10);
    cache.get('a');
    cache.set('d', 'd', 10);
    expect(dropped).toEqual(['b']);
    expect(cache.bytes).toBe(30);
    cache.set('e', 'e', 25);
    expect(dropped).toEqual(['b', 'c', 'a', 'd']);
  });

  it('keeps a minimum number of entries of any size, and frees replaced values', () => {
    const dropped: number[] = [];
    const cache = new ByteCache<string, number>(10, 2, (value) => dropped.push(value));
    cache.set('a', 1, 50);
    cache.set('b', 2, 50);
    expect(dropped).toEqual([]);
    cache.set('a', 3, 50);
    expect(dropped).toEqual([1]);
    cache.clear();
    expect(dropped).toEqual([1, 2, 3]);
    expect(cache.bytes).toBe(0);
  });
});

it('a picture without the overlay does not wait for it', async () => {
  // A canvas that cannot be saved shows that saving began.
  const canvas = { toBlob: (done: (blob: null) => void) => done(null) };
  const look = { names: { reference: 'r', distorted: 'd' }, shown: 'distorted' };
  const stage = { look, part: undefined, canvasOf: () => canvas } as unknown as Stage;
  const settings = new ViewSettings();
  settings.mode.value = 'difference';
  const failed = vi.fn();
  const now = () => ({ name: 'a.mp4', frame: 3, rough: false, isMade: false });
  const saver = new Saver(stage, settings, { now, failed, said() {}, stopFilm() {}, map: async () => {} });
  saver.save();
  saver.save(saver.list.find(({ kind }) => kind === 'encode'));
  await vi.waitFor(() => expect(failed).toHaveBeenCalled());
  expect(failed).toHaveBeenCalledOnce();
});
