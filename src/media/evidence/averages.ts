/**
 * @module media/evidence/averages
 * Statistics of averaged samples: correlation, and conversions between BT.601 and BT.709.
 */
import { LUMA_WEIGHTS, type LumaMatrix } from '../../core/colour.js';
import type { BothOf } from '../../core/frame.js';
import { mean } from '../../core/numbers.js';

/** -1..1; 0 if either has no contrast. */
export function correlation(a: Float32Array, b: Float32Array): number {
  const [ma, mb] = [mean(a), mean(b)];
  let [both, aa, bb] = [0, 0, 0];
  for (const [i, value] of a.entries()) {
    const [da, db] = [value - ma, (b[i] ?? Number.NaN) - mb];
    both += da * db;
    aa += da * da;
    bb += db * db;
  }
  return aa > 0 && bb > 0 ? both / Math.sqrt(aa * bb) : 0;
}

/** Averages of a picture over the same boxes, in 8-bit levels of limited range. */
export interface Colours {
  readonly y: ArrayLike<number>;
  readonly cb: ArrayLike<number>;
  readonly cr: ArrayLike<number>;
}

/** The conversion of the reference that fits the distorted video. */
export type MatrixFit = 'as stored' | '601 to 709' | '709 to 601';

/** Largest error of the best fit, relative to the second best. */
const CLEARLY = 0.6;
/** Least mean squared error of the second-best fit, in 8-bit levels; grey pictures fit by any matrix. */
const VISIBLE = 0.5;

/** `undefined` if the colours do not decide. */
export function matrixFitOf(pairs: readonly BothOf<Colours>[]): MatrixFit | undefined {
  const errors = (['as stored', '601 to 709', '709 to 601'] as const).map((fit) => ({
    fit,
    error: errorOf(pairs, fit),
  }));
  const [best, next] = errors.sort((a, b) => a.error - b.error);
  if (!best || !next || !(next.error >= VISIBLE && best.error <= CLEARLY * next.error)) return undefined;
  return best.fit;
}

function errorOf(pairs: readonly BothOf<Colours>[], fit: MatrixFit): number {
  let [sum, samples] = [0, 0];
  const convert =
    fit === 'as stored'
      ? same
      : fit === '601 to 709'
        ? conversion('bt601', 'bt709')
        : conversion('bt709', 'bt601');
  for (const { reference, distorted } of pairs) {
    for (let i = 0; i < reference.y.length; i++) {
      const [y, cb, cr] = convert([reference.y[i] ?? 0, reference.cb[i] ?? 128, reference.cr[i] ?? 128]);
      sum +=
        (y - (distorted.y[i] ?? 0)) ** 2 +
        (cb - (distorted.cb[i] ?? 128)) ** 2 +
        (cr - (distorted.cr[i] ?? 128)) ** 2;
      samples += 3;
    }
  }
  return samples === 0 ? Number.NaN : sum / samples;
}

type Triple = readonly [y: number, cb: number, cr: number];

const same = (sample: Triple): Triple => sample;

function conversion(from: LumaMatrix, to: LumaMatrix): (sample: Triple) => Triple {
  const { kr: r1, kb: b1 } = LUMA_WEIGHTS[from];
  const { kr: r2, kb: b2 } = LUMA_WEIGHTS[to];
  return ([y, cb, cr]) => {
    const luma = (y - 16) / 219;
    const red = luma + (2 * (1 - r1) * (cr - 128)) / 224;
    const blue = luma + (2 * (1 - b1) * (cb - 128)) / 224;
    const green = (luma - r1 * red - b1 * blue) / (1 - r1 - b1);
    const newLuma = r2 * red + (1 - r2 - b2) * green + b2 * blue;
    return [
      16 + 219 * newLuma,
      128 + (224 * (blue - newLuma)) / (2 * (1 - b2)),
      128 + (224 * (red - newLuma)) / (2 * (1 - r2)),
    ];
  };
}
