/**
 * @module report/colour-text
 * How samples became light, in words: `BT.709, limited range, sRGB transfer, left chroma by bicubic (matrix guessed)`.
 */
import { describeColour } from '../core/colour.js';
import type { ReportInput } from './types.js';

/** The colour of a video and what of it is guessed; `undefined` where no metric of colour ran. */
export function colourText({ colour, chroma }: Pick<ReportInput, 'colour' | 'chroma'>): string | undefined {
  if (!colour) return undefined;
  const { guessed } = colour;
  return describeColour(colour, chroma) + (guessed.length > 0 ? ` (${guessed.join(', ')} guessed)` : '');
}
