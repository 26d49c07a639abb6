/**
 * @module media/align/thumbnail
 * Shrinks luma to a thumbnail by averaging a grid of samples in each box, cheap enough for every frame of a search.
 */
import type { VideoFormat } from '../../core/frame.js';

/** Size of all thumbnails, whatever the aspect of the picture. */
export const THUMBNAIL = { width: 64, height: 36 } as const;

/** Boxes up to this width are read completely. */
const WHOLE_BOX = 6;

/** Layout of the luma to shrink. */
export type LumaFormat = Pick<VideoFormat, 'width' | 'height' | 'bitDepth'>;

/**
 * Positions of the samples to read along one side, box by box. The step within a box is about odd, so that both fields of
 * interlaced video count. Positions are exact fractions, so that all sizes of a picture give the same thumbnail.
 */
function positions(
  size: number,
  boxes: number,
  most: number,
): { readonly at: Int32Array; readonly perBox: number } {
  const box = size / boxes;
  const step = box <= WHOLE_BOX ? 1 : 2 * Math.max(1, Math.floor(box / 16)) + 1;
  const perBox = Math.min(most, Math.max(1, Math.round(box / step)));
  const at = Int32Array.from({ length: boxes * perBox }, (_, k) => Math.floor(((k + 0.5) * box) / perBox));
  return { at, perBox };
}

/** Shrinks frames of one format; keeps the sampling positions. */
export class Thumbnailer {
  readonly #format: LumaFormat;
  readonly #across: ReturnType<typeof positions>;
  readonly #down: ReturnType<typeof positions>;
  readonly width: number;
  readonly height: number;

  /**
   * @param width of the thumbnail; a video narrower than that repeats samples
   * @param most positions to read along each side of a box, to read less of large pictures
   */
  constructor(format: LumaFormat, width: number, height: number, most = Number.POSITIVE_INFINITY) {
    this.#format = format;
    this.width = width;
    this.height = height;
    this.#across = positions(format.width, width, most);
    this.#down = positions(format.height, height, most);
  }

  /**
   * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
   * @returns width x height averages in 8-bit levels, 0..255 whatever the depth
   */
  shrink(luma: Uint8Array, into = new Float32Array(this.width * this.height)): Float32Array {
    const { width: stride, bitDepth } = this.#format;
    const { at: xs, perBox: nx } = this.#across;
    const { at: ys, perBox: ny } = this.#down;
    const scale = 1 / (nx * ny * 2 ** (bitDepth - 8));
    const sums = new Float64Array(this.width);
    for (let v = 0, row = 0; v < this.height; v++) {
      sums.fill(0);
      for (let k = 0; k < ny; k++, row++) {
        const start = ys[row]! * stride;
        if (bitDepth > 8) {
          for (let u = 0, i = 0; u < this.width; u++) {
            let sum = 0;
            for (let j = 0; j < nx; j++, i++) {
              const at = 2 * (start + xs[i]!);
              sum += luma[at]! + 256 * luma[at + 1]!;
            }
            sums[u]! += sum;
          }
        } else {
          for (let u = 0, i = 0; u < this.width; u++) {
            let sum = 0;
            for (let j = 0; j < nx; j++, i++) sum += luma[start + xs[i]!]!;
            sums[u]! += sum;
          }
        }
      }
      for (let u = 0; u < this.width; u++) into[v * this.width + u] = sums[u]! * scale;
    }
    return into;
  }
}

/**
 * One frame's luma as a thumbnail.
 * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
 * @returns width x height averages in 8-bit levels, 0..255 whatever the depth
 */
export function thumbnail(luma: Uint8Array, format: LumaFormat, width: number, height: number): Float32Array {
  return new Thumbnailer(format, width, height).shrink(luma);
}
