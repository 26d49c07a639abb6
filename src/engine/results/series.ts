/**
 * @module engine/results/series
 * Growing columns of doubles, one per metric, for all or the latest scored frames.
 */
import type { MetricSeries } from '../../report/build.js';
import { harmonicMean } from '../../report/pool.js';
import type { PooledMetric } from '../../report/schema.js';

/** Initial capacity in rows. */
const FIRST_ROOM = 64;

class Column {
  values = new Float64Array(FIRST_ROOM);
  /** Absent if every row has a value. */
  present: Uint8Array | undefined;
  /** Statistics over all rows, including dropped ones; sums in frame order. */
  count = 0;
  min = Number.NaN;
  max = Number.NaN;
  sum = 0;
  inverse = 0;

  constructor(readonly name: string) {}

  grow(room: number): void {
    this.values = moved(new Float64Array(room), this.values);
    if (this.present) this.present = moved(new Uint8Array(room), this.present);
  }

  set(row: number, value: number): void {
    this.values[row] = value;
    if (this.present) this.present[row] = 1;
  }

  /** Tallies a value as `pool` of report/pool does. */
  tally(value: number): void {
    if (this.count++ === 0) {
      this.min = value;
      this.max = value;
    }
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.sum += value;
    this.inverse += 1 / (value + 1);
  }

  /** Leaves rows from `from` to before `to` without a value. */
  skip(from: number, to: number): void {
    if (to <= from) return;
    this.present ??= new Uint8Array(this.values.length).fill(1, 0, from);
    this.present.fill(0, from, to);
  }

  drop(rows: number): void {
    this.values.copyWithin(0, rows);
    this.present?.copyWithin(0, rows);
  }
}

function moved<T extends Float64Array | Uint8Array>(to: T, from: T): T {
  to.set(from.subarray(0, to.length));
  return to;
}

export class Series {
  readonly #columns: Column[];
  readonly #keep: number | undefined;
  readonly #frames: number[] = [];
  #room = FIRST_ROOM;

  /** @param keep fewest rows to keep; drops older ones */
  constructor(names: readonly string[], keep?: number) {
    this.#columns = names.map((name) => new Column(name));
    this.#keep = keep;
  }

  /** Kept frame numbers, ascending. */
  get frames(): readonly number[] {
    const first = this.#first();
    return first === 0 ? this.#frames : this.#frames.slice(first);
  }

  get names(): readonly string[] {
    return this.#columns.map(({ name }) => name);
  }

  /** Index of a metric's column; adds a missing one, without values in earlier rows. */
  column(name: string): number {
    const found = this.#columns.findIndex((column) => column.name === name);
    if (found >= 0) return found;
    const column = new Column(name);
    column.grow(this.#room);
    column.skip(0, this.#frames.length);
    return this.#columns.push(column) - 1;
  }

  /** Adds a row. @param values of the columns in `active`; default: all */
  push(frame: number, values: Float64Array, active?: readonly number[]): void {
    this.#makeRoom();
    const row = this.#frames.push(frame) - 1;
    if (active) for (const column of this.#columns) column.skip(row, row + 1);
    for (let i = 0; i < values.length; i++) {
      const column = this.#columns[active ? (active[i] ?? -1) : i];
      const value = values[i] ?? Number.NaN;
      column?.set(row, value);
      if (this.#keep !== undefined) column?.tally(value);
    }
  }

  /** Number of values of a metric; counted only if rows may be dropped. */
  counted(name: string): number {
    return this.#columns.find((column) => column.name === name)?.count ?? 0;
  }

  columns(): MetricSeries[] {
    const [first, end] = [this.#first(), this.#frames.length];
    return this.#columns.map(({ name, values, present }) => ({
      name,
      values: values.subarray(first, end),
      // Features and scores are present in every frame; NaN is a value too.
      present: present?.subarray(first, end) ?? new Uint8Array(end - first).fill(1),
    }));
  }

  /** Statistics over all frames; `undefined` if rows are never dropped. */
  pooled(): ReadonlyMap<string, PooledMetric> | undefined {
    if (this.#keep === undefined) return undefined;
    const counted = this.#columns.filter(({ count }) => count > 0);
    return new Map(
      counted.map(({ name, count, min, max, sum, inverse }) => [
        name,
        { min, max, mean: sum / count, harmonic_mean: harmonicMean(name, count, inverse) },
      ]),
    );
  }

  #first(): number {
    return this.#keep === undefined ? 0 : Math.max(0, this.#frames.length - this.#keep);
  }

  #makeRoom(): void {
    const rows = this.#frames.length;
    if (rows < this.#room) return;
    if (this.#keep !== undefined && rows >= 2 * this.#keep) {
      const dropped = rows - this.#keep;
      this.#frames.splice(0, dropped);
      for (const column of this.#columns) column.drop(dropped);
      return;
    }
    this.#room *= 2;
    for (const column of this.#columns) column.grow(this.#room);
  }
}
