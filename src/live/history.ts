/**
 * @module live/history
 * The server thread's copy of a measurement, which answers questions while the measuring side is busy.
 */
import { USUAL_RATE } from '../core/numbers.js';
import type { SwapOutcome } from '../engine/live/steering.js';
import { Series } from '../engine/results/series.js';
import { distribution, pool } from '../report/pool.js';
import type { MetricDistribution, PooledMetric } from '../report/schema.js';
import { type Alarm, type AlarmRule, Alarms, MainScore, MOST_RULES, Seconds } from './alarms.js';
import type { MeasurementFacts, RunState, SecondLine, ServerSettings } from './link.js';

const WORST = 32;
export const KEPT_ALARMS = 256;
/** Window of the current rate, in milliseconds. */
const RATE_TIME = 5000;
/** Cached percentiles are valid for at least `SPREAD_TIME` milliseconds, and `SPREAD_SHARE` times their cost. */
const SPREAD_TIME = 250;
const SPREAD_SHARE = 50;
export const KEPT_SECONDS = 7200;

/** The lowest score within a second of video. */
export interface WorstMoment {
  readonly frame: number;
  readonly metric: string;
  readonly value: number;
}

export type SecondPoint = Omit<SecondLine, 'frame'>;

export type Pooled = PooledMetric & Partial<MetricDistribution> & { readonly frames: number };

export class History {
  readonly id: number;
  readonly name: string;
  facts: MeasurementFacts | undefined;
  state: RunState = 'waiting';
  error: string | undefined;
  taken = 0;
  measured = 0;
  /** Last scored frame; -1 before the first. */
  last = -1;
  readonly swaps: SwapOutcome[] = [];
  readonly alarms: Alarm[] = [];
  readonly seconds: SecondPoint[] = [];
  /** Increases with every change. */
  version = 0;
  #series: Series;
  #keep: number;
  readonly #keepSeconds: number | undefined;
  #names: readonly string[] = [];
  #active: readonly number[] = [];
  readonly #main = new MainScore();
  readonly #spreads = new Map<
    string,
    { readonly version: number; readonly until: number; readonly pooled: Pooled | undefined }
  >();
  readonly #worst: WorstMoment[] = [];
  readonly #watched = new Map<string, { readonly alarms: Alarms; readonly told: Alarm[] }>();
  readonly #seconds = new Seconds();
  #arrived: { readonly at: number; readonly measured: number }[] = [];
  #began = 0;
  #lastAt = 0;

  constructor(id: number, name: string, { keep, keepSeconds }: Pick<ServerSettings, 'keep' | 'keepSeconds'>) {
    this.#keepSeconds = keepSeconds;
    this.id = id;
    this.name = name;
    this.#keep = keep ?? Number.POSITIVE_INFINITY;
    this.#series = new Series([], this.#keep);
  }

  /** Scored frames per second of video. */
  get framesPerSecond(): number {
    return (this.facts?.rate ?? USUAL_RATE) / (this.facts?.subsample ?? 1);
  }

  /** Frames to score in all; `null` while unknown. */
  get toScore(): number | null {
    const { total, subsample } = this.facts ?? {};
    return total == null ? null : Math.ceil(total / (subsample ?? 1));
  }

  /** Frames read or pushed but not scored yet. */
  get queued(): number {
    return Math.max(0, Math.ceil(this.taken / (this.facts?.subsample ?? 1)) - this.measured);
  }

  get metrics(): readonly string[] {
    return this.#series.names;
  }

  /** Key of the current main score. */
  get main(): string | undefined {
    return this.#main.now;
  }

  get isOver(): boolean {
    return this.state === 'finished' || this.state === 'failed';
  }

  plan(facts: MeasurementFacts): void {
    this.facts = facts;
    this.state = 'running';
    this.#main.begin(facts.models[0]?.name);
    this.#began = performance.now();
    if (this.#keepSeconds !== undefined && this.#keep === Number.POSITIVE_INFINITY) {
      this.#keep = Math.max(1, Math.ceil(this.#keepSeconds * this.framesPerSecond));
      this.#series = new Series([], this.#keep);
    }
    this.version++;
  }

  setNames(names: readonly string[]): void {
    this.#names = names;
    this.#active = names.map((name) => this.#series.column(name));
  }

  /** @param values one row for each frame number */
  take(numbers: Float64Array, values: Float64Array): void {
    const width = this.#names.length;
    for (const [row, frame] of numbers.entries()) {
      const own = values.subarray(row * width, (row + 1) * width);
      this.#series.push(frame, own, this.#active);
      this.#judge(frame, own);
      this.last = frame;
    }
    this.measured += numbers.length;
    this.#lastAt = performance.now();
    this.#arrived.push({ at: this.#lastAt, measured: this.measured });
    const old = this.#arrived.findIndex(({ at }) => this.#lastAt - at <= RATE_TIME);
    if (old > 1) this.#arrived.splice(0, old - 1);
    this.version++;
  }

  swap(swap: SwapOutcome): void {
    this.swaps.push(swap);
    this.#main.swap(swap);
    this.version++;
  }

  alarm(alarm: Alarm): void {
    remember(this.alarms, alarm);
    this.version++;
  }

