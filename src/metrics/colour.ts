/**
 * @module metrics/colour
 * Options of all colour metrics that override the colour tags of the videos.
 */
import { CHROMA_UPSAMPLERS, COLOUR_MATRICES, PRIMARIES, SITINGS, TRANSFERS } from '../core/choices.js';
import { type Colour, colourNumbers, isHdr, type ScoredColour, type ScoredFormat } from '../core/colour.js';
import { type AnyvmafError, featureError } from '../core/errors.js';
import { choiceOption, type ExtractorInstance } from './metric.js';
import { choice, type OptionSpec } from './spec.js';

/** Each option overrides both videos; `auto` is the tag, or the usual value of an untagged video. */
const PARTS = {
  matrix: [COLOUR_MATRICES, 'Matrix of luma and chroma; gbr: the planes are G, B and R.'],
  range: [['limited', 'full'], 'Range of sample values.'],
  transfer: [
    TRANSFERS,
    'Transfer characteristics. auto takes SDR as srgb, as the authors of SSIMULACRA2 and Butteraugli do; bt1886 matches ' +
      'tools that convert with zimg.',
  ],
  siting: [SITINGS, 'Position of chroma samples relative to luma.'],
  upsampling: [CHROMA_UPSAMPLERS, 'How chroma is upsampled. auto: bicubic.'],
  primaries: [PRIMARIES, 'Primaries. auto for untagged video: those implied by matrix and transfer.'],
} as const;

export const COLOUR_OPTIONS: readonly OptionSpec[] = Object.entries(PARTS).map(
  ([name, [values, description]]) => choice(name, ['auto', ...values], { description }),
);

/**
 * Colours of both videos, overridden by the instance's options.
 * @throws {AnyvmafError} `feature` if the colours of the videos are unknown or cannot be converted to RGB
 */
export function coloursOf(
  instance: ExtractorInstance,
  { colours }: ScoredFormat,
): NonNullable<ScoredFormat['colours']> {
  if (!colours)
    throw featureError(
      `The ${instance.spec.name} extractor needs the colours of both videos, which frames without a container do not state; ` +
        'set them in format.colours.',
    );
  const given = Object.keys(PARTS).flatMap((name) => {
    const value = choiceOption(instance, name);
    return value === 'auto' ? [] : [[name, value] as const];
  });
  const parts = Object.fromEntries(given) as Partial<Colour>;
  const replaced = (side: 'reference' | 'distorted'): ScoredColour => {
    const { unsupported, ...colour } = colours[side];
    if (unsupported !== undefined && !parts.matrix) throw noMatrix(instance.spec.name, side, unsupported);
    const replaced = { ...colour, ...parts };
    requirePossible(instance.spec.name, side, replaced);
    return replaced;
  };
  return { reference: replaced('reference'), distorted: replaced('distorted') };
}

/** H.273 defines bt2020c only for SDR, and ictcp only for PQ and HLG. */
function requirePossible(extractor: string, side: string, { matrix, transfer }: Colour): void {
  const hdr = isHdr(transfer);
  if (matrix !== (hdr ? 'bt2020c' : 'ictcp')) return;
  throw featureError(
    `The ${extractor} extractor cannot convert the ${side} video to RGB: it is ${matrix} with the transfer ${transfer}, but ` +
      (hdr
        ? `constant luminance is defined for SDR only; set another transfer, for example ${extractor}=transfer=srgb.`
        : 'ICtCp is defined for PQ and HLG only; set one, for example cvvdp=display=standard_hdr_pq:transfer=pq.'),
  );
}

function noMatrix(extractor: string, side: string, stated: string): AnyvmafError {
  return featureError(
    `The ${extractor} extractor cannot convert the ${side} video to RGB, since its matrix ${stated} is not supported; ` +
      'convert it first, for example with ffmpeg -vf zscale=matrix=2020_ncl, or set its true matrix if the file states a ' +
      `wrong one: ${extractor}=matrix=bt2020.`,
  );
}

/**
 * Leading parameters of perceptual.wasm (`AnyvmafColours`).
 * @throws as {@link coloursOf}
 */
export function colourParameters(instance: ExtractorInstance, format: ScoredFormat): readonly number[] {
  return colourNumbers(coloursOf(instance, format));
}
