/**
 * @module test/unit/media/preflight-measure
 * What preflight measures: sharpness, black borders and frame times; and whether raw video has the declared geometry.
 */
import { describe, expect, it } from 'vitest';
import { usageError } from '../../../src/core/errors.js';
import { storedFrameBytes } from '../../../src/core/frame.js';
import {
  FrameMeter,
  findBorders,
  measureEncoded,
  measureLuma,
  sharpness,
  spreadFrames,
} from '../../../src/media/preflight/measure.js';
import { analyseTimestamps } from '../../../src/media/preflight/moments.js';
import { findWrongGeometry } from '../../../src/media/raw-geometry.js';
import { bytesReader } from '../../../src/media/readers.js';
import type { RawVideoFormat } from '../../../src/media/types.js';
import { sampleSource, yuvFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { moving, upTo, video } from '../../support/align.js';
import { format } from '../../support/metric.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** Luma from a function of the place, rows packed. */
function picture(width: number, height: number, value: (x: number, y: number) => number, bitDepth = 8) {
  const bytes = bitDepth > 8 ? 2 : 1;
  const luma = new Uint8Array(width * height * bytes);
  for (let at = 0; at < width * height; at++) {
    const sample = value(at % width, Math.floor(at / width));
    luma[at * bytes] = sample & 255;
    if (bytes === 2) luma[at * bytes + 1] = sample >> 8;
  }
  return { luma, format: { width, height, bitDepth } };
}

describe('sharpness', () => {
  const random = seeded(4);
  const values = Array.from({ length: 96 * 64 }, () => random.int(20, 120));
  const noise = (x: number, y: number) => values[y * 96 + x] ?? 0;
  const of = (value: (x: number, y: number) => number, bitDepth = 8) => {
    const { luma, format } = picture(96, 64, value, bitDepth);
    return sharpness(luma, format);
  };

  it('is a quarter of the root mean square of the Laplacian over the standard deviation', () => {
    // Columns 0, 100, 0, 100 …: every Laplacian is 4 * sample - (2 * other + 2 * sample) = 200; deviation 50.
    const { luma, format } = picture(102, 9, (x) => 100 * (x & 1));
    expect(sharpness(luma, format)).toBeCloseTo(200 / 4 / 50, 12);
  });

  it('does not depend on brightness, contrast or bit depth', () => {
    const value = of((x, y) => noise(x, y)) ?? 0;
    expect(value).toBeGreaterThan(0);
    expect(of((x, y) => 2 * noise(x, y) + 10)).toBeCloseTo(value, 12);
    expect(of((x, y) => 16 * noise(x, y), 12)).toBeCloseTo(value, 12);
  });

  it('falls with every pass of blur', () => {
    const format = { width: 160, height: 90, bitDepth: 8, chroma: '400' } as const;
    const values = [0, 1, 2, 3].map((blur) => {
      const clip = makeSample(format, { distortion: { blur } });
      return sharpness(new Uint8Array(clip.frame('distorted', 0)[0]?.samples ?? []), format) ?? 0;
    });
    for (const [i, sharper] of values.slice(0, -1).entries())
      expect(values[i + 1]).toBeLessThan(0.95 * sharper);
  });

  it('does not take block edges for detail, nor ringing beside edges that lost height', () => {
    const value = of(noise) ?? 0;
    const blocks = of((x, y) => noise(x, y) + 8 * (((x >> 3) + (y >> 3)) & 1));
    expect(blocks).toBeLessThanOrEqual(value);
    expect(blocks).toBeGreaterThan(0.9 * value);
    const half = (x: number) => (x < 50 ? 20 : 180);
    const lines = of((x) => half(x) + (x % 20 === 5 ? 60 : 0)) ?? 0;
    expect(of((x) => half(x) + (x % 20 === 5 ? 54 : 2 * (x & 1)))).toBeLessThan(lines);
  });

  it('is null for pictures without contrast, and for tiny ones', () => {
    expect(of((x) => 100 + (x & 1))).toBeNull();
    const tiny = picture(2, 64, (x) => 100 * x);
    expect(sharpness(tiny.luma, tiny.format)).toBeNull();
  });
});

describe('findBorders', () => {
  const inside = (left: number, top: number, right: number, bottom: number, black: number, depth = 8) => {
    const border = (x: number, y: number) => x < left || y < top || x >= 120 - right || y >= 80 - bottom;
    const value = (x: number, y: number) => (border(x, y) ? black : 90 + ((7 * x + 13 * y) % 60));
    return picture(120, 80, (x, y) => value(x, y) * 2 ** (depth - 8), depth);
  };

  it.each([
    [0, 0, 0, 0],
    [0, 10, 0, 9],
    [15, 0, 16, 0],
    [3, 4, 5, 6],
  ])('finds left %i, top %i, right %i, bottom %i', (left, top, right, bottom) => {
    for (const depth of [8, 10]) {
      const { luma, format } = inside(left, top, right, bottom, 16, depth);
      const borders = { left, top, right, bottom };
      const [across, down] = [120 - left - right, 80 - top - bottom];
      const filled = { left: down, top: across, right: down, bottom: across };
      expect(findBorders(luma, format, 'limited')).toEqual({ certain: borders, possible: borders, filled });
    }
  });

  it('tells black from dark by the range, and tolerates specks', () => {
    const { luma, format } = inside(0, 10, 0, 10, 16);
    expect(findBorders(luma, format, 'full')?.certain.top).toBe(0);
    expect(findBorders(luma, format, 'full')?.possible.top).toBe(10);
    luma[5 * 120 + 60] = 200;
    expect(findBorders(luma, format, 'limited')?.certain.top).toBe(10);
  });

  it('does not judge dark frames', () => {
    const night = picture(64, 64, (x) => 16 + (x % 40));
    expect(findBorders(night.luma, night.format, 'limited')).toBeNull();
    const black = picture(64, 64, () => 16);
    expect(findBorders(black.luma, black.format, 'limited')).toBeNull();
  });
});

describe('FrameMeter', () => {
  it('counts as border what is black in all usable frames', () => {
    const frame = (top: number) =>
      picture(64, 64, (x, y) => (y < top ? 16 : 100 + ((5 * x + 3 * y) % 90))).luma;
    const meter = new FrameMeter({ width: 64, height: 64, bitDepth: 8 });
    meter.add(0, { y: frame(20) });
    meter.add(10, { y: frame(8) });
    meter.add(20, { y: picture(64, 64, () => 16).luma });
    const { frames, sharpness: sharp, borders } = meter.result;
    expect(frames).toEqual([0, 10, 20]);
    expect(sharp[2]).toBeNull();
    expect(borders?.certain).toEqual({ left: 0, top: 8, right: 0, bottom: 0 });
  });

  /** A box on black. */
  const box = (left: number, top: number, width: number, height: number) =>
    picture(128, 64, (x, y) =>
      x >= left && y >= top && x < left + width && y < top + height ? 100 + ((5 * x + 3 * y) % 90) : 16,
    ).luma;
  const bordersOf = (...lumas: readonly Uint8Array[]) => {
    const meter = new FrameMeter({ width: 128, height: 64, bitDepth: 8 });
    for (const [frame, y] of lumas.entries()) meter.add(frame, { y });
    return meter.result.borders?.certain;
  };

  it.each([
    ['something small on black', [box(60, 30, 12, 8)]],
    ['something small that moves on black', [box(4, 4, 12, 8), box(100, 4, 12, 8), box(52, 40, 12, 8)]],
  ])('finds no border around %s', (_, lumas) => {
    expect(bordersOf(...lumas)).toEqual({ left: 0, top: 0, right: 0, bottom: 0 });
  });

  it('finds the bars beside a rotated picture, and around one that lights up for a moment', () => {
    expect(bordersOf(box(46, 0, 36, 64))).toEqual({ left: 46, top: 0, right: 46, bottom: 0 });
    const moment = [box(0, 8, 128, 48), box(30, 20, 8, 8)];
    expect(bordersOf(...moment)).toEqual({ left: 0, top: 8, right: 0, bottom: 8 });
  });
});

describe('measuring', () => {
  it('spreads frames over the video', () => {
    expect(spreadFrames(100)).toEqual([10, 30, 50, 70, 90]);
    expect(spreadFrames(3)).toEqual([0, 1, 2]);
    expect(spreadFrames(0)).toEqual([]);
    expect(spreadFrames(null, 3)).toEqual([0, 24, 48]);
  });

  it('reads luma of a source, and stops at its end', async () => {
    const format = { width: 96, height: 64, bitDepth: 10, chroma: '420' } as const;
    const source = sampleSource(makeSample(format), 'reference', 30);
    const { frames, sharpness: sharp } = await measureLuma(source, [0, 20, 40]);
    expect(frames).toEqual([0, 20]);
    expect(sharp.every((value) => value !== null && value > 0)).toBe(true);
  });

  const source = video(moving(1), { frames: 10 });
  const { readFrame } = source;
  const info = { ...source.info, name: 'a', container: 'frames', warnings: [] } as const;

  it('opens an encoded video at each time, and closes it', async () => {
    const starts: unknown[] = [];
    let open = 0;
    const encoded: Parameters<typeof measureEncoded>[0] = async ({ time }) => {
      starts.push(time?.start);
      open++;
      return { info, seekable: false, readFrame, close: () => void open-- };
    };
    const result = await measureEncoded(encoded, { frameRate: { num: 50, den: 1 } }, [1, 4]);
    expect(starts).toEqual([1, 4]);
    expect(open).toBe(0);
    expect(result.frames).toEqual([50, 200]);
  });

  it('measures the first frame of an encoded video that has none at any of the times', async () => {
    const encoded: Parameters<typeof measureEncoded>[0] = async ({ time }) => {
      if (time) throw usageError('there is nothing to score in 0.067 s on of a.gif: it ends before.');
      return { info, seekable: false, readFrame, close() {} };
    };
    expect((await measureEncoded(encoded, {}, [0.02, 0.067])).frames).toEqual([0]);
  });
});

describe('analyseTimestamps', () => {
  const at = (frames: readonly number[], rate: number) =>
    Float64Array.from(frames, (k) => Math.round((1000 * k) / rate) / 1000);

  const rates = [24000 / 1001, 25, 30000 / 1001, 50, 60, 120, 240];
  it.each(rates)('calls %f frames a second, in whole milliseconds, constant', (rate) => {
    const found = analyseTimestamps(at(upTo(500), rate));
    expect(found).toMatchObject({ variable: false, gaps: [], doubled: [] });
  });

  it('finds missing and doubled frames', () => {
    const frames = upTo(300).filter((k) => ![10, 50, 51, 52].includes(k));
    // Frame 9 precedes the first gap; one frame fewer precedes the second.
    expect(analyseTimestamps(at(frames, 30))?.gaps).toEqual([
      { after: 9, frames: 1 },
      { after: 48, frames: 3 },
    ]);
    const doubled = [...upTo(100), ...upTo(100).map((k) => 100 + k)];
    doubled.splice(40, 0, 39);
    expect(analyseTimestamps(at(doubled, 25))).toMatchObject({ variable: false, doubled: [40] });
  });

  it('calls a mix of 24 and 30 frames a second variable, and does not judge fewer than three frames', () => {
    const times = [...upTo(50).map((k) => k / 24), ...upTo(70).map((k) => 50 / 24 + k / 30)];
    expect(analyseTimestamps(Float64Array.from(times))?.variable).toBe(true);
    expect(analyseTimestamps(Float64Array.of(0, 0.04))).toBeUndefined();
  });
});

const clips = new Map<string, Uint8Array>();
/** The first frames of a clip, made once. */
function clip(of: RawVideoFormat, frames: number): Uint8Array {
  const bytes = frames * storedFrameBytes(of);
  const key = JSON.stringify(of);
  const known = clips.get(key);
  const made = known && known.length >= bytes ? known : yuvFile(makeSample(of), 'reference', frames);
  clips.set(key, made);
  return made.subarray(0, bytes);
}

/** Frames whose luma is computed. */
function drawn(of: RawVideoFormat, frames: number, luma: (x: number, y: number, n: number) => number) {
  const frameBytes = storedFrameBytes(of);
  const file = new Uint8Array(frames * frameBytes).fill(128);
  for (let n = 0; n < frames; n++)
    for (let y = 0; y < of.height; y++)
      for (let x = 0; x < of.width; x++) file[n * frameBytes + y * of.width + x] = luma(x, y, n);
  return file;
}

describe('a wrong geometry', () => {
  const TRUE = format(352, 288);
  it.each([
    ['on its side', TRUE, format(288, 352)],
    ['of half the height', TRUE, format(352, 144)],
    ['of another width', TRUE, format(360, 288)],
    ['of a larger size', TRUE, format(704, 576)],
    ['of 10 bits instead of 8', TRUE, format(352, 288, 10)],
    ['of 16 bits instead of 8', TRUE, format(352, 288, 16)],
    ['of 4:2:2 instead of 4:2:0', TRUE, format(352, 288, 8, '422')],
    ['of 8 bits instead of 10', format(352, 288, 10), TRUE],
    ['of 16 bits instead of 10', format(352, 288, 10), format(352, 288, 16)],
    ['of 4:2:0 instead of 4:2:2', format(352, 288, 8, '422'), TRUE],
  ])('%s is recognised, and the right one is named', async (_, real, declared) => {
    expect((await findWrongGeometry(bytesReader(clip(real, 8)), declared))?.fits).toEqual(real);
  });
});

describe('the right geometry', () => {
  it.each([
    format(64, 64),
    format(160, 90),
    format(352, 288),
    format(288, 352),
    format(346, 262),
    format(352, 288, 10),
    format(352, 288, 12, '444'),
    format(176, 144, 16, '422'),
    format(352, 288, 8, '400'),
  ])('$width x $height, $bitDepth bit, $chroma is not doubted', async (of) => {
    for (const frames of tier([2], [1, 2, 6]))
      expect(await findWrongGeometry(bytesReader(clip(of, frames)), of)).toBeUndefined();
  });

  it('with pictures that alternate between two scenes is not doubted', async () => {
    for (const of of tier([format(320, 180)], [format(352, 288), format(320, 180)])) {
      const frameBytes = storedFrameBytes(of);
      const scenes = [1, 2].map((seed) => yuvFile(makeSample(of, { seed }), 'reference', 12));
      const film = new Uint8Array(12 * frameBytes);
      for (let n = 0; n < 12; n++) {
        const scene = scenes[n & 1] ?? film;
        film.set(scene.subarray(n * frameBytes, (n + 1) * frameBytes), n * frameBytes);
      }
      expect(await findWrongGeometry(bytesReader(film), of)).toBeUndefined();
    }
  });

  // xorshift, so that every run has the same noise.
  let state = 0x9e3779b9;
  const noise = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 255;
  };
  it.each<[string, (x: number, y: number, n: number) => number]>([
    ['a flat picture', () => 90],
    ['noise', noise],
    ['noise over a slope', (x, y) => ((x + y) >> 2) + (noise() >> 3)],
    ['single rows', (_, y) => 255 * (y & 1)],
    ['single columns', (x) => 255 * (x & 1)],
    ['a chessboard', (x, y) => 255 * ((x ^ y) & 1)],
    ['slanted stripes', (x, y, n) => ((x + 3 * y + n) & 31) * 8],
    ['separate fields', (x, y, n) => 128 + 100 * Math.sin((x + 20 * (y & 1) + 10 * n) / 9 + y / 20)],
    ['fast motion', (x, y, n) => 128 + 100 * Math.sin((x * x + y * 40) / 900 + 2.1 * n)],
    ['flat boxes, as in animation', (x, y, n) => ((x - n) >> 5) * 37 + (y >> 4) * 11],
  ])('%s is not doubted', async (_, luma) => {
    for (const of of tier([format(352, 288)], [format(320, 240), format(352, 288)]))
      expect(await findWrongGeometry(bytesReader(drawn(of, 8, luma)), of)).toBeUndefined();
  });
});
