/**
 * @module pictures/palette
 * Colours of quality maps. Lightness increases with every step, for colour-blind users and print.
 */
import { requireAttached, requireNumber, wrongType } from '../core/arguments.js';

/** Red, green and blue (0..255, not rounded), and opacity (0..1). */
export type HeatmapColor = readonly [red: number, green: number, blue: number, cover: number];

/** Evenly spaced from 0 to 1: violet, red, orange, yellow (after "inferno" of matplotlib, which is CC0). */
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
 * The colour that `render` of a quality map uses for a density of loss, for custom legends and drawings.
 * @param share the density divided by the density of the strongest colour; clamped to 0..1
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
 * The default density of the strongest colour: the first of `HEATMAP_FULLS` that at most a share `beyond` of the
 * densities exceeds, or the last.
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
