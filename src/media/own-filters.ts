/**
 * @module media/own-filters
 * Crops, converts range and raises depth after any decoder; bit-exact with ffmpeg's filters.
 */
import {
  allocateFrame,
  chromaSize,
  type FramePlanes,
  type Samples,
  SUBSAMPLING,
  samplesOf,
  type VideoFormat,
} from '../core/frame.js';
import type { PictureSize } from '../core/size.js';
import type { DecodedSource, TrackFacts } from './decoder.js';
import type { FrameSource, OwnFilters } from './types.js';

/** Format and range after the filters. Shares `warnings`, to which sources append. */
export function filteredFormat<T extends VideoFormat>(format: T, { crop, range, format: to }: OwnFilters): T {
  return {
    ...format,
    ...(range && { colorRange: range.to }),
    ...(crop && { width: crop.width, height: crop.height }),
    ...(to && { bitDepth: to.bitDepth }),
  };
}

export function filteredSource(source: FrameSource, filters: OwnFilters): FrameSource {
  const { descriptor, seekable } = source;
  const info = filteredFormat(source.info, filters);
  return {
    info,
    seekable,
    ...(descriptor && { descriptor: { kind: 'filtered', of: descriptor, filters, info } }),
    ...(source.checkFrame && { checkFrame: source.checkFrame.bind(source) }),
    readFrame: filteredReader(source, filters),
    close: () => source.close(),
  };
}

export function filteredDecoding(
  source: DecodedSource,
  facts: TrackFacts,
  filters: OwnFilters,
): DecodedSource {
  return {
    ...filteredSource(source, filters),
    facts,
    decoder: source.decoder,
    decodedBy: source.decodedBy,
    get damage() {
      return source.damage;
    },
    timestamp: (index) => source.timestamp(index),
  };
}

/** Continues once a frame is read, synchronously if the source reads synchronously. */
export function afterRead(
  reading: boolean | Promise<boolean>,
  next: (found: boolean) => boolean,
): boolean | Promise<boolean> {
  return typeof reading === 'boolean' ? next(reading) : reading.then(next);
}

/** The planes of a buffer that are also in `wanted`. */
export function planesLike({ y, cb, cr, alpha }: FramePlanes, wanted: FramePlanes): FramePlanes {
  return {
    y,
    ...(wanted.cb && cb && { cb }),
    ...(wanted.cr && cr && { cr }),
    ...(wanted.alpha && alpha && { alpha }),
  };
}

function filteredReader(source: FrameSource, filters: OwnFilters): FrameSource['readFrame'] {
  const { crop, range } = filters;
  const from = source.info;
  const to: VideoFormat = filteredFormat(from, filters);
  const stored = allocateFrame(from);
  const full = (range?.to ?? from.colorRange) === 'full';
  const depths = { from: from.bitDepth, to: to.bitDepth, full, range };
  const converts = range || to.bitDepth !== from.bitDepth;
  const tables = converts && {
    luma: sampleTable({ ...depths, chroma: false }),
    chroma: sampleTable({ ...depths, chroma: true }),
  };
  const fill = (key: keyof FramePlanes, sizeFrom: PictureSize, size: PictureSize, into: FramePlanes) => {
    const [whole, plane] = [stored[key], into[key]];
    if (!whole || !plane) return;
    const samples = samplesOf(whole, from.bitDepth);
    const target = samplesOf(plane, to.bitDepth);
    const isChroma = key === 'cb' || key === 'cr';
    const { h, v } = (isChroma && SUBSAMPLING[from.chroma]) || { h: 0, v: 0 };
    const [x, y] = [(crop?.x ?? 0) >> h, (crop?.y ?? 0) >> v];
    // Only colour metrics read alpha, in the stored range and depth.
    const table = key !== 'alpha' && tables ? tables[isChroma ? 'chroma' : 'luma'] : undefined;
    for (let row = 0; row < size.height; row++) {
      const at = (row + y) * sizeFrom.width + x;
      const line = samples.subarray(at, at + size.width);
      const out = row * size.width;
      if (!table) target.set(line, out);
      else for (let i = 0; i < line.length; i++) target[out + i] = table[line[i]!]!;
    }
  };
  const sizes = [chromaSize(from), chromaSize(to)] as const;
  return (index, into) =>
    afterRead(source.readFrame(index, planesLike(stored, into)), (found) => {
      if (!found) return false;
      for (const key of ['y', 'alpha'] as const) fill(key, from, to, into);
      for (const key of ['cb', 'cr'] as const) fill(key, ...sizes, into);
      return true;
    });
}

interface TableOptions {
  readonly chroma: boolean;
  readonly from: number;
  readonly to: number;
  /** Of the converted range. */
  readonly full: boolean;
  readonly range: OwnFilters['range'];
}

/** swscale's conversion of samples of 15 bits, before ffmpeg 8: (min(sample, most) * factor + offset) >> shift. */
const CONVERSIONS = {
  limited: {
    luma: { most: 32768, factor: 14071, offset: 33561947, shift: 14 },
    chroma: { most: 32768, factor: 1799, offset: 4081085, shift: 11 },
  },
  full: {
    luma: { most: 30189, factor: 19077, offset: -39057361, shift: 14 },
    chroma: { most: 30775, factor: 4663, offset: -9289992, shift: 12 },
  },
} as const;

/** Maps samples like ffmpeg's scale (the range) followed by format (the depth). */
function sampleTable({ chroma, from, to, full, range }: TableOptions): Samples {
  const count = 2 ** from;
  // Samples of more than 14 bits have 19, whose luma is multiplied by a quarter of the factor.
  const wide = from > 14 ? 4 : 0;
  const coarse = wide > 0 && !chroma ? 2 : 0;
  const lift = 15 + wide - from;
  const converted = (sample: number): number => {
    if (!range || range.from === range.to) return sample;
    const { most, factor, offset, shift } = CONVERSIONS[range.to][chroma ? 'chroma' : 'luma'];
    const product = Math.min(sample << lift, most << wide) * (factor >> coarse);
    const value = (product + ((offset << wide) >> coarse)) >> (shift - coarse);
    return Math.max(0, Math.min(count - 1, (value + 2 ** (lift - 1)) >> lift));
  };
  const more = to - from;
  const table = to > 8 ? new Uint16Array(count) : new Uint8Array(count);
  for (let sample = 0; sample < count; sample++) {
    const value = converted(sample);
    // In full range, white stays white.
    const lowBits = full && !chroma && more > 0 ? value >> Math.max(0, from - more) : 0;
    table[sample] = (value << more) | lowBits;
  }
  return table;
}
