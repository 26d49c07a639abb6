/**
 * @module pictures/frame-pair
 * A pair of frames as scored, with pictures, measurements, and a map of their difference: warm if the distorted one is
 * brighter, cold if it is darker.
 */
import type { Colour } from '../core/colour.js';
import { type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import { type FrameFacts, measureFacts } from './facts.js';
import {
  type ColorMeaning,
  encodePng,
  type ImageOptions,
  type RgbaImage,
  type RgbImage,
  shrink,
  toRgb,
  toRgba,
} from './rgb.js';

/** One frame of one video. */
export class FramePicture {
  /** 0-based number in its own video. */
  readonly frame: number;
  /** Seconds from the video's first frame; `null` if unknown. */
  readonly time: number | null;
  /** As scored: scaled, and in the depth and chroma format of both. */
  readonly format: VideoFormat;
  /** Samples as scored, packed; `cb` and `cr` are absent without chroma. */
  readonly planes: FramePlanes;
  /** Matrix and range for conversion to RGB. */
  readonly color: ColorMeaning;
  /** How its samples become light, for metrics of colour; absent if unknown. */
  readonly colour: Colour | undefined;
  /** Width over height of the picture as a player shows it; samples need not be square. */
  readonly displayAspect: number;
  /** The full-size picture, drawn on demand. */
  #image: RgbImage | undefined;

  constructor(
    place: { readonly frame: number; readonly time: number | null },
    format: VideoFormat,
    planes: FramePlanes,
    color: ColorMeaning,
    displayAspect = format.width / format.height,
    colour?: Colour,
  ) {
    this.frame = place.frame;
    this.time = place.time;
    this.format = format;
    this.planes = planes;
    this.color = color;
    this.displayAspect = displayAspect;
    this.colour = colour;
  }

  /** The picture in 8-bit RGB, samples square as scored. */
  image(options: ImageOptions = {}): RgbImage {
    this.#image ??= toRgb(this.planes, this.format, this.color);
    return shrink(this.#image, options);
  }

  /** The picture as `ImageData` of a canvas; each call draws it again. */
  rgba(): RgbaImage {
    return toRgba(this.planes, this.format, this.color);
  }

  /** The picture as a PNG file. */
  png(options: ImageOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return encodePng(this.image(options));
  }
}

/** A reference frame and its distorted frame. */
export class FramePair {
  /** 0-based number of the pair: `frameNum` in a report. */
  readonly index: number;
  readonly reference: FramePicture;
  readonly distorted: FramePicture;
  /** The latest full-size map with its requested gain. */
  #map: { readonly gain: number | undefined; readonly map: DifferenceMap } | undefined;

  constructor(index: number, reference: FramePicture, distorted: FramePicture) {
    this.index = index;
    this.reference = reference;
    this.distorted = distorted;
  }

  /** Where luma differs, amplified: warm where the distorted frame is brighter, cold where it is darker. */
  difference({ gain, ...size }: DifferenceOptions & ImageOptions = {}): DifferenceMap {
    if (!this.#map || this.#map.gain !== gain) {
      const { reference, distorted } = this;
      const options = gain === undefined ? {} : { gain };
      this.#map = { gain, map: differenceMap(reference.planes, distorted.planes, reference.format, options) };
    }
    const { map } = this.#map;
    return { ...map, image: shrink(map.image, size) };
  }

  /** {@link difference} as a PNG file. */
  differencePng(options: DifferenceOptions & ImageOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return encodePng(this.difference(options).image);
  }

  /** Measures the defects of the distorted frame. */
  facts(): FrameFacts {
    return measureFacts(this.reference.planes.y, this.distorted.planes.y, this.reference.format);
  }
}

/** A map of differences in luma. */
export interface DifferenceMap {
  readonly image: RgbImage;
  /** Amplification of differences. */
  readonly gain: number;
}

/** How to amplify differences. */
export interface DifferenceOptions {
  /** Brightness of the map per 8-bit level of difference. Default: see {@link differenceMap}. */
  readonly gain?: number;
}

/** Possible gains; a difference of 255 / gain levels has full brightness. */
const GAINS = [32, 16, 8, 4, 2, 1] as const;

/** Share of samples that may exceed full brightness. */
const CLIPPED = 0.02;

/** @param options default gain: the largest power of two up to 32 at which at most one sample in 50 is clipped */
export function differenceMap(
  reference: FramePlanes,
  distorted: FramePlanes,
  { width, height, bitDepth }: VideoFormat,
  options: DifferenceOptions = {},
): DifferenceMap {
  const [ref, dis] = [samplesOf(reference.y, bitDepth), samplesOf(distorted.y, bitDepth)];
  const unit = 2 ** (bitDepth - 8);
  const gain = options.gain ?? fittingGain(ref, dis, unit);
  const data = new Uint8ClampedArray(3 * width * height);
  for (let i = 0; i < width * height; i++) {
    const difference = (dis[i]! - ref[i]!) / unit;
    const light = Math.abs(difference) * gain;
    // Goes towards white, so that strong differences stand out in black and white as well.
    const [warm, cold] = difference > 0 ? [light, light / 4] : [light / 4, light];
    data[3 * i] = warm;
    data[3 * i + 1] = light / 2;
    data[3 * i + 2] = cold;
  }
  return { image: { width, height, data: new Uint8Array(data.buffer) }, gain };
}

type Samples = Uint8Array | Uint16Array;

function fittingGain(ref: Samples, dis: Samples, unit: number): number {
  const counts = new Uint32Array(256);
  for (let i = 0; i < ref.length; i++) {
    const level = Math.min(255, Math.ceil(Math.abs(dis[i]! - ref[i]!) / unit));
    counts[level]!++;
  }
  let left = CLIPPED * ref.length;
  let level = 255;
  while (level > 0 && left >= counts[level]!) left -= counts[level--]!;
  return GAINS.find((gain) => gain * level <= 255) ?? 1;
}
