/**
 * @module engine/results/scoring
 * Turns raw records, whose chunks arrive in any order, into finished frames with scores and into the report's data.
 */

import type { MetricSeries } from '../../report/build.js';
import type { FrameMetrics } from '../../report/types.js';
import type { RunPlan } from '../plan/plan.js';
import { FeatureFinisher, type FinishedFrame } from './finish.js';
import type { TinyRegressors } from './tiny.js';

/** Growing columns of doubles, one per metric. */
class Series {
  readonly #columns: Float64Array[];
  readonly frames: number[] = [];

  constructor(readonly names: readonly string[]) {
    this.#columns = names.map(() => new Float64Array(64));
  }

  push(frame: number, values: Float64Array): void {
    const row = this.frames.push(frame) - 1;
    this.#columns.forEach((column, i) => {
      const target = row < column.length ? column : new Float64Array(2 * column.length);
      if (target !== column) {
        target.set(column);
        this.#columns[i] = target;
      }
      target[row] = values[i] ?? Number.NaN;
    });
  }

  columns(): MetricSeries[] {
    const { length } = this.frames;
    // Features and scores have a value in every frame; NaN is a value too.
    const present = new Uint8Array(length).fill(1);
    return this.names.map((name, i) => {
      const values = this.#columns[i]?.subarray(0, length) ?? new Float64Array(length);
      return { name, values, present };
    });
  }
}

/** The half of a run after measuring. Memory: the metrics of each frame, and chunks that wait for earlier ones. */
export class Scoring {
  readonly #plan: RunPlan;
  readonly #finisher: FeatureFinisher;
  readonly #series: Series;
  readonly #onFrame: ((frame: FrameMetrics) => void) | undefined;
  /** Chunks by the number of their first pair, until all pairs before them are there. */
  readonly #early = new Map<number, { readonly count: number; readonly records: Float64Array }>();
  readonly #values: Float64Array;
  readonly #scores: Float64Array;
  #next = 0;
  readonly #tiny: TinyRegressors | undefined;
  /** Rows that wait for tiny models, and their frames. */
  #rows: Float64Array[] = [];
  #frames: number[] = [];
  /** Tiny models scoring rows; rows that arrive meanwhile form the next batch. */
  #scoring: Promise<void> | null = null;
  #failure: unknown;

  /**
   * @param subsample scores only frames whose number is a multiple
   * @param tiny open feature models
   * @param onFrame receives each scored frame, in order, once its values are final
   */
  constructor(
    plan: RunPlan,
    subsample: number,
    onFrame?: (frame: FrameMetrics) => void,
    tiny?: TinyRegressors,
  ) {
    this.#plan = plan;
    this.#tiny = tiny;
    this.#finisher = new FeatureFinisher(plan.features, subsample);
    this.#series = new Series(plan.metrics);
    this.#onFrame = onFrame;
    this.#values = new Float64Array(plan.metrics.length);
    this.#scores = new Float64Array(plan.predictor.names.length);
  }

  /**
   * Takes the records of `count` consecutive pairs from `first` on.
   * @throws {AnyvmafError} `model` if a tiny model failed on earlier pairs
   */
  add(first: number, count: number, records: Float64Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (count > 0) this.#early.set(first, { count, records });
    const { length } = this.#plan.features.layout;
    for (;;) {
      const chunk = this.#early.get(this.#next);
      if (!chunk) break;
      this.#early.delete(this.#next);
      for (let i = 0; i < chunk.count; i++) this.#take(this.#finisher.push(chunk.records, i * length));
      this.#next += chunk.count;
    }
  }

  /**
   * Ends the sequence and returns the report's data.
   * @throws {AnyvmafError} `model` if a tiny model fails
   */
  async finish(): Promise<{
    frameNumbers: readonly number[];
    series: MetricSeries[];
    aggregates: Readonly<Record<string, number>>;
    warnings: readonly string[];
  }> {
    this.#take(this.#finisher.flush());
    await this.#scoring;
    if (this.#failure !== undefined) throw this.#failure;
    const { frames } = this.#series;
    return {
      frameNumbers: frames,
      series: this.#columns(),
      aggregates: this.#finisher.aggregates(),
      warnings: this.#finisher.warnings(),
    };
  }

  /** The metrics in libvmaf's order, which differs for a single frame. */
  #columns(): MetricSeries[] {
    const columns = this.#series.columns();
    if (this.#finisher.frames !== 1) return columns;
    const { namesOfOne } = this.#plan.features;
    const place = new Map(namesOfOne.map((name, i) => [name, i]));
    return columns
      .map((column, i) => ({ column, at: place.get(column.name) ?? i }))
      .sort((a, b) => a.at - b.at)
      .map(({ column }) => column);
  }

  #take(finished: readonly FinishedFrame[]): void {
    for (const { frame, values } of finished) {
      this.#plan.predictor.predict(values, this.#scores);
      this.#values.set(values);
      this.#values.set(this.#scores, values.length);
      if (this.#tiny) {
        this.#rows.push(this.#values.slice());
        this.#frames.push(frame);
      } else this.#give(frame, this.#values);
    }
    if (this.#rows.length > 0) this.#scoring ??= this.#scoreRows();
  }

  /** Scores waiting rows with tiny models until no row waits. Never rejects. */
  async #scoreRows(): Promise<void> {
    try {
      while (this.#tiny && this.#rows.length > 0) {
        const [rows, frames] = [this.#rows, this.#frames];
        this.#rows = [];
        this.#frames = [];
        const scores = await this.#tiny.predict(rows, frames);
        for (const [i, row] of rows.entries()) {
          const own = scores[i] ?? new Float64Array();
          row.set(own, row.length - own.length);
          this.#give(frames[i] ?? 0, row);
        }
      }
    } catch (error) {
      this.#failure = error;
      // Drop later rows: the run has failed.
      this.#rows = [];
      this.#frames = [];
    } finally {
      this.#scoring = null;
    }
  }

  #give(frame: number, values: Float64Array): void {
    this.#series.push(frame, values);
    this.#onFrame?.({ frameNum: frame, metrics: this.#named(values) });
  }

  #named(values: Float64Array): Record<string, number> {
    return Object.fromEntries(this.#plan.metrics.map((name, i) => [name, values[i] ?? Number.NaN]));
  }
}
