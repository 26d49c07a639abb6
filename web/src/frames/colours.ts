/**
 * @module web/frames/colours
 * Colours of a quality map: the same as in the library's own drawings, over a picture that is dimmed to grey.
 */
import type { LossGrid } from './draw.js';

/** Evenly spaced from nothing to all; lighter with every step, so that the colour blind see the order as well. */
const COLOURS = [
  [66, 10, 104],
  [147, 38, 103],
  [221, 81, 58],
  [252, 165, 10],
  [252, 255, 164],
] as const;

/** Losses that the strongest colour may stand for; few, so that frames can be compared. */
export const FULLS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const;
/** Share of squares that may be beyond the strongest colour. */
const BEYOND = 0.01;

/** Red, green, blue of 0..255 and cover of 0..1 for a share of the strongest colour's loss. */
export function tint(share: number): readonly [red: number, green: number, blue: number, cover: number] {
  const value = Math.min(1, Math.max(0, share));
  const at = value * (COLOURS.length - 1);
  const [from, to] = [COLOURS[Math.floor(at)] ?? COLOURS[0], COLOURS[Math.ceil(at)] ?? COLOURS[0]];
  const mix = (k: 0 | 1 | 2) => Math.round(from[k] + (at % 1) * (to[k] - from[k]));
  return [mix(0), mix(1), mix(2), value ** 0.7];
}

/** The loss for the strongest colour that suits a grid. */
export function fittingFull({ density }: LossGrid): number {
  const sorted = density.slice().sort();
  const high = sorted[Math.floor((1 - BEYOND) * (sorted.length - 1))] ?? 0;
  return FULLS.find((full) => full >= high) ?? FULLS[FULLS.length - 1] ?? 1;
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
