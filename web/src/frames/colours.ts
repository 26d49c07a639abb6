/**
 * @module web/frames/colours
 * Colours of a quality map: those of the library's own drawings, over a picture that is dimmed to grey.
 */
import { type HeatmapColor, heatmapColor, heatmapFull } from 'anyvmaf';
import type { LossGrid } from './draw.js';

/** Share of squares that may be beyond the strongest colour. */
const BEYOND = 0.01;

/** Red, green, blue of 0..255 and cover of 0..1 for a share of the strongest colour's loss. */
export function tint(share: number): HeatmapColor {
  const [red, green, blue] = heatmapColor(share);
  // More of it than in the library's drawings: here the reader says how much of the picture stays.
  const cover = Math.min(1, Math.max(0, share)) ** 0.7;
  return [Math.round(red), Math.round(green), Math.round(blue), cover];
}

/** The loss for the strongest colour that suits a grid. */
export function fittingFull({ density }: LossGrid): number {
  return heatmapFull(density, BEYOND);
}

/** A pixel for each square. */
export function paint({ width, height, density }: LossGrid, full: number): ImageData {
  const image = new ImageData(width, height);
  density.forEach((value, i) => {
    const [red, green, blue, cover] = tint(value / full);
    image.data.set([red, green, blue, Math.round(255 * cover)], 4 * i);
  });
  return image;
}

/** The colours as a gradient of CSS, over the grey of a dimmed picture. */
export function gradient(): string {
  const stops = Array.from({ length: 9 }, (_, i) => {
    const [red, green, blue, cover] = tint(i / 8);
    return `rgb(${red} ${green} ${blue} / ${cover.toFixed(2)})`;
  });
  return `linear-gradient(90deg, ${stops.join(', ')})`;
}
