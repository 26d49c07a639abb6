/**
 * @module core/colour
 * Colour of a video, which colour metrics convert to light: as stated, else guessed.
 */
import {
  CHROMA_UPSAMPLERS,
  COLOUR_MATRICES,
  type ColourAs,
  PRIMARIES,
  SITINGS,
  TRANSFERS,
} from './choices.js';
import type { ChromaFormat, VideoFormat } from './frame.js';
import type { Fraction } from './numbers.js';

/** Colour of a video, which colour metrics convert to light. */
export interface Colour {
  readonly matrix: (typeof COLOUR_MATRICES)[number];
  readonly range: 'limited' | 'full';
  readonly transfer: (typeof TRANSFERS)[number];
  readonly siting: (typeof SITINGS)[number];
  readonly upsampling: (typeof CHROMA_UPSAMPLERS)[number];
  /** Default: the usual primaries of the matrix and transfer. */
  readonly primaries?: (typeof PRIMARIES)[number];
}

/** Format of a scored pair, with the facts that metrics of colour and time need. */
export interface ScoredFormat extends VideoFormat {
  /** Frames per second of the reference, if known. */
  readonly frameRate?: Fraction;
  /** Colours of both videos, for metrics of colour. */
  readonly colours?: { readonly reference: ScoredColour; readonly distorted: ScoredColour };
}

/** Colour of a video that may state an unsupported matrix. */
export interface ScoredColour extends Colour {
  /** ffmpeg's name of the stated matrix, if metrics of colour refuse it. */
  readonly unsupported?: string;
  /** Set if the video has alpha. */
  readonly alpha?: true;
}

/** Both colours as `AnyvmafColours` (wasm/include/perceptual.h). */
export function colourNumbers({ reference, distorted }: NonNullable<ScoredFormat['colours']>): number[] {
  return [reference, distorted].flatMap((colour) => [
    COLOUR_MATRICES.indexOf(colour.matrix),
    colour.range === 'full' ? 1 : 0,
    TRANSFERS.indexOf(colour.transfer),
    SITINGS.indexOf(colour.siting),
    CHROMA_UPSAMPLERS.indexOf(colour.upsampling),
    PRIMARIES.indexOf(colour.primaries ?? usualPrimaries(colour)),
  ]);
}

/** Colour that a video states, by ffmpeg's names; absent or `unknown` if unstated. */
export interface StatedColour {
  readonly width: number;
  readonly height: number;
  readonly chroma: ChromaFormat;
  readonly matrix?: string;
  readonly transfer?: string;
  readonly primaries?: string;
  readonly colorRange?: Colour['range'];
  readonly chromaLocation?: string;
  readonly alpha?: true;
}

/** A property of {@link Colour} that a video may leave open. */
export type GuessedColour = 'matrix' | 'range' | 'transfer' | 'siting' | 'primaries';

const MATRIX_OF: Readonly<Record<string, Colour['matrix']>> = {
  gbr: 'gbr',
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
  smpte240m: 'smpte240m',
  fcc: 'fcc',
  ycgco: 'ycgco',
  bt2020c: 'bt2020c',
  ictcp: 'ictcp',
};

/** `chroma-derived-nc` derives the matrix from the primaries; H.273 names only those of BT.709 and BT.2020. */
function matrixOf({ matrix, primaries }: StatedColour): Colour['matrix'] | undefined {
  if (matrix === 'chroma-derived-nc') return PRIMARY_MATRIX[primaries ?? ''];
  return MATRIX_OF[matrix ?? ''];
}
const PRIMARY_MATRIX: Readonly<Record<string, Colour['matrix']>> = { bt709: 'bt709', bt2020: 'bt2020' };

/** Codings without a supported matrix to R'G'B'; any other matrix would give wrong colours. */
const UNSUPPORTED: ReadonlySet<string | undefined> = new Set([
  ...['ipt-c2', 'smpte2085', 'chroma-derived-nc', 'chroma-derived-c', 'ycgco-re', 'ycgco-ro'],
]);

const PRIMARIES_OF: Readonly<Record<string, (typeof PRIMARIES)[number]>> = {
  bt709: 'bt709',
  bt2020: 'bt2020',
  smpte432: 'p3',
  smpte431: 'dci-p3',
  bt470m: 'bt470m',
  bt470bg: 'bt470bg',
  smpte170m: 'smpte170m',
  smpte240m: 'smpte170m',
};

/** BT.709's camera curve and its relatives count as sRGB, with which thresholds of perceptual metrics were tuned. */
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

/** The matrix that players assume by size if none is stated. */
export function usualMatrix({ width, height }: Pick<StatedColour, 'width' | 'height'>): 'bt709' | 'bt601' {
  return width >= 1280 || height >= 577 ? 'bt709' : 'bt601';
}

/** Default primaries: BT.2020 and BT.2100 have their own. */
function usualPrimaries({ matrix, transfer }: Pick<Colour, 'matrix' | 'transfer'>): 'bt2020' | 'bt709' {
  return isOf2020(matrix) || isHdr(transfer) ? 'bt2020' : 'bt709';
}

export function isHdr(transfer: Colour['transfer']): boolean {
  return transfer === 'pq' || transfer === 'hlg';
}

function isOf2020(matrix: Colour['matrix']): boolean {
  return matrix === 'bt2020' || matrix === 'bt2020c' || matrix === 'ictcp';
}

