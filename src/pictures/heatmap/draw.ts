/**
 * @module pictures/heatmap/draw
 * Draws a grid of values as colours over a frame in dim grey.
 */

import { samplesOf } from '../../core/frame.js';
import { rgbCoefficients } from '../color.js';
import type { FramePicture } from '../frame-pair.js';
import type { RgbImage } from '../image.js';
import { STEPS, TINTS } from '../palette.js';

/** Values of square cells of a picture, row after row; the last ones are cut off at the border. */
export interface CellGrid {
  /** Cells per row. */
  readonly width: number;
  /** Rows of cells. */
  readonly height: number;
  /** Side of a cell in pixels. */
  readonly blockSize: number;
  readonly values: Float32Array | Float64Array;
}

/** Brightness of the grey picture, low for contrast with the colours. */
const DIM = 0.62;

/**
 * Draws a frame's luma under a grid, interpolating values between the centres of cells.
 * @param full values of at least `full` get the strongest colour; 0 and below are transparent
 */
export function drawHeatmap(picture: FramePicture, grid: CellGrid, full: number): RgbImage {
  const { width, height, bitDepth } = picture.format;
  const { lumaOffset, y: gain } = rgbCoefficients(picture.color, bitDepth);
  const luma = samplesOf(picture.planes.y, bitDepth);
  const columns = Array.from({ length: width }, (_, x) => between(x, grid.blockSize, grid.width));
  const line = new Float64Array(grid.width);
  const data = new Uint8ClampedArray(3 * width * height);
  const steps = (STEPS - 1) / full;
  let at = 0;
  for (let y = 0; y < height; y++) {
    const row = between(y, grid.blockSize, grid.height);
    for (let k = 0; k < grid.width; k++) {
      const [a, b] = [row.from * grid.width + k, row.to * grid.width + k];
      line[k] = (1 - row.share) * grid.values[a]! + row.share * grid.values[b]!;
    }
    for (let x = 0; x < width; x++) {
      const { from, to, share } = columns[x]!;
      const value = (1 - share) * line[from]! + share * line[to]!;
      const light = Math.max(0, Math.min(255, (luma[y * width + x]! - lumaOffset) * gain)) * DIM;
      const [red, green, blue, cover] =
        TINTS[Math.max(0, Math.min(STEPS - 1, Math.round(value * steps)))] ?? CLEAR;
      const grey = light * (1 - cover);
      data[at++] = grey + red * cover;
      data[at++] = grey + green * cover;
      data[at++] = grey + blue * cover;
    }
  }
  return { width, height, data: new Uint8Array(data.buffer) };
}

/** Two neighbouring cells and the weight of the second. */
interface Between {
  readonly from: number;
  readonly to: number;
  readonly share: number;
}

/** Colour of NaN. */
const CLEAR = [0, 0, 0, 0] as const;

/** Position of pixel `at` between the centres of cells. */
function between(at: number, blockSize: number, cells: number): Between {
  const place = Math.max(0, Math.min(cells - 1, (at + 0.5) / blockSize - 0.5));
  const from = Math.floor(place);
  return { from, to: Math.min(cells - 1, from + 1), share: place - from };
}
