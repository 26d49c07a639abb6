/**
 * @module web/results/encodes
 * The encodes on show: the session's results as growing arrays per metric, on the axis of frames that all encodes
 * share, and what they have in common.
 */
import { type FrameMetrics, listExtractors, type Ranking } from 'anyvmaf';
import { percentile } from 'anyvmaf/core/numbers';
import {
  distinctNames,
  EncodeList,
  type Facts,
  frameRate,
  framesText,
  harmonicMean,
  type Encode as Shown,
  type Pooled as StatedPooled,
  searchFrame,
  skippedPairs,
  statedPooled,
  timeText,
} from 'anyvmaf/view';
import { type EncodeResult, isActive, type Session } from '../session.js';
import { text } from '../text.js';

export interface Encode extends Shown {
  readonly columns: Columns;
  result: EncodeResult;
  facts: Facts;
  growing: boolean;
  left: boolean;
}

/** `so far`: during a run. `computed`: the saved file lacks them. */
export interface Pooled extends StatedPooled {
  readonly origin: 'report' | 'so far' | 'computed';
}

/** Milliseconds of copying frames before yielding. */
const SLICE = 6;

export class Encodes extends EncodeList<Encode> {
  list: readonly Encode[] = [];
  /** Called when there are other encodes. */
  onReplaced: () => void = () => {};
  /** Called on new frames and reports. */
  onGrown: () => void = () => {};
  readonly #statistics = new Map<string, Statistics | undefined>();
  readonly #session: Session;
  #waiting = false;

