/**
 * @module test/unit/media/raw-geometry
 * Raw video that was given a wrong geometry is told by its pictures, and no video of the right one is.
 */
import { describe, expect, it } from 'vitest';
import type { ChromaFormat } from '../../../src/core/frame.js';
import { storedFrameBytes } from '../../../src/core/frame.js';
import { findWrongGeometry } from '../../../src/media/raw-geometry.js';
import { bytesReader } from '../../../src/media/readers.js';
import type { RawVideoFormat } from '../../../src/media/types.js';
import { yuvFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';

const format = (
  width: number,
  height: number,
  bitDepth = 8,
  chroma: ChromaFormat = '420',
): RawVideoFormat => ({ width, height, bitDepth, chroma });

const clips = new Map<string, Uint8Array>();
function clip(of: RawVideoFormat, frames = 6): Uint8Array {
  const key = JSON.stringify([of, frames]);
  const made = clips.get(key) ?? yuvFile(makeSample(of), 'reference', frames);
  clips.set(key, made);
  return made;
}

/** Frames whose samples a formula gives. */
function drawn(
  of: RawVideoFormat,
  frames: number,
  luma: (x: number, y: number, n: number) => number,
): Uint8Array {
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
  ])('%s is recognised, and the right one named', async (_, real, declared) => {
    expect((await findWrongGeometry(bytesReader(clip(real, 12)), declared))?.fits).toEqual(real);
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
    for (const frames of [1, 2, 6]) {
      expect(await findWrongGeometry(bytesReader(clip(of, frames)), of)).toBeUndefined();
    }
  });

  it('whose pictures alternate between two scenes is not doubted', async () => {
    for (const of of [format(352, 288), format(320, 180)]) {
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

  // xorshift, so that every run sees the same noise.
  let state = 0x9e3779b9;
  const noise = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 255;
  };
  const PICTURES: Readonly<Record<string, (x: number, y: number, n: number) => number>> = {
    'a flat picture': () => 90,
    noise: noise,
    'noise over a slope': (x, y) => ((x + y) >> 2) + (noise() >> 3),
    'single rows': (_, y) => 255 * (y & 1),
    'single columns': (x) => 255 * (x & 1),
    'a chessboard': (x, y) => 255 * ((x ^ y) & 1),
    'stripes on the slant': (x, y, n) => ((x + 3 * y + n) & 31) * 8,
    'fields that are apart': (x, y, n) => 128 + 100 * Math.sin((x + 20 * (y & 1) + 10 * n) / 9 + y / 20),
    'a picture that races': (x, y, n) => 128 + 100 * Math.sin((x * x + y * 40) / 900 + 2.1 * n),
    'flat boxes, as animation has': (x, y, n) => ((x - n) >> 5) * 37 + (y >> 4) * 11,
  };
  it.each(Object.keys(PICTURES))('%s is not doubted', async (name) => {
    const luma = PICTURES[name];
    if (!luma) throw new Error('no such picture');
    for (const of of [format(320, 240), format(352, 288)]) {
      expect(await findWrongGeometry(bytesReader(drawn(of, 8, luma)), of)).toBeUndefined();
    }
  });
});
