/**
 * @module engine/results/scoring
 * Turns chunks of raw records, in any order, into scored frames and the report's data: libvmaf's features (quotients, totals,
 * decibels, and motion's pass over neighbouring frames), then predictions.
 */
import { internalError } from '../../core/errors.js';
import { metricOf } from '../../metrics/index.js';
import type { Emit, Finisher } from '../../metrics/metric.js';
import { logName } from '../../metrics/options.js';
import type { Predictor } from '../../models/predict.js';
import type { MetricSeries } from '../../report/build.js';
import type { FrameMetrics, PooledMetric } from '../../report/schema.js';
import type { BoundExtractor, FeaturePlan } from '../backends/features.js';
import { ExcessNotes } from '../backends/measurer.js';
import type { TinyRegressors } from '../backends/tiny.js';
import { InOrder } from '../contract/platform.js';
import type { RunPlan } from '../plan/plan.js';
import { Series } from './series.js';

/** Observes frames as they are assembled. Its errors fail the run. */
export interface FrameWatcher {
  /** This frame is scored next; all earlier ones are done. */
  boundary(frame: number): void;
  /** The frame is done. Copy `values`, in the order of `names`, to keep them. */
  frame(frame: number, values: Float64Array, names: readonly string[]): void;
}

/** Finishes and scores measured pairs. Stores the metrics of each frame, and chunks that arrived early. */
export class Scoring {
  readonly #plan: RunPlan;
  readonly #subsample: number;
  readonly #finisher: FeatureFinisher;
  readonly #series: Series;
  readonly #keep: number | undefined;
  readonly #onFrame: ((frame: FrameMetrics) => void) | undefined;
  readonly #chunks: InOrder<Float64Array>;
  #values: Float64Array;
  #scores: Float64Array;
  #predictor: Predictor;
  /** Names of a frame's values, and their columns if they differ from the plan's. */
  #names: readonly string[];
  #active: readonly number[] | undefined;
  /** Whether `#active` is stale after a change of models; the next scored frame rebuilds it. */
  #renamed = false;
  #watcher: FrameWatcher | undefined;
  /** The next frame to score. */
  following = 0;
  readonly #tiny: TinyRegressors | undefined;
  /** Rows that wait for tiny models, and their frames. */
  #rows: Float64Array[] = [];
  #frames: number[] = [];
  /** The batch of rows that tiny models are scoring; new rows form the next batch. */
  #scoring: Promise<void> | null = null;
  #failure: unknown;

