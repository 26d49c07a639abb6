/**
 * @module media/pairing/resample
 * Resizes bit-exactly like swscale on x86: rows first, to 15 bits (19 for 16-bit video), then columns, with
 * fixed-point weights. BigInts reproduce the rounding of its 64-bit integers.
 */
import type { Samples } from '../../core/frame.js';
import type { PictureSize } from '../../core/size.js';
import type { ScaleFilter } from '../decoder.js';

interface Kernel {
  readonly from: number;
  readonly to: number;
  readonly taps: number;
  /** First source sample of each output sample; all its taps are inside the source. */
  readonly start: Int32Array;
  /** `taps` weights for each output sample, which sum to 1 << {@link KernelOptions.bits}. */
  readonly weights: Int16Array;
}

interface KernelOptions {
  readonly filter: ScaleFilter;
  /** Fraction bits of the weights: 14 across, 12 down. */
  readonly bits: 12 | 14;
}

/** Twice the radius of each filter, in samples of the coarser grid. */
const SUPPORT: Readonly<Record<ScaleFilter, number>> = { bilinear: 2, bicubic: 4, lanczos: 6 };
/** Largest share of a filter's weight to cut off at either end, to save taps. */
const NEGLIGIBLE = 0.002;
/** swscale on x86 rounds the taps up to a multiple of this, by the bits of the weights. */
const TAP_ALIGN = { 14: 4, 12: 2 } as const;
const ONE_16 = 1n << 16n;
const ONE_24 = 1n << 24n;
const ONE_30 = 1n << 30n;

export function makeKernel(from: number, to: number, { filter, bits }: KernelOptions): Kernel {
  const step = ((BigInt(from) << 16n) + BigInt(to >> 1)) / BigInt(to);
  const difference = step > ONE_16 ? step - ONE_16 : ONE_16 - step;
  if (difference < 10n) return copying(from, to, bits);
  const unit = 1n << BigInt(54 - Math.min(31 - Math.clz32(Math.max(1, Math.floor(from / to))), 8));
  const wide = sampled(from, to, step, unit, filter);
  const taps = trim(wide, to, unit);
  return settled(wide, taps, from, to, bits);
}

interface WideFilter {
  readonly size: number;
  readonly start: Int32Array;
  readonly weights: bigint[];
}

function copying(from: number, to: number, bits: number): Kernel {
  const start = Int32Array.from({ length: to }, (_, i) => Math.min(i, from - 1));
  return { from, to, taps: 1, start, weights: new Int16Array(to).fill(1 << bits) };
}

/** Samples the filter function at each tap; the centres of both grids coincide. */
function sampled(from: number, to: number, step: bigint, unit: bigint, filter: ScaleFilter): WideFilter {
  const shrinks = step > ONE_16;
  const support = SUPPORT[filter];
  const ideal = shrinks ? 1 + Math.floor((support * from + to - 1) / to) : 1 + support;
  const size = Math.max(1, Math.min(ideal, from - 2));
  const start = new Int32Array(to);
  const weights: bigint[] = new Array(to * size);
  // In source samples times 2^17.
  let centre = step - ONE_16;
  for (let i = 0; i < to; i++) {
    const first = (centre - BigInt(size - 2) * ONE_16) / (1n << 17n);
    start[i] = Number(first);
    for (let j = 0; j < size; j++) {
      const offset = (first + BigInt(j)) * (1n << 17n) - centre;
      let distance = (offset < 0n ? -offset : offset) << 13n;
      if (shrinks) distance = (distance * BigInt(to)) / BigInt(from);
      weights[i * size + j] = weight(filter, distance, unit);
    }
    centre += 2n * step;
  }
  return { size, start, weights };
}

/** Filter function with `unit` as 1, at distance `d` from the centre with 2^30 as 1. */
function weight(filter: ScaleFilter, d: bigint, unit: bigint): bigint {
  if (filter === 'bilinear') return d < ONE_30 ? (ONE_30 - d) * (unit >> 30n) : 0n;
  if (filter === 'lanczos') {
    const x = Number(d) / 2 ** 30;
    if (x > 3) return 0n;
    const sinc = (Math.sin(x * Math.PI) * Math.sin((x * Math.PI) / 3)) / ((x * x * Math.PI * Math.PI) / 3);
    return BigInt(Math.trunc((x === 0 ? 1 : sinc) * Number(unit)));
  }
  // Mitchell-Netravali cubic with B = 0 and C = 0.6.
  if (d >= 2n * ONE_30) return 0n;
  const c = BigInt(Math.trunc(0.6 * 2 ** 24));
  const dd = (d * d) >> 30n;
  const ddd = (dd * d) >> 30n;
  const value =
    d < ONE_30
      ? (12n * ONE_24 - 6n * c) * ddd + (-18n * ONE_24 + 6n * c) * dd + 6n * ONE_24 * ONE_30
      : -6n * c * ddd + 30n * c * dd - 48n * c * d + 24n * c * ONE_30;
  return value / ((1n << 54n) / unit);
}

