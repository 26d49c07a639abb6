/**
 * @module media/pairing/adapt
 * A source that resizes and converts frames while reading.
 */

import {
  allocateFrame,
  chromaSize,
  type FramePlanes,
  samplesOf,
  type VideoFormat,
} from '../../core/frame.js';
import type { ScaleFilter } from '../decoder.js';
import { planesLike } from '../own-filters.js';
import type { FrameSource, VideoInfo } from '../types.js';
import { FormatConverter } from './convert.js';
import { LightConverter, type LightOfSamples } from './light.js';
import { Resampler } from './resample.js';

/** The target of an adapted source. */
export interface Target {
  /** The depth and chroma format must not be lower than the source's. */
  readonly format: VideoFormat;
  readonly filter: ScaleFilter;
  /** Set if the light of samples must stay. */
  readonly light?: LightOfSamples;
}

/** Returns the source itself if its frames match already, else one that reads from it. */
export function adaptSource(source: FrameSource, target: Target): FrameSource {
  const { info } = source;
  const { width, height, bitDepth, chroma, alpha } = target.format;
  const sameSamples = info.bitDepth === bitDepth && info.chroma === chroma && info.alpha === alpha;
  const same = info.width === width && info.height === height && sameSamples;
  return same ? source : new AdaptedSource(source, target);
}

class AdaptedSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: FrameSource;
  readonly #stored: FramePlanes;
  /** The stored planes in the new size; absent if the size stays. */
  readonly #resized: FramePlanes | undefined;
  readonly #luma: Resampler | undefined;
  readonly #chroma: Resampler | undefined;
  readonly #converter: FormatConverter;
  readonly #depth: number;

  constructor(source: FrameSource, { format, filter, light }: Target) {
    const from = source.info;
    const { width, height, bitDepth, chroma, alpha } = format;
    this.info = { ...from, width, height, bitDepth, chroma, ...(alpha && { alpha }) };
    this.seekable = source.seekable;
    this.#source = source;
    this.#depth = from.bitDepth;
    this.#stored = allocateFrame(from);
    const resized: VideoFormat = { ...from, width, height };
    if (from.width !== width || from.height !== height) {
      this.#resized = allocateFrame(resized);
      this.#luma = new Resampler(from, resized, from.bitDepth, filter);
      if (from.chroma !== '400') {
        const sizes = [chromaSize(from), chromaSize(resized)] as const;
        this.#chroma = new Resampler(...sizes, from.bitDepth, filter, from.chroma === '420');
      }
    }
    this.#converter = light
      ? new LightConverter(resized, format, light)
      : new FormatConverter(resized, format);
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const wanted = planesLike(this.#stored, into);
    const reading = this.#source.readFrame(index, wanted);
    if (typeof reading === 'boolean') return reading && this.#finish(wanted, into);
    return reading.then((found) => found && this.#finish(wanted, into));
  }

  close(): Promise<void> | void {
    return this.#source.close();
  }

  #finish(stored: FramePlanes, into: FramePlanes): true {
    if (!this.#resized) {
      this.#converter.convert(stored, into);
      return true;
    }
    const resized = planesLike(this.#resized, into);
    const resize = (resampler: Resampler | undefined, from?: Uint8Array, to?: Uint8Array) => {
      if (from && to) resampler?.resize(samplesOf(from, this.#depth), samplesOf(to, this.#depth));
    };
    resize(this.#luma, stored.y, resized.y);
    resize(this.#chroma, stored.cb, resized.cb);
    resize(this.#chroma, stored.cr, resized.cr);
    resize(this.#luma, stored.alpha, resized.alpha);
    this.#converter.convert(resized, into);
    return true;
  }
}
