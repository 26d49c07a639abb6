/**
 * @module pictures/heatmap
 * Draws a grid of values as colours over a frame in dim grey, and a legend strip below it with its own letters.
 */
import { samplesOf } from '../core/frame.js';
import type { FramePicture } from './frame-pair.js';
import { STEPS, TINTS } from './palette.js';
import { type RgbImage, rgbCoefficients } from './rgb.js';

/** Values of square cells of a picture, row by row; the last cells of a row or column are cut off at the border. */
export interface CellGrid {
  readonly width: number;
  readonly height: number;
  /** Side of a cell in pixels. */
  readonly blockSize: number;
  readonly values: Float32Array | Float64Array;
}

/** Brightness of the grey picture, low for contrast with the colours. */
const DIM = 0.62;

/** Draws luma below an interpolated grid: values up to 0 are transparent, from `full` on have the strongest colour. */
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

/** Colour of NaN. */
const CLEAR = [0, 0, 0, 0] as const;

/** The two cells between whose centres pixel `at` lies, and the weight of the second. */
function between(at: number, blockSize: number, cells: number) {
  const place = Math.max(0, Math.min(cells - 1, (at + 0.5) / blockSize - 0.5));
  const from = Math.floor(place);
  return { from, to: Math.min(cells - 1, from + 1), share: place - from };
}

/** Brightness of the strip, and colour of its letters. */
const PAPER = 16;
const INK = [235, 235, 235] as const;
/** Brightness of the grey below the bar's translucent colours. */
const UNDER = 80;

interface Legend {
  /** In capitals: `ADM LOSS DENSITY  MEAN 0.31`. Omitted if the picture is too narrow. */
  readonly title: string;
  /** The value of the strongest colour. */
  readonly full: number;
}

export function addLegend(image: RgbImage, { title, full }: Legend): RgbImage {
  const { width } = image;
  const dot = Math.max(1, Math.round(width / 640));
  const strip = (LETTER.height + 8) * dot;
  const data = new Uint8Array(3 * width * (image.height + strip)).fill(PAPER);
  data.set(image.data);
  const paint = (x: number, y: number, colour: readonly [number, number, number]) => {
    if (x >= 0 && x < width && y >= 0 && y < strip) data.set(colour, 3 * ((image.height + y) * width + x));
  };
  const write = (text: string, left: number) => {
    [...text].forEach((character, i) => {
      for (const [column, row] of dotsOf(character)) {
        const [x, y] = [left + (i * LETTER.pitch + column) * dot, (4 + row) * dot];
        for (let k = 0; k < dot * dot; k++) paint(x + (k % dot), y + Math.floor(k / dot), INK);
      }
    });
  };
  const gap = 4 * dot;
  const most = `${String(full)}+`;
  const right = width - gap - widthOf(most, dot);
  // The bar fills the space that the texts leave, up to a third of the strip.
  const free = right - 4 * gap - widthOf(`${title} 0`, dot);
  const bar = Math.max(16 * dot, Math.min(Math.floor(width / 3), free));
  const barLeft = right - gap - bar;
  const zero = barLeft - gap - widthOf('0', dot);
  write(most, right);
  for (let x = 0; x < bar; x++) {
    const [red, green, blue, cover] = TINTS[Math.floor((x * STEPS) / bar)] ?? CLEAR;
    const mix = (part: number) => Math.round(UNDER * (1 - cover) + part * cover);
    for (let y = 4 * dot; y < (4 + LETTER.height) * dot; y++)
      paint(barLeft + x, y, [mix(red), mix(green), mix(blue)]);
  }
  write('0', zero);
  if (zero - gap >= gap + widthOf(title, dot)) write(title, gap);
  return { width, height: image.height + strip, data };
}

function widthOf(text: string, dot: number): number {
  return (text.length * LETTER.pitch - 1) * dot;
}

/** Columns and rows of dots of a letter; one more column separates letters. */
const LETTER = { width: 5, height: 7, pitch: 6 } as const;

/** Capital letters and figures: rows from top to bottom; the bits of a number are dots, the highest bit leftmost. */
const DOTS: Readonly<Record<string, readonly number[]>> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 6, 8, 16, 31],
  '3': [14, 17, 1, 6, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  '+': [0, 4, 4, 31, 4, 4, 0],
  '.': [0, 0, 0, 0, 0, 12, 12],
  A: [14, 17, 17, 31, 17, 17, 17],
  B: [30, 17, 17, 30, 17, 17, 30],
  C: [14, 17, 16, 16, 16, 17, 14],
  D: [30, 17, 17, 17, 17, 17, 30],
  E: [31, 16, 16, 30, 16, 16, 31],
  F: [31, 16, 16, 30, 16, 16, 16],
  G: [14, 17, 16, 23, 17, 17, 15],
  I: [14, 4, 4, 4, 4, 4, 14],
  L: [16, 16, 16, 16, 16, 16, 31],
  M: [17, 27, 21, 21, 17, 17, 17],
  N: [17, 25, 21, 21, 19, 17, 17],
  O: [14, 17, 17, 17, 17, 17, 14],
  R: [30, 17, 17, 30, 20, 18, 17],
  S: [15, 16, 16, 14, 1, 1, 30],
  T: [31, 4, 4, 4, 4, 4, 4],
  U: [17, 17, 17, 17, 17, 17, 14],
  V: [17, 17, 17, 17, 17, 10, 4],
  X: [17, 17, 10, 4, 10, 17, 17],
  Y: [17, 17, 10, 4, 4, 4, 4],
};

export function dotsOf(character: string): readonly (readonly [column: number, row: number])[] {
  return (DOTS[character] ?? []).flatMap((bits, row) =>
    Array.from({ length: LETTER.width }, (_, column) => [column, row] as const).filter(
      ([column]) => (bits >> (LETTER.width - 1 - column)) & 1,
    ),
  );
}
