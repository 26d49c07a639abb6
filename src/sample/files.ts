/**
 * @module sample/files
 * Generated pairs as the scorer reads them: bytes of Y4M or raw files, and frames in memory.
 */
import { joinBytes } from '../core/bytes.js';
import { type FramePlanes, y4mHeader } from '../core/frame.js';
import type { FrameSource } from '../media/types.js';
import type { SampleClip, SamplePlane, SampleSide } from './generator.js';

/** Samples as little-endian bytes. */
export function sampleBytes(plane: SamplePlane): Uint8Array<ArrayBuffer> {
  const { samples } = plane;
  if (samples instanceof Uint8Array) return samples;
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < samples.length; i++) view.setUint16(2 * i, samples[i]!, true);
  return bytes;
}

/** One frame as a Y4M file stores it, with its `FRAME` line. */
export function y4mFrame(clip: SampleClip, side: SampleSide, index: number): Uint8Array<ArrayBuffer> {
  return joinBytes([new TextEncoder().encode('FRAME\n'), ...clip.frame(side, index).map(sampleBytes)]);
}

export function y4mFile(clip: SampleClip, side: SampleSide, frames: number): Uint8Array<ArrayBuffer> {
  const parts = [new TextEncoder().encode(y4mHeader(clip.format))];
  for (let index = 0; index < frames; index++) parts.push(y4mFrame(clip, side, index));
  return joinBytes(parts);
}

export function yuvFile(clip: SampleClip, side: SampleSide, frames: number): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let index = 0; index < frames; index++) parts.push(...clip.frame(side, index).map(sampleBytes));
  return joinBytes(parts);
}

/** The packed top left part of a plane: files round chroma sizes up, frame readers round them down. */
function crop(plane: SamplePlane, width: number, height: number, into: Uint8Array): void {
  const bytes = sampleBytes(plane);
  const { BYTES_PER_ELEMENT: size } = plane.samples;
  for (let y = 0; y < height; y++) {
    const from = y * plane.width * size;
    into.set(bytes.subarray(from, from + width * size), y * width * size);
  }
}

/** A source of `frames` frames in memory. */
export function sampleSource(clip: SampleClip, side: SampleSide, frames: number): FrameSource {
  const { format } = clip;
  const chromaWidth = format.chroma === '444' ? format.width : format.width >> 1;
  const chromaHeight = format.chroma === '420' ? format.height >> 1 : format.height;
  return {
    info: { ...format, name: `generated ${side}`, container: 'frames', frameCount: frames, warnings: [] },
    seekable: true,
    readFrame(index: number, into: FramePlanes): boolean {
      if (index >= frames) return false;
      const [luma, cb, cr] = clip.frame(side, index);
      if (luma) crop(luma, format.width, format.height, into.y);
      if (cb && into.cb) crop(cb, chromaWidth, chromaHeight, into.cb);
      if (cr && into.cr) crop(cr, chromaWidth, chromaHeight, into.cr);
      return true;
    },
    close() {},
  };
}
