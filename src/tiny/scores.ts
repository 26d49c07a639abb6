/**
 * @module tiny/scores
 * Extracts scores from the outputs of a session and refuses outputs that are not scores.
 */
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { TinyBinding } from './bind.js';
import type { TinyTensor } from './types.js';

/**
 * Extracts one value per row of every output.
 * @param rows number of input rows
 * @param into receives the scores, row-major, one column per output
 * @param frameOf maps rows to frame numbers, for messages
 * @throws {AnyvmafError} `model` if an output has another size or is not finite
 */
export function takeScores(
  { source, outputs, reduce, range }: Pick<TinyBinding, 'source' | 'outputs' | 'reduce' | 'range'>,
  results: Readonly<Record<string, TinyTensor>>,
  rows: number,
  into: Float64Array,
  frameOf: (row: number) => number,
): void {
  outputs.forEach(({ tensor }, column) => {
    const data = results[tensor]?.data;
    const each = data === undefined ? 0 : data.length / rows;
    if (data === undefined || !Number.isInteger(each) || each === 0 || (each > 1 && reduce === undefined)) {
      throw new AnyvmafError(
        'model',
        `The tiny model ${quoted(source)} gives ${data?.length ?? 'no'} values as ${quoted(tensor)} for ` +
          `${rows === 1 ? 'one frame' : `${rows} frames`}, but one each is a score; output_reduce in its sidecar can ` +
          'say what to make of more.',
      );
    }
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < each; i++) sum += data[row * each + i]!;
      const value = sum / each;
      if (!Number.isFinite(value)) {
        throw new AnyvmafError(
          'model',
          `The tiny model ${quoted(source)} gives ${value} for frame ${frameOf(row)}, which is no score; the ` +
            'model does not work on such input.',
        );
      }
      into[row * outputs.length + column] = range ? Math.min(range[1], Math.max(range[0], value)) : value;
    }
  });
}
