/**
 * @module media/heatmap/palette
 * The colours of a map: lighter with every step, so that they keep their order for the colour blind and in print.
 */

/** Red, green and blue of 0..255, and how much of it covers the picture, 0..1. */
export type Tint = readonly [red: number, green: number, blue: number, cover: number];

/** Evenly spaced from nothing to all: violet, red, orange, yellow (after "inferno" of matplotlib, which is CC0). */
const COLOURS = [
  [66, 10, 104],
  [147, 38, 103],
  [221, 81, 58],
  [252, 165, 10],
  [252, 255, 164],
] as const;

/** How much of the picture the strongest colour covers. */
const COVER = 0.85;

/** Steps that are told apart. */
export const STEPS = 256;

/** Tints of `STEPS` values from 0 to 1. The first is transparent. */
export const TINTS: readonly Tint[] = Array.from({ length: STEPS }, (_, i) => tintOf(i / (STEPS - 1)));

function tintOf(value: number): Tint {
  const at = value * (COLOURS.length - 1);
  const [from, to] = [COLOURS[Math.floor(at)], COLOURS[Math.ceil(at)]];
  const mix = (k: 0 | 1 | 2) => (from?.[k] ?? 0) + (at % 1) * ((to?.[k] ?? 0) - (from?.[k] ?? 0));
  return [mix(0), mix(1), mix(2), COVER * value];
}
