/**
 * @module report/html/series
 * The values of one metric in all frames of a report, and how the page writes them.
 */
import { formatGeneral } from '../../core/printf.js';
import type { Report } from '../types.js';

/** One value per frame of the report, NaN where there is none. */
export function seriesOf(report: Report, metric: string): Float64Array {
  return Float64Array.from(report.frames, (frame) => {
    const value = frame.metrics[metric];
    return typeof value === 'number' ? value : Number.NaN;
  });
}

/** A measured value in a table: four decimals, or seven digits where it is large. */
export function cellText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  return Math.abs(value) < 1e6 ? value.toFixed(4) : formatGeneral(value, 7);
}

/** A value in a legend or over an axis: as many decimals as its size lets matter. */
export function shortText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return value.toFixed(size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

/** The style that gives an element the colour of an encode. */
export function colourOf(index: number): string {
  return `--c:var(--s${index % 8})`;
}

/** A share of a range in per cent of a width, for positions in styles; kept within it. */
export function percentOf(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.round(Math.min(1, Math.max(0, share)) * 1e4) / 100;
}
