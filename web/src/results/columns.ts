/**
 * @module web/results/columns
 * Values of one encode in growing arrays per metric. Frames are numbered on the axis that all encodes share.
 */
import type { FrameMetrics } from 'anyvmaf';
import { percentile } from 'anyvmaf/core/percentile';
import { harmonicMean, searchFrame } from 'anyvmaf/view';

export interface Statistics {
  /** Number of frames. */
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly harmonic_mean: number;
  readonly stddev: number;
  /** 0 to 100. */
  readonly percentile: (percent: number) => number;
}

interface Column {
  values: Float64Array;
  /** Finite values only. */
  low: number;
  high: number;
}

/** NaN for missing values. */
export class Columns {
  #numbers = new Float64Array(256);
  readonly #columns = new Map<string, Column>();
  #length = 0;
  #shift = 0;

  /** Position of the report's frame 0 on the shared axis. */
  get shift(): number {
    return this.#shift;
  }

  /** Moves present and later frames. */
  set shift(shift: number) {
    const by = shift - this.#shift;
    if (by === 0) return;
    this.#shift = shift;
    for (let i = 0; i < this.#length; i++) this.#numbers[i] = (this.#numbers[i] ?? 0) + by;
  }

  get length(): number {
    return this.#length;
  }

  /** Metrics in order of appearance. */
  get metrics(): string[] {
    return [...this.#columns.keys()];
  }

  /** Frame numbers on the shared axis, ascending. The array is replaced as it grows. */
  get numbers(): Float64Array {
    return this.#numbers.subarray(0, this.#length);
  }

  get first(): number {
    return this.#numbers[0] ?? 0;
  }

  get last(): number {
    return this.#numbers[this.#length - 1] ?? 0;
  }

  values(metric: string): Float64Array | undefined {
    return this.#columns.get(metric)?.values.subarray(0, this.#length);
  }

  /** Range of the finite values. */
  extent(metric: string): readonly [low: number, high: number] | undefined {
    const column = this.#columns.get(metric);
    return column && column.low <= column.high ? [column.low, column.high] : undefined;
  }

  /** Frames must come in ascending order. */
  add({ frameNum, metrics }: FrameMetrics): void {
    if (this.#length === this.#numbers.length) this.#grow();
    const at = this.#length++;
    this.#numbers[at] = frameNum + this.#shift;
    for (const name in metrics) {
      const value = metrics[name];
      if (value === undefined) continue;
      let column = this.#columns.get(name);
      if (!column) {
        const values = new Float64Array(this.#numbers.length).fill(Number.NaN);
        column = { values, low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
        this.#columns.set(name, column);
      }
      column.values[at] = value;
      if (Number.isFinite(value)) {
        if (value < column.low) column.low = value;
        if (value > column.high) column.high = value;
      }
    }
  }

  #grow(): void {
    const size = this.#numbers.length * 2;
    const numbers = new Float64Array(size);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    for (const column of this.#columns.values()) {
      const values = new Float64Array(size).fill(Number.NaN);
      values.set(column.values);
      column.values = values;
    }
  }

  /** Index of the first frame from `number` on. */
  search(number: number): number {
    return searchFrame(this.#numbers, number, this.#length);
  }

  /** NaN if there is none. */
  at(metric: string, frame: number): number {
    const i = this.search(frame);
    if (i >= this.#length || this.#numbers[i] !== frame) return Number.NaN;
    return this.#columns.get(metric)?.values[i] ?? Number.NaN;
  }

  /**
   * Statistics by libvmaf's rules; `undefined` without frames or if one lacks a value. Percentiles are those
   * of the frames at the time of this call.
   * @param span first and last frame number; absent: all frames
   */
  statistics(metric: string, span?: readonly [from: number, to: number]): Statistics | undefined {
    const all = this.values(metric);
    if (!all) return undefined;
    const values = span ? all.subarray(this.search(span[0]), this.search(span[1] + 1)) : all;
    const count = values.length;
    let [min, max, sum, inverse] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
    for (const value of values) {
      sum += value;
      inverse += 1 / (value + 1);
      if (value < min) min = value;
      if (value > max) max = value;
    }
    if (count === 0 || Number.isNaN(sum)) return undefined;
    const mean = sum / count;
    let squares = 0;
    for (const value of values) squares += (value - mean) ** 2;
    // Sorted on demand: it is slow and seldom needed.
    let sorted: Float64Array | undefined;
    const percentileOf = (percent: number): number => {
      sorted ??= values.slice().sort();
      return percentile(sorted, percent);
    };
    return {
      count,
      min,
      max,
      mean,
      harmonic_mean: harmonicMean(metric, count, inverse),
      stddev: Math.sqrt(squares / count),
      percentile: percentileOf,
    };
  }
}

/** libvmaf's SAD of a frame and the one before, in integer and float arithmetic. */
const CHANGE = /motion_sad_score$/;
/** Least change of a cut, frames on each side to compare with, and the ratio by which it must exceed them. */
const [LEAST, AROUND, STANDS_OUT] = [10, 8, 1.7];

/** Frames that change more than their neighbours; the two largest neighbours do not count, so close cuts are found. */
export function shotsOf(columns: Columns): number[] {
  const name = columns.metrics.find((metric) => CHANGE.test(metric));
  const values = name === undefined ? undefined : columns.values(name);
  const { numbers } = columns;
  return [...(values ?? [])].flatMap((change, i, all) => {
    const frame = numbers[i] ?? 0;
    if (change < LEAST || frame - (numbers[i - 1] ?? frame) !== 1) return [];
    const around = [...all.slice(Math.max(0, i - AROUND), i), ...all.slice(i + 1, i + 1 + AROUND)];
    const [, , third = 0] = around.sort((a, b) => b - a);
    return change > third * STANDS_OUT ? [frame] : [];
  });
}
