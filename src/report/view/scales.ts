/**
 * @module report/view/scales
 * Axes of charts: value ranges, round steps, ticks in values, frames and time; search and zoom of the frame axis; plots over
 * a logarithmic bit rate.
 */
import { clock } from '../sections.js';
import { percentOf, type Templates } from './numbers.js';

export interface Extent {
  readonly low: number;
  readonly high: number;
}

export function extentOf(series: Iterable<Iterable<number>>): Extent | undefined {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const values of series) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? undefined : { low, high };
}

/** The smallest 1, 2 or 5 times a power of ten that divides a span into at most `parts`. */
export function roundStep(span: number, parts: number): number {
  // The span of very large values may overflow.
  const rough = Math.min(Math.abs(span), Number.MAX_VALUE) / Math.max(1, parts);
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough) + 1e-9);
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
}

function multiples(low: number, high: number, step: number): number[] {
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  // No ticks between ends that are not finite.
  const length = Number.isFinite(count) ? Math.max(0, count) : 0;
  return Array.from({ length }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** About `parts` multiples of a round step within a range. */
export function ticks(low: number, high: number, parts: number): number[] {
  return multiples(low, high, roundStep(high - low || 1, parts));
}

/** Marks within a power of ten on a logarithmic axis, from sparse to dense. */
const LOG_STEPS = [
  [1],
  [1, 3],
  [1, 2, 5],
  [1, 1.5, 2, 3, 5, 7],
  [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9],
];

/** Range of all values with a margin, between round values, clamped to `limits`. */
function fittedRange(
  values: readonly number[],
  limits: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): [low: number, high: number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = Math.max((high - low) * 0.1, Math.abs(high) / 100, 1e-6);
  const step = roundStep(high - low + 2 * air, 10);
  return [
    Math.max(limits[0], Math.floor((low - air) / step) * step),
    Math.min(limits[1], Math.ceil((high + air) / step) * step),
  ];
}

/** About `parts` round values at most, within a range above 0, for a logarithmic axis. */
export function logTicks(low: number, high: number, parts: number): number[] {
  const first = Math.floor(Math.log10(low));
  const count = Math.ceil(Math.log10(high)) - first + 1;
  const choices = LOG_STEPS.map((steps) =>
    Array.from({ length: count }, (_, i) => first + i)
      .flatMap((power) => steps.map((step) => Number((step * 10 ** power).toPrecision(6))))
      .filter((value) => value >= low && value <= high),
  );
  const fitting = choices.findLast(({ length }) => length > 2 && length <= parts);
  // Within a small part of a power of ten, linear ticks look even.
  return fitting ?? ticks(low, high, parts);
}

/** Steps usual on clocks, in seconds. */
const SECONDS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

export interface FrameTick {
  readonly frame: number;
  readonly label: string;
}

/**
 * Ticks of the frame axis: in time if more than four seconds are shown, else in frames.
 * @param parts approximate maximum of ticks
 * @param rate frames per second, if known
 * @param origin reference frame at 0 of the axis
 */
export function frameTicks(
  [from, to]: readonly [number, number],
  parts: number,
  rate: number | undefined,
  origin: number,
): FrameTick[] {
  if (rate === undefined || to - from <= 4 * rate) {
    const step = Math.max(1, roundStep(to - from, parts));
    return multiples(from, to, step).map((frame) => ({ frame, label: String(Math.round(frame)) }));
  }
  const step = SECONDS.find((seconds) => (to - from) / rate / seconds <= parts) ?? 7200;
  return multiples((from + origin) / rate, (to + origin) / rate, step).map((seconds) => ({
    frame: seconds * rate - origin,
    label: clock(seconds, step < 1 ? 1 : 0),
  }));
}

/** Range of all values with a margin, at least `least` wide. With `ceiling`, scores near 100 end at 100. */
export function valueRange(extent: Extent | undefined, least: number, ceiling: boolean): Span {
  if (!extent) return [0, 1];
  let { low, high } = extent;
  if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
  const air = (high - low) * 0.06;
  if (!ceiling) return [low - air, high + air];
  return [Math.max(0, low - air), extent.high > 80 && extent.high <= 100 ? 100 : high + air];
}

export function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Ascending frame numbers with a value each; non-finite values are gaps. */
export interface Line {
  readonly frames: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/**
 * Points of a line within a span, and one more on each side so that it reaches the edges.
 * @param columns more frames than these are reduced to at most two points per column
 * @returns positions in frames with a value each; NaN is a gap
 */
export function thinned({ frames, values }: Line, [from, to]: Span, columns: number) {
  const start = Math.max(0, searchFrame(frames, from) - 1);
  const end = Math.min(frames.length, searchFrame(frames, to) + 2);
  const x: number[] = [];
  const y: number[] = [];
  const put = (at: number, value: number) => {
    x.push(at);
    y.push(Number.isFinite(value) ? value : Number.NaN);
  };
  if (end - start <= columns) {
    for (let i = start; i < end; i++) put(frames[i] ?? 0, values[i] ?? Number.NaN);
    return { x, y };
  }
  const size = (to - from) / columns || 1;
  for (let i = start; i < end; ) {
    const column = Math.min(columns - 1, Math.max(0, Math.floor(((frames[i] ?? 0) - from) / size)));
    const limit = column === columns - 1 ? Number.POSITIVE_INFINITY : from + (column + 1) * size;
    let [low, high, lowAt, highAt] = [Number.NaN, Number.NaN, 0, 0];
    do {
      const value = values[i] ?? Number.NaN;
      if (Number.isFinite(value) && !(value >= low)) [low, lowAt] = [value, i];
      if (Number.isFinite(value) && !(value <= high)) [high, highAt] = [value, i];
      i++;
    } while (i < end && (frames[i] ?? 0) < limit);
    const at = from + (column + 0.5) * size;
    put(at, lowAt <= highAt ? low : high);
    if (low !== high) put(at, lowAt <= highAt ? high : low);
  }
  return { x, y };
}

/** Of `bars` in one pixel, from left to right, keeps the highest, which hides the others. */
export function highest(
  bars: readonly number[],
  heights: ArrayLike<number>,
  x: (i: number) => number,
): number[] {
  const found: number[] = [];
  let pixel = Number.NaN;
  for (const i of bars) {
    const at = Math.floor(x(i));
    const last = found.at(-1) ?? i;
    if (at !== pixel) found.push(i);
    else if ((heights[i] ?? 0) > (heights[last] ?? 0)) found[found.length - 1] = i;
    pixel = at;
  }
  return found;
}

/** An SVG path in a drawing of `columns` by `height` units, with `range.high` at 0. */
export function linePath(line: Line, span: Span, range: Extent, columns: number, height: number): string {
  const { x, y } = thinned(line, span, columns);
  const [from, to] = span;
  const unit = height / (range.high - range.low || 1);
  let path = '';
  y.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const at = to > from ? (((x[i] ?? 0) - from) / (to - from)) * columns : columns / 2;
    path += `${Number.isNaN(y[i - 1] ?? Number.NaN) ? 'M' : 'L'}${fixed(at)} ${fixed((range.high - value) * unit)}`;
  });
  return path;
}

/** First and last frame of a part. */
export type Span = readonly [from: number, to: number];

/** Index of the first of ascending frame numbers that is not below `number`. */
export function searchFrame(numbers: ArrayLike<number>, number: number, length = numbers.length): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The frame of any encode nearest to a position; `undefined` without frames. */
export function nearestFrame(encodes: Iterable<ArrayLike<number>>, position: number): number | undefined {
  let best: number | undefined;
  for (const numbers of encodes) {
    const i = searchFrame(numbers, position);
    for (const candidate of [numbers[i - 1], numbers[i]]) {
      if (candidate === undefined) continue;
      if (best === undefined || Math.abs(candidate - position) < Math.abs(best - position)) best = candidate;
    }
  }
  return best;
}

/** Clamps a span to the axis and to a minimum of a few frames; `most` is the frame count of the longest encode. */
export function zoomedTo([from, to]: Span, [first, last]: Span, most: number): [from: number, to: number] {
  const all = last - first;
  const width = Math.min(all, Math.max(4, (8 * all) / Math.max(1, most), to - from));
  const start = Math.min(last - width, Math.max(first, (from + to - width) / 2));
  return [start, start + width];
}

/** Scales a span around a position that stays in place. */
export function zoomedBy([from, to]: Span, factor: number, around: number): [from: number, to: number] {
  return [around - (around - from) * factor, around + (to - around) * factor];
}

/** Factor by which two fingers widen the span, from their pixel positions before and after. */
export function pinchFactor(before: readonly number[], after: readonly number[]): number {
  const spread = ([a = 0, b = 0]: readonly number[]) => Math.max(12, Math.abs(a - b));
  return spread(before) / spread(after);
}

/** Size of a chart in pixels, for placing names and ticks. */
export interface Room {
  readonly width: number;
  readonly height: number;
}

interface Plotted {
  /** Bits per second; at least one. */
  readonly rates: readonly number[];
  readonly qualities: readonly number[];
  /** Range of the metric, if bounded. */
  readonly limits: readonly [low: number, high: number] | undefined;
}

/** Places of rates and qualities on a chart, and its axes. */
export function ratePlot({ rates, qualities, limits }: Plotted, room: Room) {
  const [low, high] = [Math.min(...rates), Math.max(...rates)].map(Math.log) as [number, number];
  const air = Math.max(0.06 * (high - low), 0.05);
  const across = [low - air, high + air] as const;
  const up = fittedRange(qualities, limits);
  /** Bits per second in a unit of the axis. */
  const bits = Math.max(...rates) >= 1e7 ? 1e6 : 1e3;
  /** In percent of the chart from its left. */
  const x = (rate: number) => percentOf(Math.log(rate), ...across);
  /** In percent of the chart from its top. */
  const y = (quality: number) => Number(fixed(100 - percentOf(quality, ...up)));
  /** SVG path through points. */
  const path = (points: readonly (readonly [rate: number, quality: number])[]) =>
    points.map(([rate, quality], i) => `${i === 0 ? 'M' : 'L'}${x(rate)} ${y(quality)}`).join('');
  /** @param lines content of an SVG of 100 by 100; `over` lies above it */
  const drawing = <T>({ html }: Templates<T>, lines: readonly unknown[], over: readonly T[]): T[] => {
    const gridY = ticks(...up, Math.max(2, room.height / 40)).map((value) => {
      const top = `top:${y(value)}%`;
      return html`<i class="gy" .style=${top}></i><span class="y" .style=${top}>${String(value)}</span>`;
    });
    const [from, to] = across.map((end) => Math.exp(end) / bits) as [number, number];
    const gridX = logTicks(from, to, Math.max(2, room.width / 90)).map((value) => {
      const left = `left:${x(value * bits)}%`;
      return html`<i class="gx" .style=${left}></i><span class="x" .style=${left}>${String(value)}</span>`;
    });
    return [
      ...gridY,
      ...gridX,
      html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${lines}</svg>`,
      ...over,
      html`<span class="axis">bit rate in ${bits === 1e6 ? 'Mb/s' : 'kb/s'}, logarithmic</span>`,
    ];
  };
  return { x, y, path, drawing };
}
