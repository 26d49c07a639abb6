/**
 * @module core/frame
 * Frames: format, planes, and sizes of pictures and planes, as scored and as stored in files.
 */
import type { PictureSize } from './size.js';

export const MOST_FRAMES = 2 ** 32 - 1;

/** A value for each of the two videos. */
export interface BothOf<T> {
  readonly reference: T;
  readonly distorted: T;
}

/** A part of a video: frames by number, or times in seconds from its first frame; `end` is exclusive. */
export interface FrameRange {
  readonly unit: 'frames' | 'seconds';
  readonly start: number;
  /** Default: the end of the video. */
  readonly end?: number;
}

/** A range as users type it: `100-200` in frames, `1.5s-10s` in seconds; empty for none. */
export function formatRange(range: FrameRange | null): string {
  if (!range) return '';
  const unit = range.unit === 'seconds' ? 's' : '';
  return `${range.start}${unit}-${range.end === undefined ? '' : `${range.end}${unit}`}`;
}

/** Shift from luma to chroma dimensions; 4:0:0 has no chroma. */
export const SUBSAMPLING = {
  '420': { h: 1, v: 1 },
  '422': { h: 1, v: 0 },
  '444': { h: 0, v: 0 },
  '400': undefined,
} as const;

/** Chroma subsampling as the field names it; `400` is luma only. */
export type ChromaFormat = keyof typeof SUBSAMPLING;

/** Geometry and sample format of every frame of a video. */
export interface VideoFormat {
  /** Luma width in samples. */
  readonly width: number;
  /** Luma height in samples. */
  readonly height: number;
  /** Bits per sample, 8..16. Above 8, samples are 16-bit little endian with the value in the low bits. */
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  /** Set if frames have an alpha plane of luma's size, for metrics of colour. */
  readonly alpha?: true;
}

/**
 * Buffers for one frame's planes: packed rows, one byte per sample at 8 bit, two (little endian) above. Luma is width x
 * height; chroma sizes are rounded down: width >> 1 for 420 and 422, height >> 1 for 420. A source skips absent planes.
 */
export interface FramePlanes {
  readonly y: Uint8Array;
  readonly cb?: Uint8Array;
  readonly cr?: Uint8Array;
  readonly alpha?: Uint8Array;
}

export function sampleBytes(bitDepth: number): 1 | 2 {
  return bitDepth > 8 ? 2 : 1;
}

/** A chroma plane as scored, rounded down at odd luma sizes; 0x0 for 4:0:0. */
export function chromaSize({
  width,
  height,
  chroma,
}: PictureSize & Pick<VideoFormat, 'chroma'>): PictureSize {
  const shift = SUBSAMPLING[chroma];
  return shift ? { width: width >> shift.h, height: height >> shift.v } : { width: 0, height: 0 };
}

/** Longest side of a picture in samples: the core's limit (anyvmaf.h). */
export const MAX_SIDE = 16384;
/** Shortest side for which vif and adm are defined. */
export const MIN_SIDE = 17;

/** A chroma plane as stored in a file, rounded up at odd luma sizes; 0x0 for 4:0:0. */
export function storedChromaSize(format: VideoFormat): PictureSize {
  const shift = SUBSAMPLING[format.chroma];
  if (!shift) return { width: 0, height: 0 };
  return { width: (format.width + shift.h) >> shift.h, height: (format.height + shift.v) >> shift.v };
}

export function lumaBytes(format: VideoFormat): number {
  return format.width * format.height * sampleBytes(format.bitDepth);
}

/** Bytes of a stored frame: its three planes (one for 4:0:0), and alpha. */
export function storedFrameBytes(format: VideoFormat): number {
  const chroma = storedChromaSize(format);
  return (
    lumaBytes(format) * (format.alpha ? 2 : 1) +
    2 * chroma.width * chroma.height * sampleBytes(format.bitDepth)
  );
}

/** The message if `size` is whole frames only with chroma rounded down, as libvmaf's tool reads odd sizes. */
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

/** A chroma plane as stored: repeats the last column and row of the scored one at odd luma sizes. */
export function storedChroma(plane: Uint8Array, format: VideoFormat): Uint8Array {
  const { width, height } = chromaSize(format);
  const stored = storedChromaSize(format);
  if (stored.width === width && stored.height === height) return plane;
  const bytes = sampleBytes(format.bitDepth);
  const [row, stride] = [width * bytes, stored.width * bytes];
  const out = new Uint8Array(stride * stored.height);
  for (let y = 0; y < stored.height; y++) {
    const from = Math.min(y, height - 1) * row;
    out.set(plane.subarray(from, from + row), y * stride);
    if (stride > row) out.set(plane.subarray(from + row - bytes, from + row), y * stride + row);
  }
  return out;
}

/** @param rate frames per second as a Y4M ratio */
export function y4mHeader({ width, height, bitDepth, chroma }: VideoFormat, rate = '25:1'): string {
  const name = chroma === '400' ? 'mono' : chroma === '420' && bitDepth === 8 ? '420jpeg' : chroma;
  const depth = bitDepth > 8 ? `${chroma === '400' ? '' : 'p'}${bitDepth}` : '';
  return `YUV4MPEG2 W${width} H${height} F${rate} Ip A1:1 C${name}${depth}\n`;
}

/** For messages: `1920x1080 4:2:0 8 bit`. */
export function describeFormat(format: VideoFormat): string {
  return `${format.width}x${format.height} ${[...format.chroma].join(':')} ${format.bitDepth} bit`;
}

/** Why a format is invalid, as the end of a sentence; `undefined` if it is valid. */
export function formatProblem(format: VideoFormat): string | undefined {
  for (const side of ['width', 'height'] as const) {
    const value = format[side];
    if (!Number.isInteger(value) || value < 1 || value > MAX_SIDE)
      return `${side} ${value} is not a whole number from 1 to ${MAX_SIDE}`;
  }
  if (!Number.isInteger(format.bitDepth) || format.bitDepth < 8 || format.bitDepth > 16)
    return `bit depth ${format.bitDepth} is not a whole number from 8 to 16`;
  if (!Object.hasOwn(SUBSAMPLING, format.chroma))
    return `chroma format '${format.chroma}' is not one of ${Object.keys(SUBSAMPLING).join(', ')}`;
  return undefined;
}

export function allocateFrame(format: VideoFormat): FramePlanes {
  const y = new Uint8Array(lumaBytes(format));
  if (format.chroma === '400') return { y };
  const { width, height } = chromaSize(format);
  const bytes = width * height * sampleBytes(format.bitDepth);
  const alpha = format.alpha && { alpha: new Uint8Array(lumaBytes(format)) };
  return { y, cb: new Uint8Array(bytes), cr: new Uint8Array(bytes), ...alpha };
}

/** Copies the planes that both have. */
export function copyPlanes(from: FramePlanes, to: FramePlanes): void {
  to.y.set(from.y);
  for (const name of ['cb', 'cr', 'alpha'] as const) {
    const plane = from[name];
    if (plane) to[name]?.set(plane);
  }
}

export type Samples = Uint8Array | Uint16Array;

/** A plane's bytes as samples: a view, or a copy for 16-bit words at an odd offset. */
export function samplesOf(plane: Uint8Array, bitDepth: number): Samples {
  if (bitDepth <= 8) return plane;
  if (plane.byteOffset % 2 === 0) return new Uint16Array(plane.buffer, plane.byteOffset, plane.length >> 1);
  return new Uint16Array(plane.slice().buffer);
}
