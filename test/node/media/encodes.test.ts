/**
 * @module test/node/media/encodes
 * Real encodes: their offset from the master, what preflight finds in them, and resizing compared with swscale.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { samplesOf } from '../../../src/core/frame.js';
import type { ScaleFilter } from '../../../src/media/decoder.js';
import { Resampler } from '../../../src/media/pairing/resample.js';
import type { LumaReader } from '../../../src/media/pairing/types.js';
import type { SideFacts } from '../../../src/media/preflight/findings.js';
import { preflight } from '../../../src/media/preflight/index.js';
import { measureLuma } from '../../../src/media/preflight/measure.js';
import { align } from '../../support/align.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg, rawFrames } from '../../support/encode.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

type Luma = LumaReader & { readonly facts: SideFacts };
const decoded = new Map<string, Luma>();

/** Luma of a file as ffmpeg decodes it, from memory. */
function luma(path: string, width: number, height: number): Luma {
  const before = decoded.get(path);
  if (before) return before;
  const bytes = rawFrames(path, ['-vf', 'extractplanes=y']);
  const size = width * height;
  const info = { width, height, bitDepth: 8, chroma: '400', frameCount: bytes.length / size } as const;
  const reader: Luma = {
    info,
    facts: { ...info, name: path },
    readFrame(index, { y }) {
      if (index >= info.frameCount) return false;
      y.set(bytes.subarray(index * size, (index + 1) * size));
      return true;
    },
  };
  decoded.set(path, reader);
  return reader;
}

const X264 = '-c:v libx264 -preset veryfast -threads 1';
const TREATMENTS: Readonly<Record<string, string>> = {
  'x264 at CRF 45': `${X264} -crf 45`,
  'darker, flatter, x264 at CRF 32': `-vf lutyuv=y=val*0.8+25 ${X264} -crf 32`,
  'x264 at CRF 23': `${X264} -crf 23`,
  'MPEG-2 at 300 kbit/s': '-c:v mpeg2video -b:v 300k -threads 1',
};

const names = Object.keys(TREATMENTS);

/** An encode of a clip, and the clip. */
function pair(clip: string, width: number, height: number, treatment: string) {
  const name = Buffer.from(treatment).toString('base64url').slice(-40);
  const path = `${encodeFolder()}/align-${width}x${height}-${name}.mkv`;
  ffmpeg(path, ['-i', `file:${clip}`, '-pix_fmt', 'yuv420p', ...treatment.split(' ')]);
  return [luma(clip, width, height), luma(path, width, height)] as const;
}

/** 160 frames of one of ffmpeg's sources. */
function master(name: string, source: string): string {
  const lossless = '-frames:v 160 -c:v ffv1 -pix_fmt yuv420p'.split(' ');
  return ffmpeg(`${encodeFolder()}/align-${name}.mkv`, ['-f', 'lavfi', '-i', source, ...lossless]);
}
const clip = () => master('master', 'testsrc2=size=320x180:rate=25');

const SHIFTS = tier([-50, 31], [-50, -23, -1, 0, 2, 31, 50]);

/** Shifts a pair by leaving out frames at the start of one of the two. */
const shift = (offset: number) => ({ reference: Math.max(0, -offset), distorted: Math.max(0, offset) });

async function findsShifts([reference, distorted]: readonly [Luma, Luma]): Promise<void> {
  for (const offset of SHIFTS)
    expect(await align(reference, distorted, {}, shift(offset))).toMatchObject({ offset, ambiguous: false });
}

describe.runIf(hasFfmpeg)(`encodes of synthetic video (${needsFfmpeg})`, () => {
  it.each(tier(names.slice(0, 2), names))('are found in step with their master: %s', (name) =>
    findsShifts(pair(clip(), 320, 180, TREATMENTS[name] ?? '')),
  );

  const gradients = (more: string) => `gradients=s=320x180:r=25:${more}:speed=0.01:n=2`;
  const GRADIENTS = [
    ['grey', gradients('seed=3').concat(':c0=0x606060:c1=0x646464')],
    ['colours', gradients('seed=13')],
  ] as const;
  const some = GRADIENTS.slice(0, tier(1, 2));
  it.each(some)('are doubted where slow gradients show the past: %s', async (name, source) => {
    const realtime = `-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 45 -b:v 0 -metadata title=${name}`;
    const [reference, distorted] = pair(master(name, source), 320, 180, realtime);
    for (const offset of SHIFTS) {
      const found = await align(reference, distorted, {}, shift(offset));
      if (!found.ambiguous) expect(found.offset).toBe(offset);
      expect(found.reason).not.toBe('unrelated');
    }
  });

  const measured = async (side: Luma) => ({ ...side.facts, measured: await measureLuma(side) });

  it.each([
    ['h264', `${X264} -crf 40`],
    ['h264', `${X264} -crf 23`],
    ['mpeg2video', '-c:v mpeg2video -b:v 300k -threads 1'],
  ])('are told from their masters by two kinds of clues (%s, %s)', async (codec, treatment) => {
    const [reference, distorted] = pair(clip(), 320, 180, treatment);
    const [plain, coded] = [await measured(reference), await measured(distorted)];
    const master = { ...plain, codec: 'ffv1' };
    const encode = { ...coded, codec };
    const codes = (a: SideFacts, b: SideFacts) => preflight(a, b).map(({ code }) => code);
    expect(codes(master, encode)).not.toContain('swapped');
    expect(codes(encode, master)).toContain('swapped');
    // Pictures alone are not enough.
    expect(codes(coded, plain)).not.toContain('swapped');
  });
});

