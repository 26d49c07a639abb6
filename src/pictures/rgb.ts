/**
 * @module pictures/rgb
 * Converts planes of any depth and chroma format to RGB, by the colour matrix and range of their samples.
 */

import { LUMA_WEIGHTS, type LumaMatrix, usualMatrix } from '../core/colour.js';
import { chromaSize, type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import type { PictureSize } from '../core/size.js';
import type { TrackFacts } from '../media/decoder.js';
import type { RgbaImage, RgbImage } from './image.js';
import { type HdrTransfer, toneMap } from './tone-map.js';

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

export type { LumaMatrix as ColorMatrix };

/** How to convert samples to RGB. */
export interface ColorMeaning {
  readonly matrix: LumaMatrix;
  readonly range: 'limited' | 'full';
  /** Properties that the video does not declare, or by an unknown name; assumed as players do. */
  readonly assumed: readonly ('matrix' | 'range')[];
  /** Set for high dynamic range, whose pictures are tone-mapped for standard screens. */
  readonly toneMapped?: HdrTransfer;
}

/** ffmpeg's names. Constant-luminance BT.2020 uses the weights of the non-constant one, which is close. */
const NAMED: Readonly<Record<string, LumaMatrix>> = {
  bt709: 'bt709',
  bt470bg: 'bt601',
  smpte170m: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
  smpte240m: 'smpte240m',
  fcc: 'fcc',
};

const HDR: Readonly<Record<string, HdrTransfer>> = { smpte2084: 'pq', 'arib-std-b67': 'hlg' };

/**
 * Determines matrix, range and dynamic range of a video's samples.
 * @param facts the video's declared properties and stored size
 */
export function colorMeaning(
  facts: Pick<TrackFacts, 'width' | 'height'> &
    Partial<Pick<TrackFacts, 'matrix' | 'colorRange' | 'transfer'>>,
): ColorMeaning {
  const said = NAMED[facts.matrix ?? ''];
  const toneMapped = HDR[facts.transfer ?? ''];
  return {
    matrix: said ?? usualMatrix(facts),
    range: facts.colorRange ?? 'limited',
    assumed: [...(said ? [] : (['matrix'] as const)), ...(facts.colorRange ? [] : (['range'] as const))],
    ...(toneMapped && { toneMapped }),
  };
}

/**
 * Coefficients for RGB of 0..255: R = y Y' + rv Cr', G = y Y' + gu Cb' + gv Cr', B = y Y' + bu Cb', where Y', Cb' and Cr'
 * are luma and chroma minus their offsets.
 */
export interface RgbCoefficients {
  readonly lumaOffset: number;
  readonly chromaOffset: number;
  readonly y: number;
  readonly rv: number;
  readonly gu: number;
  readonly gv: number;
  readonly bu: number;
}

/** Coefficients for samples of `bitDepth` bits (ITU-T H.273, equations 20 to 31 solved for RGB). */
export function rgbCoefficients({ matrix, range }: ColorMeaning, bitDepth: number): RgbCoefficients {
  const { kr, kb } = LUMA_WEIGHTS[matrix];
  const kg = 1 - kr - kb;
  const unit = 2 ** (bitDepth - 8);
  const full = 255 / (2 ** bitDepth - 1);
  const [luma, chroma] = range === 'full' ? [full, full] : [255 / (219 * unit), 255 / (224 * unit)];
  return {
    lumaOffset: range === 'full' ? 0 : 16 * unit,
    chromaOffset: 128 * unit,
    y: luma,
    rv: 2 * (1 - kr) * chroma,
    gu: (-2 * kb * (1 - kb) * chroma) / kg,
    gv: (-2 * kr * (1 - kr) * chroma) / kg,
    bu: 2 * (1 - kb) * chroma,
  };
}
