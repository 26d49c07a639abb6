/**
 * @module core/frame
 * A frame: its format, where its planes are, and sizes of pictures and planes, as scored and as stored in files.
 */

/** Most frames that anything counts. */
export const MOST_FRAMES = 2 ** 32 - 1;

/** A part of a video: frames by number or times in seconds from its first frame, `end` exclusive. */
export interface FrameRange {
  readonly unit: 'frames' | 'seconds';
  readonly start: number;
  /** Default: the end of the video. */
  readonly end?: number;
}

/** Width and height in samples. */
export interface PlaneSize {
  readonly width: number;
  readonly height: number;
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
  /** Set if frames have an alpha plane of the size of luma, for metrics of colour. */
  readonly alpha?: true;
}

/**
 * Where one frame's planes are to be written: packed rows, no padding. One byte a sample at 8 bit, two
 * (little endian) above. Luma is width x height; chroma planes are floor-sized: (width >> 1 for 420 and 422)
 * x (height >> 1 for 420). A source skips planes that are not asked for.
 */
export interface FramePlanes {
  readonly y: Uint8Array;
  readonly cb?: Uint8Array;
  readonly cr?: Uint8Array;
  readonly alpha?: Uint8Array;
}

/** A picture's size and chroma format. */
export interface PictureFormat extends PlaneSize {
  readonly chroma: ChromaFormat;
}

/** Bytes of one sample: 1 at 8 bit, 2 above. */
export function sampleBytes(bitDepth: number): 1 | 2 {
  return bitDepth > 8 ? 2 : 1;
}

/** A chroma plane as scored, rounded down at odd luma sizes; 0x0 for 4:0:0. */
export function chromaSize({ width, height, chroma }: PictureFormat): PlaneSize {
  const shift = SUBSAMPLING[chroma];
  return shift ? { width: width >> shift.h, height: height >> shift.v } : { width: 0, height: 0 };
}

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

/** Bytes of one frame's three planes (one for 4:0:0), and alpha, as stored in a file. */
export function storedFrameBytes(format: VideoFormat): number {
  const chroma = storedChromaSize(format);
  return (
    lumaBytes(format) * (format.alpha ? 2 : 1) +
    2 * chroma.width * chroma.height * sampleBytes(format.bitDepth)
  );
}

/**
 * The message about raw video whose size fits a whole number of frames only if chroma is rounded down at odd sizes, as
 * libvmaf's tool reads it; `undefined` for other sizes.
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

/** Planes for one frame as scored. */
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

/** Samples of a plane: one byte each at 8 bit, 16-bit words above. */
export type Samples = Uint8Array | Uint16Array;

/** A plane's bytes as samples: a view, but for 16-bit words at an odd offset a copy. */
export function samplesOf(plane: Uint8Array, bitDepth: number): Samples {
  if (bitDepth <= 8) return plane;
  if (plane.byteOffset % 2 === 0) return new Uint16Array(plane.buffer, plane.byteOffset, plane.length >> 1);
  return new Uint16Array(plane.slice().buffer);
}