const natural = sharedPath('clips/Seeking_30_480_1050.mp4');

describe.runIf(hasFfmpeg && natural)(`encodes of natural video (${needsFfmpeg}, ${needsShared})`, () => {
  it.each(tier([], names))('are found in step with their master: %s', (name) =>
    findsShifts(pair(natural ?? '', 720, 480, TREATMENTS[name] ?? '')),
  );

  it('are in step where they were published in step', async () => {
    const low = sharedPath('clips/Seeking_10_288_375.mp4') ?? '';
    const result = await align(luma(natural ?? '', 720, 480), luma(low, 384, 288));
    expect(result).toMatchObject({ offset: 0, ambiguous: false });
  });
});

/** A plane of noise: every value, and nothing smooth that would hide errors. */
function noise(length: number, bitDepth: number): Uint8Array {
  const random = seeded(5);
  const bytes = new Uint8Array(bitDepth > 8 ? 2 * length : length);
  const samples = samplesOf(bytes, bitDepth);
  for (let i = 0; i < length; i++) samples[i] = random.int(0, 2 ** bitDepth - 1);
  return bytes;
}

/** Frames of one plane or of three, scaled by ffmpeg. */
function swscale(bytes: Uint8Array, format: string, from: string, to: string, filter: ScaleFilter) {
  const name = `${encodeFolder()}/noise-${format}-${from}`;
  writeFileSync(`${name}.raw`, bytes);
  const scale = `scale=${to.replace('x', ':')}:flags=${filter}`;
  const raw = ['-f', 'rawvideo', '-pix_fmt', format];
  const args = [...raw, '-s', from, '-i', `${name}.raw`, '-vf', scale, ...raw];
  return new Uint8Array(readFileSync(ffmpeg(`${name}-${to}-${filter}.out`, args)));
}

// swscale's results differ between processors; these are those of x86-64.
const equals = `the resampler equals swscale on x86 (${needsFfmpeg})`;
describe.runIf(hasFfmpeg && process.arch === 'x64')(equals, () => {
  const sizes = ['64x48 150x130', '150x130 64x48', '101x57 160x90', '96x64 96x128', '96x64 200x64'];
  sizes.push('300x200 40x30', '40x30 333x222');
  const filters = ['bilinear', 'bicubic', 'lanczos'] as const;
  const all = filters.flatMap((filter) =>
    tier([8, 10, 16], [8, 10, 12, 14, 16]).flatMap((bitDepth) =>
      sizes.map((size) => [filter, bitDepth, size] as const),
    ),
  );
  // Every filter with every depth and every size, two sizes to each depth.
  const few = all.filter((_, i) => [0, 1].includes((i - 2 * Math.floor(i / 7) + 700) % 7));

  it.each(tier(few, all))('%s, %i bit, %s', (filter, bitDepth, size) => {
    const [from = '', to = ''] = size.split(' ');
    const [w = 0, h = 0] = from.split('x').map(Number);
    const [tw = 0, th = 0] = to.split('x').map(Number);
    const bytes = noise(w * h, bitDepth);
    const format = bitDepth === 8 ? 'gray' : `gray${bitDepth}le`;
    const found = samplesOf(new Uint8Array(tw * th * (bitDepth > 8 ? 2 : 1)), bitDepth);
    const resampler = new Resampler({ width: w, height: h }, { width: tw, height: th }, bitDepth, filter);
    resampler.resize(samplesOf(bytes, bitDepth), found);
    expect(found).toEqual(samplesOf(swscale(bytes, format, from, to, filter), bitDepth));
  });

  it('in chroma of half the rows as well', () => {
    const bytes = noise(96 * 64 * 1.5, 8);
    const expected = swscale(bytes, 'yuv420p', '96x64', '160x100', 'bicubic').subarray(160 * 100);
    const found = new Uint8Array(80 * 50);
    const resampler = new Resampler({ width: 48, height: 32 }, { width: 80, height: 50 }, 8, 'bicubic', true);
    resampler.resize(bytes.subarray(96 * 64, 96 * 64 + 48 * 32), found);
    expect(found).toEqual(expected.subarray(0, 80 * 50));
  });
});
