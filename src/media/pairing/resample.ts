/**
 * @module media/pairing/resample
 * Resizes planes as swscale does on x86, to the bit: rows first, to 15 bits (19 for 16-bit video), then columns.
 */
import type { PictureSize } from '../../core/size.js';
import type { ScaleFilter } from '../decoder.js';
import { type Kernel, makeKernel } from './kernel.js';

/** Bits of a row's samples between the two passes. */
const MIDDLE_BITS = 15;
const WIDE_MIDDLE_BITS = 19;

/** Samples of a plane: one byte each at 8 bit, 16-bit words above. */
type Samples = Uint8Array | Uint16Array;

/** Resizes planes from one size to another. Buffers as many rows as the filter has vertical taps. */
export class Resampler {
  readonly #across: Kernel;
  readonly #down: Kernel;
  readonly #bitDepth: number;
  readonly #middleBits: number;
  readonly #rows: (Int16Array | Int32Array)[];
  /** Source row in each of {@link #rows}. */
  readonly #held: Int32Array;
  readonly #sums: Int32Array | Float64Array;
  /** The first output row with exact rounding at 8 bit. */
  readonly #exactFrom: number;

  /** @param subsampled whether the plane has half the picture's rows */
  constructor(from: PictureSize, to: PictureSize, bitDepth: number, filter: ScaleFilter, subsampled = false) {
    this.#across = makeKernel(from.width, to.width, { filter, bits: 14 });
    this.#down = makeKernel(from.height, to.height, { filter, bits: 12 });
    this.#bitDepth = bitDepth;
    // swscale does not use its vector code for the last two rows of the picture.
    this.#exactFrom = subsampled ? to.height - 1 : to.height - 2;
    this.#middleBits = bitDepth > 14 ? WIDE_MIDDLE_BITS : MIDDLE_BITS;
    const wide = bitDepth > 14;
    this.#rows = Array.from({ length: this.#down.taps }, () =>
      wide ? new Int32Array(to.width) : new Int16Array(to.width),
    );
    this.#held = new Int32Array(this.#down.taps).fill(-1);
    this.#sums = wide ? new Float64Array(to.width) : new Int32Array(to.width);
  }

  /**
   * @param source packed rows
   * @param into packed rows of the new size
   */
  resize(source: Samples, into: Samples): void {
    const { taps, to, start, weights } = this.#down;
    const { to: width } = this.#across;
    this.#held.fill(-1);
    for (let y = 0; y < to; y++) {
      const first = start[y]!;
      for (let row = first; row < first + taps; row++) this.#fill(source, row);
      const rowWeights = weights.subarray(y * taps, (y + 1) * taps);
      const row = into.subarray(y * width, (y + 1) * width);
      if (taps === 1) this.#copy(first, row);
      else if (this.#bitDepth === 8 && y < this.#exactFrom) this.#combine8(first, rowWeights, row);
      else this.#combine(first, rowWeights, row);
    }
  }

  /** Buffers a source row, resized horizontally. */
  #fill(source: Samples, row: number): void {
    const slot = row % this.#rows.length;
    if (this.#held[slot] === row) return;
    this.#held[slot] = row;
    const into = this.#rows[slot];
    if (!into) return;
    const { from, to, taps, start, weights } = this.#across;
    const samples = source.subarray(row * from, (row + 1) * from);
    const shift = 14 + this.#bitDepth - this.#middleBits;
    const most = 2 ** this.#middleBits - 1;
    if (this.#middleBits > MIDDLE_BITS) {
      // 16-bit samples with weights of 14 bits overflow 32 bits.
      for (let x = 0, w = 0; x < to; x++) {
        const at = start[x]!;
        let sum = 0;
        for (let j = 0; j < taps; j++) sum += samples[at + j]! * weights[w++]!;
        into[x] = Math.min(Math.floor(sum / 2 ** shift), most);
      }
      return;
    }
    if (taps === 4) {
      for (let x = 0, w = 0; x < to; x++, w += 4) {
        const at = start[x]!;
        const sum =
          samples[at]! * weights[w]! +
          samples[at + 1]! * weights[w + 1]! +
          samples[at + 2]! * weights[w + 2]! +
          samples[at + 3]! * weights[w + 3]!;
        into[x] = Math.min(sum >> shift, most);
      }
      return;
    }
    for (let x = 0, w = 0; x < to; x++) {
      const at = start[x]!;
      let sum = 0;
      for (let j = 0; j < taps; j++) sum += samples[at + j]! * weights[w++]!;
      into[x] = Math.min(sum >> shift, most);
    }
  }

  /** Computes an output row from the rows from `first` on. */
  #combine(first: number, weights: Int16Array, into: Samples): void {
    const sums = this.#sums;
    const width = into.length;
    const shift = this.#middleBits + 12 - this.#bitDepth;
    sums.fill(2 ** (shift - 1));
    for (let j = 0; j < weights.length; j++) {
      const row = this.#rows[(first + j) % this.#rows.length];
      const weight = weights[j]!;
      if (!row || weight === 0) continue;
      for (let x = 0; x < width; x++) sums[x]! += row[x]! * weight;
    }
    const most = 2 ** this.#bitDepth - 1;
    const unit = 2 ** shift;
    for (let x = 0; x < width; x++) into[x] = Math.max(0, Math.min(most, Math.floor(sums[x]! / unit)));
  }

  /** At 8 bit, adds the upper halves of 32-bit products, and a bias for the lost lower halves. */
  #combine8(first: number, weights: Int16Array, into: Samples): void {
    const sums = this.#sums;
    const width = into.length;
    sums.fill((64 + 8 * (weights.length - 1)) >> 4);
    for (let j = 0; j < weights.length; j++) {
      const row = this.#rows[(first + j) % this.#rows.length];
      const weight = weights[j]!;
      if (!row || weight === 0) continue;
      for (let x = 0; x < width; x++) sums[x]! += (row[x]! * weight) >> 16;
    }
    for (let x = 0; x < width; x++) into[x] = Math.max(0, Math.min(255, sums[x]! >> 3));
  }

  /** Rounds a row without vertical filtering. */
  #copy(first: number, into: Samples): void {
    const row = this.#rows[first % this.#rows.length];
    if (!row) return;
    const shift = this.#middleBits - this.#bitDepth;
    const half = 2 ** (shift - 1);
    const most = 2 ** this.#bitDepth - 1;
    for (let x = 0; x < into.length; x++) into[x] = Math.max(0, Math.min(most, (row[x]! + half) >> shift));
  }
}