/** Shifts negligible weights out on the left, in place; returns the taps of the widest remaining filter. */
function trim({ size, start, weights }: WideFilter, to: number, unit: bigint): number {
  const most = BigInt(Math.floor(NEGLIGIBLE * Number(unit)));
  const size_ = (value: bigint | undefined) => (value === undefined ? 0n : value < 0n ? -value : value);
  let widest = 0;
  for (let i = to - 1; i >= 0; i--) {
    const at = i * size;
    let cut = 0n;
    for (let j = 0; j < size; j++) {
      cut += size_(weights[at]);
      if (cut > most) break;
      // Starts must not decrease.
      if (i < to - 1 && start[i]! >= start[i + 1]!) break;
      weights.copyWithin(at, at + 1, at + size);
      weights[at + size - 1] = 0n;
      start[i]!++;
    }
    let used = size;
    cut = 0n;
    for (let j = size - 1; j > 0; j--) {
      cut += size_(weights[at + j]);
      if (cut > most) break;
      used--;
    }
    widest = Math.max(widest, used);
  }
  return widest;
}

/** Repeats edge samples, and carries rounding errors to the next weight, so that the sum is exact. */
function settled(wide: WideFilter, used: number, from: number, to: number, bits: 12 | 14): Kernel {
  const align = TAP_ALIGN[bits];
  const taps = used === 1 ? 1 : Math.ceil(used / align) * align;
  const fitting = Math.min(taps, from);
  const start = new Int32Array(to);
  const weights = new Int16Array(to * fitting);
  const unit = 1n << BigInt(bits);
  for (let i = 0; i < to; i++) {
    const wideStart = wide.start[i]!;
    const first = Math.max(0, Math.min(wideStart, from - fitting));
    start[i] = first;
    const row: bigint[] = new Array(fitting).fill(0n);
    for (let j = 0; j < Math.min(taps, wide.size); j++) {
      const at = Math.max(0, Math.min(from - 1, wideStart + j)) - first;
      row[at]! += wide.weights[i * wide.size + j]!;
    }
    let sum = row.reduce((total, value) => total + value, 0n);
    sum = (sum + unit / 2n) / unit || 1n;
    let error = 0n;
    for (let j = 0; j < fitting; j++) {
      const value = row[j]! + error;
      const rounded = (value >= 0n ? value + (sum >> 1n) : value - (sum >> 1n)) / sum;
      weights[i * fitting + j] = Number(rounded);
      error = value - rounded * sum;
    }
  }
  return { from, to, taps: fitting, start, weights };
}

/** Bit depth between the two passes, up to 14 bits and above. */
const MIDDLE_BITS = 15;
const WIDE_MIDDLE_BITS = 19;

/** Resizes planes; buffers as many rows as the filter has vertical taps. */
export class Resampler {
  readonly #across: Kernel;
  readonly #down: Kernel;
  readonly #bitDepth: number;
  readonly #middleBits: number;
  readonly #rows: (Int16Array | Int32Array)[];
  /** Source row in each of {@link #rows}. */
  readonly #held: Int32Array;
  readonly #sums: Int32Array | Float64Array;
  /** First output row that is rounded exactly at 8 bit. */
  readonly #exactFrom: number;

  /** @param subsampled true for chroma with half the picture's rows */
  constructor(from: PictureSize, to: PictureSize, bitDepth: number, filter: ScaleFilter, subsampled = false) {
    this.#across = makeKernel(from.width, to.width, { filter, bits: 14 });
    this.#down = makeKernel(from.height, to.height, { filter, bits: 12 });
    this.#bitDepth = bitDepth;
    // swscale does not use vector code for the last two rows of a picture.
    this.#exactFrom = subsampled ? to.height - 1 : to.height - 2;
    this.#middleBits = bitDepth > 14 ? WIDE_MIDDLE_BITS : MIDDLE_BITS;
    const wide = bitDepth > 14;
    this.#rows = Array.from({ length: this.#down.taps }, () =>
      wide ? new Int32Array(to.width) : new Int16Array(to.width),
    );
    this.#held = new Int32Array(this.#down.taps).fill(-1);
    this.#sums = wide ? new Float64Array(to.width) : new Int32Array(to.width);
  }

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
      // 16-bit samples with 14-bit weights overflow 32 bits.
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

  /** Like swscale's vector code at 8 bit: adds the upper halves of 32-bit products and a bias for the lower halves. */
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

  #copy(first: number, into: Samples): void {
    const row = this.#rows[first % this.#rows.length];
    if (!row) return;
    const shift = this.#middleBits - this.#bitDepth;
    const half = 2 ** (shift - 1);
    const most = 2 ** this.#bitDepth - 1;
    for (let x = 0; x < into.length; x++) into[x] = Math.max(0, Math.min(most, (row[x]! + half) >> shift));
  }
}
