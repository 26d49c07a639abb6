/**
 * @module media/own-filters
 * Crops, converts range and raises depth after any decoder; bit-exact with ffmpeg's filters.
 */
import {
  allocateFrame,
  chromaSize,
  type FramePlanes,
  type PlaneSize,
  type Samples,
  SUBSAMPLING,
  samplesOf,
  type VideoFormat,
} from '../core/frame.js';
import type { DecodedSource, TrackFacts } from './decoder.js';
import type { CropArea, FrameSource, OwnFilters, VideoInfo } from './types.js';

export function filteredFormat<T extends VideoFormat>(format: T, { crop, format: to }: OwnFilters): T {
  return {
    ...format,
    ...(crop && { width: crop.width, height: crop.height }),
    ...(to && { bitDepth: to.bitDepth }),
  };
}

export function filteredSource(source: FrameSource, filters: OwnFilters): FrameSource {
  const { descriptor, seekable } = source;
  const info = filteredInfo(source.info, filters);
  const filter = new PictureFilter(source.info, filters);
  return {
    info,
    seekable,
    ...(descriptor && { descriptor: { kind: 'filtered', of: descriptor, filters, info } }),
    ...(source.checkFrame && { checkFrame: source.checkFrame.bind(source) }),
    readFrame: (index, into) => filter.read(source, index, into),
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

/** Shares `warnings` with the source, which appends to it. */
function filteredInfo(info: VideoInfo, filters: OwnFilters): VideoInfo {
  const { range } = filters;
  return { ...filteredFormat(info, filters), ...(range && { colorRange: range.to }) };
}

/** The planes of a buffer that `wanted` has too. */
export function planesLike({ y, cb, cr, alpha }: FramePlanes, wanted: FramePlanes): FramePlanes {
  return {
    y,
    ...(wanted.cb && cb && { cb }),
    ...(wanted.cr && cr && { cr }),
    ...(wanted.alpha && alpha && { alpha }),
  };
}

type PlaneKey = 'y' | 'cb' | 'cr' | 'alpha';

class PictureFilter {
  readonly #from: VideoFormat;
  readonly #to: VideoFormat;
  readonly #crop: CropArea | undefined;
  readonly #stored: FramePlanes;
  readonly #tables: { readonly luma: Samples; readonly chroma: Samples } | undefined;

  constructor(from: VideoFormat & Pick<VideoInfo, 'colorRange'>, filters: OwnFilters) {
    this.#from = from;
    this.#to = filteredFormat(from, filters);
    this.#crop = filters.crop;
    this.#stored = allocateFrame(from);
    const range = filters.range;
    if (range || this.#to.bitDepth !== from.bitDepth) {
      const table = (chroma: boolean) =>
        sampleTable({
          chroma,
          from: from.bitDepth,
          to: this.#to.bitDepth,
          full: (range?.to ?? from.colorRange) === 'full',
          range,
        });
      this.#tables = { luma: table(false), chroma: table(true) };
    }
  }

  read(source: FrameSource, index: number, into: FramePlanes): Promise<boolean> | boolean {
    const found = source.readFrame(index, planesLike(this.#stored, into));
    if (typeof found === 'boolean') return found && this.#finish(into);
    return found.then((there) => there && this.#finish(into));
  }

  #finish(into: FramePlanes): true {
    this.#plane('y', this.#from, this.#to, into);
    this.#plane('alpha', this.#from, this.#to, into);
    const sizes = [chromaSize(this.#from), chromaSize(this.#to)] as const;
    for (const key of ['cb', 'cr'] as const) if (this.#stored[key]) this.#plane(key, ...sizes, into);
    return true;
  }

  #plane(key: PlaneKey, from: PlaneSize, to: PlaneSize, planes: FramePlanes): void {
    const [stored, plane] = [this.#stored[key], planes[key]];
    if (!stored || !plane) return;
    const source = samplesOf(stored, this.#from.bitDepth);
    const target = samplesOf(plane, this.#to.bitDepth);
    const isChroma = key === 'cb' || key === 'cr';
    const { h, v } = (isChroma && SUBSAMPLING[this.#from.chroma]) || { h: 0, v: 0 };
    const [x, y] = [(this.#crop?.x ?? 0) >> h, (this.#crop?.y ?? 0) >> v];
    // Only colour metrics read alpha, and they expect the stored range and depth.
    const table = key === 'alpha' ? undefined : isChroma ? this.#tables?.chroma : this.#tables?.luma;
    for (let row = 0; row < to.height; row++) {
      const at = (row + y) * from.width + x;
      const line = source.subarray(at, at + to.width);
      const out = row * to.width;
      if (!table) target.set(line, out);
      else for (let i = 0; i < line.length; i++) target[out + i] = table[line[i]!]!;
    }
  }
}

interface TableOptions {
  readonly chroma: boolean;
  readonly from: number;
  readonly to: number;
  /** Of the converted range. */
  readonly full: boolean;
  readonly range: OwnFilters['range'];
}

/** Maps each sample: first its range, then its depth, like ffmpeg's scale followed by format. */
function sampleTable({ chroma, from, to, full, range }: TableOptions): Samples {
  const count = 2 ** from;
  const most = count - 1;
  const unit = 2 ** (from - 8);
  // Limited range has 219 steps of luma and 224 of chroma; the middle of chroma stays.
  const steps = (chroma ? 224 : 219) * unit;
  const [low, middle] = [(chroma ? 0 : 16) * unit, (chroma ? 128 : 0) * unit];
  const converted = (sample: number): number => {
    if (!range || range.from === range.to) return sample;
    const exact =
      range.to === 'limited'
        ? ((sample - middle) * steps) / most + low + middle
        : ((sample - low - middle) * most) / steps + middle;
    return Math.max(0, Math.min(most, Math.ceil(exact - 0.5)));
  };
  const more = to - from;
  const table = to > 8 ? new Uint16Array(count) : new Uint8Array(count);
  for (let sample = 0; sample < count; sample++) {
    const value = converted(sample);
    // In full range, white stays white.
    const rest = full && !chroma && more > 0 ? value >> Math.max(0, from - more) : 0;
    table[sample] = (value << more) | rest;
  }
  return table;
}
