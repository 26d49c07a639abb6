/**
 * @module test/unit/pictures/pictures
 * Pictures shrink and become PNG unchanged, maps show differences in place, and facts about frames tell defects apart.
 */
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { chromaSize, type FramePlanes, type VideoFormat } from '../../../src/core/frame.js';
import { measureFacts } from '../../../src/pictures/facts.js';
import { differenceMap, FramePicture } from '../../../src/pictures/frame-pair.js';
import { addLegend, dotsOf, drawHeatmap } from '../../../src/pictures/heatmap.js';
import { HEATMAP_FULLS, heatmapColor, heatmapFull, STEPS, TINTS } from '../../../src/pictures/palette.js';
import {
  type ColorMeaning,
  colorMeaning,
  encodePng,
  type RgbImage,
  shrink,
  toRgb,
  toRgba,
} from '../../../src/pictures/rgb.js';
import { seeded } from '../../support/random.js';

function noiseImage(width: number, height: number, seed: number): RgbImage {
  return { width, height, data: seeded(seed).bytes(3 * width * height) };
}

describe('shrink', () => {
  it('averages the area that each sample covers', () => {
    // Red falls from 200 to 100 to 0 across three columns; two columns cover one and a half each.
    const image: RgbImage = { width: 3, height: 1, data: new Uint8Array([200, 0, 0, 100, 0, 0, 0, 0, 90]) };
    // (200 + 100/2) / 1.5 and (100/2 + 0) / 1.5; blue 90 / 1.5.
    const data = new Uint8Array([167, 0, 0, 33, 0, 60]);
    expect(shrink(image, { maxSide: 2 })).toEqual({ width: 2, height: 1, data });
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

  it('never enlarges a picture, and no side becomes 0', () => {
    const image = noiseImage(5, 400, 3);
    expect(shrink(image, { maxSide: 400 })).toBe(image);
    expect(shrink(image, {})).toBe(image);
    expect(shrink(image, { maxSide: 20 })).toMatchObject({ width: 1, height: 20 });
  });
});

it('writes PNG files that another reader decodes unchanged', async () => {
  const image = noiseImage(33, 17, 11);
  const read = decode(await encodePng(image));
  expect(read).toMatchObject({ width: 33, height: 17, channels: 3, depth: 8 });
  expect(new Uint8Array(read.data)).toEqual(image.data);
});

describe('difference map', () => {
  const format: VideoFormat = { width: 20, height: 10, bitDepth: 8, chroma: '400' };

  it('is black without differences, warm where brighter, cold where darker', () => {
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

  it('amplifies until at most one sample in fifty is clipped', () => {
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

/** CIELAB lightness of sRGB. */
function lightness(red: number, green: number, blue: number): number {
  const linear = (v: number) => (v <= 10.31475 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const y = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

it('tints get lighter and cover more with every step, from nothing', () => {
  expect(TINTS).toHaveLength(STEPS);
  expect(TINTS[0]?.[3]).toBe(0);
  for (let i = 1; i < STEPS; i++) {
    const [before, now] = [TINTS[i - 1] ?? [0, 0, 0, 0], TINTS[i] ?? [0, 0, 0, 0]] as const;
    expect(lightness(now[0], now[1], now[2])).toBeGreaterThan(lightness(before[0], before[1], before[2]));
    expect(now[3]).toBeGreaterThan(before[3]);
  }
});

it('heatmaps have a colour for every share, and the ends beyond', () => {
  // Violet without cover, yellow with most; a quarter of the way is the second of five colours.
  expect(heatmapColor(0)).toEqual([66, 10, 104, 0]);
  expect(heatmapColor(1)).toEqual([252, 255, 164, 0.85]);
  expect(heatmapColor(0.25).slice(0, 3)).toEqual([147, 38, 103]);
  expect(heatmapColor(0.125).slice(0, 3)).toEqual([106.5, 24, 103.5]);
  expect(heatmapColor(-1)).toEqual(heatmapColor(0));
  expect(heatmapColor(9)).toEqual(heatmapColor(1));
});

it('the strongest colour stands for a round density that few cells exceed', () => {
  const densities = Float64Array.from({ length: 1000 }, (_, i) => (i < 25 ? 0.7 : i < 40 ? 0.3 : 0.01));
  expect(heatmapFull(densities)).toBe(0.5);
  expect(heatmapFull(densities, 0.01)).toBe(1);
  expect(heatmapFull(densities, 0.5)).toBe(HEATMAP_FULLS[0]);
  expect(heatmapFull(Float64Array.of(99, 99))).toBe(5);
  expect(heatmapFull(new Float64Array())).toBe(0.02);
});

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

function meaning(matrix: ColorMeaning['matrix'], range: ColorMeaning['range']): ColorMeaning {
  return { matrix, range, assumed: [] };
}

/** A grey frame of limited range: code 126 is light 128.1. */
function grey(width: number, height: number, bitDepth: number): FramePicture {
  const format = { width, height, bitDepth, chroma: '400' } as const;
  const planes = flat(format, [126 * 2 ** (bitDepth - 8), 0, 0]);
  return new FramePicture({ frame: 0, time: 0 }, format, planes, meaning('bt709', 'limited'));
}

it('the picture stays dim and grey where nothing or less is lost', () => {
  for (const bitDepth of [8, 10]) {
    const grid = { width: 2, height: 1, blockSize: 16, values: Float64Array.of(0, -3) };
    const { data } = drawHeatmap(grey(32, 16, bitDepth), grid, 1);
    // (126 - 16) * 255 / 219 * 0.62
    expect(new Set(data)).toEqual(new Set([79]));
  }
});

it('draws each cell in its place, with the strongest colour from `full` on', () => {
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

it('a legend is added below the picture, without a title if there is no room', () => {
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
  const black = (width: number, height: number) => ({
    width,
    height,
    data: new Uint8Array(3 * width * height),
  });
  const narrow = addLegend(black(100, 10), { title: 'ADM LOSS DENSITY', full: 2 });
  expect(ink(narrow, 0, 15)).toBe(0);
  expect(ink(narrow, 85, 100)).toBeGreaterThan(10);
  expect(addLegend(black(17, 2), { title: 'VIF', full: 0.02 }).height).toBe(17);
});

it('every letter of a legend can be drawn', () => {
  const said = 'VIF AND ADM SCALE LOSS DENSITY MEAN 0123456789.+';
  for (const character of new Set(said.replaceAll(' ', '')))
    expect(dotsOf(character).length, character).toBeGreaterThan(3);
  expect(dotsOf('L')).toHaveLength(11);
});

const HDR = { width: 4, height: 2, matrix: 'bt2020nc', colorRange: 'limited' } as const;

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
  ] as const)('in %s, %s range: %j is %j', (matrix, range, samples, colour) => {
    const format: VideoFormat = { width: 6, height: 4, bitDepth: 8, chroma: '420' };
    const { data } = toRgb(flat(format, samples), format, meaning(matrix, range));
    for (let i = 0; i < data.length; i++)
      expect(Math.abs((data[i] ?? -9) - (colour[i % 3] ?? 0)), `byte ${i}`).toBeLessThanOrEqual(1);
  });

  it.each([
    // Signals of ITU-R BT.2408: PQ 0.5807 is reference white (203 cd/m²), 0.4409 is 50 cd/m², below the knee.
    ['smpte2084', 0, 0],
    // 50 / 203 in sRGB: 255 (1.055 (0.2463)^(1/2.4) - 0.055) = 136.
    ['smpte2084', 0.4403, 136],
    // 1000 cd/m² and all above are white.
    ['smpte2084', 0.7518, 255],
    ['smpte2084', 1, 255],
    ['arib-std-b67', 0, 0],
    // Scene light 1/12 at signal 0.5: 1000 (1/12)^1.2 = 50.7 cd/m², in sRGB 137.
    ['arib-std-b67', 0.5, 137],
    ['arib-std-b67', 1, 255],
  ])('tone-map a grey of %s, signal %d, to %d', (transfer, signal, expected) => {
    const format: VideoFormat = { width: 4, height: 2, bitDepth: 10, chroma: '420' };
    const color = colorMeaning({ ...HDR, transfer });
    const { data } = toRgb(flat(format, [Math.round(64 + 876 * signal), 512, 512]), format, color);
    for (const value of data) expect(Math.abs(value - expected)).toBeLessThanOrEqual(1);
  });

  it('tone-map white below full white, a brighter grey brighter, and keep a hue', () => {
    const format: VideoFormat = { width: 4, height: 2, bitDepth: 10, chroma: '420' };
    const color = colorMeaning({ ...HDR, transfer: 'smpte2084' });
    const of = (samples: readonly [number, number, number]) => [
      ...toRgb(flat(format, samples), format, color).data.subarray(0, 3),
    ];
    const greys = Array.from({ length: 94 }, (_, i) => of([64 + 7 * i, 512, 512])[0] ?? 0);
    expect(greys).toEqual([...greys].sort((a, b) => a - b));
    const white = of([Math.round(64 + 876 * 0.5807), 512, 512])[0] ?? 0;
    expect(white).toBeGreaterThan(200);
    expect(white).toBeLessThan(245);
    // A BT.2020 red of 50 cd/m² is outside BT.709: only red remains.
    const [red = 0, green, blue] = of([180, 435, 724]);
    expect(red).toBeGreaterThan(120);
    expect([green, blue]).toEqual([0, 0]);
  });

  it.each([9, 10, 12, 14, 16])('are the same at %i bit', (bitDepth) => {
    for (const chroma of ['420', '422', '444', '400'] as const) {
      const format: VideoFormat = { width: 7, height: 5, bitDepth, chroma };
      const eight: VideoFormat = { ...format, bitDepth: 8 };
      const samples = [120, 90, 170] as const;
      const [y = 0, cb = 0, cr = 0] = samples.map((value) => value * 2 ** (bitDepth - 8));
      const deep = toRgb(flat(format, [y, cb, cr]), format, meaning('bt709', 'limited'));
      expect(deep).toEqual(toRgb(flat(eight, samples), eight, meaning('bt709', 'limited')));
      if (chroma === '400') expect(new Set(deep.data).size).toBe(1);
    }
  });

  it('interpolate chroma from its place in MPEG-2: left of two columns, between two rows', () => {
    const format: VideoFormat = { width: 4, height: 4, bitDepth: 8, chroma: '420' };
    const grey = { y: new Uint8Array(16).fill(126), cb: new Uint8Array(4).fill(128) };
    const across = { ...grey, cr: new Uint8Array([128, 168, 128, 168]) };
    const { data } = toRgb(across, format, meaning('bt601', 'full'));
    const red = [0, 1, 2, 3].map((x) => data[3 * x]);
    // 126 + 1.402 (Cr - 128): Cr is 128, then halfway 148, then 168, which is repeated at the edge.
    expect(red).toEqual([126, 154, 182, 182]);
    const down = { ...grey, cr: new Uint8Array([128, 128, 168, 168]) };
    const column = toRgb(down, format, meaning('bt601', 'full'));
    // Rows lie a quarter and three quarters of the way: Cr 128, 138, 158, 168.
    expect([0, 1, 2, 3].map((y) => column.data[12 * y])).toEqual([126, 140, 168, 182]);
  });
});

it.each([
  [8, '420', 35, 19],
  [8, '422', 35, 19],
  [10, '444', 34, 18],
  [12, '400', 35, 19],
] as const)('pixels of canvases have a byte more: %i bit, %s, %ix%i', (bitDepth, chroma, width, height) => {
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

type Facts = Partial<VideoFormat> & { matrix?: string; colorRange?: 'full' | 'limited' };
it.each<[Facts, ...unknown[]]>([
  [{ matrix: 'smpte170m', colorRange: 'full' }, 'bt601', 'full', []],
  [{ matrix: 'bt2020nc', colorRange: 'limited' }, 'bt2020', 'limited', []],
  [{}, 'bt709', 'limited', ['matrix', 'range']],
  [{ width: 720, height: 576, colorRange: 'limited' }, 'bt601', 'limited', ['matrix']],
  [{ width: 1024, height: 577, matrix: 'unknown', colorRange: 'full' }, 'bt709', 'full', ['matrix']],
])('matrix and range are as stated, or go by the size as in players: %j', (facts, ...meant) => {
  const [matrix, range, assumed] = meant;
  expect(colorMeaning({ width: 1280, height: 720, ...facts })).toEqual({ matrix, range, assumed });
});

const FORMAT: VideoFormat = { width: 128, height: 96, bitDepth: 8, chroma: '400' };

function frame(level: (x: number, y: number) => number, { width, height } = FORMAT): Uint8Array {
  return Uint8Array.from({ length: width * height }, (_, i) =>
    Math.max(0, Math.min(255, Math.round(level(i % width, Math.floor(i / width))))),
  );
}

const slope = (x: number, y: number) => 20 + x + y;
const waves = (x: number, y: number) => 128 + 40 * Math.sin(x / 3) + 30 * Math.cos(y / 4 + x / 7);

describe('facts about synthetic frames', () => {
  it('report nothing for equal frames', () => {
    const facts = measureFacts(frame(waves), frame(waves), FORMAT);
    for (const name of ['blockiness', 'blur', 'noise', 'banding', 'contrast_loss'] as const)
      expect(facts[name], name).toMatchObject({ value: 0, level: 'none' });
    expect(facts.difference).toEqual({ mean: 0, largest: 0, part: null, share: 0 });
    expect(facts.summary).toBe('Luma is the same in both frames.');
  });

  it('report blocks of 8, not of 7', () => {
    const blocks = (side: number) =>
      frame((x, y) => slope(Math.floor(x / side) * side, Math.floor(y / side) * side));
    const of = (side: number) => measureFacts(frame(slope), blocks(side), FORMAT).blockiness;
    expect(of(8).level).toBe('strong');
    expect(of(7).value).toBeLessThan(of(8).value / 10);
    // A slope has no grid: steps of 1 everywhere.
    expect(of(8).reference).toBe(1);
  });

  it('report lost contrast as such, not as blur', () => {
    const pale = frame((x, y) => 128 + 0.5 * (waves(x, y) - 128));
    const { contrast_loss, blur } = measureFacts(frame(waves), pale, FORMAT);
    expect(contrast_loss.value).toBeCloseTo(0.5, 2);
    expect([contrast_loss.level, blur.level]).toEqual(['strong', 'none']);
  });

  it('measure the size of noise in flat parts', () => {
    const random = seeded(5);
    const gauss = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const flat = frame(() => 100);
    const noisy = frame(() => 100 + 5 * gauss());
    // Rounding to whole levels adds a variance of 1/12.
    expect(measureFacts(flat, noisy, FORMAT).noise.value, 'seed 5').toBeCloseTo(Math.sqrt(25 + 1 / 12), 0);
    expect(measureFacts(noisy, flat, FORMAT)).toMatchObject({ noise: { level: 'none' } });
    expect(measureFacts(noisy, flat, FORMAT).summary).toContain('smoothed away');
  });

  it('report bands where a slope became stairs, and none in a drawing of flat areas', () => {
    const stairs = frame((x) => 40 + 8 * Math.floor(x / 16));
    const smooth = frame((x) => 40 + x / 2);
    expect(measureFacts(smooth, stairs, FORMAT).banding.level).toBe('strong');
    const drawing = frame((x) => (Math.floor(x / 32) % 2 ? 200 : 40));
    expect(measureFacts(drawing, drawing, FORMAT).banding).toMatchObject({ reference: 0, distorted: 0 });
  });

  it('locate the difference, and are the same in more bits', () => {
    const off = frame((x, y) => waves(x, y) + (x >= 86 && y < 32 ? 10 : 0));
    const { difference, summary } = measureFacts(frame(waves), off, FORMAT);
    expect(difference).toMatchObject({ part: 'top right', share: 1, largest: 10 });
    expect(summary).toContain('top right');
    const deep = (plane: Uint8Array) => new Uint8Array(Uint16Array.from(plane, (value) => value * 64).buffer);
    const [a, b] = [frame(slope), frame((x, y) => waves(x, y) / 2 + 50)];
    expect(measureFacts(deep(a), deep(b), { ...FORMAT, bitDepth: 14 })).toEqual(measureFacts(a, b, FORMAT));
  });

  it.each([
    [1, 1],
    [17, 17],
    [8, 300],
  ])('are finite for pictures of %ix%i, also flat ones', (width, height) => {
    const format: VideoFormat = { ...FORMAT, width, height };
    for (const [a, b] of [
      [frame(() => 0, format), frame(() => 255, format)],
      [frame(slope, format), frame(() => 9, format)],
      [frame(() => 9, format), frame(waves, format)],
    ] as const) {
      const text = JSON.stringify(measureFacts(a, b, format));
      expect(text).not.toContain('null,"'); // JSON for numbers that are not finite
      expect(text).not.toMatch(/NaN|Infinity/);
    }
  });
});
