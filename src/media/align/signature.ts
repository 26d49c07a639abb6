/**
 * @module media/align/signature
 * A few hundred bytes for each frame's luma, cheap enough to take of every frame of a run.
 */
import { type LumaFormat, Thumbnailer } from './thumbnail.js';

/** Averages that make up a signature. */
export const SIGNATURE = { width: 32, height: 18 } as const;

/** Bytes of one frame's signature: 32x18 averages in 8-bit levels. */
export const SIGNATURE_BYTES = SIGNATURE.width * SIGNATURE.height;

/** Samples read along each side of the area that one byte stands for. */
const SAMPLES = 5;
/** The same of pictures so small that scoring takes hardly longer than reading them. */
const SAMPLES_SMALL = 2;
/** Samples of luma up to which a picture is small. */
const SMALL = 320 * 180;

/** Takes signatures of frames of one format. */
export class Signer {
  readonly #thumbnailer: Thumbnailer;
  readonly #averages = new Float32Array(SIGNATURE_BYTES);

  constructor(format: LumaFormat) {
    const samples = format.width * format.height <= SMALL ? SAMPLES_SMALL : SAMPLES;
    this.#thumbnailer = new Thumbnailer(format, SIGNATURE.width, SIGNATURE.height, samples);
  }

  /**
   * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
   * @param into where the signature is written from `at` on
   */
  sign(luma: Uint8Array, into: Uint8Array, at = 0): void {
    this.#thumbnailer.shrink(luma, this.#averages);
    for (let k = 0; k < SIGNATURE_BYTES; k++) into[at + k] = Math.round(this.#averages[k]!);
  }
}

/** Bytes of a pair's signatures: the reference's, then the distorted frame's. */
export const PAIR_BYTES = 2 * SIGNATURE_BYTES;
