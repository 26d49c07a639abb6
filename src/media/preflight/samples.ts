/**
 * @module media/preflight/samples
 * Findings about what sample values mean: depth, chroma, range, colour description and dynamic range.
 */
import type { AlignResult } from '../align/types.js';
import { finding, rounded } from './text.js';
import type { Finding, PreflightContext, SideFacts } from './types.js';

/** Transfer functions of high dynamic range, by ffmpeg's names. */
const HDR = new Map([
  ['smpte2084', 'PQ'],
  ['arib-std-b67', 'HLG'],
]);

/** Names of one and the same thing: BT.601 and BT.2020 repeat what others say. */
const SAME: Readonly<Record<'primaries' | 'transfer' | 'matrix', readonly (readonly string[])[]>> = {
  primaries: [['smpte170m', 'smpte240m']],
  transfer: [['bt709', 'smpte170m', 'bt2020-10', 'bt2020-12']],
  matrix: [['smpte170m', 'bt470bg']],
};

/** What each part of the colour description says. */
const DESCRIPTION = {
  primaries: 'primaries',
  transfer: 'transfer function',
  matrix: 'matrix',
} as const;

/** ffmpeg's zscale names the parts by one letter each. */
const ZSCALE = { primaries: 'p', transfer: 't', matrix: 'm' } as const;

/** Slope from limited to full range: 255 / 219. */
const RANGE_GAIN = 255 / 219;

/** How close to {@link RANGE_GAIN} a measured contrast must be, relatively. */
const RANGE_TOLERANCE = 0.04;

/** Contrast change, relatively, and shift of mid-grey in 8-bit levels, from which the picture was changed. */
const CONTRAST_CHANGE = 0.08;
const BRIGHTNESS_SHIFT = 5;

/** Correlation of the pictures from which their levels can be compared. */
const COMPARABLE = 0.95;

/** Findings about samples. */
export function* sampleFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  yield* depthFindings(reference, distorted);
  yield* rangeFindings(reference, distorted);
  if (context.alignment) yield* levelFindings(context.alignment, reference, distorted);
  yield* colourFindings(reference, distorted);
  yield* hdrFindings(reference, distorted, context);
}

function* depthFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference.bitDepth, distorted.bitDepth];
  if (ref !== dis) {
    yield finding(
      'bit-depth',
      'info',
      `distorted has ${dis} bits a sample and reference ${ref}; the lower is shifted up to ${Math.max(ref, dis)} bits, ` +
        'which changes no picture.',
      [ref, dis],
    );
  }
  if (reference.chroma !== distorted.chroma) {
    const name = ({ chroma }: SideFacts) => [...chroma].join(':');
    yield finding(
      'chroma-format',
      'info',
      `distorted has ${name(distorted)} chroma and reference ${name(reference)}; VMAF looks at luma, which this leaves ` +
        'alone, but features of chroma compare repeated samples.',
      [name(reference), name(distorted)],
    );
  }
}

function* rangeFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference.colorRange ?? null, distorted.colorRange ?? null];
  // What does not say is limited to a player.
  if ((ref ?? 'limited') === (dis ?? 'limited')) return;
  const said = (range: string | null) => range ?? 'none stated (which means limited)';
  yield finding(
    'color-range',
    'warning',
    `distorted has colour range ${said(dis)} but reference ${said(ref)}; sample values are compared as stored, so a ` +
      'true difference lowers the score.',
    [ref, dis],
    rangeFilter(dis ?? 'limited', ref ?? 'limited'),
  );
}

function rangeFilter(from: 'limited' | 'full', to: 'limited' | 'full'): string {
  return `ffmpeg -vf scale=in_range=${from}:out_range=${to}`;
}

