/**
 * @module media/preflight/sharpness
 * Measures the fine detail of a frame relative to its contrast.
 */
import type { LumaFormat } from '../align/thumbnail.js';

/** Side of the smallest blocks of codecs. Samples that have all neighbours in their own block show no block edges. */
const BLOCK = 4;

/** Frames with a smaller standard deviation (in 8-bit levels) have no contrast. */
const FLAT = 2;

/** Frames with a smaller root mean square of the Laplacian (in 8-bit levels) have no detail but that of rounding. */
const ROUNDING = 2;

/**
 * Root mean square of the Laplacian of luma, a quarter of it per neighbour, over its standard deviation: 0 for a flat
 * picture, and less after blurring, scaling up or compression. Independent of brightness, contrast and bit depth.
 * Comparable between frames of the same size and content. It is measured inside blocks of 4x4 samples, so that block edges
 * do not count; in squares, so that ringing over flat parts does not outweigh the edges that it was taken from.
 * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
 * @returns `null` for a frame without contrast or detail, or with fewer than 3x3 samples
 */
export function sharpness(luma: Uint8Array, format: LumaFormat): number | null {
  const { width, height, bitDepth } = format;
  const rows = [new Int32Array(width), new Int32Array(width), new Int32Array(width)] as const;
  const [above, row, below] = rows;
  let [count, sum, squares, detail] = [0, 0, 0, 0];
  for (let y = 1; y < height - 1; y += y % BLOCK === 1 ? 1 : BLOCK - 1) {
    for (const [k, into] of rows.entries()) unpack(luma, format, y - 1 + k, into);
    for (let x = 1; x < width - 1; x += x % BLOCK === 1 ? 1 : BLOCK - 1) {
      const sample = row[x] ?? Number.NaN;
      sum += sample;
      squares += sample * sample;
      const [left, right] = [row[x - 1] ?? Number.NaN, row[x + 1] ?? Number.NaN];
      const around = left + right + (above[x] ?? Number.NaN) + (below[x] ?? Number.NaN);
      detail += (4 * sample - around) ** 2;
      count++;
    }
  }
  if (count === 0) return null;
  const mean = sum / count;
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean));
  const level = 2 ** (bitDepth - 8);
  const change = Math.sqrt(detail / count);
  return deviation < FLAT * level || change < ROUNDING * level ? null : change / (4 * deviation);
}

/** One row's samples. */
export function unpack(luma: Uint8Array, { width, bitDepth }: LumaFormat, y: number, into: Int32Array): void {
  const size = bitDepth === 8 ? 1 : 2;
  const row = luma.subarray(size * y * width, size * (y + 1) * width);
  if (size === 1) {
    into.set(row);
    return;
  }
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  for (let x = 0; x < width; x++) into[x] = view.getUint16(2 * x, true);
}
