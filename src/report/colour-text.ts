/**
 * @module report/colour-text
 * How samples became light, in words: `BT.709, limited range, sRGB transfer, left chroma by bicubic (matrix guessed)`.
 */
import type { Colour } from '../core/colour.js';
import type { ChromaFormat } from '../core/frame.js';
import type { ReportInput } from './types.js';

const MATRIX_WORDS: Readonly<Record<Colour['matrix'], string>> = {
  gbr: 'RGB',
  bt709: 'BT.709',
  bt601: 'BT.601',
  bt2020: 'BT.2020',
  smpte240m: 'SMPTE 240M',
  fcc: 'FCC',
  ycgco: 'YCgCo',
};
const PRIMARIES_WORDS: Readonly<Record<NonNullable<Colour['primaries']>, string>> = {
  bt709: 'BT.709',
  bt2020: 'BT.2020',
  p3: 'P3',
};
const TRANSFER_WORDS: Readonly<Record<Colour['transfer'], string>> = {
  srgb: 'sRGB transfer',
  bt1886: 'BT.1886 transfer',
  gamma22: 'gamma 2.2',
  gamma28: 'gamma 2.8',
  linear: 'linear light',
  bt709: 'inverse BT.709 transfer',
  pq: 'PQ transfer',
  hlg: 'HLG transfer',
};
const SITING_WORDS: Readonly<Record<Colour['siting'], string>> = {
  left: 'left',
  center: 'center',
  topleft: 'top-left',
};

/** @param chroma of the video: what has no chroma of fewer samples upsamples none */
export function describeColour(
  { matrix, range, transfer, siting, upsampling, primaries }: Colour,
  chroma: ChromaFormat = '420',
): string {
  const parts = [MATRIX_WORDS[matrix], `${range} range`, TRANSFER_WORDS[transfer]];
  if (matrix !== 'gbr' && (chroma === '420' || chroma === '422'))
    parts.push(`${SITING_WORDS[siting]} chroma by ${upsampling}`);
  if (primaries) parts.push(`${PRIMARIES_WORDS[primaries]} primaries`);
  return parts.join(', ');
}

/** The colour of a video and what of it is guessed; `undefined` where no metric of colour ran. */
export function colourText({ colour, chroma }: Pick<ReportInput, 'colour' | 'chroma'>): string | undefined {
  if (!colour) return undefined;
  const { guessed, alpha, as } = colour;
  const words = describeColour(colour, chroma) + (alpha ? ', alpha on two backgrounds' : '');
  if (as) return `${words} (as ${as})`;
  return words + (guessed.length > 0 ? ` (${guessed.join(', ')} guessed)` : '');
}