  /**
   * @param subsample scores only multiples of this frame number
   * @param onFrame receives each scored frame in order, when its values are final
   * @param keep frames to keep for the report; absent for all
   */
  constructor(
    plan: RunPlan,
    subsample: number,
    onFrame?: (frame: FrameMetrics) => void,
    tiny?: TinyRegressors,
    keep?: number,
  ) {
    this.#plan = plan;
    this.#subsample = subsample;
    this.#tiny = tiny;
    this.#keep = keep;
    this.#finisher = new FeatureFinisher(plan.features, subsample);
    this.#series = new Series(plan.metrics, keep);
    this.#onFrame = onFrame;
    const { length } = plan.features.layout;
    this.#chunks = new InOrder((records, count) => {
      for (let i = 0; i < count; i++) this.#take(this.#finisher.push(records, i * length));
    });
    this.#predictor = plan.predictor;
    this.#names = plan.metrics;
    this.#values = new Float64Array(plan.metrics.length);
    this.#scores = new Float64Array(plan.predictor.names.length);
  }

  /** Takes records of `count` pairs from `first`. @throws {AnyvmafError} `model` of a tiny model; watchers' errors */
  add(first: number, count: number, records: Float64Array): void {
    this.#orFail(() => this.#chunks.add(first, count, records));
  }

  /** Fails the run with the error of `work`, since frames may be lost. */
  #orFail(work: () => void): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      work();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** Sets the watcher and passes it all finished frames. */
  watch(watcher: FrameWatcher): void {
    this.#watcher = watcher;
    const columns = this.#series.columns();
    for (const [row, frame] of this.#series.frames.entries()) {
      const values = Float64Array.from(columns, ({ values }) => values[row] ?? Number.NaN);
      watcher.frame(frame, values, this.#series.names);
    }
  }

  measures(key: string): boolean {
    return this.#plan.features.extractors.some(({ instance }) => instance.key === key);
  }

  /** Changes the predictor from the next frame on, for the same features. @returns the number of that frame */
  swap(predictor: Predictor): number {
    this.#predictor = predictor;
    this.#names = [...this.#plan.features.names, ...predictor.names];
    this.#renamed = true;
    this.#values = new Float64Array(this.#names.length);
    this.#scores = new Float64Array(predictor.names.length);
    return this.following;
  }

  /** Returns the report's data. @throws {AnyvmafError} `model` if a tiny model fails */
  async finish(): Promise<{
    frameNumbers: readonly number[];
    series: MetricSeries[];
    aggregates: Readonly<Record<string, number>>;
    warnings: readonly string[];
    pooled?: ReadonlyMap<string, PooledMetric | null>;
  }> {
    this.#orFail(() => this.#take(this.#finisher.flush()));
    await this.#scoring;
    if (this.#failure !== undefined) throw this.#failure;
    const { frames } = this.#series;
    const pooled = this.#pooled();
    return {
      frameNumbers: frames,
      series: this.#columns(),
      aggregates: this.#finisher.aggregates(),
      warnings: [...this.#finisher.warnings(), ...this.#dropped(frames.length)],
      ...(pooled && { pooled }),
    };
  }

  /** Scored frames, including dropped ones. */
  get #scored(): number {
    return Math.ceil(this.#finisher.frames / this.#subsample);
  }

  /** Statistics over all frames if some may be dropped; `null` for a metric that a frame lacks. */
  #pooled(): ReadonlyMap<string, PooledMetric | null> | undefined {
    const pooled = this.#series.pooled();
    const complete = (name: string) => this.#series.counted(name) === this.#scored;
    return pooled && new Map([...pooled].map(([name, all]) => [name, complete(name) ? all : null]));
  }

  #dropped(kept: number): string[] {
    const scored = this.#scored;
    if (this.#keep === undefined || kept >= scored) return [];
    return [
      `The report holds the last ${kept} of ${scored} frames; pooled values are of all frames, percentiles of those ` +
        'kept.',
    ];
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
      this.#watcher?.boundary(frame);
      this.#score(frame, values);
      this.following = frame + this.#subsample;
    }
    if (this.#rows.length > 0) this.#scoring ??= this.#scoreRows();
  }

  #score(frame: number, values: Float64Array): void {
    this.#values.set(values);
    this.#predictor.predict(this.#values, this.#scores);
    this.#values.set(this.#scores, values.length);
    if (this.#tiny) {
      this.#rows.push(this.#values.slice());
      this.#frames.push(frame);
    } else this.#give(frame, this.#values);
  }

  /** Scores rows with tiny models until none is left. Never rejects. */
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
      // The run has failed: drop later rows.
      this.#rows = [];
      this.#frames = [];
    } finally {
      this.#scoring = null;
    }
  }

  #give(frame: number, values: Float64Array): void {
    if (this.#renamed) this.#active = this.#names.map((name) => this.#series.column(name));
    this.#renamed = false;
    this.#series.push(frame, values, this.#active);
    this.#watcher?.frame(frame, values, this.#names);
    this.#onFrame?.({ frameNum: frame, metrics: this.#named(values) });
  }

  #named(values: Float64Array): Record<string, number> {
    return Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? Number.NaN]));
  }
}

export interface FinishedFrame {
  readonly frame: number;
  /** In the order of {@link FeaturePlan.names}; NaN is a value (0 / 0). */
  readonly values: Float64Array;
}

interface Stage {
  readonly bound: BoundExtractor;
  readonly finisher: Finisher;
  readonly emit: Emit;
  /** Whether it needs every frame, including unlisted ones. */
  readonly everyFrame: boolean;
}