export interface KnownColour extends ScoredColour {
  readonly guessed: readonly GuessedColour[];
  /** The tool whose conversion is reproduced. */
  readonly as?: ColourAs;
}

/**
 * The colour that a video states, with bicubic chroma.
 * @returns with `guessed`: properties that matter for its samples but are unstated or have an unsupported name
 */
export function colourOf(facts: StatedColour): KnownColour {
  const { chroma } = facts;
  const named = matrixOf(facts);
  // Some encoders write 0 (RGB) for "unknown"; subsampled samples are not RGB.
  const stated = named === 'gbr' && chroma !== '444' ? undefined : named;
  // BT.2020 primaries imply BT.2020's matrix.
  const matrix = stated ?? (facts.primaries === 'bt2020' ? 'bt2020' : usualMatrix(facts));
  const transfer = TRANSFER_OF[facts.transfer ?? ''];
  const primaries = PRIMARIES_OF[facts.primaries ?? ''];
  const unknown = facts.primaries === undefined || facts.primaries === 'unknown';
  const siting = SITINGS.find((name) => name === facts.chromaLocation);
  const guessed: [GuessedColour, boolean][] = [
    ['matrix', stated === undefined && chroma !== '400'],
    ['range', facts.colorRange === undefined],
    ['transfer', transfer === undefined],
    ['siting', siting === undefined && (chroma === '420' || chroma === '422')],
    // Primaries implied by the matrix are not guessed.
    ['primaries', primaries === undefined && !unknown],
  ];
  return {
    matrix,
    range: facts.colorRange ?? (matrix === 'gbr' ? 'full' : 'limited'),
    transfer: transfer ?? 'srgb',
    siting: siting ?? (isOf2020(matrix) ? 'topleft' : 'left'),
    upsampling: 'bicubic',
    ...(primaries && primaries !== usualPrimaries({ matrix, transfer: transfer ?? 'srgb' }) && { primaries }),
    ...(chroma !== '400' && !named && UNSUPPORTED.has(facts.matrix) && { unsupported: facts.matrix }),
    ...(facts.alpha && { alpha: true }),
    guessed: guessed.flatMap(([name, isGuess]) => (isGuess ? [name] : [])),
  };
}

/** FFVship's transfers where they differ from {@link colourOf}; BT.709 and BT.2020 are gamma 2.4. */
const VSHIP_TRANSFERS: Readonly<Record<string, Colour['transfer']>> = {
  bt709: 'bt1886',
  'bt2020-10': 'bt1886',
  'bt2020-12': 'bt1886',
  smpte170m: 'gamma28',
};
/** FFVship refuses P3, and keeps the white point of BT.470 M, which becomes D65 here. */
const VSHIP_PRIMARIES: ReadonlySet<string> = new Set(['bt709', 'bt2020', 'bt470bg', 'smpte170m']);

/**
 * The colour that a tool assumes for a video, independent of the other video. vszip (dnjulek/vapoursynth-zip 40ee0230):
 * the matrix by height and sRGB, whatever is stated. libjxl: a PNG file without colour chunks is sRGB. FFVship
 * (Line-fr/Vship 364ac2c9): the matrix by height if none is stated; SD without a matrix is PAL.
 * @returns `undefined` for primaries that FFVship refuses or shows with their own white point
 */
export function colourAs(as: ColourAs, facts: StatedColour): KnownColour | undefined {
  const { guessed, primaries: _, unsupported, ...stated } = colourOf(facts);
  const own = { ...stated, guessed: [], as };
  if (as === 'libjxl') return isHdr(stated.transfer) ? own : { ...own, transfer: 'srgb' };
  if (own.matrix === 'gbr') return own;
  const byHeight = facts.height > 650 ? 'bt709' : 'bt601';
  const siting = guessed.includes('siting') ? 'left' : own.siting;
  if (as === 'vszip') return { ...own, siting, matrix: byHeight, transfer: 'srgb' };
  const matrix = guessed.includes('matrix') ? byHeight : own.matrix;
  const isPal = matrix === 'bt601' && facts.matrix !== 'smpte170m';
  const usual = isOf2020(matrix) ? 'pq' : isPal ? 'gamma28' : 'bt1886';
  const guess = guessed.includes('transfer') ? usual : own.transfer;
  const transfer = VSHIP_TRANSFERS[facts.transfer ?? ''] ?? guess;
  const usualOnes = isOf2020(matrix) ? 'bt2020' : isPal ? 'bt470bg' : 'bt709';
  const primaries = PRIMARIES_OF[facts.primaries ?? ''] ?? usualOnes;
  if (!VSHIP_PRIMARIES.has(primaries)) return undefined;
  return {
    ...own,
    ...{ siting, matrix, transfer },
    ...(primaries !== usualPrimaries({ matrix, transfer }) && { primaries }),
    ...(unsupported !== undefined && { unsupported }),
  };
}

export type LumaMatrix = 'bt601' | 'bt709' | 'bt2020' | 'smpte240m' | 'fcc';

export const LUMA_WEIGHTS: Readonly<Record<LumaMatrix, { readonly kr: number; readonly kb: number }>> = {
  bt601: { kr: 0.299, kb: 0.114 },
  bt709: { kr: 0.2126, kb: 0.0722 },
  bt2020: { kr: 0.2627, kb: 0.0593 },
  smpte240m: { kr: 0.212, kb: 0.087 },
  fcc: { kr: 0.3, kb: 0.11 },
};
