/**
 * @module core/colour
 * How the samples of a video become light: what the colour metrics need to know of each of the two videos.
 */
import { CHROMA_UPSAMPLERS, COLOUR_MATRICES, SITINGS, TRANSFERS } from './choices.js';
import type { ChromaFormat, VideoFormat } from './frame.js';
import type { Fraction } from './rational.js';

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

/** What a video states of its colour, by ffmpeg's names; absent or `unknown` where it states nothing. */
export interface StatedColour {
  readonly width: number;
  readonly height: number;
  readonly chroma: ChromaFormat;
  readonly matrix?: string;
  readonly transfer?: string;
  readonly primaries?: string;
  readonly colorRange?: Colour['range'];
  readonly chromaLocation?: string;
}

/** A property of {@link Colour} that a video may leave open. */
export type GuessedColour = 'matrix' | 'range' | 'transfer' | 'siting';

const MATRIX_OF: Readonly<Record<string, Colour['matrix']>> = {
  gbr: 'gbr',
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
};

/**
 * BT.709's camera curve and its relatives are linearised by sRGB: the thresholds in use for perceptual metrics were
 * tuned that way.
 */
const TRANSFER_OF: Readonly<Record<string, Colour['transfer']>> = {
  'iec61966-2-1': 'srgb',
  bt709: 'srgb',
  smpte170m: 'srgb',
  smpte240m: 'srgb',
  'bt2020-10': 'srgb',
  'bt2020-12': 'srgb',
  bt1361e: 'srgb',
  'iec61966-2-4': 'srgb',
  gamma22: 'gamma22',
  bt470m: 'gamma22',
  gamma28: 'gamma28',
  bt470bg: 'gamma28',
  linear: 'linear',
  smpte2084: 'pq',
  'arib-std-b67': 'hlg',
};

/** The matrix that players assume of a size that states none. */
export function usualMatrix({ width, height }: Pick<StatedColour, 'width' | 'height'>): 'bt709' | 'bt601' {
  return width >= 1280 || height >= 577 ? 'bt709' : 'bt601';
}

/** A colour, and which of its properties are guessed. */
export interface KnownColour extends Colour {
  readonly guessed: readonly GuessedColour[];
}

/**
 * The colour of a video by what it states, with bicubic chroma.
 * @returns with the properties that its samples depend on and that it does not state, or states by a name that is not
 *   supported, as guessed
 */
export function colourOf(facts: StatedColour): KnownColour {
  const { chroma } = facts;
  const named = MATRIX_OF[facts.matrix ?? ''];
  // Some encoders write the number of RGB, 0, for "unknown"; subsampled samples are not RGB.
  const stated = named === 'gbr' && chroma !== '444' ? undefined : named;
  // BT.2020 has the primaries of no other matrix.
  const matrix = stated ?? (facts.primaries === 'bt2020' ? 'bt2020' : usualMatrix(facts));
  const transfer = TRANSFER_OF[facts.transfer ?? ''];
  const siting = SITINGS.find((name) => name === facts.chromaLocation);
  const guessed: [GuessedColour, boolean][] = [
    ['matrix', stated === undefined && chroma !== '400'],
    ['range', facts.colorRange === undefined],
    ['transfer', transfer === undefined],
    ['siting', siting === undefined && (chroma === '420' || chroma === '422')],
  ];
  return {
    matrix,
    range: facts.colorRange ?? (matrix === 'gbr' ? 'full' : 'limited'),
    transfer: transfer ?? 'srgb',
    siting: siting ?? (matrix === 'bt2020' ? 'topleft' : 'left'),
    upsampling: 'bicubic',
    guessed: guessed.flatMap(([name, isGuess]) => (isGuess ? [name] : [])),
  };
}
