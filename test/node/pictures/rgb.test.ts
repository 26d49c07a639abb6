/**
 * @module test/node/pictures/rgb
 * Samples become the colours that the standards say: values calculated by hand from ITU-T H.273, for every chroma format
 * and depth, and compared with ffmpeg's own conversion.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../src/core/frame.js';
import { chromaSize } from '../../../src/core/frame.js';
import { type ColorMeaning, colorMeaning } from '../../../src/pictures/color.js';
import { toRgb, toRgba } from '../../../src/pictures/rgb.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { seeded } from '../../support/random.js';

/** A frame of one colour. */
function flat(format: VideoFormat, [y, cb, cr]: readonly [number, number, number]): FramePlanes {
  const size = chromaSize(format);
  const plane = (samples: number, value: number) => {
    if (format.bitDepth === 8) return new Uint8Array(samples).fill(value);
    return new Uint8Array(new Uint16Array(samples).fill(value).buffer);
  };
  const luma = plane(format.width * format.height, y);
  if (format.chroma === '400') return { y: luma };
  return { y: luma, cb: plane(size.width * size.height, cb), cr: plane(size.width * size.height, cr) };
}

const meaning = (matrix: ColorMeaning['matrix'], range: ColorMeaning['range']): ColorMeaning => ({
  matrix,
  range,
  assumed: [],
});

describe('colours', () => {
  it.each([
    // Full red: R' = 1, so Y' = Kr; in 8 bit limited 16 + 219 Kr, 128 - 224 Kr / (2 (1 - Kb)), 240.
    ['bt601', 'limited', [81, 90, 240], [254, 0, 0]],
    ['bt709', 'limited', [63, 102, 240], [255, 1, 0]],
    ['bt2020', 'limited', [74, 97, 240], [255, 0, 1]],
    ['bt709', 'full', [54, 99, 255], [254, 0, 0]],
    // Grey has no colour in any matrix; the ends of the ranges are black and white.
    ['bt709', 'limited', [126, 128, 128], [128, 128, 128]],
    ['bt601', 'limited', [16, 128, 128], [0, 0, 0]],
    ['bt601', 'limited', [235, 128, 128], [255, 255, 255]],
    ['bt601', 'full', [255, 128, 128], [255, 255, 255]],
    // Blacker than black and whiter than white are clipped.
    ['bt709', 'limited', [1, 128, 128], [0, 0, 0]],
    ['bt709', 'limited', [254, 128, 128], [255, 255, 255]],
  ] as const)('%s, %s range: %j is %j', (matrix, range, samples, colour) => {
    const format: VideoFormat = { width: 6, height: 4, bitDepth: 8, chroma: '420' };
    const { data } = toRgb(flat(format, samples), format, meaning(matrix, range));
    for (let i = 0; i < data.length; i++) {
      expect(Math.abs((data[i] ?? -9) - (colour[i % 3] ?? 0)), `byte ${i}`).toBeLessThanOrEqual(1);
    }
  });

  it.each([9, 10, 12, 14, 16])('has the same colour at %i bit', (bitDepth) => {
    for (const chroma of ['420', '422', '444', '400'] as const) {
      const format: VideoFormat = { width: 7, height: 5, bitDepth, chroma };
      const eight: VideoFormat = { ...format, bitDepth: 8 };
      const samples = [120, 90, 170] as const;
      const shifted = samples.map((value) => value * 2 ** (bitDepth - 8));
      const [y = 0, cb = 0, cr = 0] = shifted;
      const deep = toRgb(flat(format, [y, cb, cr]), format, meaning('bt709', 'limited'));
      expect(deep).toEqual(toRgb(flat(eight, samples), eight, meaning('bt709', 'limited')));
      if (chroma === '400') expect(new Set(deep.data).size).toBe(1);
    }
  });

  it('interpolates chroma from where MPEG-2 has it: left of two columns, between two rows', () => {
    const format: VideoFormat = { width: 4, height: 4, bitDepth: 8, chroma: '420' };
    const planes: FramePlanes = {
      y: new Uint8Array(16).fill(126),
      cb: new Uint8Array(4).fill(128),
      cr: new Uint8Array([128, 168, 128, 168]),
    };
    const { data } = toRgb(planes, format, meaning('bt601', 'full'));
    const red = [0, 1, 2, 3].map((x) => data[3 * x]);
    // 126 + 1.402 (Cr - 128): Cr is 128, then halfway 148, then 168, which is repeated at the edge.
    expect(red).toEqual([126, 154, 182, 182]);
    const down: FramePlanes = { ...planes, cr: new Uint8Array([128, 128, 168, 168]) };
    const column = toRgb(down, format, meaning('bt601', 'full'));
    // Rows lie a quarter and three quarters of the way: Cr 128, 138, 158, 168.
    expect([0, 1, 2, 3].map((y) => column.data[12 * y])).toEqual([126, 140, 168, 182]);
  });
});

