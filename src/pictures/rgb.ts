/**
 * @module pictures/rgb
 * Converts planes of any depth and chroma format to RGB.
 */

import { chromaSize, type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import type { PictureSize } from '../core/size.js';
import { type ColorMeaning, rgbCoefficients } from './color.js';
import type { RgbaImage, RgbImage } from './image.js';
import { toneMap } from './tone-map.js';

/**
 * Converts a frame. Chroma is interpolated linearly from its position since MPEG-2: on the left of its two
 * columns, between its two rows. Gamma and primaries stay unconverted, but for high dynamic range, which is tone-mapped.
 * @param planes packed as in media/types; without chroma the picture is grey
 */
export function toRgb(planes: FramePlanes, format: VideoFormat, meaning: ColorMeaning): RgbImage {
  const { width, height } = format;
  return { width, height, data: new Uint8Array(convert(planes, format, meaning, 3).buffer) };
}

/** As {@link toRgb}, with a fourth byte of 255 for each pixel, as canvases take pictures. */
export function toRgba(planes: FramePlanes, format: VideoFormat, meaning: ColorMeaning): RgbaImage {
  const { width, height } = format;
  return { width, height, data: convert(planes, format, meaning, 4) };
}

function convert(
  planes: FramePlanes,
  format: VideoFormat,
  meaning: ColorMeaning,
  channels: 3 | 4,
): Uint8ClampedArray<ArrayBuffer> {
  const { width, height, bitDepth } = format;
  const { lumaOffset, chromaOffset, y: gain, rv, gu, gv, bu } = rgbCoefficients(meaning, bitDepth);
  const map = meaning.toneMapped && toneMap(meaning.toneMapped);
  const luma = samplesOf(planes.y, bitDepth);
  const cb = new ChromaRows(planes.cb, format, chromaOffset);
  const cr = new ChromaRows(planes.cr, format, chromaOffset);
  const data = new Uint8ClampedArray(channels * width * height);
  if (channels === 4) data.fill(255);
  let at = 0;
  for (let row = 0, i = 0; row < height; row++) {
    const u = cb.row(row);
    const v = cr.row(row);
    for (let x = 0; x < width; x++, i++, at += channels) {
      const light = (luma[i]! - lumaOffset) * gain;
      const blue = u[x]!;
      const red = v[x]!;
      if (map) map(data, at, light + rv * red, light + gu * blue + gv * red, light + bu * blue);
      else {
        data[at] = light + rv * red;
        data[at + 1] = light + gu * blue + gv * red;
        data[at + 2] = light + bu * blue;
      }
    }
  }
  return data;
}

/** Rows of one chroma plane at luma's size, without the offset. */
class ChromaRows {
  readonly #samples: Uint8Array | Uint16Array | undefined;
  readonly #chroma: VideoFormat['chroma'];
  readonly #size: PictureSize;
  readonly #offset: number;
  /** With a place for the last column of an odd width. */
  readonly #row: Float64Array;
  /** With the last column once more, as what is on the right of it. */
  readonly #mixed: Float64Array;

  constructor(plane: Uint8Array | undefined, format: VideoFormat, offset: number) {
    this.#samples = plane && plane.length > 0 ? samplesOf(plane, format.bitDepth) : undefined;
    this.#chroma = format.chroma;
    this.#size = chromaSize(format);
    this.#offset = offset;
    this.#row = new Float64Array(format.width + 1);
    this.#mixed = new Float64Array(this.#size.width + 1);
  }

  /** The next call overwrites the result. */
  row(y: number): Float64Array {
    const samples = this.#samples;
    if (!samples) return this.#row;
    const { width, height } = this.#size;
    const [mixed, row, offset] = [this.#mixed, this.#row, this.#offset];
    const halved = this.#chroma === '420';
    // Odd luma sizes lack the last chroma row and column; repeat the one before.
    const near = Math.min(halved ? y >> 1 : y, height - 1);
    const far = halved ? Math.max(0, Math.min(near + (y & 1 ? 1 : -1), height - 1)) : near;
    for (let x = 0, a = near * width, b = far * width; x < width; x++, a++, b++)
      mixed[x] = 0.75 * samples[a]! + 0.25 * samples[b]! - offset;
    if (this.#chroma === '444') return mixed;
    mixed[width] = mixed[width - 1]!;
    for (let x = 0, at = 0; x < width; x++, at += 2) {
      row[at] = mixed[x]!;
      row[at + 1] = (mixed[x]! + mixed[x + 1]!) / 2;
    }
    row[2 * width] = mixed[width]!;
    return row;
  }
}
