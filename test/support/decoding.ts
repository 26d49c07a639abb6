/**
 * @module test/support/decoding
 * All that a decoder makes of a file, to be held against what ffmpeg writes as raw frames.
 */

import type { VideoFormat } from '../../src/core/frame.js';
import { storedFrameBytes } from '../../src/core/frame.js';
import type { DecodedSource, DecodeRequest, Decoder, TrackFacts } from '../../src/media/decoder.js';
import type { VideoInput } from '../../src/media/types.js';
import { hashPlanes, hashRaw, planesFor } from './decoded.js';

/** Everything that a decoder gave for a file. */
export interface Decoded {
  readonly facts: TrackFacts;
  readonly source: DecodedSource;
  /** Of each frame's planes, Y, Cb, Cr one after another. */
  readonly hashes: readonly string[];
  readonly times: readonly (number | undefined)[];
}

/** Decodes all of a request. */
export async function decodeAll(
  decoder: Decoder,
  input: VideoInput,
  request: DecodeRequest = {},
): Promise<Decoded> {
  const facts = await decoder.probe(input);
  const source = await decoder.open(input, facts, request);
  try {
    const planes = planesFor(source.info);
    const hashes: string[] = [];
    const times: (number | undefined)[] = [];
    while (await source.readFrame(hashes.length, planes)) {
      times.push(source.timestamp(hashes.length));
      hashes.push(hashPlanes(planes));
    }
    return { facts, source, hashes, times };
  } finally {
    await source.close();
  }
}

/** The same hashes of ffmpeg's raw frames. */
export function frameHashes(raw: Uint8Array, format: VideoFormat): string[] {
  return hashRaw(raw, storedFrameBytes(format));
}
