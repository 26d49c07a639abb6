/**
 * @module platform/node/encoding/thumbnails
 * Every frame of a video at a reduced size, as luma in 8 bits.
 */

import { allocateFrame } from '../../../core/frame.js';
import type { PictureSize } from '../../../core/size.js';
import type { Decoder, TrackFacts } from '../../../media/decoder.js';
import type { VideoInput } from '../../../media/types.js';

/**
 * Decodes all frames.
 * @param onFrame gets luma that is valid until it returns
 * @returns how many frames there were
 * @throws {AnyvmafError} `media`, `io`; the signal's reason
 */
export async function decodeThumbnails(
  decoder: Decoder,
  input: VideoInput,
  track: TrackFacts,
  size: PictureSize,
  onFrame: (luma: Uint8Array, index: number) => void,
  signal?: AbortSignal,
): Promise<number> {
  const request = { size: { ...size, filter: 'bilinear' as const }, ...(signal && { signal }) };
  const decoded = await decoder.open(input, track, request);
  try {
    const { bitDepth } = decoded.info;
    const planes = allocateFrame({ ...decoded.info, ...size });
    const luma = new Uint8Array(size.width * size.height);
    let index = 0;
    for (; await decoded.readFrame(index, planes); index++) {
      if (bitDepth === 8) luma.set(planes.y);
      else narrow(planes.y, bitDepth, luma);
      onFrame(luma, index);
    }
    return index;
  } finally {
    await decoded.close();
  }
}

/** The high 8 bits of samples of 16 bits. */
function narrow(from: Uint8Array, bitDepth: number, into: Uint8Array): void {
  const shift = bitDepth - 8;
  for (let i = 0; i < into.length; i++) {
    into[i] = ((from[2 * i] as number) | ((from[2 * i + 1] as number) << 8)) >> shift;
  }
}
