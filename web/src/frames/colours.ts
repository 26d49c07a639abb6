/**
 * @module web/frames/colours
 * Colours of a quality map over a dimmed grey picture, as in the library's heatmaps.
 */
import { type HeatmapColor, heatmapColor, heatmapFull } from 'anyvmaf';
import type { LossGrid } from './draw.js';

/** Share of squares that may exceed the strongest colour. */
const BEYOND = 0.01;

/** Red, green, blue (0..255) and cover (0..1) for a loss relative to the strongest colour's. */
export function tint(share: number): HeatmapColor {
  const [red, green, blue] = heatmapColor(share);
  // More cover than in the library's heatmaps, since the user can adjust the opacity.
  const cover = Math.min(1, Math.max(0, share)) ** 0.7;
  return [Math.round(red), Math.round(green), Math.round(blue), cover];
}

export function fittingFull({ density }: LossGrid): number {
  return heatmapFull(density, BEYOND);
}

/** Enough colours that neighbours look alike. */
const STEPS = 1023;
let steps: readonly (readonly number[])[] | undefined;

export function paint({ width, height, density }: LossGrid, full: number): ImageData {
  steps ??= Array.from({ length: STEPS + 1 }, (_, i) => {
    const [red, green, blue, cover] = tint(i / STEPS);
    return [red, green, blue, Math.round(255 * cover)];
  });
  const image = new ImageData(width, height);
  for (const [i, value] of density.entries()) {
    const step = Math.round(STEPS * Math.min(1, Math.max(0, value / full)));
    image.data.set(steps[step] ?? [], 4 * i);
  }
  return image;
}

export function gradient(): string {
  const stops = Array.from({ length: 9 }, (_, i) => {
    const [red, green, blue, cover] = tint(i / 8);
    return `rgb(${red} ${green} ${blue} / ${cover.toFixed(2)})`;
  });
  return `linear-gradient(90deg, ${stops.join(', ')})`;
}
