/**
 * @module engine/backends/excess
 * Finds samples that need more bits than their video has: metrics define no value for them. They come from a wrong bit
 * depth, and then fill nearly every row, so it is enough, and takes no time, to sample large planes.
 */
import { sampleBytes } from '../../core/frame.js';

/** Places read in a plane, and pairs of samples in each: together all of a plane of 16384 samples. */
const PLACES = 16;
const PAIRS = 512;

const PLANES = ['luma', 'Cb', 'Cr'] as const;

/** A sample above its range. */
export interface Excess {
  /** 0 luma, 1 Cb, 2 Cr. */
  readonly plane: number;
  readonly value: number;
}

/** Whether samples of a bit depth, stored in whole bytes, can exceed their range. */
export function canExceed(bitDepth: number): boolean {
  return bitDepth < 8 * sampleBytes(bitDepth);
}

/**
 * Returns the largest sample above its range of the first plane that has one, for {@link readExcess}; 0 for none.
 * @param planes packed samples of 9 to 15 bits, two bytes each, at multiples of four bytes
 * @param everywhere reads large planes completely
 */
export function findExcess(planes: readonly Uint8Array[], bitDepth: number, everywhere = false): number {
  for (const [plane, { buffer, byteOffset, length }] of planes.entries()) {
    const samples = new Uint16Array(buffer, byteOffset, length >> 1);
    const value = largestBeyond(samples, bitDepth, everywhere ? samples.length : PLACES);
    if (value > 0) return plane * 2 ** 16 + value;
  }
  return 0;
}

export function readExcess(found: number): Excess | undefined {
  return found > 0 ? { plane: Math.floor(found / 2 ** 16), value: found % 2 ** 16 } : undefined;
}

/** Describes a sample above its range, as the end of a sentence that names its video. */
export function describeExcess({ plane, value }: Excess, bitDepth: number): string {
  return `has a ${PLANES[plane]} sample of ${value}, but ${bitDepth} bits hold 0 to ${2 ** bitDepth - 1}`;
}

export const EXCESS_ADVICE =
  'check the bit depth given for raw video or in the Y4M header, and that samples are in the low bits, lower byte first';

function largestBeyond(samples: Uint16Array, bitDepth: number, places: number): number {
  const pairs = new Uint32Array(samples.buffer, samples.byteOffset, samples.length >> 1);
  const step = Math.max(PAIRS, Math.ceil(pairs.length / places));
  const last = samples.at(-1) ?? 0;
  let bits = last | (last << 16);
  for (let start = 0; start < pairs.length; start += step) {
    const end = Math.min(start + PAIRS, pairs.length);
    for (let i = start; i < end; i++) bits |= pairs[i] ?? 0;
  }
  // Two samples side by side, the upper one perhaps in the sign.
  if (((bits | (bits >>> 16)) & 0xffff) >> bitDepth === 0) return 0;
  let largest = last;
  for (let start = 0; start < pairs.length; start += step) {
    const place = samples.subarray(2 * start, 2 * (start + PAIRS));
    largest = place.reduce((most, sample) => Math.max(most, sample), largest);
  }
  return largest;
}

/** Takes the records of one run in frame order. */
export class ExcessNotes {
  readonly #bitDepth: number;
  /** The first frame of each video with such a sample. */
  readonly #met = new Map<'reference' | 'distorted', Excess & { readonly frame: number }>();

  constructor(bitDepth: number) {
    this.#bitDepth = bitDepth;
  }

  take(frame: number, reference: number, distorted: number): void {
    for (const [side, found] of [
      ['reference', reference],
      ['distorted', distorted],
    ] as const) {
      const excess = this.#met.has(side) ? undefined : readExcess(found);
      if (excess) this.#met.set(side, { ...excess, frame });
    }
  }

  /** Warnings of the run: full sentences. */
  warnings(): string[] {
    return [...this.#met].map(
      ([side, { frame, ...excess }]) =>
        `Frame ${frame} of the ${side} video ${describeExcess(excess, this.#bitDepth)}, so its values are undefined; ${EXCESS_ADVICE}.`,
    );
  }
}