  constructor(session: Session) {
    super();
    this.#session = session;
    session.results.watch((results) => this.#follow(results));
    for (const cell of [session.run, session.reading, session.series]) cell.watch(() => this.onGrown());
  }

  /** More frames are expected. */
  get running(): boolean {
    return isActive(this.#session.run.value) || this.#session.reading.value;
  }

  /** Frames are arriving: not while a run is paused. */
  get coming(): boolean {
    return this.#session.run.value.phase === 'running' || this.#session.reading.value;
  }

  /** No frames are missing or expected. */
  get settled(): boolean {
    return !this.running && this.list.every(({ columns, result }) => columns.length === result.frames.length);
  }

  /** Falls back to the first metric if none ranks quality. */
  override get ranking(): Ranking | undefined {
    const metric = this.list.find(({ count }) => count > 0)?.metrics[0];
    return super.ranking ?? (metric === undefined ? undefined : { metric, worse: 'low' });
  }

  override get expected(): readonly string[] {
    const { models, features } = this.#session.settings.value;
    const scores = models.slice(1).map((model) => /(?:^|:)name=([^:]+)/.exec(model)?.[1] ?? 'vmaf');
    const asked = features.map((feature) => /^[^=:]+/.exec(feature)?.[0]);
    const measured = listExtractors().filter(({ name }) => asked.includes(name));
    const always = measured.flatMap((extractor) =>
      extractor.features.filter(({ when, emitted }) => when.length === 0 && emitted !== 'sequence'),
    );
    return [...scores, ...always.map(({ alias }) => alias)];
  }

  /** First and last frame number over all encodes. */
  get span(): readonly [first: number, last: number] {
    const filled = this.list.filter(({ columns }) => columns.length > 0);
    if (filled.length === 0) return [0, 1];
    const first = Math.min(...filled.map(({ columns }) => columns.first));
    const run = this.#session.run.value;
    const expected = isActive(run)
      ? run.progress.map(
          (progress, i) => (progress?.framesTotal ?? 0) - 1 + (this.list[i]?.columns.shift ?? 0),
        )
      : [];
    return [first, Math.max(first + 1, ...filled.map(({ columns }) => columns.last), ...expected)];
  }

  /** Until the first report, from the inspection. */
  override get rate(): number | undefined {
    const known = super.rate;
    if (known !== undefined || this.list.some(({ facts }) => facts.reference)) return known;
    const { pairBy } = this.#session.settings.value;
    for (const pair of this.#session.inspections.value.values()) {
      const rate = pair.phase === 'found' ? frameRate(pair.inspection[pairBy]) : undefined;
      if (rate !== undefined) return rate;
    }
    return undefined;
  }

  /** A frame number with its time, if known. */
  said(frame: number): string {
    const words = text.results.chart;
    const name = (this.apart ? words.referenceFrame : words.frame)(frame);
    const time = this.timeOf(frame);
    return time === undefined ? name : words.at(name, timeText(time));
  }

  meanOf(index: number, metric: string): number | undefined {
    const encode = this.list[index];
    return encode && this.pooled(encode, metric)?.mean;
  }

  /** The report's own, or computed from the frames so far. */
  pooled({ index, facts, columns, growing }: Encode, metric: string | undefined): Pooled | undefined {
    if (metric === undefined) return undefined;
    const stated = statedPooled(facts, metric);
    if (stated) {
      const computed = this.list[index]?.result.saved?.computed.includes('pooled_metrics');
      return { ...stated, origin: computed ? 'computed' : 'report' };
    }
    if (facts.pooled_metrics?.[metric]) return undefined;
    const key = `${index} ${columns.length} ${metric}`;
    if (!this.#statistics.has(key)) {
      if (this.#statistics.size > 400) this.#statistics.clear();
      this.#statistics.set(key, columns.statistics(metric));
    }
    const made = this.#statistics.get(key);
    return made && { ...made, origin: growing ? 'so far' : 'computed' };
  }

  #follow(results: readonly EncodeResult[]): void {
    const same =
      results.length === this.list.length &&
      results.every(({ frames, source }, i) => {
        const before = this.list[i]?.result;
        return frames === before?.frames && (source === undefined) === (before.source === undefined);
      });
    if (!same) {
      this.#statistics.clear();
      const names = distinctNames(results.map(({ name }) => name));
      // Keep the columns of encodes that stay.
      const known = new Map(this.list.map(({ result, columns }) => [result.frames, columns]));
      this.list = results.map((result, index) => {
        const columns = known.get(result.frames) ?? new Columns();
        return this.#encodeOf(result, index, names[index] ?? result.name, columns);
      });
      this.onReplaced();
    }
    results.forEach((result, i) => {
      const encode = this.list[i];
      if (!encode) return;
      encode.result = result;
      encode.facts = factsOf(result);
    });
    const { origin } = this;
    for (const { columns, skipped = origin } of this.list) columns.shift = skipped - origin;
    this.#copyFrames();
  }

  #encodeOf(result: EncodeResult, index: number, name: string, columns: Columns): Encode {
    const { series } = this.#session;
    const isOver = () => !this.running;
    return {
      index,
      name,
      columns,
      result,
      facts: factsOf(result),
      growing: true,
      left: false,
      get series() {
        return series.value.get(this.result.frames);
      },
      get count() {
        return columns.length;
      },
      get metrics() {
        return this.facts.metrics ?? columns.metrics;
      },
      get skipped() {
        return this.facts.reference ? Math.round(skippedPairs(this.facts)) : this.result.skipped;
      },
      get fileSize() {
        return this.result.source?.distorted.size;
      },
      get looked() {
        return this.result.found?.distorted;
      },
      get partial() {
        return isOver() && !this.result.report && !this.result.saved;
      },
    };
  }

  /** Copies new frames in slices. */
  #copyFrames(): void {
    if (this.#waiting) return;
    const end = performance.now() + SLICE;
    let more = false;
    for (const encode of this.list) {
      const { frames, report, saved } = encode.result;
      let i = encode.columns.length;
      for (let n = 0; i < frames.length; i++, n++) {
        if (n % 32 === 31 && performance.now() > end) break;
        const frame = frames[i];
        if (frame) encode.columns.add(frame);
      }
      if (i < frames.length) more = true;
      encode.growing = i < frames.length || !(report || saved);
    }
    this.onGrown();
    if (!more) return;
    this.#waiting = true;
    setTimeout(() => {
      this.#waiting = false;
      this.#copyFrames();
    });
  }
}

export function reachedText(count: number, { total = 0 }: EncodeResult): string {
  return total > count ? text.run.frames(count, total) : framesText(count);
}

function factsOf({ report, saved, found }: EncodeResult): Facts {
  return report ?? saved ?? (found ? { preflight: found.findings } : {});
}

export interface Statistics {
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
