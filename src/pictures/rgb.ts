/**
 * @module pictures/rgb
 * Converts planes of any depth and chroma format to RGB.
 */

import type { FramePlanes, VideoFormat } from '../core/frame.js';
import { chromaSize } from '../core/frame.js';
import { samplesOf } from '../media/pairing/convert.js';
import { type ColorMeaning, rgbCoefficients } from './color.js';
import type { RgbImage } from './image.js';

/**
 * Converts a frame. Chroma is interpolated linearly from its position since MPEG-2: on the left of its two
 * columns, between its two rows. Gamma and primaries stay unconverted, so high dynamic range appears pale.
 * @param planes packed as in media/types; without chroma the picture is grey
 */
export function toRgb(planes: FramePlanes, format: VideoFormat, meaning: ColorMeaning): RgbImage {
  const { width, height, bitDepth } = format;
  const { lumaOffset, chromaOffset, y: gain, rv, gu, gv, bu } = rgbCoefficients(meaning, bitDepth);
  const luma = samplesOf(planes.y, bitDepth);
  const cb = new ChromaRows(planes.cb, format, chromaOffset);
  const cr = new ChromaRows(planes.cr, format, chromaOffset);
  const data = new Uint8ClampedArray(3 * width * height);
  let at = 0;
  for (let row = 0; row < height; row++) {
    const [u, v] = [cb.row(row), cr.row(row)];
    for (let x = 0; x < width; x++) {
      const light = (luma[row * width + x]! - lumaOffset) * gain;
      const [blue, red] = [u[x]!, v[x]!];
      data[at++] = light + rv * red;
      data[at++] = light + gu * blue + gv * red;
      data[at++] = light + bu * blue;
    }
  }
  return { width, height, data: new Uint8Array(data.buffer) };
}

/** Rows of one chroma plane at luma's size, without the offset. */
class ChromaRows {
  readonly #samples: Uint8Array | Uint16Array | undefined;
  readonly #format: VideoFormat;
  readonly #size: { readonly width: number; readonly height: number };
  readonly #offset: number;
  readonly #row: Float32Array;
  readonly #mixed: Float32Array;

  constructor(plane: Uint8Array | undefined, format: VideoFormat, offset: number) {
    this.#samples = plane && plane.length > 0 ? samplesOf(plane, format.bitDepth) : undefined;
    this.#format = format;
    this.#size = chromaSize(format);
    this.#offset = offset;
    this.#row = new Float32Array(format.width);
    this.#mixed = new Float32Array(this.#size.width);
  }

  /** The next call overwrites the result. */
  row(y: number): Float32Array {
    const samples = this.#samples;
    if (!samples) return this.#row;
    const { width, height } = this.#size;
    const halved = this.#format.chroma === '420';
    // Odd luma sizes lack the last chroma row and column; repeat the one before.
    const near = Math.min(halved ? y >> 1 : y, height - 1);
    const far = halved ? Math.max(0, Math.min(near + (y & 1 ? 1 : -1), height - 1)) : near;
    for (let x = 0; x < width; x++) {
      const [a, b] = [samples[near * width + x]!, samples[far * width + x]!];
      this.#mixed[x] = 0.75 * a + 0.25 * b - this.#offset;
    }
    if (this.#format.chroma === '444') return this.#mixed;
    for (let x = 0; x < this.#row.length; x++) {
      const left = this.#mixed[Math.min(x >> 1, width - 1)]!;
      const right = this.#mixed[Math.min((x + 1) >> 1, width - 1)]!;
      this.#row[x] = (left + right) / 2;
    }
    return this.#row;
  }
}
