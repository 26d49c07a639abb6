/**
 * @module report/view/numbers
 * Formats values, names and counts for charts and tables; the interface of templates.
 */
import { clock } from '../sections.js';

export { grouped } from '../../core/printable.js';
export {
  baseName,
  bitrateText,
  cellText,
  frameRate,
  framesText,
  inputFacts,
  joined,
  NONE,
  pairCount,
  pairRate,
  referenceOf,
  scoreText,
  shortText,
  sizeText,
  skippedPairs,
  skippedText,
  valueTextOf,
} from '../facts.js';

/** `0:04.92`, `1:02:03.40`. */
export function timeText(seconds: number, decimals = 2): string {
  return clock(seconds, decimals);
}

const LABELS: Readonly<Record<string, string>> = {
  vmaf: 'VMAF',
  vmaf_neg: 'VMAF NEG',
  vmaf_4k: 'VMAF 4K',
  vmaf_4k_neg: 'VMAF 4K NEG',
  vmaf_phone: 'VMAF Phone',
  vmaf_v1: 'VMAF v1',
  psnr_y: 'PSNR',
  psnr_cb: 'PSNR Cb',
  psnr_cr: 'PSNR Cr',
  float_ssim: 'SSIM',
  float_ms_ssim: 'MS-SSIM',
  cambi: 'CAMBI',
  ciede2000: 'CIEDE2000',
  xpsnr_y: 'XPSNR Y',
  xpsnr_u: 'XPSNR U',
  xpsnr_v: 'XPSNR V',
  xpsnr_min: 'XPSNR min',
  xpsnr_weighted: 'XPSNR',
  ssimulacra2: 'SSIMULACRA2',
  butteraugli: 'Butteraugli',
  butteraugli_3norm: 'Butteraugli 3-norm',
  cvvdp: 'ColorVideoVDP',
  cvvdp_q: 'ColorVideoVDP Q',
};

export function labelOf(metric: string): string {
  return Object.hasOwn(LABELS, metric) ? (LABELS[metric] ?? metric) : metric;
}

/** A name of at most `most` characters, without its middle: encodes often differ at their ends. */
export function shortName(name: string, most: number): string {
  const head = Math.max(3, Math.floor(most / 3));
  return name.length <= most ? name : `${name.slice(0, head)}…${name.slice(name.length - (most - head - 1))}`;
}

/** A position in a range in percent, clamped to it, for styles. */
export function percentOf(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.round(Math.min(1, Math.max(0, share)) * 1e4) / 100;
}

/** Distinct colours; beyond them, lines are dashed, and swatches and dots are cut. */
const COLOURS = 16;
const DASHES = ['none', '7 3', '2 3', '9 3 2 3'] as const;
const CUTS = ['none', '50%/34% 100%', '50%/100% 34%', '0/50% 50%'] as const;

/** Colour of an encode: set by its page, or else by its number. */
export function encodeColour(index: number): string {
  return `var(--e${index},var(--s${index % COLOURS}))`;
}

export function encodeDash(index: number): string {
  return `var(--d${index},none)`;
}

export function colourOf(index: number): string {
  return `--c:${encodeColour(index)};--k:var(--k${index},none)`;
}

/** Colour, line dash, and cut of swatches and dots as custom properties, whose names end in `of`. */
export function numberedColour(number: number, of: number | '' = ''): [name: string, value: string][] {
  const turn = Math.floor(number / COLOURS) % DASHES.length;
  const cut = turn === 0 ? 'none' : `linear-gradient(var(--card) 0 0) ${CUTS[turn]} no-repeat`;
  return [
    [of === '' ? '--c' : `--e${of}`, `var(--s${number % COLOURS})`],
    [`--d${of}`, DASHES[turn] ?? 'none'],
    [`--k${of}`, cut],
  ];
}

const MEANINGS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/motion/, 'motion: how much the original changes from frame to frame'],
  [/aim/, 'added impairment: detail that the original does not have'],
  [/vif_scale0/, 'finest detail preserved'],
  [/vif_scale1/, 'fine detail preserved'],
  [/vif_scale[23]/, 'coarse detail preserved'],
  [/vif/, 'detail preserved, at all scales'],
  [/adm_scale0/, 'contrast of the finest edges and texture'],
  [/adm_scale[123]/, 'contrast of coarser edges and texture'],
  [/adm/, 'contrast of edges and texture preserved'],
  [/speed_chroma/, 'detail of colours'],
  [/speed_temporal/, 'detail of changes over time'],
];

/** What an inner feature measures; `undefined` for metrics with a known name. */
export function featureMeaning(metric: string): string | undefined {
  return labelOf(metric) === metric ? MEANINGS.find(([pattern]) => pattern.test(metric))?.[1] : undefined;
}

export type Template<T> = (strings: TemplateStringsArray, ...values: readonly unknown[]) => T;

export interface Templates<T> {
  readonly html: Template<T>;
  /** For the content of an `svg` element. */
  readonly svg: Template<T>;
}
