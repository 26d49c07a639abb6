/**
 * @module tiny/regressor
 * Scores rows of features: scales them by the sidecar, adds the codec block, and runs the graph in batches if it allows.
 */
import type { FeatureBinding } from './bind.js';
import { takeScores } from './session.js';
import type { TinySession, TinyTensor } from './types.js';

const MAX_ROWS = 4096;

/** Largest input shapes of a feature model, by input name. */
export function featureShapes({
  input,
  columns,
  codec,
  batch,
}: FeatureBinding): Record<string, readonly number[]> {
  const rows = batch ?? MAX_ROWS;
  return { [input]: [rows, columns.length], ...(codec && { [codec.input]: [rows, codec.block.length] }) };
}

export class TinyRegressor {
  constructor(
    readonly binding: FeatureBinding,
    readonly session: TinySession,
  ) {}

  /**
   * @param rows unscaled features, row-major, in the order of the binding's columns
   * @param frameOf maps rows to frame numbers, for messages
   * @returns scores, row-major, one column per output
   * @throws {AnyvmafError} `model` if the graph fails or its output is not a score
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
