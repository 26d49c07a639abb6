/**
 * @module test/unit/sample/generator
 * Generated content has the sizes and ranges of its format. The digests beside libvmaf's values in test/fixtures check that it
 * never changes.
 */
import { describe, expect, it } from 'vitest';
import { type ChromaFormat, type VideoFormat, y4mHeader } from '../../../src/core/frame.js';
import { sampleBytes, sampleSource, y4mFile, yuvFile } from '../../../src/sample/files.js';
import { makeSample, makeTexture } from '../../../src/sample/generator.js';
import { planesFor } from '../../support/media.js';

const SMALL: VideoFormat = { width: 64, height: 64, bitDepth: 8, chroma: '420' };

function luma(clip: ReturnType<typeof makeSample>, side: 'reference' | 'distorted', index: number) {
  const plane = clip.frame(side, index)[0];
  if (plane === undefined) throw new Error('a frame without luma');
  return { ...plane, samples: Array.from<number>(plane.samples) };
}

describe('sample pairs', () => {
  it('do not depend on the order of frames', () => {
    const forward = makeSample(SMALL, { cut: 2 });
    const backward = makeSample(SMALL, { cut: 2 });
    const last = luma(backward, 'distorted', 3).samples;
    for (let index = 0; index < 3; index++) forward.frame('reference', index);
    expect(luma(forward, 'distorted', 3).samples).toEqual(last);
  });

  it('stay within the range of every bit depth', () => {
    for (const bitDepth of [8, 9, 10, 12, 16]) {
      const clip = makeSample({ ...SMALL, bitDepth }, { distortion: { noise: 64, brightness: 100 } });
      const highest = luma(clip, 'distorted', 0).samples.reduce((most, value) => Math.max(most, value), 0);
      expect(highest).toBe(2 ** bitDepth - 1); // such a brightness saturates
    }
  });

  it('are equal on both sides without a distortion', () => {
    const clip = makeSample(SMALL, { distortion: {} });
    expect(clip.frame('distorted', 4)).toEqual(clip.frame('reference', 4));
  });
});

it('textures stay cached up to the size of the cache', () => {
  const seeds = Array.from({ length: 8 }, (_, i) => 1000 + i);
  const made = seeds.map(makeTexture);
  expect(seeds.map(makeTexture).every((texture, i) => texture === made[i])).toBe(true);
});

describe('files', () => {
  it.each<[ChromaFormat, number, number, string]>([
    ['420', 8, 35 * 33 + 2 * 18 * 17, '420jpeg'],
    ['422', 10, 2 * (35 * 33 + 2 * 18 * 33), '422p10'],
    ['444', 12, 2 * 3 * 35 * 33, '444p12'],
    ['400', 8, 35 * 33, 'mono'],
  ])('store %s at %i bit with rounded-up chroma: %i bytes a frame', (chroma, bitDepth, frameBytes, tag) => {
    const clip = makeSample({ width: 35, height: 33, bitDepth, chroma });
    expect(yuvFile(clip, 'reference', 2).length).toBe(2 * frameBytes);
    const header = y4mHeader(clip.format);
    expect(header).toBe(`YUV4MPEG2 W35 H33 F25:1 Ip A1:1 C${tag}\n`);
    expect(y4mFile(clip, 'reference', 2).length).toBe(header.length + 2 * (6 + frameBytes));
  });

  it('give frames from memory the rounded-down top left part of the chroma', async () => {
    const clip = makeSample({ width: 35, height: 33, bitDepth: 10, chroma: '420' });
    const planes = planesFor(clip.format);
    const source = sampleSource(clip, 'reference', 1);
    expect(await source.readFrame(0, planes)).toBe(true);
    expect(await source.readFrame(1, planes)).toBe(false);
    const stored = clip.frame('reference', 0)[1];
    if (stored === undefined) throw new Error('a frame without chroma');
    expect(stored.width).toBe(18);
    const lastRow = 2 * 18 * 15;
    expect(planes.cb?.slice(2 * 17 * 15)).toEqual(sampleBytes(stored).slice(lastRow, lastRow + 2 * 17));
  });
});