/** Brightness and contrast as measured on pictures that show the same. */
function* levelFindings(
  { similarity, levels }: AlignResult,
  reference: SideFacts,
  distorted: SideFacts,
): Generator<Finding> {
  if (similarity < COMPARABLE) return;
  const { gain: contrast, bias } = levels;
  const shift = contrast * 128 + bias - 128;
  const values = [`0..255`, `${rounded(bias, 0)}..${rounded(255 * contrast + bias, 0)}`] as const;
  const isNear = (value: number) => Math.abs(contrast / value - 1) <= RANGE_TOLERANCE;
  // Both conversions leave mid-grey nearly where it is.
  if (Math.abs(shift) <= BRIGHTNESS_SHIFT && (isNear(RANGE_GAIN) || isNear(1 / RANGE_GAIN))) {
    const expanded = contrast > 1;
    yield finding(
      'levels',
      'warning',
      `distorted has ${rounded(contrast, 2)} times the reference's contrast, as when ` +
        `${expanded ? 'limited range was expanded to full' : 'full range was reduced to limited'}: one of the two was ` +
        'converted wrongly, or its label is wrong, and the score is lower for it.',
      values,
      expanded ? rangeFilter('full', 'limited') : rangeFilter('limited', 'full'),
    );
    return;
  }
  if (Math.abs(contrast - 1) <= CONTRAST_CHANGE && Math.abs(shift) <= BRIGHTNESS_SHIFT) return;
  if (reference.transfer !== distorted.transfer && (isHdr(reference) || isHdr(distorted))) return;
  yield finding(
    'levels',
    'warning',
    `distorted has ${rounded(contrast, 2)} times the reference's contrast, and mid-grey is ` +
      `${rounded(Math.abs(shift), 1)} levels ${shift < 0 ? 'darker' : 'brighter'}; the picture was graded, not only ` +
      'encoded, and the score is about both.',
    values,
  );
}

function isHdr({ transfer }: SideFacts): boolean {
  return transfer !== undefined && HDR.has(transfer);
}

function* colourFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  for (const part of ['primaries', 'transfer', 'matrix'] as const) {
    const [ref, dis] = [reference[part] ?? null, distorted[part] ?? null];
    if (ref === dis || SAME[part].some((names) => names.includes(ref ?? '') && names.includes(dis ?? '')))
      continue;
    // Silence is common and harmless, except beside high dynamic range.
    const silent = ref === null || dis === null;
    if (silent && !(part === 'transfer' && (isHdr(reference) || isHdr(distorted)))) continue;
    const name = DESCRIPTION[part];
    yield finding(
      part,
      'warning',
      `distorted ${stated(dis, name)} but reference ${stated(ref, name)}; sample values are ` +
        'compared as stored, and mean different light.',
      [ref, dis],
      ref === null ? undefined : `ffmpeg -vf zscale=${ZSCALE[part]}=${ref}`,
    );
  }
}

function* hdrFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { models = [{ name: 'vmaf_v0.6.1' }] }: PreflightContext,
): Generator<Finding> {
  if (models.length === 0 || (!isHdr(reference) && !isHdr(distorted))) return;
  const named = ({ transfer }: SideFacts) =>
    transfer === undefined ? null : (HDR.get(transfer) ?? transfer);
  const [ref, dis] = [named(reference), named(distorted)];
  const who =
    isHdr(reference) && isHdr(distorted)
      ? 'both videos are'
      : isHdr(reference)
        ? 'reference is'
        : 'distorted is';
  const kinds = [...new Set([reference, distorted].filter(isHdr).map(named))].join(' and ');
  yield finding(
    'hdr',
    'warning',
    `${who} high dynamic range (${kinds}), but ${models.map(({ name }) => name).join(', ')} was trained on standard ` +
      'dynamic range only, and there is no public VMAF model for HDR; compare such scores only with each other.',
    [ref, dis],
    'ffmpeg -vf zscale=t=linear:npl=100,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=limited',
  );
}

function stated(value: string | undefined | null, name: string): string {
  return value ? `has the ${name} ${value}` : `states no ${name}`;
}
