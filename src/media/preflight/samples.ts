/**
 * @module media/preflight/samples
 * Findings about what sample values mean: depth, range, levels and colour description.
 */
import { usualMatrix } from '../../core/colour.js';
import type { PrepareHint } from '../../core/errors.js';
import { EXACT, scaleMatrix } from '../delivery.js';
import { type Colours, matrixFitOf, mean } from '../evidence/averages.js';
import type { AlignResult } from '../pairing/types.js';
import {
  chromaFindings,
  dolbyVisionFindings,
  dynamicRangeFinding,
  hdrFindings,
  isHdr,
  isProfile5,
} from './colour.js';
import {
  type Finding,
  filterFiles,
  finding,
  otherRole,
  type PreflightContext,
  prepareFiles,
  rounded,
  type SideFacts,
  vf,
} from './findings.js';

/** Equivalent names, since BT.601 and BT.2020 reuse definitions of other standards. */
const SAME: Readonly<Record<'primaries' | 'transfer' | 'matrix', readonly (readonly string[])[]>> = {
  primaries: [['smpte170m', 'smpte240m']],
  transfer: [['bt709', 'smpte170m', 'bt2020-10', 'bt2020-12']],
  matrix: [['smpte170m', 'bt470bg']],
};

/** Codecs that are BT.601 by definition: decoders report it without a label, but encoders store samples unconverted. */
const ALWAYS_BT601: readonly (string | undefined)[] = ['vp8', 'mjpeg'];

const DESCRIPTION = {
  primaries: 'primaries',
  transfer: 'transfer function',
  matrix: 'matrix',
} as const;

const ZSCALE = { primaries: 'p', transfer: 't', matrix: 'm' } as const;

const RANGE_GAIN = 255 / 219;

/** Largest relative difference of a measured contrast from {@link RANGE_GAIN}. */
const RANGE_TOLERANCE = 0.04;

/** Least relative change of contrast, and least shift of mid-grey in 8-bit levels, for a finding. */
const CONTRAST_CHANGE = 0.08;
const BRIGHTNESS_SHIFT = 5;

/** Least standard deviation of the reference's samples, in 8-bit levels, to measure contrast. */
const SPREAD = 6;

/** Least correlation of pictures to compare their levels. */
const COMPARABLE = 0.95;

export function* sampleFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  yield* depthFindings(reference, distorted, context);
  yield* grainFindings(distorted);
  const planes = [reference, distorted].map(isRgb);
  // RGB cannot be compared with luma and chroma.
  if (planes[0] !== planes[1]) return;
  yield* rangeFindings(reference, distorted, context);
  if (context.alignment) yield* levelFindings(context.alignment, reference, distorted);
  if (!planes[0]) yield* chromaFindings(reference, distorted, context);
  if (isProfile5(reference) || isProfile5(distorted)) {
    yield* dolbyVisionFindings(reference, distorted);
    return;
  }
  const mixed = mixesRanges(reference, distorted, context.alignment);
  if (mixed) yield dynamicRangeFinding(reference, distorted);
  yield* colourFindings(reference, distorted, mixed, context);
  if (!mixed) yield* hdrFindings(reference, distorted, context);
}

function isRgb({ matrix, chroma }: SideFacts): boolean {
  return matrix === 'gbr' && chroma === '444';
}

function* depthFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { light }: PreflightContext,
): Generator<Finding> {
  const [ref, dis] = [reference.bitDepth, distorted.bitDepth];
  if (ref !== dis) {
    yield finding(
      'bit-depth',
      'info',
      `distorted has ${dis} bits per sample and reference ${ref}; the lower is ${light ? 'converted' : 'shifted up'} to ` +
        `${Math.max(ref, dis)} bits without loss.`,
      [ref, dis],
    );
  }
  if (reference.chroma !== distorted.chroma) {
    const name = ({ chroma }: SideFacts) => [...chroma].join(':');
    yield finding(
      'chroma-format',
      'info',
      `distorted has ${name(distorted)} chroma and reference ${name(reference)}; ` +
        (light
          ? 'the coarser one is interpolated.'
          : 'VMAF measures luma only, but chroma features compare repeated samples.'),
      [name(reference), name(distorted)],
    );
  }
}

/** Synthesised grain differs from the source's, though it looks alike. */
function* grainFindings({ filmGrain }: SideFacts): Generator<Finding> {
  if (filmGrain !== 'added') return;
  yield finding(
    'film-grain',
    'info',
    'distorted is AV1 with film grain synthesis: its encoder removed the grain, and the decoder adds similar grain at other ' +
      'positions, which VMAF counts as a loss; viewers see less difference than the score says, and it cannot compare encodes ' +
      'with and without synthesis.',
    [null, true],
    { purpose: 'fix', option: 'grain', value: 'off' },
  );
}