  /**
   * Watches a client's rule from the first kept frame on.
   * @returns its latest alarms, which begin and end in turn; the array grows
   * @throws {AnyvmafError} `usage` for an unmeasured metric
   */
  watch(rule: AlarmRule): readonly Alarm[] {
    const known = this.#watched.get(rule.text) ?? this.#begin(rule);
    this.#watched.delete(rule.text);
    this.#watched.set(rule.text, known);
    // Evict the least recently used rule.
    const [oldest] = this.#watched.keys();
    if (this.#watched.size > MOST_RULES && oldest !== undefined) this.#watched.delete(oldest);
    return known.told;
  }

  #begin(rule: AlarmRule) {
    const first = this.facts?.models[0]?.name;
    const alarms = new Alarms([rule]);
    alarms.start(this.framesPerSecond, this.facts?.metrics ?? [], first, this.facts?.models);
    const main = new MainScore();
    main.begin(first);
    for (const swap of this.swaps) main.swap(swap);
    const told: Alarm[] = [];
    const columns = this.#series.columns();
    for (const [row, frame] of this.#series.frames.entries()) {
      const measured = columns.filter(({ present }) => present?.[row] !== 0);
      const values = Float64Array.from(measured, (column) => column.values[row] ?? Number.NaN);
      const names = measured.map(({ name }) => name);
      for (const alarm of alarms.take(frame, values, names, main.at(frame))) remember(told, alarm);
    }
    return { alarms, told };
  }

  /** Frames per second of wall time, recently and since the start. */
  rate(): { readonly now: number; readonly average: number } {
    const [first] = this.#arrived;
    const end = this.isOver ? this.#lastAt : performance.now();
    const recent = first && end - first.at > 0 ? (this.measured - first.measured) / (end - first.at) : 0;
    const whole = end - this.#began > 0 ? this.measured / (end - this.#began) : 0;
    return { now: 1000 * (this.#arrived.length > 1 ? recent : whole), average: 1000 * whole };
  }

  /** The lowest scores so far, at most one within a second, worst first. */
  worst(count: number): readonly WorstMoment[] {
    return this.#worst.slice(0, count);
  }

  /** Values of a frame; `undefined` if it is not scored or no longer kept. */
  frame(number: number): Readonly<Record<string, number>> | undefined {
    const row = lowerBound(this.#series.frames, number);
    if (this.#series.frames[row] !== number) return undefined;
    const entries = this.#series
      .columns()
      .flatMap(({ name, values, present }): [string, number][] =>
        present?.[row] === 0 ? [] : [[name, values[row] ?? Number.NaN]],
      );
    return Object.fromEntries(entries);
  }

  get kept(): readonly [first: number, last: number] | undefined {
    const { frames } = this.#series;
    const [first, last] = [frames[0], frames.at(-1)];
    return first === undefined || last === undefined ? undefined : [first, last];
  }

  /** Statistics over all frames. Percentiles need every frame to be kept, and may lag: their cost grows. */
  pooled(metric: string): Pooled | undefined {
    const all = this.#series.pooled()?.get(metric);
    if (!all) return undefined;
    const frames = this.#series.counted(metric);
    const kept = this.#spread(metric);
    const whole = kept !== undefined && this.#series.frames.length === this.measured;
    return { ...all, frames, ...(whole && { percentiles: kept.percentiles, stddev: kept.stddev }) };
  }

  mean(metric: string): number | undefined {
    return this.#series.pooled()?.get(metric)?.mean;
  }

  #spread(metric: string): Pooled | undefined {
    const now = performance.now();
    const known = this.#spreads.get(metric);
    const lags = known !== undefined && now < known.until && !this.isOver;
    if (known && (lags || known.version === this.version)) return known.pooled;
    const pooled = this.range(metric, 0, Number.POSITIVE_INFINITY);
    const until = now + Math.max(SPREAD_TIME, SPREAD_SHARE * (performance.now() - now));
    this.#spreads.set(metric, { version: this.version, until, pooled });
    return pooled;
  }

  /** Statistics over the kept frames from `first` to `last`. */
  range(metric: string, first: number, last: number): Pooled | undefined {
    const { frames } = this.#series;
    const [from, to] = [lowerBound(frames, first), lowerBound(frames, last + 1)];
    const column = this.#series.columns().find(({ name }) => name === metric);
    const values = column?.values
      .subarray(from, to)
      .filter((_, i) => column.present === undefined || column.present[from + i] !== 0);
    const statistics = values && pool(values, metric);
    return values && statistics && { ...statistics, ...distribution(values), frames: values.length };
  }

  #judge(frame: number, values: Float64Array): void {
    const metric = this.#main.at(frame);
    for (const { alarms, told } of this.#watched.values())
      for (const alarm of alarms.take(frame, values, this.#names, metric)) remember(told, alarm);
    const value = metric === undefined ? undefined : values[this.#names.indexOf(metric)];
    if (metric === undefined || value === undefined || Number.isNaN(value)) return;
    this.#rank({ frame, metric, value });
    const done = this.#seconds.take(value, this.framesPerSecond);
    if (!done) return;
    const { second, mean, min } = done;
    this.seconds.push({ second, metric, mean, min });
    if (this.seconds.length > KEPT_SECONDS) this.seconds.shift();
  }

  #rank(moment: WorstMoment): void {
    const worst = this.#worst;
    if (worst.length === WORST && moment.value >= (worst.at(-1)?.value ?? 0)) return;
    const gap = this.framesPerSecond * (this.facts?.subsample ?? 1);
    const near = worst.findIndex(({ frame }) => moment.frame - frame < gap);
    if (near >= 0) {
      if ((worst[near]?.value ?? 0) <= moment.value) return;
      worst.splice(near, 1);
    }
    const at = worst.findIndex(({ value }) => moment.value < value);
    worst.splice(at < 0 ? worst.length : at, 0, moment);
    worst.length = Math.min(worst.length, WORST);
  }
}

function remember(alarms: Alarm[], alarm: Alarm): void {
  alarms.push(alarm);
  if (alarms.length > KEPT_ALARMS) alarms.shift();
}

function lowerBound(numbers: readonly number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
