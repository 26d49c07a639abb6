/**
 * @module test/unit/pictures/pictures
 * Pictures get smaller without changing their light, survive PNG unchanged, and maps show differences where they are.
 */

import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { differenceMap } from '../../../src/pictures/difference.js';
import { FramePicture } from '../../../src/pictures/frame-pair.js';
import { addLegend, dotsOf, drawHeatmap } from '../../../src/pictures/heatmap.js';
import { encodePng, type RgbImage, shrink } from '../../../src/pictures/image.js';
import { HEATMAP_FULLS, heatmapColor, heatmapFull, STEPS, TINTS } from '../../../src/pictures/palette.js';
import { seeded } from '../../support/random.js';

function noiseImage(width: number, height: number, seed: number): RgbImage {
  return { width, height, data: seeded(seed).bytes(3 * width * height) };
}

describe('shrink', () => {
  it('averages the area that each sample covers', () => {
    // Red falls from 200 to 100 to 0 across three columns; two columns cover one and a half each.
    const image: RgbImage = { width: 3, height: 1, data: new Uint8Array([200, 0, 0, 100, 0, 0, 0, 0, 90]) };
    expect(shrink(image, { maxSide: 2 })).toEqual({
      width: 2,
      height: 1,
      // (200 + 100/2) / 1.5 and (100/2 + 0) / 1.5; blue 90 / 1.5.
      data: new Uint8Array([167, 0, 0, 33, 0, 60]),
    });
  });

  it('keeps the mean of every channel, and the shape', () => {
    const image = noiseImage(97, 61, 7);
    const small = shrink(image, { maxSide: 31 });
    expect([small.width, small.height]).toEqual([31, 19]);
    const mean = ({ data }: RgbImage, channel: number) => {
      const values = data.filter((_, i) => i % 3 === channel);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    for (const channel of [0, 1, 2]) expect(mean(small, channel)).toBeCloseTo(mean(image, channel), 0);
  });

  it('never makes a picture larger, and none with a side of 0', () => {
    const image = noiseImage(5, 400, 3);
    expect(shrink(image, { maxSide: 400 })).toBe(image);
    expect(shrink(image, {})).toBe(image);
    expect(shrink(image, { maxSide: 20 })).toMatchObject({ width: 1, height: 20 });
  });
});

it('writes PNG files that another reader gives back unchanged', async () => {
  const image = noiseImage(33, 17, 11);
  const read = decode(await encodePng(image));
  expect({ width: read.width, height: read.height, channels: read.channels, depth: read.depth }).toEqual({
    width: 33,
    height: 17,
    channels: 3,
    depth: 8,
  });
  expect(new Uint8Array(read.data)).toEqual(image.data);
});

describe('difference map', () => {
  const format: VideoFormat = { width: 20, height: 10, bitDepth: 8, chroma: '400' };

  it('is black where nothing differs, warm where brighter, cold where darker', () => {
    const reference = new Uint8Array(200).fill(100);
    const distorted = reference.slice();
    distorted[5] = 130;
    distorted[7] = 80;
    const { image, gain } = differenceMap({ y: reference }, { y: distorted }, format, { gain: 4 });
    expect(gain).toBe(4);
    expect([...image.data.slice(0, 3)]).toEqual([0, 0, 0]);
    expect([...image.data.slice(15, 18)]).toEqual([120, 60, 30]);
    expect([...image.data.slice(21, 24)]).toEqual([20, 40, 80]);
  });

  it('amplifies as far as at most one sample in fifty is clipped', () => {
    const reference = new Uint8Array(200);
    const by = (level: number, samples: number) => {
      const distorted = new Uint8Array(200);
      distorted.fill(level, 0, samples);
      return differenceMap({ y: reference }, { y: distorted }, format).gain;
    };
    expect(by(0, 0)).toBe(32);
    expect(by(31, 100)).toBe(8); // 31 x 8 = 248 is shown, 31 x 16 is not
    expect(by(200, 100)).toBe(1);
    expect(by(200, 4)).toBe(32); // 4 of 200
    expect(by(200, 5)).toBe(1);
  });

  it('is the same for the same picture in more bits', () => {
    const deep: VideoFormat = { ...format, bitDepth: 10 };
    const samples = (value: number) => new Uint8Array(new Uint16Array(200).fill(value).buffer);
    const ten = differenceMap({ y: samples(400) }, { y: samples(440) }, deep);
    const plain = (value: number) => new Uint8Array(200).fill(value);
    expect(ten).toEqual(differenceMap({ y: plain(100) }, { y: plain(110) }, format));
  });
});

/** Lightness as CIELAB has it, of sRGB. */
function lightness(red: number, green: number, blue: number): number {
  const linear = (v: number) => (v <= 10.31475 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const y = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

it('gets lighter and covers more with every step, from nothing', () => {
  expect(TINTS).toHaveLength(STEPS);
  expect(TINTS[0]?.[3]).toBe(0);
  for (let i = 1; i < STEPS; i++) {
    const [before, now] = [TINTS[i - 1] ?? [0, 0, 0, 0], TINTS[i] ?? [0, 0, 0, 0]] as const;
    expect(lightness(now[0], now[1], now[2])).toBeGreaterThan(lightness(before[0], before[1], before[2]));
    expect(now[3]).toBeGreaterThan(before[3]);
  }
});

it('has a colour for every share, the ends for what is beyond them', () => {
  // Violet without cover, yellow with most; a quarter of the way is the second of five colours.
  expect(heatmapColor(0)).toEqual([66, 10, 104, 0]);
  expect(heatmapColor(1)).toEqual([252, 255, 164, 0.85]);
  expect(heatmapColor(0.25).slice(0, 3)).toEqual([147, 38, 103]);
  expect(heatmapColor(0.125).slice(0, 3)).toEqual([106.5, 24, 103.5]);
  expect(heatmapColor(-1)).toEqual(heatmapColor(0));
  expect(heatmapColor(9)).toEqual(heatmapColor(1));
});

it('has its strongest colour at a round density that few cells are beyond', () => {
  const densities = Float64Array.from({ length: 1000 }, (_, i) => (i < 25 ? 0.7 : i < 40 ? 0.3 : 0.01));
  expect(heatmapFull(densities)).toBe(0.5);
  expect(heatmapFull(densities, 0.01)).toBe(1);
  expect(heatmapFull(densities, 0.5)).toBe(HEATMAP_FULLS[0]);
  expect(heatmapFull(Float64Array.of(99, 99))).toBe(5);
  expect(heatmapFull(new Float64Array())).toBe(0.02);
});

/** A grey frame of limited range: code 126 is light 128.1. */
function grey(width: number, height: number, bitDepth: number): FramePicture {
  const y =
    bitDepth > 8
      ? new Uint8Array(new Uint16Array(width * height).fill(126 * 4).buffer)
      : new Uint8Array(width * height).fill(126);
  const format = { width, height, bitDepth, chroma: '400' } as const;
  return new FramePicture(
    { frame: 0, time: 0 },
    format,
    { y },
    { matrix: 'bt709', range: 'limited', assumed: [] },
  );
}

it('leaves the picture dim and grey where nothing is lost, or less than nothing', () => {
  for (const bitDepth of [8, 10]) {
    const grid = { width: 2, height: 1, blockSize: 16, values: Float64Array.of(0, -3) };
    const { data } = drawHeatmap(grey(32, 16, bitDepth), grid, 1);
    // (126 - 16) * 255 / 219 * 0.62
    expect(new Set(data)).toEqual(new Set([79]));
  }
});

it('draws each cell in its place, the strongest colour from `full` on', () => {
  const values = new Float64Array(12);
  values[1 * 4 + 2] = 0.8;
  const grid = { width: 4, height: 3, blockSize: 16, values };
  const { width, data } = drawHeatmap(grey(60, 40, 8), grid, 0.4);
  const at = (x: number, y: number) => [...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];
  // In the middle of cell (2, 1): 79.4 * 0.15 + the last tint * 0.85.
  expect(at(40, 24)).toEqual([226, 229, 151]);
  expect(at(8, 8)).toEqual([79, 79, 79]);
  expect(at(40, 5)).toEqual([79, 79, 79]);
});

it('adds a strip without touching the picture, and leaves out a title without room', () => {
  const image = { width: 400, height: 10, data: new Uint8Array(3 * 400 * 10).fill(77) };
  const wide = addLegend(image, { title: 'ADM LOSS DENSITY  MEAN 0.310', full: 0.5 });
  expect([wide.width, wide.height]).toEqual([400, 25]);
  expect([...wide.data.subarray(0, image.data.length)]).toEqual([...image.data]);
  const ink = ({ width, data }: typeof wide, from: number, to: number) => {
    let dots = 0;
    for (let y = 10; y < 25; y++)
      for (let x = from; x < to; x++) if (data[3 * (y * width + x)] === 235) dots++;
    return dots;
  };
  expect(ink(wide, 0, 180)).toBeGreaterThan(100);
  const narrow = addLegend(
    { width: 100, height: 10, data: new Uint8Array(3000) },
    { title: 'ADM LOSS DENSITY', full: 2 },
  );
  expect(ink(narrow, 0, 15)).toBe(0);
  expect(ink(narrow, 85, 100)).toBeGreaterThan(10);
  expect(
    addLegend({ width: 17, height: 2, data: new Uint8Array(102) }, { title: 'VIF', full: 0.02 }).height,
  ).toBe(17);
});

it('has a letter for everything that a legend says', () => {
  const said = 'VIF AND ADM SCALE LOSS DENSITY MEAN 0123456789.+';
  for (const character of new Set(said.replaceAll(' ', '')))
    expect(dotsOf(character).length, character).toBeGreaterThan(3);
  expect(dotsOf('L')).toHaveLength(11);
});
