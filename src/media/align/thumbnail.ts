/**
 * @module media/align/thumbnail
 * Shrinks luma to thumbnails, cheaply enough for every frame of a search, and compares them.
 */
import { samplesOf, type VideoFormat } from '../../core/frame.js';

/** Size of all thumbnails, whatever the aspect ratio. */
export const THUMBNAIL = { width: 64, height: 36 } as const;
/** Boxes up to this width are read completely. */
const WHOLE_BOX = 6;

export type LumaFormat = Pick<VideoFormat, 'width' | 'height' | 'bitDepth'>;

/**
 * Positions of the samples to read along one side, box by box. Steps are odd, so that both fields of interlaced video
 * count. Positions are exact fractions, so that a picture gives the same thumbnail at any size.
 */
function positions(size: number, boxes: number, most: number) {
  const box = size / boxes;
  const step = box <= WHOLE_BOX ? 1 : 2 * Math.max(1, Math.floor(box / 16)) + 1;
  const perBox = Math.min(most, Math.max(1, Math.round(box / step)));
  const at = Int32Array.from({ length: boxes * perBox }, (_, k) => Math.floor(((k + 0.5) * box) / perBox));
  return { at, perBox };
}

export class Thumbnailer {
  readonly #format: LumaFormat;
  readonly #across: ReturnType<typeof positions>;
  readonly #down: ReturnType<typeof positions>;
  readonly width: number;
  readonly height: number;

  /** @param most positions to read along each side of a box, to read less of large pictures */
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
    const samples = samplesOf(luma, bitDepth);
    const { at: xs, perBox: nx } = this.#across;
    const { at: ys, perBox: ny } = this.#down;
    const scale = 1 / (nx * ny * 2 ** (bitDepth - 8));
    const sums = new Float64Array(this.width);
    for (let v = 0, row = 0; v < this.height; v++) {
      sums.fill(0);
      for (let k = 0; k < ny; k++, row++) {
        const start = ys[row]! * stride;
        for (let u = 0, i = 0; u < this.width; u++) {
          let sum = 0;
          for (let j = 0; j < nx; j++, i++) sum += samples[start + xs[i]!]!;
          sums[u]! += sum;
        }
      }
      for (let u = 0; u < this.width; u++) into[v * this.width + u] = sums[u]! * scale;
    }
    return into;
  }
}

/** Dot product of arrays whose length is a multiple of 4; four partial sums are twice as fast as one. */
export function dot(a: Float32Array, b: Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  for (let k = 0; k < a.length; k += 4) {
    s0 += a[k]! * b[k]!;
    s1 += a[k + 1]! * b[k + 1]!;
    s2 += a[k + 2]! * b[k + 2]!;
    s3 += a[k + 3]! * b[k + 3]!;
  }
  return s0 + s1 + s2 + s3;
}

export function squaredDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) {
    const difference = b[k]! - a[k]!;
    sum += difference * difference;
  }
  return sum;
}

/** Width of a picture, width of its blocks, and height of its blocks, in samples. */
type Grid = readonly [width: number, across: number, down: number];

/** Sums of differences over blocks, which average out noise. */
function blockSums(a: Float32Array, b: Float32Array, [width, across, down]: Grid): Float64Array {
  const perRow = Math.ceil(width / across);
  const sums = new Float64Array(perRow * Math.ceil(a.length / width / down));
  for (let y = 0, k = 0; k < a.length; y++) {
    const row = Math.floor(y / down) * perRow;
    for (let x = 0; x < width; x++, k++) sums[row + Math.floor(x / across)]! += b[k]! - a[k]!;
  }
  return sums;
}

/** Mean squared change of block averages. */
export function blockChange(a: Float32Array, b: Float32Array, grid: Grid): number {
  const sums = blockSums(a, b, grid);
  return sums.reduce((total, sum) => total + (sum / (grid[1] * grid[2])) ** 2, 0) / sums.length;
}

/** Blocks that {@link isSamePicture} compares. */
const ALIKE: Grid = [THUMBNAIL.width, 4, 4];
/** Largest change of a block average, in 8-bit levels, that compression causes in a still picture. */
const MOVES = 1;
/** Least share of different frames. */
const TELLING = 0.05;

/**
 * True if enough frames differ between two offsets. In stills and loops, compression alone decides which fits best.
 * @param pairs thumbnails of one video's frames at both offsets, in 8-bit levels
 */
export function tellsApart(pairs: readonly (readonly [one: Float32Array, other: Float32Array])[]): boolean {
  const moved = pairs.filter(([one, other]) => !isSamePicture(one, other));
  return moved.length > 0 && moved.length >= TELLING * pairs.length;
}

export function isSamePicture(one: Float32Array, other: Float32Array): boolean {
  return blockSums(one, other, ALIKE).every((sum) => Math.abs(sum) <= MOVES * ALIKE[1] * ALIKE[2]);
}

export const SIGNATURE = { width: 32, height: 18 } as const;
/** One byte per average, in 8-bit levels. */
export const SIGNATURE_BYTES = SIGNATURE.width * SIGNATURE.height;
/** Samples to read along each side of one average; fewer of small pictures, which are almost as cheap to score. */
const SAMPLES = 5;
const SAMPLES_SMALL = 2;
/** In luma samples. */
const SMALL = 320 * 180;

export class Signer {
  readonly #thumbnailer: Thumbnailer;
  readonly #averages = new Float32Array(SIGNATURE_BYTES);

  constructor(format: LumaFormat) {
    const samples = format.width * format.height <= SMALL ? SAMPLES_SMALL : SAMPLES;
    this.#thumbnailer = new Thumbnailer(format, SIGNATURE.width, SIGNATURE.height, samples);
  }

  /** @param luma packed rows, one byte a sample at 8 bit, two (little endian) above */
  sign(luma: Uint8Array, into: Uint8Array, at = 0): void {
    this.#thumbnailer.shrink(luma, this.#averages);
    for (let k = 0; k < SIGNATURE_BYTES; k++) into[at + k] = Math.round(this.#averages[k]!);
  }
}

/** Signs a thumbnail, which is twice as wide and high as its signature. */
export function signThumb(samples: Float32Array, into: Uint8Array): void {
  const { width } = THUMBNAIL;
  for (let k = 0; k < SIGNATURE_BYTES; k++) {
    const x = k % SIGNATURE.width;
    const at = 2 * (((k - x) / SIGNATURE.width) * width + x);
    const sum = [at, at + 1, at + width, at + width + 1].reduce((all, i) => all + (samples[i] ?? 0), 0);
    into[k] = Math.round(sum / 4);
  }
}

/** Bytes of the signatures of a pair: reference, then distorted. */
export const PAIR_BYTES = 2 * SIGNATURE_BYTES;
