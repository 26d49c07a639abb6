/**
 * @module test/support/codec-samples
 * The encodes that decoders are held against ffmpeg with: every codec, depth and subsampling of the table in
 * docs/decoding.md.
 */
import type { Encode } from './encode.js';

/** An encode, and ffmpeg's short name of its codec. */
export interface Sample {
  readonly encode: Encode;
  readonly codec: string;
  /** ffmpeg's name of the layout as decoded, where it is not the one that was encoded. */
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
  // FFmpeg decodes ProRes 4444 to 12 bit.
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

/** For titles: `h264 yuv420p in ts`. */
export function titleOf({ codec, encode }: Sample): string {
  const { pixelFormat = 'yuv420p', extension } = encode;
  return `${codec} ${pixelFormat}${extension === undefined ? '' : ` in ${extension}`}`;
}
