/**
 * @module media/preflight/borders
 * Finds black bars around the picture.
 */
import { type PlaneSize, samplesOf } from '../../core/frame.js';
import type { LumaFormat } from '../align/thumbnail.js';
import type { Borders, SideMeasurements } from './types.js';

/** Highest 8-bit levels of black by range, coding noise included. */
const BLACK = { limited: 24, full: 10 } as const;

/** Highest level above black that may still be part of a border. */
const DARK = 20;

/** Level above black that a frame must reach to be judged. */
const BRIGHT = 40;

/** Largest share of a row or column that may be brighter: specks, ringing, the edge of a logo. */
const SPECKS = 0.02;

/** Least share of picture in a row or column next to a bar, unlike around something small on black. */
const FILLED = 0.2;

/** Rows or columns next to a border, one of which must be filled. */
const BESIDE = 4;

/** Least share of the frame within bars. */
const LEFT_WITHIN = 0.2;

const COLUMN_ROWS = 200;

export interface FoundBorders {
  readonly certain: Borders;
  readonly possible: Borders;
  /** Picture samples along the edge next to each certain border, in a frame with that border. */
  readonly filled: Borders;
}

/**
 * Finds `certain` and `possible` black borders of a frame; `null` if the frame is too dark to judge.
 * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
 */
export function findBorders(
  luma: Uint8Array,
  format: LumaFormat,
  range: 'limited' | 'full',
): FoundBorders | null {
  const unit = 2 ** (format.bitDepth - 8);
  const black = BLACK[range] * unit;
  const certain = within(luma, format, black, black + BRIGHT * unit);
  const possible = within(luma, format, black + DARK * unit, black + BRIGHT * unit);
  if (!certain || !possible) return null;
  return { certain: certain.borders, possible: possible.borders, filled: certain.filled };
}

interface Within {
  readonly borders: Borders;
  readonly filled: Borders;
}

/** Borders whose samples are at most `level`; `null` if no sample reaches `bright`. */
function within(luma: Uint8Array, format: LumaFormat, level: number, bright: number): Within | null {
  const { width, height } = format;
  const samples = samplesOf(luma, format.bitDepth);
  const across = (y: number): number => {
    let brighter = 0;
    for (const sample of samples.subarray(y * width, (y + 1) * width)) if (sample > level) brighter++;
    return brighter;
  };
  const dark = (y: number): boolean => across(y) <= SPECKS * width;
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
    rows++;
    for (let x = 0; x < width; x++) {
      const sample = samples[y * width + x] ?? Number.NaN;
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
  const down = (x: number) => ((specks[x] ?? 0) * active) / rows;
  const most = (length: (at: number) => number, from: number, step: 1 | -1) =>
    Math.max(...Array.from({ length: BESIDE }, (_, k) => length(from + step * k)));
  return {
    borders: { left, top, right, bottom },
    filled: {
      left: most(down, left, 1),
      top: most(across, Math.min(top, height - BESIDE), 1),
      right: most(down, width - 1 - right, -1),
      bottom: most(across, Math.max(BESIDE, height - bottom) - 1, -1),
    },
  };
}

export const EDGES = ['left', 'top', 'right', 'bottom'] as const;
type Edge = (typeof EDGES)[number];

export function forEdges(value: (edge: Edge) => number): Borders {
  return { left: value('left'), top: value('top'), right: value('right'), bottom: value('bottom') };
}

export function lengthAcross({ width, height }: PlaneSize, edge: Edge): number {
  return edge === 'left' || edge === 'right' ? width : height;
}

export function commonBorders(a: FoundBorders, b: FoundBorders): FoundBorders {
  const certain = forEdges((edge) => Math.min(a.certain[edge], b.certain[edge]));
  return {
    certain,
    possible: forEdges((edge) => Math.min(a.possible[edge], b.possible[edge])),
    filled: forEdges((edge) =>
      Math.max(...[a, b].map((one) => (one.certain[edge] - certain[edge] < BESIDE ? one.filled[edge] : 0))),
    ),
  };
}

/** Keeps borders that are bars around a picture; something small or moving on black has none. */
export function barsOf(
  { certain, possible, filled }: FoundBorders,
  { width, height }: LumaFormat,
): SideMeasurements['borders'] {
  const [across, down] = [width - certain.left - certain.right, height - certain.top - certain.bottom];
  const beside = (edge: Edge) => (edge === 'left' || edge === 'right' ? down : across);
  const bars = forEdges((edge) => (filled[edge] >= FILLED * beside(edge) ? certain[edge] : 0));
  const left = (width - bars.left - bars.right) * (height - bars.top - bars.bottom);
  const framed = left >= LEFT_WITHIN * width * height;
  return { certain: framed ? bars : forEdges(() => 0), possible };
}