type Range = 'limited' | 'full';

/** How the pictures' ranges relate: the same contrast, or that of a range conversion. */
type Spread = 'alike' | 'expanded' | 'reduced' | 'other';

function spreadOf({ similarity, levels }: AlignResult): Spread {
  if (similarity < COMPARABLE) return 'other';
  const { gain } = levels;
  const isNear = (value: number) => Math.abs(gain / value - 1) <= RANGE_TOLERANCE;
  if (isNear(1)) return 'alike';
  // Both conversions nearly preserve mid-grey.
  if (Math.abs(shiftOf(levels)) > BRIGHTNESS_SHIFT) return 'other';
  return isNear(RANGE_GAIN) ? 'expanded' : isNear(1 / RANGE_GAIN) ? 'reduced' : 'other';
}

/** Levels by which mid-grey is brighter in the distorted video. */
function shiftOf({ gain, bias }: AlignResult['levels']): number {
  return gain * 128 + bias - 128;
}

/** True if pictures have nearly one brightness (titles on white), where noise dominates any measured contrast. */
function isEven({ measured }: SideFacts): boolean {
  const samples = (measured?.squares ?? []).flatMap((square) => [...square]);
  if (samples.length === 0) return false;
  const middle = mean(samples);
  return mean(samples.map((level) => (level - middle) ** 2)) < SPREAD ** 2;
}

const EFFECT = {
  expanded: 'added contrast counts as an enhancement, so the score is too high',
  reduced: 'reduced contrast counts as a loss, so the score is too low',
} as const;

function* rangeFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment, light }: PreflightContext,
): Generator<Finding> {
  const [ref, dis] = [reference.colorRange ?? null, distorted.colorRange ?? null];
  // Players assume limited range by default.
  const [from, to] = [dis ?? 'limited', ref ?? 'limited'] as const;
  if (from === to) return;
  const said = (range: string | null) => range ?? 'unspecified (limited assumed)';
  const differ = `distorted has colour range ${said(dis)} but reference ${said(ref)}, and sample values are compared as stored`;
  const converted = from === 'full' ? 'expanded' : 'reduced';
  const spread = alignment && !isEven(reference) ? spreadOf(alignment) : undefined;
  if (spread === 'alike') {
    // The score is right, and a missing label is no wrong label.
    const silent = ref === null || dis === null;
    yield finding(
      'color-range',
      silent ? 'info' : 'warning',
      `${differ}; both have the same contrast, so only a label differs: the score is right, but players show the ` +
        `distorted video with ${from === 'full' ? 'less' : 'more'} contrast.`,
      [ref, dis],
      relabelRange(distorted, to),
    );
    return;
  }
  if (light) return;
  const how =
    spread === converted
      ? `the samples were converted too: ${EFFECT[converted]}`
      : spread === undefined
        ? `if the samples were converted too, ${EFFECT[converted]}; if only a label differs, the score is right`
        : 'contrast differs, which the score weighs differently than viewers do';
  yield finding(
    'color-range',
    'warning',
    `${differ}; ${how}.`,
    [ref, dis],
    convertRange(distorted, from, to, true),
  );
}

/** @param stated the labels state both ranges, so that an option can convert */
function convertRange(distorted: SideFacts, from: Range, to: Range, stated: boolean): PrepareHint {
  const filter = `scale=in_range=${from}:out_range=${to}`;
  return prepareFiles(
    [['distorted', distorted, ['-vf', filter, '-color_range', to === 'full' ? 'pc' : 'tv']]],
    [stated ? { purpose: 'fix', option: 'colorRange', value: to } : vf('distorted', filter)],
  );
}

/** Relabels the range, without decoding if the stream stores the label. */
function relabelRange(distorted: SideFacts, to: Range): PrepareHint {
  const { codec } = distorted;
  const options =
    codec === 'h264' || codec === 'hevc'
      ? ['-c', 'copy', '-bsf:v', `${codec}_metadata=video_full_range_flag=${to === 'full' ? 1 : 0}`]
      : [
          ...['-vf', `scale=in_range=full:out_range=full,setparams=range=${to}`],
          ...['-color_range', to === 'full' ? 'pc' : 'tv'],
        ];
  return prepareFiles([['distorted', distorted, options]]);
}

