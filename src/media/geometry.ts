/**
 * @module media/geometry
 * Sizes of pictures and planes, as scored and as stored in files.
 */
import { chromaSize, type PlaneSize, SUBSAMPLING, sampleBytes } from '../core/geometry.js';
import type { VideoFormat } from './types.js';

export { chromaSize, type PlaneSize, sampleBytes } from '../core/geometry.js';

/** Longest side of a picture in samples: the core's limit (anyvmaf.h). */
const MAX_SIDE = 16384;

/** Shortest side for which vif and adm are defined (integer-features 4.3). */
export const MIN_SIDE = 17;

/**
 * A chroma plane as stored in a file, rounded up at odd luma sizes (cli-formats-metrics B.1); 0x0 for 4:0:0.
 */
export function storedChromaSize(format: VideoFormat): PlaneSize {
  const shift = SUBSAMPLING[format.chroma];
  if (!shift) return { width: 0, height: 0 };
  return { width: (format.width + shift.h) >> shift.h, height: (format.height + shift.v) >> shift.v };
}

/** Bytes of one frame's luma. */
export function lumaBytes(format: VideoFormat): number {
  return format.width * format.height * sampleBytes(format.bitDepth);
}

/** Bytes of one frame's three planes (one for 4:0:0) as stored in a file. */
export function storedFrameBytes(format: VideoFormat): number {
  const chroma = storedChromaSize(format);
  return lumaBytes(format) + 2 * chroma.width * chroma.height * sampleBytes(format.bitDepth);
}

/**
 * What to say of raw video whose size in bytes is no whole number of frames as stored here, but one of frames whose chroma
 * is rounded down at odd sides, as libvmaf's tool reads them; `undefined` for any other.
 */
export function roundedDownChroma(format: VideoFormat, size: number): string | undefined {
  const { width, height } = chromaSize(format);
  const frame = lumaBytes(format) + 2 * width * height * sampleBytes(format.bitDepth);
  const frames = size / frame;
  if (frame === storedFrameBytes(format) || frames < 1 || !Number.isInteger(frames)) return undefined;
  return (
    `${size} bytes are ${frames} whole frame${frames === 1 ? '' : 's'} with chroma rounded down to ${width}x${height}, as the ` +
    'vmaf tool of libvmaf 3.2 reads odd sizes; here chroma is rounded up, as ffmpeg writes it: write the file with ' +
    'ffmpeg, or crop both videos to an even size'
  );
}

/** For messages: `1920x1080 4:2:0 8 bit`. */
export function describeFormat(format: VideoFormat): string {
  return `${format.width}x${format.height} ${[...format.chroma].join(':')} ${format.bitDepth} bit`;
}

/**
 * What makes a format one that no video can have, as the end of a sentence; `undefined` when nothing does.
 */
export function formatProblem(format: VideoFormat): string | undefined {
  for (const side of ['width', 'height'] as const) {
    const value = format[side];
    if (!Number.isInteger(value) || value < 1 || value > MAX_SIDE) {
      return `${side} ${value} is not a whole number from 1 to ${MAX_SIDE}`;
    }
  }
  if (!Number.isInteger(format.bitDepth) || format.bitDepth < 8 || format.bitDepth > 16) {
    return `bit depth ${format.bitDepth} is not a whole number from 8 to 16`;
  }
  if (!Object.hasOwn(SUBSAMPLING, format.chroma)) {
    return `chroma format '${format.chroma}' is none of ${Object.keys(SUBSAMPLING).join(', ')}`;
  }
  return undefined;
}