describe('pictures for canvases', () => {
  it.each([
    [8, '420', 34, 18],
    [8, '420', 35, 19],
    [8, '422', 35, 19],
    [10, '444', 34, 18],
    [12, '400', 35, 19],
    [16, '420', 35, 18],
  ] as const)('are the same, with a byte of 255: %i bit, %s, %ix%i', (bitDepth, chroma, width, height) => {
    const format: VideoFormat = { width, height, bitDepth, chroma };
    const random = seeded(bitDepth + width);
    const noise = (samples: number) => {
      const values = Array.from({ length: samples }, () => random.int(0, 2 ** bitDepth - 1));
      return bitDepth === 8 ? new Uint8Array(values) : new Uint8Array(new Uint16Array(values).buffer);
    };
    const size = chromaSize(format);
    const chromaSamples = size.width * size.height;
    const planes = { y: noise(width * height), cb: noise(chromaSamples), cr: noise(chromaSamples) };
    const { data } = toRgb(planes, format, meaning('bt709', 'limited'));
    const image = toRgba(planes, format, meaning('bt709', 'limited'));
    expect([image.width, image.height, image.data.length]).toEqual([width, height, 4 * width * height]);
    expect([...image.data].filter((_, i) => i % 4 < 3)).toEqual([...data]);
    expect(image.data.every((value, i) => i % 4 < 3 || value === 255)).toBe(true);
    // The last column of an odd width has the chroma of the one before.
    if (chroma === '420' && width % 2 === 1) {
      const grey = { ...planes, y: new Uint8Array(planes.y.length).fill(100) };
      const { data: flat } = toRgb(grey, format, meaning('bt709', 'limited'));
      for (let row = 0; row < height; row++) {
        const end = 3 * width * (row + 1);
        expect([...flat.subarray(end - 3, end)]).toEqual([...flat.subarray(end - 6, end - 3)]);
      }
    }
  });
});

describe('what a video declares', () => {
  it('decides the matrix and the range', () => {
    const hd = { width: 1920, height: 1080 };
    expect(colorMeaning({ ...hd, matrix: 'smpte170m', colorRange: 'full' })).toEqual({
      matrix: 'bt601',
      range: 'full',
      assumed: [],
    });
    expect(colorMeaning({ ...hd, matrix: 'bt2020nc', colorRange: 'limited' }).matrix).toBe('bt2020');
  });

  it('is completed as players do, by size, and said to be assumed', () => {
    expect(colorMeaning({ width: 1280, height: 720 })).toEqual({
      matrix: 'bt709',
      range: 'limited',
      assumed: ['matrix', 'range'],
    });
    expect(colorMeaning({ width: 720, height: 576 }).matrix).toBe('bt601');
    expect(colorMeaning({ width: 1024, height: 577, matrix: 'unknown', colorRange: 'full' })).toEqual({
      matrix: 'bt709',
      range: 'full',
      assumed: ['matrix'],
    });
  });
});

describe.runIf(hasFfmpeg)(`compared with ffmpeg (${needsFfmpeg})`, () => {
  it.each([
    ['bt601', 'limited', 'yuv420p', '420', 8],
    ['bt709', 'limited', 'yuv422p', '422', 8],
    ['bt709', 'full', 'yuv444p', '444', 8],
    ['bt601', 'full', 'yuv420p10le', '420', 10],
    ['bt709', 'limited', 'yuv444p16le', '444', 16],
  ] as const)('%s, %s range, %s', (matrix, range, pixelFormat, chroma, bitDepth) => {
    const format: VideoFormat = { width: 64, height: 48, bitDepth, chroma };
    const lavfi = `gradients=s=64x48:c0=0x2060a0:c1=0xd0a030:n=2:x0=0:y0=0:x1=63:y1=47:speed=0.00001`;
    const ffmpeg = (args: readonly string[], input?: Uint8Array) => {
      const made = spawnSync('ffmpeg', ['-v', 'error', ...args, '-f', 'rawvideo', '-'], { input });
      expect(made.stderr.toString()).toBe('');
      return new Uint8Array(made.stdout);
    };
    const tv = { limited: 'tv', full: 'pc' } as const;
    const to = `scale=out_color_matrix=${matrix}:out_range=${tv[range]}:flags=accurate_rnd+full_chroma_int+bicubic`;
    const samples = ffmpeg([
      '-f',
      'lavfi',
      '-i',
      lavfi,
      '-frames:v',
      '1',
      '-vf',
      to,
      '-pix_fmt',
      pixelFormat,
    ]);
    const back = `scale=in_color_matrix=${matrix}:in_range=${tv[range]}:flags=accurate_rnd+full_chroma_int+bilinear`;
    const raw = ['-f', 'rawvideo', '-s', '64x48', '-pix_fmt', pixelFormat, '-i', '-'];
    const expected = ffmpeg([...raw, '-vf', back, '-pix_fmt', 'rgb24'], samples);
    const size = chromaSize(format);
    const bytes = bitDepth > 8 ? 2 : 1;
    const luma = 64 * 48 * bytes;
    const plane = size.width * size.height * bytes;
    const planes: FramePlanes = {
      y: samples.slice(0, luma),
      cb: samples.slice(luma, luma + plane),
      cr: samples.slice(luma + plane, luma + 2 * plane),
    };
    const { data } = toRgb(planes, format, meaning(matrix, range));
    let worst = 0;
    let sum = 0;
    for (let i = 0; i < data.length; i++) {
      const off = Math.abs((data[i] ?? 0) - (expected[i] ?? 0));
      worst = Math.max(worst, off);
      sum += off;
    }
    expect(sum / data.length).toBeLessThan(1);
    expect(worst).toBeLessThanOrEqual(4);
  });
});
