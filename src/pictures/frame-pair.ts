/**
 * @module pictures/frame-pair
 * A pair of frames as scored, with pictures and measurements.
 */
import type { Colour } from '../core/colour.js';
import type { FramePlanes, VideoFormat } from '../core/frame.js';
import { type DifferenceMap, type DifferenceOptions, differenceMap } from './difference.js';
import { type FrameFacts, measureFacts } from './facts.js';
import { encodePng, type ImageOptions, type RgbaImage, type RgbImage, shrink } from './image.js';
import { type ColorMeaning, toRgb, toRgba } from './rgb.js';

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
      this.#map = {
        gain,
        map: differenceMap(reference.planes, distorted.planes, reference.format, options),
      };
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
