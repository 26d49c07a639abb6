/**
 * @module test/support/decoded
 * Decoders held against ffmpeg: fingerprints of every plane, an encode of each codec, depth and subsampling of the table in
 * docs/decoding.md, and transport streams with losses, as reception makes them.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FramePlanes } from '../../src/core/frame.js';
import type { DecodedSource, DecodeRequest, Decoder, TrackFacts } from '../../src/media/decoder.js';
import type { FrameSource, VideoInput } from '../../src/media/types.js';
import { digest, type Encode, encodeFolder, ffmpeg } from './encode.js';
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

/** Fingerprints of the frames that ffmpeg itself decodes, once per machine. @param options output options, such as filters */
export function ffmpegHashes(path: string, options: readonly string[] = []): string[] {
  const name = digest(JSON.stringify([path, options]));
  const output = ['-fps_mode', 'passthrough', ...options, '-f', 'framehash', '-hash', 'sha256'];
  const list = ffmpeg(join(encodeFolder(), `${basename(path)}-${name}.framehash`), [
    ...['-i', path, '-map', '0:V:0', ...output],
  ]);
  const lines = readFileSync(list, 'latin1').split('\n');
  return lines.flatMap((line) => /^0,.*, *(\w{16})\w{48}$/.exec(line)?.[1] ?? []);
}

export interface Decoded {
  readonly facts: TrackFacts;
  readonly source: DecodedSource;
  /** Fingerprints of the frames. */
  readonly hashes: readonly string[];
  readonly times: readonly (number | undefined)[];
}

/** Decodes a whole request. @param known the decoder's earlier facts about the input */
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

/** An encode, ffmpeg's short name of its codec, and ffmpeg's name of the decoded layout if it differs from the encoded one. */
export interface Sample {
  readonly encode: Encode;
  readonly codec: string;
  readonly decoded?: string;
}

const sample = (codec: string, encode: Encode, decoded?: string): Sample => ({
  codec,
  encode: { frames: 20, ...encode },
  ...(decoded !== undefined && { decoded }),
});

export const SAMPLES: readonly Sample[] = [
  ...['yuv420p', 'yuv420p10le', 'yuv422p', 'yuv422p10le', 'yuv444p', 'yuv444p10le'].map((pixelFormat) =>
    sample('h264', { codec: 'h264', pixelFormat }),
  ),
  sample('h264', { codec: 'h264', extension: 'ts' }),
  sample('hevc', { codec: 'hevc' }),
  sample('hevc', { codec: 'hevc', pixelFormat: 'yuv420p10le' }),
  sample('vp9', { codec: 'vp9' }),
  sample('vp9', { codec: 'vp9', pixelFormat: 'yuv420p10le', extra: ['-profile:v', '2'] }),
  sample('av1', { codec: 'av1' }),
  sample('mpeg2video', { codec: 'mpeg2' }),
  sample('prores', { codec: 'prores', pixelFormat: 'yuv422p10le', extra: ['-profile:v', '2'] }),
  // FFmpeg decodes ProRes 4444 to 12 bits.
  sample(
    'prores',
    { codec: 'prores', pixelFormat: 'yuv444p10le', extra: ['-profile:v', '4'] },
    'yuv444p12le',
  ),
  sample('mjpeg', { codec: 'mjpeg', pixelFormat: 'yuvj420p' }),
  sample('mjpeg', { codec: 'mjpeg', pixelFormat: 'yuvj422p', extension: 'mov' }),
  sample('ffv1', { codec: 'ffv1', pixelFormat: 'yuv420p10le' }),
  sample('ffv1', { codec: 'ffv1', pixelFormat: 'yuv444p' }),
];

/** A title such as `h264 yuv420p in ts`. */
export function titleOf({ codec, encode }: Sample): string {
  const { pixelFormat = 'yuv420p', extension } = encode;
  return `${codec} ${pixelFormat}${extension === undefined ? '' : ` in ${extension}`}`;
}

const PACKET = 188;
const VIDEO = 256;

/** A stream without one packet in the middle of a frame. @param frame its number in the order of decoding */
export function withoutPacket(stream: Uint8Array, frame: number): Uint8Array {
  let frames = -1;
  let within = 0;
  for (let at = 0; at < stream.length; at += PACKET) {
    const [, second = 0, third = 0] = stream.subarray(at, at + 3);
    if (((second & 31) << 8) + third !== VIDEO) continue;
    const starts = (second & 64) !== 0;
    if (starts) frames++;
    within = starts ? 0 : within + 1;
    if (frames < frame || within !== 2) continue;
    return Uint8Array.from([...stream.subarray(0, at), ...stream.subarray(at + PACKET)]);
  }
  throw new Error(`no frame from ${frame} on has three packets`);
}

/** Two recordings in one file, as `cat` joins them: with the second, the clock begins anew. */
export function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return Uint8Array.from([...first, ...second]);
}
