/**
 * @module tiny/regressor
 * Scores rows of features: scales them as the sidecar says, adds the codec block, and runs the graph on many rows at
 * once where it can.
 */
import type { FeatureBinding } from './bind.js';
import { takeScores } from './scores.js';
import type { TinySession, TinyTensor } from './types.js';

/** Rows that go through a graph at once at most. */
const MAX_ROWS = 4096;

/** The largest inputs that a feature model is given at once, by name. */
export function featureShapes({
  input,
  columns,
  codec,
  batch,
}: FeatureBinding): Record<string, readonly number[]> {
  const rows = batch ?? MAX_ROWS;
  return { [input]: [rows, columns.length], ...(codec && { [codec.input]: [rows, codec.block.length] }) };
}

/** A feature model with its session. */
export class TinyRegressor {
  constructor(
    readonly binding: FeatureBinding,
    readonly session: TinySession,
  ) {}

  /**
   * @param rows of unscaled features, one after another, in the order of the binding's columns
   * @param frameOf the number of a row's frame, for messages
   * @returns rows of one value per output
   * @throws {AnyvmafError} `model` when the graph fails, or what it gives is no score
   */
  async predict(
    rows: Float64Array,
    frameOf: (row: number) => number = (row) => row,
  ): Promise<Float64Array<ArrayBuffer>> {
    const { columns, outputs, batch } = this.binding;
    const count = rows.length / columns.length;
    const scores = new Float64Array(count * outputs.length);
    const step = batch ?? MAX_ROWS;
    for (let first = 0; first < count; first += step) {
      const size = Math.min(step, count - first);
      const results = await this.session.run(this.#feeds(rows, first, size));
      const into = scores.subarray(first * outputs.length, (first + size) * outputs.length);
      takeScores(this.binding, results, size, into, (row) => frameOf(first + row));
    }
    return scores;
  }

  #feeds(rows: Float64Array, first: number, size: number): Record<string, TinyTensor> {
    const { columns, scaler, input, codec } = this.binding;
    const width = columns.length;
    const data = new Float32Array(size * width);
    for (let i = 0; i < data.length; i++) {
      const value = rows[first * width + i]!;
      const column = i % width;
      data[i] = scaler ? (value - scaler.mean[column]!) / scaler.std[column]! : value;
    }
    const feeds: Record<string, TinyTensor> = { [input]: { data, dims: [size, width] } };
    if (codec) {
      const block = new Float32Array(size * codec.block.length);
      for (let row = 0; row < size; row++) block.set(codec.block, row * codec.block.length);
      feeds[codec.input] = { data: block, dims: [size, codec.block.length] };
    }
    return feeds;
  }
}
