/**
 * @module tiny/resample
 * Resamples planes: half-pixel centres, repeated edges, no anti-aliasing.
 */
import type { PictureSize } from '../core/size.js';
import type { TinyResize } from './types.js';

/** Source samples and weights of each output sample. */
interface Taps {
  /** Source samples per output sample. */
  readonly size: number;
  /** Source positions, `size` for each output sample. */
  readonly at: Uint32Array;
  /** Parallel to {@link at}; the weights of an output sample sum to 1. */
  readonly weights: Float64Array;
}

/** Parameter of the bicubic kernel: Catmull-Rom. */
const A = -0.5;

function cubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return ((A + 2) * x - (A + 3)) * x * x + 1;
  return x < 2 ? A * (((x - 5) * x + 8) * x - 4) : 0;
}

function makeTaps(from: number, to: number, filter: Exclude<TinyResize, 'disabled'>): Taps {
  const size = { nearest: 1, bilinear: 2, bicubic: 4 }[filter];
  const at = new Uint32Array(to * size);
  const weights = new Float64Array(to * size);
  for (let i = 0; i < to; i++) {
    const centre = ((i + 0.5) * from) / to - 0.5;
    const first = filter === 'nearest' ? Math.floor(centre + 0.5) : Math.floor(centre) - (size / 2 - 1);
    for (let tap = 0; tap < size; tap++) {
      const distance = centre - (first + tap);
      at[i * size + tap] = Math.min(from - 1, Math.max(0, first + tap));
      weights[i * size + tap] =
        filter === 'nearest' ? 1 : filter === 'bilinear' ? 1 - Math.abs(distance) : cubic(distance);
    }
  }
  return { size, at, weights };
}

/** Resamples planes from one size to another with precomputed weights. */
export class Resampler {
  readonly #rows: Taps;
  readonly #columns: Taps;
  readonly #width: number;

  /** @param from width and height of the source, @param to of the result */
  constructor(
    from: PictureSize,
    readonly to: PictureSize,
    filter: Exclude<TinyResize, 'disabled'>,
  ) {
    this.#width = from.width;
    this.#rows = makeTaps(from.height, to.height, filter);
    this.#columns = makeTaps(from.width, to.width, filter);
  }

  /**
   * @param source samples, row-major
   * @param into `to.width * to.height` numbers
   */
  plane(source: ArrayLike<number>, into: Float32Array): void {
    const { width, height } = this.to;
    const rows = this.#rows;
    const columns = this.#columns;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        let sum = 0;
        for (let j = 0; j < rows.size; j++) {
          const row = rows.at[y * rows.size + j]! * this.#width;
          let part = 0;
          for (let i = 0; i < columns.size; i++) {
            const tap = x * columns.size + i;
            part += source[row + columns.at[tap]!]! * columns.weights[tap]!;
          }
          sum += part * rows.weights[y * rows.size + j]!;
        }
        into[y * width + x] = sum;
      }
    }
  }
}
