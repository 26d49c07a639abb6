/**
 * @module pictures/heatmap/legend
 * Adds a legend strip below a map.
 */

import type { RgbImage } from '../image.js';
import { STEPS, TINTS } from '../palette.js';
import { dotsOf, LETTER } from './letters.js';

/** Contents of a legend. */
export interface Legend {
  /** Title in capitals: `ADM LOSS DENSITY  MEAN 0.31`. Omitted if the picture is too narrow. */
  readonly title: string;
  /** The value of the strongest colour. */
  readonly full: number;
}

/** Brightness of the strip and of its letters. */
const [PAPER, INK] = [16, 235];
/** Brightness of the grey below the bar's translucent colours. */
const UNDER = 80;

/** Adds a strip with a title and a colour bar from 0 to `full`. */
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
      for (const [column, row] of dotsOf(character))
        for (let k = 0; k < dot * dot; k++)
          paint(left + (i * LETTER.pitch + column) * dot + (k % dot), (4 + row) * dot + Math.floor(k / dot), [
            INK,
            INK,
            INK,
          ]);
    });
  };
  const gap = 4 * dot;
  const most = `${String(full)}+`;
  const right = width - gap - widthOf(most, dot);
  // The bar fills the space that the texts leave, up to a third of the strip.
  const bar = Math.max(
    16 * dot,
    Math.min(Math.floor(width / 3), right - 4 * gap - widthOf(`${title} 0`, dot)),
  );
  const barLeft = right - gap - bar;
  const zero = barLeft - gap - widthOf('0', dot);
  write(most, right);
  for (let x = 0; x < bar; x++) {
    const [red, green, blue, cover] = TINTS[Math.floor((x * STEPS) / bar)] ?? [0, 0, 0, 0];
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
