/**
 * @module test/node/pictures/pictures
 * Colours and facts held against ffmpeg: its own conversion to RGB, and what its encoders and filters do to moving pictures.
 */

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromaSize, type FramePlanes, type VideoFormat } from '../../../src/core/frame.js';
import { type FrameFactName, type FrameFacts, measureFacts } from '../../../src/pictures/facts.js';
import { type ColorMeaning, toRgb } from '../../../src/pictures/rgb.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const meaning = (matrix: ColorMeaning['matrix'], range: ColorMeaning['range']): ColorMeaning => ({
  matrix,
  range,
  assumed: [],
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
    const name = `${encodeFolder()}/${matrix}-${range}-${pixelFormat}`;
    const tv = { limited: 'tv', full: 'pc' } as const;
    const exact = 'flags=accurate_rnd+full_chroma_int';
    const to = `scale=out_color_matrix=${matrix}:out_range=${tv[range]}:${exact}+bicubic`;
    const layout = ['-f', 'rawvideo', '-pix_fmt', pixelFormat];
    const made = ['-f', 'lavfi', '-i', lavfi, '-frames:v', '1', '-vf', to, ...layout];
    const yuv = ffmpeg(`${name}.yuv`, made);
    const back = `scale=in_color_matrix=${matrix}:in_range=${tv[range]}:${exact}+bilinear`;
    const input = [...layout, '-s', '64x48', '-i', yuv];
    const rgb = ffmpeg(`${name}.rgb`, [...input, '-vf', back, '-f', 'rawvideo', '-pix_fmt', 'rgb24']);
    const [samples, expected] = [new Uint8Array(readFileSync(yuv)), new Uint8Array(readFileSync(rgb))];
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

/** What is done to a clip, as ffmpeg's arguments between input and output. */
const TREATMENTS = {
  'x264 crf 20': ['-c:v', 'libx264', '-crf', '20'],
  'x264 crf 40': ['-c:v', 'libx264', '-crf', '40'],
  'x264 crf 48': ['-c:v', 'libx264', '-crf', '48'],
  'mpeg2 q 20': ['-c:v', 'mpeg2video', '-q:v', '20'],
  'blur 0.7': ['-vf', 'gblur=sigma=0.7', '-c:v', 'ffv1'],
  'blur 2': ['-vf', 'gblur=sigma=2', '-c:v', 'ffv1'],
  'noise 8': ['-vf', 'noise=alls=8:allf=t:all_seed=1', '-c:v', 'ffv1'],
  'noise 24': ['-vf', 'noise=alls=24:allf=t:all_seed=1', '-c:v', 'ffv1'],
  'posterised by 8': ['-vf', "lutyuv=y='trunc(val/8)*8+4'", '-c:v', 'ffv1'],
  'posterised by 16': ['-vf', "lutyuv=y='trunc(val/16)*16+8'", '-c:v', 'ffv1'],
  'contrast 0.7': ['-vf', 'eq=contrast=0.7', '-c:v', 'ffv1'],
} as const;

type Treatment = keyof typeof TREATMENTS;

const SIZE = { width: 480, height: 320 };
const FRAMES = 9;

/** Facts about frame 6 of every treatment of a clip. */
function treat(name: string, input: readonly string[]): Record<Treatment, FrameFacts> {
  const at = (file: string) => `${encodeFolder()}/${name} ${file}`;
  const luma = (file: string) => {
    const pick = ['-vf', 'select=eq(n\\,6),extractplanes=y', '-frames:v', '1', '-f', 'rawvideo'];
    return new Uint8Array(readFileSync(ffmpeg(`${file}.raw`, ['-i', file, ...pick])));
  };
  const scale = `scale=${SIZE.width}:${SIZE.height}:out_range=tv,format=yuv420p`;
  const plain = [...input, '-vf', scale, '-frames:v', String(FRAMES), '-c:v', 'ffv1'];
  const source = ffmpeg(at('source.mkv'), plain);
  const reference = luma(source);
  const facts = Object.entries(TREATMENTS).map(([treatment, args]) => {
    const file = ffmpeg(at(`${treatment}.mkv`), ['-i', source, ...args]);
    return [treatment, measureFacts(reference, luma(file), { ...SIZE, bitDepth: 8, chroma: '400' })];
  });
  return Object.fromEntries(facts);
}

