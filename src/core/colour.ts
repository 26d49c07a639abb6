/**
 * @module core/colour
 * How the samples of a video become light: what the colour metrics need to know of each of the two videos.
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
import type { Fraction } from './rational.js';

/** The colour of a video. */
export interface Colour {
  readonly matrix: (typeof COLOUR_MATRICES)[number];
  readonly range: 'limited' | 'full';
  readonly transfer: (typeof TRANSFERS)[number];
  readonly siting: (typeof SITINGS)[number];
  readonly upsampling: (typeof CHROMA_UPSAMPLERS)[number];
  /** Absent: those that go with matrix and transfer. */
  readonly primaries?: (typeof PRIMARIES)[number];
}

/** The format of the pair that is scored, with what metrics of colour and time take into account. */
export interface ScoredFormat extends VideoFormat {
  /** Frames per second of the reference, if known. */
  readonly frameRate?: Fraction;
  /** Colours of both videos, where a metric of colour runs. */
  readonly colours?: { readonly reference: ScoredColour; readonly distorted: ScoredColour };
}

/** The colour of a video whose matrix may be none of ours. */
export interface ScoredColour extends Colour {
  /** The matrix that it states, by ffmpeg's name, where metrics of colour refuse it. */
  readonly unsupported?: string;
}

/** Both colours as the numbers of `AnyvmafColours` (wasm/include/perceptual.h). */
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
};

/** Ways to code colour that are no matrix of R'G'B', or not one of ours. Another matrix in their place gives other colours. */
const UNSUPPORTED: ReadonlySet<string | undefined> = new Set([
  'bt2020c',
  'ictcp',
  'ipt-c2',
  'smpte2085',
  'chroma-derived-nc',
  'chroma-derived-c',
  'ycgco-re',
  'ycgco-ro',
]);

/** SD's primaries are taken as BT.709's, as the metrics' authors do; so is the white of DCI-P3 as that of Display P3. */
const PRIMARIES_OF: Readonly<Record<string, (typeof PRIMARIES)[number]>> = {
  bt709: 'bt709',
  smpte170m: 'bt709',
  bt470bg: 'bt709',
  smpte240m: 'bt709',
  bt2020: 'bt2020',
  smpte432: 'p3',
  smpte431: 'p3',
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

/** The primaries that go with a matrix and a transfer: BT.2020 and BT.2100 have their own. */
function usualPrimaries({ matrix, transfer }: Pick<Colour, 'matrix' | 'transfer'>): 'bt2020' | 'bt709' {
  return matrix === 'bt2020' || transfer === 'pq' || transfer === 'hlg' ? 'bt2020' : 'bt709';
}

/** A colour, and which of its properties are guessed. */
export interface KnownColour extends ScoredColour {
  readonly guessed: readonly GuessedColour[];
  /** Set if its samples have alpha. */
  readonly alpha?: true;
  /** The tool whose conversion this is. */
  readonly as?: ColourAs;
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
  const primaries = PRIMARIES_OF[facts.primaries ?? ''];
  const unknown = facts.primaries === undefined || facts.primaries === 'unknown';
  const siting = SITINGS.find((name) => name === facts.chromaLocation);
  const guessed: [GuessedColour, boolean][] = [
    ['matrix', stated === undefined && chroma !== '400'],
    ['range', facts.colorRange === undefined],
    ['transfer', transfer === undefined],
    ['siting', siting === undefined && (chroma === '420' || chroma === '422')],
    // Those that go with a matrix are no guess of their own.
    ['primaries', primaries === undefined && !unknown],
  ];
  return {
    matrix,
    range: facts.colorRange ?? (matrix === 'gbr' ? 'full' : 'limited'),
    transfer: transfer ?? 'srgb',
    siting: siting ?? (matrix === 'bt2020' ? 'topleft' : 'left'),
    upsampling: 'bicubic',
    ...(primaries && primaries !== usualPrimaries({ matrix, transfer: transfer ?? 'srgb' }) && { primaries }),
    ...(chroma !== '400' && UNSUPPORTED.has(facts.matrix) && { unsupported: facts.matrix }),
    ...(facts.alpha && { alpha: true }),
    guessed: guessed.flatMap(([name, isGuess]) => (isGuess ? [name] : [])),
  };
}

/** What FFVship makes of a transfer; of others as {@link colourOf}. It takes BT.709 and BT.2020 as gamma 2.4. */
const VSHIP_TRANSFERS: Readonly<Record<string, Colour['transfer']>> = {
  bt709: 'bt1886',
  'bt2020-10': 'bt1886',
  'bt2020-12': 'bt1886',
  smpte170m: 'gamma28',
};

/**
 * The colour that a tool takes a video for, by what it states and by nothing of the other video. vszip
 * (dnjulek/vapoursynth-zip 40ee0230): the matrix by the height, sRGB, whatever is stated. FFVship (Line-fr/Vship 364ac2c9):
 * the height where no matrix is stated.
 * @returns `undefined` for SD whose primaries FFVship converts to BT.709's, which is not done here
 */
export function colourAs(as: 'vship' | 'vszip', facts: StatedColour): KnownColour | undefined {
  const { guessed, primaries, unsupported, ...stated } = colourOf(facts);
  const own = { ...stated, guessed: [], as };
  if (own.matrix === 'gbr') return own;
  const byHeight = facts.height > 650 ? 'bt709' : 'bt601';
  const siting = guessed.includes('siting') ? 'left' : own.siting;
  if (as === 'vszip') return { ...own, siting, matrix: byHeight, transfer: 'srgb' };
  const matrix = guessed.includes('matrix') ? byHeight : own.matrix;
  const isPal = matrix === 'bt601' && facts.matrix !== 'smpte170m';
  if (isPal || /^(?:bt470|smpte)/.test(facts.primaries ?? '')) return undefined;
  const usual = matrix === 'bt2020' ? 'pq' : 'bt1886';
  const transfer = guessed.includes('transfer') ? usual : own.transfer;
  return {
    ...own,
    siting,
    matrix,
    transfer: VSHIP_TRANSFERS[facts.transfer ?? ''] ?? transfer,
    ...(primaries && { primaries }),
    ...(unsupported !== undefined && { unsupported }),
  };
}
