/**
 * @module pictures/color
 * Colour matrix and range of luma and chroma samples, for conversion to RGB.
 */
import { LUMA_WEIGHTS, type LumaMatrix, usualMatrix } from '../core/colour.js';
import type { TrackFacts } from '../media/decoder.js';
import type { HdrTransfer } from './tone-map.js';

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
