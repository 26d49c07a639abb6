/**
 * @module media/align/signature
 * Reduces a frame's luma to a few hundred bytes, cheap enough for every frame of a run.
 */
import { type LumaFormat, Thumbnailer } from './thumbnail.js';

/** Size of a signature in averages. */
export const SIGNATURE = { width: 32, height: 18 } as const;

/** Bytes of one frame's signature: 32x18 averages in 8-bit levels. */
export const SIGNATURE_BYTES = SIGNATURE.width * SIGNATURE.height;

/** Samples to read along each side of the area of one byte. */
const SAMPLES = 5;
/** The same for small pictures, whose scoring costs little more than reading them. */
const SAMPLES_SMALL = 2;
/** Largest small picture in luma samples. */
const SMALL = 320 * 180;

/** Computes signatures of frames of one format. */
export class Signer {
  readonly #thumbnailer: Thumbnailer;
  readonly #averages = new Float32Array(SIGNATURE_BYTES);

  constructor(format: LumaFormat) {
    const samples = format.width * format.height <= SMALL ? SAMPLES_SMALL : SAMPLES;
    this.#thumbnailer = new Thumbnailer(format, SIGNATURE.width, SIGNATURE.height, samples);
  }

  /**
   * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
   * @param into receives the signature at `at`
   */
  sign(luma: Uint8Array, into: Uint8Array, at = 0): void {
    this.#thumbnailer.shrink(luma, this.#averages);
    for (let k = 0; k < SIGNATURE_BYTES; k++) into[at + k] = Math.round(this.#averages[k]!);
  }
}

/**
 * The signature of a frame of which there is a larger thumbnail, twice as wide and high.
 * @param samples averages in 8-bit levels
 */
export function signThumb(samples: Float32Array, width: number, into: Uint8Array): void {
  for (let k = 0; k < SIGNATURE_BYTES; k++) {
    const x = k % SIGNATURE.width;
    const at = 2 * (((k - x) / SIGNATURE.width) * width + x);
    const sum = [at, at + 1, at + width, at + width + 1].reduce((all, i) => all + (samples[i] ?? 0), 0);
    into[k] = Math.round(sum / 4);
  }
}

/** Bytes of the signatures of a pair: reference, then distorted. */
export const PAIR_BYTES = 2 * SIGNATURE_BYTES;
