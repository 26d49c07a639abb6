/**
 * @module test/unit/pictures/image
 * Pictures get smaller without changing their light, survive PNG unchanged, and maps show differences where they are.
 */
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { differenceMap } from '../../../src/pictures/difference.js';
import { encodePng, type RgbImage, shrink } from '../../../src/pictures/image.js';
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
