/**
 * @module test/support/decoded
 * Reads decoded sources to their end and fingerprints every plane.
 */
import { createHash } from 'node:crypto';
import type { FramePlanes, VideoFormat } from '../../src/core/frame.js';
import { chromaSize, lumaBytes, sampleBytes } from '../../src/core/frame.js';
import type { FrameSource } from '../../src/media/types.js';

/** Room for all planes of a frame. */
export function planesFor(format: VideoFormat): FramePlanes {
  const { width, height } = chromaSize(format);
  const chroma = width * height * sampleBytes(format.bitDepth);
  const y = new Uint8Array(lumaBytes(format));
  return chroma === 0 ? { y } : { y, cb: new Uint8Array(chroma), cr: new Uint8Array(chroma) };
}

/** A fingerprint of a frame's planes one after another. */
export function hashPlanes({ y, cb, cr }: FramePlanes): string {
  const hash = createHash('sha256').update(y);
  if (cb) hash.update(cb);
  if (cr) hash.update(cr);
  return hash.digest('hex').slice(0, 16);
}

/** Reads every frame from the first on; closes the source. */
export async function hashFrames(source: FrameSource): Promise<string[]> {
  const planes = planesFor(source.info);
  const hashes: string[] = [];
  try {
    while (await source.readFrame(hashes.length, planes)) hashes.push(hashPlanes(planes));
  } finally {
    await source.close();
  }
  return hashes;
}

/** The same of raw frames as ffmpeg writes them; sizes must be even where chroma is subsampled. */
export function hashRaw(raw: Uint8Array, frameBytes: number): string[] {
  return Array.from({ length: Math.floor(raw.length / frameBytes) }, (_, i) =>
    hashPlanes({ y: raw.subarray(i * frameBytes, (i + 1) * frameBytes) }),
  );
}
