/**
 * @module engine/results/finish
 * Turns raw records into libvmaf's features: quotients, totals, decibels, and motion's pass over neighbouring frames.
 * Takes records in frame order and returns every frame as soon as its values are final.
 */

import { AnyvmafError } from '../../core/errors.js';
import { metricOf } from '../../metrics/index.js';
import type { Emit, Finisher } from '../../metrics/metric.js';
import { logName } from '../../metrics/names.js';
import { ExcessNotes } from '../backends/excess.js';
import type { BoundExtractor, FeaturePlan } from '../backends/features.js';

export interface FinishedFrame {
  readonly frame: number;
  /** Parallel to {@link FeaturePlan.names}; NaN is a value (0 / 0), not an absence. */
  readonly values: Float64Array;
}

interface Stage {
  readonly bound: BoundExtractor;
  readonly finisher: Finisher;
  readonly emit: Emit;
  /** Works on every frame, including unlisted ones. */
  readonly everyFrame: boolean;
}

/** A listed frame that waits for its last values. */
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
  #frames = 0;

  /** @param subsample returns only frames whose number is a multiple; the records of all must be pushed */
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

  /** Takes the next record, `plan.layout.length` doubles from `offset`; returns frames that became final, in order. */
  push(records: Float64Array, offset: number): readonly FinishedFrame[] {
    const frame = this.#frames++;
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

  /** Ends the sequence and returns the remaining frames. */
  flush(): readonly FinishedFrame[] {
    for (const { finisher, emit } of this.#stages) finisher.flush?.(emit);
    return this.#takeFinal();
  }

  /** Frames pushed so far, listed or not. */
  get frames(): number {
    return this.#frames;
  }

  /** Warnings about the frames pushed so far: full sentences. */
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

function fieldOf(
  { instance, column, fields }: BoundExtractor,
  records: Float64Array,
  offset: number,
  index: number,
): number {
  const value = index < fields ? records[offset + column + index] : undefined;
  if (value === undefined)
    throw new AnyvmafError('internal', `Field ${index} of ${instance.key} is not in the record.`);
  return value;
}
