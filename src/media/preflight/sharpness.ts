/**
 * @module media/preflight/sharpness
 * Measures the fine detail of a frame relative to its contrast.
 */
import type { LumaFormat } from '../align/thumbnail.js';

/** Distance of sampled rows; odd, so that both fields of interlaced video count. */
const ROW_STEP = 3;

/** Frames with a smaller standard deviation (in 8-bit levels) have no contrast. */
const FLAT = 2;

/**
 * Mean absolute Laplacian of luma, a quarter of it per neighbour, over its standard deviation: 0 for a flat picture,
 * about 0.02 to 0.3 for natural ones, and less after blurring, scaling up or compression. Independent of brightness,
 * contrast and bit depth. Comparable between frames of the same size and content.
 * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
 * @returns `null` for a frame without contrast, or with fewer than 3x3 samples
 */
export function sharpness(luma: Uint8Array, format: LumaFormat): number | null {
  const { width, height, bitDepth } = format;
  if (width < 3 || height < 3) return null;
  const rows = [new Int32Array(width), new Int32Array(width), new Int32Array(width)] as const;
  const [above, row, below] = rows;
  let [count, sum, squares, detail] = [0, 0, 0, 0];
  for (let y = 1; y < height - 1; y += ROW_STEP) {
    for (const [k, into] of rows.entries()) unpack(luma, format, y - 1 + k, into);
    for (let x = 1; x < width - 1; x++) {
      const sample = row[x] ?? Number.NaN;
      sum += sample;
      squares += sample * sample;
      const [left, right] = [row[x - 1] ?? Number.NaN, row[x + 1] ?? Number.NaN];
      const around = left + right + (above[x] ?? Number.NaN) + (below[x] ?? Number.NaN);
      detail += Math.abs(4 * sample - around);
    }
    count += width - 2;
  }
  const mean = sum / count;
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean));
  return deviation < FLAT * 2 ** (bitDepth - 8) ? null : detail / (4 * count * deviation);
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
