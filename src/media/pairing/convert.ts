/**
 * @module media/pairing/convert
 * Raises the bit depth by a shift and the chroma resolution by repetition, both without loss or interpolation.
 */
import { CHROMA_FORMATS } from '../../core/choices.js';
import {
  chromaSize,
  type FramePlanes,
  type PlaneSize,
  type Samples,
  samplesOf,
  type VideoFormat,
} from '../../core/frame.js';

/** The format that holds samples of both formats without loss; its size is that of the first. */
export function commonFormat(a: VideoFormat, b: VideoFormat): VideoFormat {
  const finer = Math.max(CHROMA_FORMATS.indexOf(a.chroma), CHROMA_FORMATS.indexOf(b.chroma));
  return {
    width: a.width,
    height: a.height,
    bitDepth: Math.max(a.bitDepth, b.bitDepth),
    chroma: CHROMA_FORMATS[finer] ?? a.chroma,
    ...((a.alpha || b.alpha) && { alpha: true }),
  };
}

/**
 * Describes each conversion from one format to a higher one in a phrase; empty without conversions.
 * @param light the light of samples stays
 */
export function describeConversion(from: VideoFormat, to: VideoFormat, light = false): string[] {
  const phrases: string[] = [];
  if (to.bitDepth !== from.bitDepth) {
    const how = light ? '' : ` by a shift of ${to.bitDepth - from.bitDepth}`;
    phrases.push(`${from.bitDepth} to ${to.bitDepth} bit${how}`);
  }
  if (to.chroma !== from.chroma) {
    const by = light ? 'by bicubic chroma' : 'by repeating chroma samples';
    const how = from.chroma === '400' ? 'with grey chroma' : by;
    phrases.push(`${[...from.chroma].join(':')} to ${[...to.chroma].join(':')} ${how}`);
  }
  return phrases;
}

/** Converts frames from one format to a higher one of the same size. */
export class FormatConverter {
  readonly #from: VideoFormat;
  readonly #to: VideoFormat;

  constructor(from: VideoFormat, to: VideoFormat) {
    this.#from = from;
    this.#to = to;
  }

  /** Writes the planes that `into` has. */
  convert(from: FramePlanes, into: FramePlanes): void {
    const [depth, depthTo] = [this.#from.bitDepth, this.#to.bitDepth];
    this.luma(samplesOf(from.y, depth), samplesOf(into.y, depthTo));
    const sizes = [chromaSize(this.#from), chromaSize(this.#to)] as const;
    for (const name of ['cb', 'cr'] as const) {
      if (!into[name]) continue;
      const target = samplesOf(into[name], depthTo);
      const source = from[name];
      if (source && source.length > 0) this.chroma(samplesOf(source, depth), sizes[0], target, sizes[1]);
      else target.fill(2 ** (depthTo - 1));
    }
    if (!into.alpha) return;
    // Alpha has the full range, whatever the range of its picture.
    const [alpha, peak] = [samplesOf(into.alpha, depthTo), 2 ** depthTo - 1];
    alpha.fill(peak);
    if (!from.alpha) return;
    const [stored, gain] = [samplesOf(from.alpha, depth), peak / (2 ** depth - 1)];
    for (let i = 0; i < alpha.length; i++) alpha[i] = stored[i]! * gain + 0.5;
  }

  protected luma(source: Samples, target: Samples): void {
    this.#same(source, target);
  }

  protected chroma(source: Samples, fromSize: PlaneSize, target: Samples, intoSize: PlaneSize): void {
    if (fromSize.width === intoSize.width && fromSize.height === intoSize.height) {
      this.#same(source, target);
      return;
    }
    const shift = this.#to.bitDepth - this.#from.bitDepth;
    // Odd luma sizes omit the last chroma column or row; repeat the one before.
    const halfX = fromSize.width < intoSize.width ? 1 : 0;
    const halfY = fromSize.height < intoSize.height ? 1 : 0;
    for (let y = 0; y < intoSize.height; y++) {
      const row = Math.min(y >> halfY, fromSize.height - 1) * fromSize.width;
      const at = y * intoSize.width;
      for (let x = 0; x < intoSize.width; x++) {
        target[at + x] = source[row + Math.min(x >> halfX, fromSize.width - 1)]! << shift;
      }
    }
  }
  #same(source: Samples, target: Samples): void {
    const shift = this.#to.bitDepth - this.#from.bitDepth;
    if (shift === 0) target.set(source);
    else for (let i = 0; i < target.length; i++) target[i] = source[i]! << shift;
  }
}
