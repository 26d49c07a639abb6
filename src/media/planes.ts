/**
 * @module media/planes
 * Maps the bytes of a stored frame to the caller's planes, skips unused planes, and cuts off the extra chroma column of odd
 * widths.
 */
import { usageError } from '../core/errors.js';
import type { FramePlanes, VideoFormat } from '../core/frame.js';
import { chromaSize, lumaBytes, sampleBytes, storedChromaSize } from '../core/frame.js';

/** Distributes frames of one format. Its scratch memory serves one read at a time. */
export class PlaneMap {
  readonly #lumaBytes: number;
  readonly #rows: number;
  /** Bytes of a chroma row in the caller's planes, and as stored. */
  readonly #rowBytes: number;
  readonly #storedRowBytes: number;
  /** Bytes of a chroma plane in the caller's planes, and as stored. */
  readonly #planeBytes: number;
  readonly #storedPlaneBytes: number;
  #cbScratch: Uint8Array | undefined;
  #crScratch: Uint8Array | undefined;

  constructor(format: VideoFormat) {
    const bytes = sampleBytes(format.bitDepth);
    const used = chromaSize(format);
    const stored = storedChromaSize(format);
    this.#lumaBytes = lumaBytes(format);
    this.#rows = used.height;
    this.#rowBytes = used.width * bytes;
    this.#storedRowBytes = stored.width * bytes;
    this.#planeBytes = this.#rowBytes * used.height;
    this.#storedPlaneBytes = this.#storedRowBytes * stored.height;
  }

  /**
   * Buffers to fill in order from the frame's first sample to the last needed byte.
   * @throws {AnyvmafError} `usage` if the size of a plane contradicts the format
   */
  parts(into: FramePlanes): Uint8Array[] {
    const { y, cb, cr, alpha } = into;
    this.#check('luma', y, this.#lumaBytes);
    if (cb) this.#check('Cb', cb, this.#planeBytes);
    if (cr) this.#check('Cr', cr, this.#planeBytes);
    if (alpha) this.#check('alpha', alpha, this.#lumaBytes);
    const parts = [y];
    if (this.#planeBytes === 0 || (!cb && !cr)) return parts;
    if (cb && !this.#crops) {
      parts.push(cb);
      const belowCb = this.#storedPlaneBytes - this.#planeBytes;
      if (cr && belowCb > 0) parts.push(this.#scratchCb().subarray(0, belowCb));
    } else {
      parts.push(this.#scratchCb());
    }
    if (cr) parts.push(this.#crops ? this.#scratchCr() : cr);
    if (!alpha) return parts;
    // Whoever reads alpha reads all planes.
    const belowCr = this.#crops ? 0 : this.#storedPlaneBytes - this.#planeBytes;
    if (belowCr > 0) parts.push(this.#scratchCr().subarray(0, belowCr));
    parts.push(alpha);
    return parts;
  }

  /** Call once the parts are filled. */
  finish(into: FramePlanes): void {
    if (!this.#crops) return;
    if (into.cb) this.#crop(this.#scratchCb(), into.cb);
    if (into.cr) this.#crop(this.#scratchCr(), into.cr);
  }

  get #crops(): boolean {
    return this.#rowBytes !== this.#storedRowBytes;
  }

  #scratchCb(): Uint8Array {
    this.#cbScratch ??= new Uint8Array(this.#storedPlaneBytes);
    return this.#cbScratch;
  }

  #scratchCr(): Uint8Array {
    this.#crScratch ??= new Uint8Array(this.#storedPlaneBytes);
    return this.#crScratch;
  }

  #crop(stored: Uint8Array, into: Uint8Array): void {
    for (let row = 0; row < this.#rows; row++) {
      const from = row * this.#storedRowBytes;
      into.set(stored.subarray(from, from + this.#rowBytes), row * this.#rowBytes);
    }
  }

  #check(plane: string, into: Uint8Array, bytes: number): void {
    if (into.length === bytes) return;
    throw usageError(`the ${plane} plane has ${into.length} bytes, but this format needs ${bytes}.`);
  }
}