function* levelFindings(
  alignment: AlignResult,
  reference: SideFacts,
  distorted: SideFacts,
): Generator<Finding> {
  const { similarity, levels } = alignment;
  if (similarity < COMPARABLE || isEven(reference)) return;
  const { gain: contrast, bias } = levels;
  const shift = shiftOf(levels);
  const values = [`0..255`, `${rounded(bias, 0)}..${rounded(255 * contrast + bias, 0)}`] as const;
  const spread = spreadOf(alignment);
  if (spread === 'expanded' || spread === 'reduced') {
    const [from, to] = [distorted.colorRange ?? 'limited', reference.colorRange ?? 'limited'];
    // The finding about the labels covers this.
    if (from !== to && (from === 'full') === (spread === 'expanded')) return;
    yield finding(
      'levels',
      'warning',
      `distorted has ${rounded(contrast, 2)} times the contrast of reference, as if ` +
        `${spread === 'expanded' ? 'limited range was expanded to full' : 'full range was reduced to limited'}, which ` +
        `no label states; ${EFFECT[spread]}.`,
      values,
      spread === 'expanded'
        ? convertRange(distorted, 'full', 'limited', false)
        : convertRange(distorted, 'limited', 'full', false),
    );
    return;
  }
  if (Math.abs(contrast - 1) <= CONTRAST_CHANGE && Math.abs(shift) <= BRIGHTNESS_SHIFT) return;
  if (!sameTransfer(reference.transfer, distorted.transfer) && (isHdr(reference) || isHdr(distorted))) return;
  yield finding(
    'levels',
    'warning',
    `distorted has ${rounded(contrast, 2)} times the contrast of reference, and mid-grey is ` +
      `${rounded(Math.abs(shift), 1)} levels ${shift < 0 ? 'darker' : 'brighter'}; it was graded as well as encoded, and ` +
      'the score includes both.',
    values,
  );
}

function sameTransfer(one: string | undefined, other: string | undefined): boolean {
  return (
    one === other || SAME.transfer.some((names) => names.includes(one ?? '') && names.includes(other ?? ''))
  );
}

/** True if dynamic ranges differ by label, or by levels if one is untagged; encoders may drop only the label. */
function mixesRanges(
  reference: SideFacts,
  distorted: SideFacts,
  alignment: AlignResult | undefined,
): boolean {
  if (!isHdr(reference) && !isHdr(distorted)) return false;
  if (sameTransfer(reference.transfer, distorted.transfer)) return false;
  if (reference.transfer !== undefined && distorted.transfer !== undefined) return true;
  if (!alignment || alignment.similarity < COMPARABLE || isEven(reference)) return false;
  const { levels } = alignment;
  return Math.abs(levels.gain - 1) > CONTRAST_CHANGE || Math.abs(shiftOf(levels)) > BRIGHTNESS_SHIFT;
}

/** @param mixed another finding covers the transfer functions */
function* colourFindings(
  reference: SideFacts,
  distorted: SideFacts,
  mixed: boolean,
  context: PreflightContext,
): Generator<Finding> {
  const rgb = [reference, distorted].some(({ fromRgb }) => fromRgb);
  if (rgb) yield convertedRgb(reference, distorted);
  else if (!mixed && !(reference.matrix && distorted.matrix))
    yield* silentMatrix(reference, distorted, context);
  for (const part of ['primaries', ...(mixed ? [] : (['transfer'] as const)), 'matrix'] as const) {
    const [ref, dis] = [reference[part] ?? null, distorted[part] ?? null];
    if (ref === dis || SAME[part].some((names) => names.includes(ref ?? '') && names.includes(dis ?? '')))
      continue;
    if (part === 'matrix' && (rgb || ref === null || dis === null)) continue;
    if (part !== 'primaries' && context.light) continue;
    if (part === 'matrix' && [reference, distorted].some(isAlwaysBt601)) {
      yield* silentMatrix(reference, distorted, context);
      continue;
    }
    // A missing label is harmless, except next to HDR.
    const silent = ref === null || dis === null;
    if (silent && !(part === 'transfer' && (isHdr(reference) || isHdr(distorted)))) continue;
    const name = DESCRIPTION[part];
    yield finding(
      part,
      'warning',
      `distorted ${stated(dis, name)} but reference ${stated(ref, name)}; sample values are ` +
        'compared as stored, but mean different light.',
      [ref, dis],
      ref === null ? undefined : convertPart(part, ref, distorted),
    );
  }
}

function isAlwaysBt601({ codec }: SideFacts): boolean {
  return ALWAYS_BT601.includes(codec);
}

