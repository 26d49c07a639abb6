/**
 * @module test/unit/pictures/palette
 * The colours of quality maps, and which density gets the strongest.
 */
import { expect, it } from 'vitest';
import { HEATMAP_FULLS, heatmapColor, heatmapFull, STEPS, TINTS } from '../../../src/pictures/palette.js';

/** Lightness as CIELAB has it, of sRGB. */
function lightness(red: number, green: number, blue: number): number {
  const linear = (v: number) => (v <= 10.31475 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const y = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

it('gets lighter and covers more with every step, from nothing', () => {
  expect(TINTS).toHaveLength(STEPS);
  expect(TINTS[0]?.[3]).toBe(0);
  for (let i = 1; i < STEPS; i++) {
    const [before, now] = [TINTS[i - 1] ?? [0, 0, 0, 0], TINTS[i] ?? [0, 0, 0, 0]] as const;
    expect(lightness(now[0], now[1], now[2])).toBeGreaterThan(lightness(before[0], before[1], before[2]));
    expect(now[3]).toBeGreaterThan(before[3]);
  }
});

it('has a colour for every share, the ends for what is beyond them', () => {
  // Violet without cover, yellow with most; a quarter of the way is the second of five colours.
  expect(heatmapColor(0)).toEqual([66, 10, 104, 0]);
  expect(heatmapColor(1)).toEqual([252, 255, 164, 0.85]);
  expect(heatmapColor(0.25).slice(0, 3)).toEqual([147, 38, 103]);
  expect(heatmapColor(0.125).slice(0, 3)).toEqual([106.5, 24, 103.5]);
  expect(heatmapColor(-1)).toEqual(heatmapColor(0));
  expect(heatmapColor(9)).toEqual(heatmapColor(1));
});

it('has its strongest colour at a round density that few cells are beyond', () => {
  const densities = Float64Array.from({ length: 1000 }, (_, i) => (i < 25 ? 0.7 : i < 40 ? 0.3 : 0.01));
  expect(heatmapFull(densities)).toBe(0.5);
  expect(heatmapFull(densities, 0.01)).toBe(1);
  expect(heatmapFull(densities, 0.5)).toBe(HEATMAP_FULLS[0]);
  expect(heatmapFull(Float64Array.of(99, 99))).toBe(5);
  expect(heatmapFull(new Float64Array())).toBe(0.02);
});
