/**
 * @module core/colour
 * How the samples of a video become light: what the colour metrics need to know of each of the two videos.
 */
import type { VideoFormat } from './frame.js';
import type { Fraction } from './rational.js';

/** How three planes become R'G'B'. `gbr`: they are G, B and R, as H.273 has it. In the order of wasm/include/perceptual.h. */
export const COLOUR_MATRICES = ['gbr', 'bt709', 'bt601', 'bt2020'] as const;
/** Transfer characteristics. `srgb`: IEC 61966-2-1. `bt1886`: gamma 2.4. `bt709`: the inverse of the camera's curve. */
export const TRANSFERS = ['srgb', 'bt1886', 'gamma22', 'gamma28', 'linear', 'bt709', 'pq', 'hlg'] as const;
/** Where a chroma sample lies among the luma samples that it covers. */
export const SITINGS = ['left', 'center', 'topleft'] as const;
/** How chroma is brought to the size of luma. */
export const CHROMA_UPSAMPLERS = ['bicubic', 'bilinear', 'nearest'] as const;

/** The colour of a video. */
export interface Colour {
  readonly matrix: (typeof COLOUR_MATRICES)[number];
  readonly range: 'limited' | 'full';
  readonly transfer: (typeof TRANSFERS)[number];
  readonly siting: (typeof SITINGS)[number];
  readonly upsampling: (typeof CHROMA_UPSAMPLERS)[number];
}

/** The format of the pair that is scored, with what metrics of colour and time take into account. */
export interface ScoredFormat extends VideoFormat {
  /** Frames per second of the reference, if known. */
  readonly frameRate?: Fraction;
  /** Colours of both videos, where a metric of colour runs. */
  readonly colours?: { readonly reference: Colour; readonly distorted: Colour };
}

/** Both colours as the numbers of `AnyvmafColours` (wasm/include/perceptual.h). */
export function colourNumbers({ reference, distorted }: NonNullable<ScoredFormat['colours']>): number[] {
  return [reference, distorted].flatMap(({ matrix, range, transfer, siting, upsampling }) => [
    COLOUR_MATRICES.indexOf(matrix),
    range === 'full' ? 1 : 0,
    TRANSFERS.indexOf(transfer),
    SITINGS.indexOf(siting),
    CHROMA_UPSAMPLERS.indexOf(upsampling),
  ]);
}

/** What a container or decoder says of a video's colours, by ffmpeg's names. */
export interface ColourFacts extends VideoFormat {
  readonly matrix?: string;
  readonly transfer?: string;
  readonly primaries?: string;
  readonly colorRange?: 'limited' | 'full';
  readonly chromaLocation?: string;
}

/** A colour, and which parts of it are guessed. */
export interface KnownColour extends Colour {
  /** Names of parts: `matrix`, `range`, `transfer`, `siting`. */
  readonly guessed: readonly string[];
}
export function colourOf(facts: ColourFacts): KnownColour {
  return {
    matrix: facts.matrix === 'gbr' ? 'gbr' : 'bt709',
    range: facts.colorRange ?? 'limited',
    transfer: 'srgb',
    siting: 'left',
    upsampling: 'bicubic',
    guessed: [],
  };
}
