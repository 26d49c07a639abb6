/**
 * @module test/unit/web/frames
 * The viewer's arithmetic: where a picture lies, how fast it may flicker, what colours mean, and which frame is next.
 */
import type { Report } from 'anyvmaf';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fittingFull, gradient, tint } from '../../../web/src/frames/colours.js';
import { Flicker, RATES } from '../../../web/src/frames/flicker.js';
import {
  bounded,
  fitted,
  isSharp,
  nextZoom,
  originOf,
  zoomedAt,
  zoomName,
} from '../../../web/src/frames/transform.js';
import { versus } from '../../../web/src/frames/versus.js';
import { sameMoment, subjectOf } from '../../../web/src/frames/viewer/subject.js';
import { besideMoment, rankingOf, worstMoments } from '../../../web/src/frames/worst.js';
import type { EncodeResult } from '../../../web/src/session.js';
import { text } from '../../../web/src/text.js';
import { paired, report } from '../../support/report.js';

const HD = { width: 1920, height: 1080 };
const PANE = { width: 1000, height: 800 };

describe('where a picture lies', () => {
  it('fits by the side that is tight, in the middle', () => {
    const view = fitted(HD, PANE);
    expect(view.zoom).toBeCloseTo(1000 / 1920, 12);
    expect(originOf(view, PANE)).toEqual({ x: 0, y: Math.round((800 - 1080 * (1000 / 1920)) / 2) });
  });

  it('keeps what is under a point while zooming', () => {
    const before = { zoom: 1, x: 960, y: 540 };
    const point = { x: -300, y: 120 };
    const after = zoomedAt(before, 3.7, point);
    const under = ({ zoom, x, y }: typeof before) => [x + point.x / zoom, y + point.y / zoom];
    expect(under(after)[0]).toBeCloseTo(under(before)[0] ?? Number.NaN, 9);
    expect(under(after)[1]).toBeCloseTo(under(before)[1] ?? Number.NaN, 9);
  });

  it('begins at whole pixels of the screen', () => {
    const { x, y } = originOf({ zoom: 2, x: 333.3, y: 250.1 }, { width: 999, height: 801 });
    expect([x, y]).toEqual([Math.round(499.5 - 666.6), Math.round(400.5 - 500.2)]);
  });

  it('leaves no room beside a picture that is larger than its pane, and centres one that is smaller', () => {
    expect(bounded({ zoom: 1, x: 0, y: 2000 }, HD, PANE)).toEqual({ zoom: 1, x: 500, y: 680 });
    expect(bounded({ zoom: 0.25, x: 0, y: 0 }, HD, PANE)).toEqual({ zoom: 0.25, x: 960, y: 540 });
  });

  it('zooms no further than 32:1, and as far out as the whole picture needs', () => {
    expect(bounded({ zoom: 100, x: 960, y: 540 }, HD, PANE).zoom).toBe(32);
    const huge = { width: 15360, height: 8640 };
    expect(bounded({ zoom: 1e-6, x: 0, y: 0 }, huge, PANE).zoom).toBeCloseTo(1000 / 15360, 12);
  });

  it('steps through whole zooms', () => {
    expect([0.52, 1, 2, 4].map((zoom) => nextZoom(zoom, 1))).toEqual([1, 2, 4, 8]);
    expect([0.52, 1, 2.5, 4].map((zoom) => nextZoom(zoom, -1))).toEqual([0.5, 0.5, 2, 2]);
    expect([nextZoom(32, 1), nextZoom(1 / 8, -1)]).toEqual([32, 1 / 8]);
  });

  it('shows samples as sharp squares only where they come out equal', () => {
    expect([1, 2, 3, 4, 5.3].map(isSharp)).toEqual([true, true, true, true, true]);
    expect([0.5, 1.3, 2.5].map(isSharp)).toEqual([false, false, false]);
  });

  it('names zooms as people do', () => {
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

  it('is calm by default, and never faster than three a second, whatever is asked', () => {
    expect(switches(() => {})).toBe(15);
    const most = switches((flicker) => {
      flicker.rate = 50;
    });
    expect(most).toBeLessThanOrEqual(30);
    expect(RATES.default).toBeLessThanOrEqual(3);
  });

  it('is faster only where that was allowed', () => {
    const count = switches((flicker) => {
      flicker.fast = true;
      flicker.rate = 10;
    });
    expect(count).toBe(100);
  });

  it('falls back to what is safe when that is taken back while it runs', () => {
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
  it('cover nothing where nothing is lost, and get lighter and stronger with the loss', () => {
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

  it('reach their strongest at a round value that a hundredth of the picture has', () => {
    const density = Float32Array.from({ length: 1000 }, (_, i) => (i < 15 ? 0.31 : 0.01));
    const grid = { width: 100, height: 10, blockSize: 16, density, total: 1 };
    expect(fittingFull(grid)).toBe(0.5);
    expect(fittingFull({ ...grid, density: density.map(() => 0) })).toBe(0.02);
    expect(fittingFull({ ...grid, density: density.map(() => 99) })).toBe(5);
  });

  it('are told from left to right', () => {
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

  it('come worst first, a second apart', () => {
    const rank = rankingOf(frames, report);
    expect(rank?.metric).toBe('vmaf');
    expect(worstMoments(frames, rank, report).slice(0, 3)).toEqual([11, 4, 1]);
  });

  it('are known while scores still come', () => {
    expect(rankingOf(frames, undefined)).toEqual({ metric: 'vmaf', worse: 'low' });
    expect(worstMoments([], rankingOf([], undefined), undefined)).toEqual([]);
  });

  it('are gone through in order, and stop at both ends', () => {
    const moments = [11, 4, 1];
    expect(besideMoment(moments, 7, 1)).toBe(11);
    expect(besideMoment(moments, 11, 1)).toBe(4);
    expect(besideMoment(moments, 1, 1)).toBe(1);
    expect(besideMoment(moments, 11, -1)).toBe(11);
    expect(besideMoment([], 0, 1)).toBeUndefined();
  });
});

describe('one moment in several encodes', () => {
  /** An encode that begins on a frame of the reference. */
  function encode(name: string, skipped: number, frames: number): EncodeResult {
    const source = { reference: new File([], 'ref'), distorted: new File([], name), options: {} };
    const whole = report({ pairing: paired({}), frameCount: frames });
    return {
      name,
      frames: [],
      source,
      report: { ...whole, reference: { ...whole.reference, skipped } },
    };
  }
  const against = (own: EncodeResult, other: EncodeResult) => {
    const { source } = subjectOf(own, 0);
    return source && versus(own, other, source);
  };

  it('has the same frame of the reference, or the nearest that there is', () => {
    const [whole, trimmed, short] = [encode('a', 0, 100), encode('b', 12, 88), encode('c', 0, 60)];
    expect(sameMoment(whole, trimmed, 20)).toBe(8);
    expect(sameMoment(trimmed, whole, 8)).toBe(20);
    expect(sameMoment(whole, trimmed, 5)).toBe(0);
    expect(sameMoment(whole, short, 80)).toBe(59);
    // During a run, what is not there yet may still come.
    expect(sameMoment(whole, { name: 'd', frames: [], skipped: 10 }, 80)).toBe(70);
    expect(sameMoment(whole, { name: 'd', frames: [] }, 80)).toBe(80);
  });

  it('is known to be missing in an encode that begins later or ends sooner', () => {
    const [whole, trimmed, short] = [encode('a', 0, 100), encode('b', 12, 88), encode('c', 0, 60)];
    const has = (other: EncodeResult, frames: readonly number[]) =>
      frames.map((frame) => against(whole, other)?.has(frame));
    expect(has(trimmed, [0, 11, 12, 99])).toEqual([false, false, true, true]);
    expect(has(short, [0, 59, 60])).toEqual([true, true, false]);
    expect(against(trimmed, whole)?.has(0)).toBe(true);
  });

  it('is not mistaken for that of an encode of the same name', () => {
    const own = encode('own', 0, 10);
    const [one, two] = [encode('same', 0, 10), encode('same', 0, 10)];
    expect(against(own, one)?.source.key).toBe(against(own, one)?.source.key);
    expect(against(own, one)?.source.key).not.toBe(against(own, two)?.source.key);
  });
});

describe('where a loss lies', () => {
  const { mapWhere, mapped } = text.frames;

  it('is most of it only above a half', () => {
    expect(mapWhere('right', 51)).toBe('Most of it is lost in the right of the picture (51 %).');
    expect(mapWhere('right', 23)).toBe('No ninth of the picture loses more than the right (23 %).');
    expect(mapped.loss.total('2.00')).not.toContain('of 1');
  });
});
