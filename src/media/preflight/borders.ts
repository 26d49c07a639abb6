/**
 * @module media/preflight/borders
 * Black bars around the picture of one frame.
 */
import type { LumaFormat } from '../align/thumbnail.js';
import { unpack } from './sharpness.js';
import type { Borders } from './types.js';

/** Highest 8-bit levels of black, by the range of the video; includes coding noise. */
const BLACK = { limited: 24, full: 10 } as const;

/** Most levels above black of a sample that may be part of a border. */
const DARK = 20;

/** Levels above black that some sample must reach; otherwise the frame is too dark to judge. */
const BRIGHT = 40;

/** Largest share of a row or column that may be brighter: specks, ringing, a corner logo's edge. */
const SPECKS = 0.02;

/** Number of rows to sample in each column. */
const COLUMN_ROWS = 200;

/**
 * Finds the borders of one frame.
 * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
 * @returns borders that are `certain`ly black and those that are `possible`; `null` if the frame is too dark to judge
 */
export function findBorders(
  luma: Uint8Array,
  format: LumaFormat,
  range: 'limited' | 'full',
): { readonly certain: Borders; readonly possible: Borders } | null {
  const unit = 2 ** (format.bitDepth - 8);
  const black = BLACK[range] * unit;
  const certain = within(luma, format, black, black + BRIGHT * unit);
  const possible = within(luma, format, black + DARK * unit, black + BRIGHT * unit);
  return certain && possible && { certain, possible };
}

/** Borders whose samples are at most `level`; `null` if no sample reaches `bright`. */
function within(luma: Uint8Array, format: LumaFormat, level: number, bright: number): Borders | null {
  const { width, height } = format;
  const row = new Int32Array(width);
  const dark = (y: number): boolean => {
    unpack(luma, format, y, row);
    let specks = 0;
    for (const sample of row) if (sample > level) specks++;
    return specks <= SPECKS * width;
  };
  let top = 0;
  while (top < height && dark(top)) top++;
  if (top === height) return null;
  let bottom = 0;
  while (dark(height - 1 - bottom)) bottom++;

  // Columns, within the remaining rows.
  const active = height - top - bottom;
  const step = Math.max(1, 2 * Math.floor(active / COLUMN_ROWS / 2) + 1);
  const specks = new Int32Array(width);
  let rows = 0;
  let peak = 0;
  for (let y = top; y < height - bottom; y += step) {
    unpack(luma, format, y, row);
    rows++;
    for (let x = 0; x < width; x++) {
      const sample = row[x] ?? Number.NaN;
      if (sample > peak) peak = sample;
      if (sample > level) specks[x] = (specks[x] ?? Number.NaN) + 1;
    }
  }
  if (peak < bright) return null;
  const empty = (x: number): boolean => (specks[x] ?? Number.NaN) <= SPECKS * rows;
  let left = 0;
  while (left < width && empty(left)) left++;
  if (left === width) return null;
  let right = 0;
  while (empty(width - 1 - right)) right++;
  return { left, top, right, bottom };
}

/** Borders that two frames have in common. */
export function commonBorders(a: Borders, b: Borders): Borders {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}
