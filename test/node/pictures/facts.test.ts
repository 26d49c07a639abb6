/**
 * @module test/node/pictures/facts
 * Each fact rises with the defect that it is about, and stays where it is with the others: on frames made by hand, and
 * on what ffmpeg's encoders and filters do to moving pictures.
 */
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { type FrameFactName, type FrameFacts, measureFacts } from '../../../src/pictures/facts.js';
import { encodeFolder, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const FORMAT: VideoFormat = { width: 128, height: 96, bitDepth: 8, chroma: '400' };

function frame(level: (x: number, y: number) => number, { width, height } = FORMAT): Uint8Array {
  return Uint8Array.from({ length: width * height }, (_, i) =>
    Math.max(0, Math.min(255, Math.round(level(i % width, Math.floor(i / width))))),
  );
}

const slope = (x: number, y: number) => 20 + x + y;
const waves = (x: number, y: number) => 128 + 40 * Math.sin(x / 3) + 30 * Math.cos(y / 4 + x / 7);

describe('facts about frames made by hand', () => {
  it('say nothing of two equal frames', () => {
    const facts = measureFacts(frame(waves), frame(waves), FORMAT);
    for (const name of ['blockiness', 'blur', 'noise', 'banding', 'contrast_loss'] as const) {
      expect(facts[name], name).toMatchObject({ value: 0, level: 'none' });
    }
    expect(facts.difference).toEqual({ mean: 0, largest: 0, part: null, share: 0 });
    expect(facts.summary).toBe('Luma is the same in both frames.');
  });

  it('see blocks of 8, and not blocks of 7', () => {
    const blocks = (side: number) =>
      frame((x, y) => slope(Math.floor(x / side) * side, Math.floor(y / side) * side));
    const of = (side: number) => measureFacts(frame(slope), blocks(side), FORMAT).blockiness;
    expect(of(8).level).toBe('strong');
    expect(of(7).value).toBeLessThan(of(8).value / 10);
    // A slope has no grid: steps of 1 everywhere.
    expect(of(8).reference).toBe(1);
  });

  it('see lost contrast as that, not as blur', () => {
    const paler = measureFacts(
      frame(waves),
      frame((x, y) => 128 + 0.5 * (waves(x, y) - 128)),
      FORMAT,
    );
    expect(paler.contrast_loss.value).toBeCloseTo(0.5, 2);
    expect(paler.contrast_loss.level).toBe('strong');
    expect(paler.blur.level).toBe('none');
  });

  it('measure noise of a known size in flat parts', () => {
    const random = seeded(5);
    const gauss = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const flat = frame(() => 100);
    const noisy = frame(() => 100 + 5 * gauss());
    // Rounding to whole levels adds a variance of 1/12.
    expect(measureFacts(flat, noisy, FORMAT).noise.value, 'seed 5').toBeCloseTo(Math.sqrt(25 + 1 / 12), 0);
    expect(measureFacts(noisy, flat, FORMAT)).toMatchObject({ noise: { level: 'none' } });
    expect(measureFacts(noisy, flat, FORMAT).summary).toContain('smoothed away');
  });

  it('see bands where a slope became stairs, and none in a drawing of plain areas', () => {
    const stairs = measureFacts(
      frame((x) => 40 + x / 2),
      frame((x) => 40 + 8 * Math.floor(x / 16)),
      FORMAT,
    );
    expect(stairs.banding.level).toBe('strong');
    const drawing = frame((x) => (Math.floor(x / 32) % 2 ? 200 : 40));
    expect(measureFacts(drawing, drawing, FORMAT).banding).toMatchObject({ reference: 0, distorted: 0 });
  });

  it('say where the frames differ', () => {
    const off = frame((x, y) => waves(x, y) + (x >= 86 && y < 32 ? 10 : 0));
    const { difference, summary } = measureFacts(frame(waves), off, FORMAT);
    expect(difference).toMatchObject({ part: 'top right', share: 1, largest: 10 });
    expect(summary).toContain('top right');
  });

  it('are the same in more bits', () => {
    const deep = (plane: Uint8Array) => new Uint8Array(Uint16Array.from(plane, (value) => value * 64).buffer);
    const [a, b] = [frame(slope), frame((x, y) => waves(x, y) / 2 + 50)];
    expect(measureFacts(deep(a), deep(b), { ...FORMAT, bitDepth: 14 })).toEqual(measureFacts(a, b, FORMAT));
  });

  it.each([
    [1, 1],
    [17, 17],
    [8, 300],
  ])('are finite for pictures of %ix%i, flat ones too', (width, height) => {
    const format: VideoFormat = { ...FORMAT, width, height };
    for (const [a, b] of [
      [frame(() => 0, format), frame(() => 255, format)],
      [frame(slope, format), frame(() => 9, format)],
      [frame(() => 9, format), frame(waves, format)],
    ] as const) {
      const text = JSON.stringify(measureFacts(a, b, format));
      expect(text).not.toContain('null,"'); // what JSON makes of numbers that are not finite
      expect(text).not.toMatch(/NaN|Infinity/);
    }
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
  const luma = (file: string) => {
    const pick = ['-vf', 'select=eq(n\\,6),extractplanes=y', '-frames:v', '1', '-f', 'rawvideo', '-'];
    return new Uint8Array(
      execFileSync('ffmpeg', ['-v', 'error', '-i', file, ...pick], { maxBuffer: 1 << 28 }),
    );
  };
  const source = `${encodeFolder()}/${name}.mkv`;
  const make = (args: readonly string[]) => execFileSync('ffmpeg', ['-v', 'error', '-y', ...args]);
  const scale = `scale=${SIZE.width}:${SIZE.height}:out_range=tv,format=yuv420p`;
  make([...input, '-vf', scale, '-frames:v', String(FRAMES), '-c:v', 'ffv1', source]);
  const reference = luma(source);
  const facts = Object.entries(TREATMENTS).map(([treatment, args]) => {
    const file = `${encodeFolder()}/${name} ${treatment}.mkv`;
    make(['-i', source, ...args, file]);
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