interface PendingFrame {
  readonly finished: FinishedFrame;
  missing: number;
}

export class FeatureFinisher {
  readonly #plan: FeaturePlan;
  readonly #subsample: number;
  readonly #stages: readonly Stage[];
  /** Index of the first picture model's score in {@link FeaturePlan.names}. */
  readonly #firstPicture: number;
  readonly #pending: PendingFrame[] = [];
  readonly #excess: ExcessNotes;
  /** Frames pushed so far, listed or not. */
  frames = 0;

  /** @param subsample returns only multiples of this frame number; push the records of all frames */
  constructor(plan: FeaturePlan, subsample = 1) {
    this.#plan = plan;
    this.#subsample = Math.max(1, subsample);
    this.#excess = new ExcessNotes(plan.extraction.format.bitDepth);
    this.#firstPicture = plan.names.length - plan.pictureNames.length;
    const slots = new Map(plan.names.map((name, slot) => [name, slot]));
    this.#stages = plan.extractors.map((bound) => {
      const { instance, features } = bound;
      const slotOf = new Map(
        features.map((feature) => [feature.name, slots.get(logName(feature, instance.suffix))]),
      );
      return {
        bound,
        finisher: metricOf(instance).finish(instance, plan.extraction.format, plan.compat),
        emit: (frame, feature, value) => this.#set(frame, slotOf.get(feature), value),
        everyFrame: instance.spec.temporal || instance.spec.previousReference,
      };
    });
  }

  /** Takes the next record, `plan.layout.length` doubles from `offset`; returns newly final frames in order. */
  push(records: Float64Array, offset: number): readonly FinishedFrame[] {
    const frame = this.frames++;
    const listed = frame % this.#subsample === 0;
    const { layout, names, pictureNames } = this.#plan;
    if (layout.excess >= 0) {
      const at = offset + layout.excess;
      this.#excess.take(frame, records[at] ?? 0, records[at + 1] ?? 0);
    }
    if (listed) {
      const values = new Float64Array(names.length);
      const from = offset + layout.pictures;
      values.set(records.subarray(from, from + pictureNames.length), this.#firstPicture);
      this.#pending.push({ finished: { frame, values }, missing: this.#firstPicture });
    }
    for (const { bound, finisher, emit, everyFrame } of this.#stages) {
      if (!listed && !everyFrame) continue;
      finisher.push(frame, (index) => fieldOf(bound, records, offset, index), emit);
    }
    return this.#takeFinal();
  }

  flush(): readonly FinishedFrame[] {
    for (const { finisher, emit } of this.#stages) finisher.flush?.(emit);
    return this.#takeFinal();
  }

  /** Full sentences. */
  warnings(): readonly string[] {
    return this.#excess.warnings();
  }

  /** Values for the whole sequence by log name, in order. Complete after {@link flush}. */
  aggregates(): Readonly<Record<string, number>> {
    const aggregates: Record<string, number> = {};
    for (const { bound, finisher } of this.#stages) {
      const { instance, features } = bound;
      const values = finisher.aggregates?.() ?? {};
      for (const feature of features) {
        const value = values[feature.name];
        if (value !== undefined) aggregates[logName(feature, instance.suffix)] = value;
      }
    }
    return aggregates;
  }

  #set(frame: number, slot: number | undefined, value: number): void {
    const pending =
      slot === undefined ? undefined : this.#pending.find(({ finished }) => finished.frame === frame);
    if (slot === undefined || !pending) return;
    pending.finished.values[slot] = value;
    pending.missing--;
  }

  #takeFinal(): readonly FinishedFrame[] {
    const waiting = this.#pending.findIndex(({ missing }) => missing > 0);
    const final = this.#pending.splice(0, waiting < 0 ? this.#pending.length : waiting);
    return final.map(({ finished }) => finished);
  }
}

function fieldOf({ instance, column, fields }: BoundExtractor, records: Float64Array, at: number, i: number) {
  const value = i < fields ? records[at + column + i] : undefined;
  if (value === undefined) throw internalError(`Field ${i} of ${instance.key} is not in the record.`);
  return value;
}
