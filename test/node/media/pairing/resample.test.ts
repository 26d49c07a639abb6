/** Resizing (src/media/pairing/kernel.ts, resample.ts) against swscale. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { ScaleFilter } from '../../../../src/media/decoder.js';
import { samplesOf } from '../../../../src/media/pairing/convert.js';
import { makeKernel } from '../../../../src/media/pairing/kernel.js';
import { Resampler } from '../../../../src/media/pairing/resample.js';
import { hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { seeded } from '../../../support/random.js';

describe('a kernel', () => {
  it('holds the cubic with B = 0 and C = 0.6', () => {
    // Twice the size: samples lie a quarter beside the source's. By hand from (a+2)x^3-(a+3)x^2+1 and
    // a(x^3-5x^2+8x-4) with a = -0.6.
    const byHand = [-0.028125, 0.240625, 0.871875, -0.084375];
    const { taps, start, weights } = makeKernel(100, 200, { filter: 'bicubic', bits: 14 });
    expect(taps).toBe(4);
    expect(start[100]).toBe(48);
    const found = [...weights.subarray(400, 404)].map((weight) => weight / 16384);
    for (const [i, value] of byHand.entries()) expect(found[i]).toBeCloseTo(value, 4);
  });

  it('is a triangle when bilinear', () => {
    const { taps, weights } = makeKernel(100, 200, { filter: 'bilinear', bits: 14 });
    expect(taps).toBe(4);
    expect([...weights.subarray(400, 404)]).toEqual([4096, 12288, 0, 0]);
  });

  it('adds up to one everywhere, with all taps inside the source', () => {
    const random = seeded(20);
    for (let i = 0; i < 60; i++) {
      const from = random.int(17, 417);
      const to = random.int(17, 417);
      const filter = random.pick(['bilinear', 'bicubic', 'lanczos'] as const);
      const { taps, start, weights } = makeKernel(from, to, { filter, bits: 12 });
      for (let x = 0; x < to; x++) {
        const sum = weights.subarray(x * taps, (x + 1) * taps).reduce((total, weight) => total + weight, 0);
        const where = `${filter} ${from} to ${to} at ${x}, seed ${random.seed}`;
        expect(sum, where).toBe(4096);
        expect((start[x] ?? -1) >= 0 && (start[x] ?? from) + taps <= from, where).toBe(true);
      }
    }
  });
});

/** A plane of noise: every value, no smoothness to hide behind. */
function noise(length: number, bitDepth: number): Uint8Array {
  const random = seeded(5);
  const bytes = new Uint8Array(bitDepth > 8 ? 2 * length : length);
  const samples = samplesOf(bytes, bitDepth);
  for (let i = 0; i < length; i++) samples[i] = random.int(0, 2 ** bitDepth - 1);
  return bytes;
}

/** Frames of one plane or of three, scaled by ffmpeg. */
function swscale(
  bytes: Uint8Array,
  format: string,
  from: string,
  to: string,
  filter: ScaleFilter,
): Uint8Array {
  const raw = ['-f', 'rawvideo', '-pix_fmt', format];
  const scale = `scale=${to.replace('x', ':')}:flags=${filter}`;
  const args = ['-v', 'error', ...raw, '-s', from, '-i', '-', '-vf', scale, ...raw, '-'];
  return new Uint8Array(execFileSync('ffmpeg', args, { input: bytes, maxBuffer: 1 << 28 }));
}

// swscale's results differ between processors; these are those of x86-64.
describe.runIf(hasFfmpeg && process.arch === 'x64')(
  `the resampler equals swscale on x86, ${needsFfmpeg}`,
  () => {
    const sizes = [
      ['64x48', '150x130'],
      ['150x130', '64x48'],
      ['101x57', '160x90'],
      ['96x64', '96x128'],
      ['96x64', '200x64'],
      ['300x200', '40x30'],
      ['40x30', '333x222'],
    ] as const;
    const depths = [
      [8, 'gray'],
      [10, 'gray10le'],
      [12, 'gray12le'],
      [14, 'gray14le'],
      [16, 'gray16le'],
    ] as const;
    for (const filter of ['bilinear', 'bicubic', 'lanczos'] as const) {
      for (const [bitDepth, format] of depths) {
        it.each(sizes)(`${filter}, ${bitDepth} bit, %s to %s`, (from, to) => {
          const [w = 0, h = 0] = from.split('x').map(Number);
          const [tw = 0, th = 0] = to.split('x').map(Number);
          const bytes = noise(w * h, bitDepth);
          const expected = samplesOf(swscale(bytes, format, from, to, filter), bitDepth);
          const found = samplesOf(new Uint8Array(tw * th * (bitDepth > 8 ? 2 : 1)), bitDepth);
          new Resampler({ width: w, height: h }, { width: tw, height: th }, bitDepth, filter).resize(
            samplesOf(bytes, bitDepth),
            found,
          );
          expect(found).toEqual(expected);
        });
      }
    }

    it('in chroma of half the rows as well', () => {
      const bytes = noise(96 * 64 * 1.5, 8);
      const expected = swscale(bytes, 'yuv420p', '96x64', '160x100', 'bicubic').subarray(160 * 100);
      const found = new Uint8Array(80 * 50);
      const resampler = new Resampler(
        { width: 48, height: 32 },
        { width: 80, height: 50 },
        8,
        'bicubic',
        true,
      );
      resampler.resize(bytes.subarray(96 * 64, 96 * 64 + 48 * 32), found);
      expect(found).toEqual(expected.subarray(0, 80 * 50));
    });
  },
);
