/**
 * @module engine/workers/merge
 * Joins the records that several measurers give of one frame, in whatever order they come, before it is scored.
 */
import type { RecordLayout } from '../backends/types.js';
import type { PlanPart } from '../plan/split.js';
import type { RecordSink } from './dispatch.js';

/** Takes the records of every part of a plan and passes whole ones on. */
export class RecordMerger {
  readonly #layout: RecordLayout;
  readonly #parts: readonly PlanPart[];
  readonly #sink: RecordSink;
  /** Records that lack a part, by the number of the pair. */
  readonly #incomplete = new Map<number, { readonly record: Float64Array; missing: number }>();

  /**
   * @param layout of the whole plan
   * @param parts that have something to do
   */
  constructor(layout: RecordLayout, parts: readonly PlanPart[], sink: RecordSink) {
    this.#layout = layout;
    this.#parts = parts;
    this.#sink = sink;
  }

  /** Where the measurer of a part sends its records: each pair once. */
  sinks(): readonly RecordSink[] {
    return this.#parts.map(({ places }) => ({
      add: (first, count, records) => {
        for (let i = 0; i < count; i++)
          this.#add(first + i, places, records.subarray(i * places.length, (i + 1) * places.length));
      },
      // A pair counts once all parts of it are there.
      measured: () => {},
    }));
  }

  #add(index: number, places: readonly number[], values: Float64Array): void {
    const { length } = this.#layout;
    const entry = this.#incomplete.get(index) ?? {
      record: new Float64Array(length).fill(Number.NaN),
      missing: this.#parts.length,
    };
    for (const [i, place] of places.entries()) this.#set(entry.record, place, values[i] as number);
    if (--entry.missing > 0) {
      this.#incomplete.set(index, entry);
      return;
    }
    this.#incomplete.delete(index);
    this.#sink.measured(1);
    this.#sink.add(index, 1, entry.record);
  }

  #set(record: Float64Array, place: number, value: number): void {
    const { excess, pictures } = this.#layout;
    const before = record[place] as number;
    // Every part looks for samples out of range in the planes that it reads; the first plane with one counts.
    const shared = excess >= 0 && place >= excess && place < pictures && before > 0;
    record[place] = shared && !(value > 0 && value < before) ? before : value;
  }
}