/** A label of one video contradicts the fixed matrix of the other's codec. */
function* fixedMatrix({ codec }: SideFacts, reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const labels = [reference, distorted].map((side) => (isAlwaysBt601(side) ? null : (side.matrix ?? null)));
  const label = labels.find((one) => one !== null);
  if (!label || SAME.matrix.some((names) => names.includes(label))) return;
  const [ref = null, dis = null] = labels;
  yield finding(
    'matrix',
    'info',
    `one video is labelled ${label} and ${codec} has no label: it is BT.601 by definition, but encoders store samples ` +
      'unconverted; sample values are compared as stored.',
    [ref, dis],
  );
}

function convertPart(part: keyof typeof ZSCALE, to: string, distorted: SideFacts): PrepareHint {
  const filter = `zscale=${ZSCALE[part]}=${to}`;
  const matrix = part === 'matrix' ? scaleMatrix(to) : undefined;
  const instead = matrix && [{ purpose: 'fix', option: 'matrix', value: matrix } as const];
  return filterFiles([['distorted', distorted, filter]], instead);
}

function convertedRgb(reference: SideFacts, distorted: SideFacts): Finding {
  const who = reference.fromRgb ? 'reference' : 'distorted';
  const { fromRgb, matrix } = { reference, distorted }[who];
  const other = otherRole(who);
  const why = {
    stated: `as ${other} states`,
    pictures: `which fits the colours of untagged ${other}`,
    assumed: `as most encoders do, since neither a label nor the colours of ${other} decide`,
  };
  return finding(
    'matrix',
    'info',
    `${who} is RGB and was converted to YCbCr with the matrix ${matrix}, ${why[fromRgb ?? 'assumed']}.`,
    [reference.matrix ?? null, distorted.matrix ?? null],
  );
}

/**
 * A matrix is untagged, or fixed by a codec whose encoders ignore it. The colours show whether one video was
 * converted; without them, a matrix other than the other video's default is suspicious.
 */
function* silentMatrix(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment, offset = 0 }: PreflightContext,
): Generator<Finding> {
  const limited = [reference, distorted].every(({ colorRange }) => colorRange !== 'full');
  if (alignment && alignment.similarity >= COMPARABLE && alignment.offset === offset && limited) {
    yield* shownMatrix(reference, distorted);
    return;
  }
  const unlabelled = [reference, distorted].find(isAlwaysBt601);
  if (unlabelled) {
    yield* fixedMatrix(unlabelled, reference, distorted);
    return;
  }
  const known = reference.matrix ?? distorted.matrix;
  const [stating, silent] = reference.matrix ? [reference, distorted] : [distorted, reference];
  const usual = usualMatrix(silent) === 'bt601' ? 'smpte170m' : 'bt709';
  const bt601 = SAME.matrix.some((names) => names.includes(known ?? '') && names.includes(usual));
  // Other matrices, such as RGB and BT.2020, come with other differences.
  if (known === usual || bt601 || !['bt709', 'smpte170m', 'bt470bg'].includes(known ?? '')) return;
  const who = stating === distorted ? 'distorted' : 'reference';
  yield finding(
    'matrix',
    'warning',
    `${who} has the matrix ${known}, but ${otherRole(who)} states none, and videos of its size usually have ${usual}; if that is true ` +
      'here, equal sample values mean different colours.',
    [reference.matrix ?? null, distorted.matrix ?? null],
    stating === distorted ? convertPart('matrix', usual, distorted) : undefined,
  );
}

function* shownMatrix(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [averagesOf(reference), averagesOf(distorted)];
  const fit = matrixFitOf(ref.flatMap((one, i) => (dis[i] ? { reference: one, distorted: dis[i] } : [])));
  if (fit === undefined || fit === 'as stored') return;
  const [from, to] = fit === '601 to 709' ? ['601', '709'] : ['709', '601'];
  const stated = ({ matrix }: SideFacts) => matrix ?? 'none';
  const filter = `scale=in_color_matrix=bt${to}:out_color_matrix=bt${from}:flags=${EXACT}`;
  yield finding(
    'matrix',
    'warning',
    `the colours show that distorted was converted from BT.${from} to BT.${to}, regardless of the labels (reference: ` +
      `${stated(reference)}, distorted: ${stated(distorted)}); equal sample values mean different colours.`,
    [reference.matrix ?? null, distorted.matrix ?? null],
    filterFiles([['distorted', distorted, filter]]),
  );
}

function averagesOf({ measured }: SideFacts): Colours[] {
  return (measured?.squares ?? []).flatMap((y, i) => {
    const chroma = measured?.chroma?.[i];
    return chroma ? { y, ...chroma } : [];
  });
}

function stated(value: string | undefined | null, name: string): string {
  return value ? `has the ${name} ${value}` : `does not state its ${name}`;
}
