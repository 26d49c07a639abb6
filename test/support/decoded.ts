/**
 * @module test/support/decoded
 * Reads decoded sources to their end and fingerprints every plane, to be held against what ffmpeg decodes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FramePlanes } from '../../src/core/frame.js';
import type { DecodedSource, DecodeRequest, Decoder, TrackFacts } from '../../src/media/decoder.js';
import type { FrameSource, VideoInput } from '../../src/media/types.js';
import { encodeFolder, ffmpeg } from './encode.js';
import { planesFor } from './media.js';

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

/**
 * The same of the frames that ffmpeg itself decodes, once per machine.
 * @param options of ffmpeg behind the input, such as filters
 */
export function ffmpegHashes(path: string, options: readonly string[] = []): string[] {
  const name = createHash('sha256')
    .update(JSON.stringify([path, options]))
    .digest('hex')
    .slice(0, 8);
  const output = ['-fps_mode', 'passthrough', ...options, '-f', 'framehash', '-hash', 'sha256'];
  const list = ffmpeg(join(encodeFolder(), `${basename(path)}-${name}.framehash`), [
    ...['-i', path, '-map', '0:V:0', ...output],
  ]);
  const lines = readFileSync(list, 'latin1').split('\n');
  return lines.flatMap((line) => /^0,.*, *(\w{16})\w{48}$/.exec(line)?.[1] ?? []);
}

/** Everything that a decoder gave for a file. */
export interface Decoded {
  readonly facts: TrackFacts;
  readonly source: DecodedSource;
  /** Of each frame's planes, Y, Cb, Cr one after another. */
  readonly hashes: readonly string[];
  readonly times: readonly (number | undefined)[];
}

/** Decodes all of a request. @param known what the decoder has found out about the input before */
export async function decodeAll(
  decoder: Decoder,
  input: VideoInput,
  request: DecodeRequest = {},
  known?: TrackFacts,
): Promise<Decoded> {
  const facts = known ?? (await decoder.probe(input));
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