const seeking = sharedPath('clips/Seeking_30_480_1050.mp4');

describe.runIf(hasFfmpeg).each([
  [
    `a smooth gradient (${needsFfmpeg})`,
    'gradient',
    [
      '-f',
      'lavfi',
      '-i',
      'gradients=s=480x320:c0=0x203040:c1=0xb0a090:n=2:r=25:seed=1:x0=0:y0=0:x1=470:y1=300:speed=0.001',
    ],
    true,
    true,
  ],
  [
    `a fractal zoom (${needsFfmpeg})`,
    'fractal',
    ['-f', 'lavfi', '-i', 'mandelbrot=s=480x320:r=25:start_scale=0.5:end_pts=100'],
    false,
    true,
  ],
  [
    `people in a garden (${needsFfmpeg}, ${needsShared})`,
    'garden',
    ['-i', seeking ?? ''],
    false,
    seeking !== undefined,
  ],
] as const)('facts about encodes of %s', (_title, name, input, smooth, there) => {
  let facts: Record<Treatment, FrameFacts>;
  beforeAll(() => {
    if (there) facts = treat(name, input);
  }, 120_000);

  const value = (fact: FrameFactName, treatment: Treatment) => facts[treatment][fact].value;
  const ordered = (fact: FrameFactName, treatments: readonly Treatment[]) => {
    const values = treatments.map((treatment) => value(fact, treatment));
    expect(values, `${fact} of ${treatments.join(', ')}`).toEqual([...values].sort((a, b) => a - b));
    expect(new Set(values).size).toBe(values.length);
  };

  it.runIf(there)('blockiness rises with coarser coding', () => {
    // The loop filter hides blocks until coding gets very coarse; MPEG-2 has none.
    if (!smooth) ordered('blockiness', ['x264 crf 40', 'x264 crf 48']);
    if (name !== 'fractal') ordered('blockiness', ['blur 2', 'x264 crf 40']);
    expect(value('blockiness', 'mpeg2 q 20')).toBeGreaterThan(value('blockiness', 'blur 2') + 0.04);
  });

  it.runIf(there && !smooth)('blur rises with blurring and coarser coding, and not with noise', () => {
    ordered('blur', ['noise 8', 'x264 crf 20', 'blur 0.7', 'blur 2']);
    ordered('blur', ['x264 crf 20', 'x264 crf 40', 'x264 crf 48']);
    expect(facts['blur 2'].blur.level).toBe('strong');
  });

  it.runIf(there)('noise rises with added noise only', () => {
    ordered('noise', ['blur 2', 'noise 8', 'noise 24']);
    expect(facts['noise 24'].noise.level).toBe('strong');
    for (const other of ['x264 crf 40', 'blur 2', 'contrast 0.7', 'mpeg2 q 20'] as const)
      expect(facts[other].noise.level, other).toBe('none');
  });

  it.runIf(there)('banding rises with posterising, and not with noise, blur or contrast', () => {
    const [by8, by16] = [value('banding', 'posterised by 8'), value('banding', 'posterised by 16')];
    expect(by16).toBeGreaterThanOrEqual(by8);
    expect(facts['posterised by 16'].banding.level).not.toBe('none');
    for (const other of ['noise 24', 'blur 2', 'contrast 0.7'] as const)
      expect(value('banding', other), other).toBeLessThan(by8);
  });

  it.runIf(there)('contrast loss is what the filter took', () => {
    expect(value('contrast_loss', 'contrast 0.7')).toBeCloseTo(0.3, 1);
    expect(facts['x264 crf 20'].contrast_loss.level).toBe('none');
    expect(facts['noise 8'].contrast_loss.level).toBe('none');
  });
});
