/**
 * @module pictures/palette
 * Colours of quality maps. Lightness increases with every step, for colour-blind users and print.
 */
import { requireAttached, requireNumber, wrongType } from '../core/arguments.js';

/** Red, green and blue (0..255, not rounded), and opacity (0..1). */
export type HeatmapColor = readonly [red: number, green: number, blue: number, cover: number];

/** Evenly spaced from nothing to all: violet, red, orange, yellow (after "inferno" of matplotlib, which is CC0). */
const COLOURS = [
  [66, 10, 104],
  [147, 38, 103],
  [221, 81, 58],
  [252, 165, 10],
  [252, 255, 164],
] as const;

/** Opacity of the strongest colour. */
const COVER = 0.85;

/** Possible densities of the strongest colour; few, so that frames can be compared by eye. */
export const HEATMAP_FULLS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const;

/** Number of distinct colours. */
export const STEPS = 256;

/** Colours of `STEPS` values from 0 to 1. The first is transparent. */
export const TINTS: readonly HeatmapColor[] = Array.from({ length: STEPS }, (_, i) =>
  heatmapColor(i / (STEPS - 1)),
);

/**
 * The colour of quality maps for a density of loss, as `render` of a map draws it: for legends and drawings of one's own.
 * @param share the density over the one that gets the strongest colour; what is below 0 or above 1 counts as these
 */
export function heatmapColor(share: number): HeatmapColor {
  requireNumber('share', share, 'a number from 0 to 1');
  const value = Math.min(1, Math.max(0, share)) || 0;
  const at = value * (COLOURS.length - 1);
  const [from, to] = [COLOURS[Math.floor(at)], COLOURS[Math.ceil(at)]];
  const mix = (k: 0 | 1 | 2) => (from?.[k] ?? 0) + (at % 1) * ((to?.[k] ?? 0) - (from?.[k] ?? 0));
  return [mix(0), mix(1), mix(2), COVER * value];
}

/**
 * The density that gets the strongest colour unless `full` says otherwise: the first of `HEATMAP_FULLS` that no more than
 * a share of the densities is beyond, or the last.
 * @param beyond 0..1; default 0.03, as in `render`
 */
export function heatmapFull(densities: Float32Array | Float64Array, beyond = 0.03): number {
  if (
    !ArrayBuffer.isView(densities) ||
    !(densities instanceof Float32Array || densities instanceof Float64Array)
  )
    throw wrongType('densities', densities, 'a Float32Array or a Float64Array');
  requireAttached('densities', densities);
  requireNumber('beyond', beyond, 'a number from 0 to 1');
  if (!(beyond >= 0 && beyond <= 1)) throw wrongType('beyond', beyond, 'a number from 0 to 1');
  const sorted = densities.slice().sort();
  const high = sorted[Math.floor((1 - beyond) * (sorted.length - 1))] ?? 0;
  return HEATMAP_FULLS.find((full) => full >= high) ?? Math.max(...HEATMAP_FULLS);
}
