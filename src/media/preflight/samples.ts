/**
 * @module media/preflight/samples
 * Findings about what sample values mean: depth, range, levels and colour description.
 */
import { usualMatrix } from '../../core/colour.js';
import type { PrepareHint } from '../../core/errors.js';
import { mean } from '../../core/numbers.js';
import { EXACT, scaleMatrix } from '../delivery.js';
import { type Colours, matrixFitOf } from '../evidence/averages.js';
import type { AlignResult } from '../pairing/types.js';
import {
  chromaFindings,
  dolbyVisionFinding,
  dynamicRangeFinding,
  hdrFindings,
  isHdr,
  isProfile5,
} from './colour.js';
import type { Both, Finding, PairFacts, SideFacts, Values } from './findings.js';
import { filterFiles, finding, ofBoth, otherRole, prepareFiles, rounded, vf } from './make.js';

/** Equivalent names: BT.601 and BT.2020 reuse definitions of other standards. */
const SAME: Readonly<Record<'primaries' | 'transfer' | 'matrix', readonly (readonly string[])[]>> = {
  primaries: [['smpte170m', 'smpte240m']],
  transfer: [['bt709', 'smpte170m', 'bt2020-10', 'bt2020-12']],
  matrix: [['smpte170m', 'bt470bg']],
};

/** Codecs that are BT.601 by definition. Decoders report that without a label, but encoders do not convert samples. */
const ALWAYS_BT601: readonly (string | undefined)[] = ['vp8', 'mjpeg'];
const DESCRIPTION = { primaries: 'primaries', transfer: 'transfer function', matrix: 'matrix' } as const;
const SETPARAMS = { primaries: 'color_primaries', transfer: 'color_trc', matrix: 'colorspace' } as const;
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

export function* sampleFindings(pair: PairFacts): Generator<Finding> {
  const { reference, distorted } = pair;
  yield* depthFindings(pair);
  // Synthesised grain looks like the source's but differs in every sample.
  if (distorted.filmGrain === 'added')
    yield finding('film-grain', 'info', [null, true], { purpose: 'fix', option: 'grain', value: 'off' })`
      distorted is AV1 with film grain synthesis: its encoder removed the grain, and the decoder adds similar grain at
      other positions, which VMAF counts as a loss; viewers see less difference than the score says, and it cannot
      compare encodes with and without synthesis.`;
  const rgb = isRgb(reference);
  // RGB cannot be compared with luma and chroma.
  if (rgb !== isRgb(distorted)) return;
  yield* rangeFindings(pair);
  yield* levelFindings(pair);
  if (!rgb) yield* chromaFindings(pair);
  if (isProfile5(reference) || isProfile5(distorted)) {
    yield dolbyVisionFinding(pair);
    return;
  }
  const mixed = mixesRanges(pair);
  if (mixed) yield dynamicRangeFinding(pair);
  yield* colourFindings(pair, mixed);
  if (!mixed) yield* hdrFindings(pair);
}

function isRgb({ matrix, chroma }: SideFacts): boolean {
  return matrix === 'gbr' && chroma === '444';
}

function* depthFindings(pair: PairFacts): Generator<Finding> {
  const { light } = pair;
  const [ref, dis] = ofBoth(pair, ({ bitDepth }) => bitDepth);
  if (ref !== dis)
    yield finding('bit-depth', 'info', [ref, dis])`
      distorted has ${dis} bits per sample and reference ${ref}; the lower is ${light ? 'converted' : 'shifted up'} to
      ${Math.max(ref, dis)} bits without loss.`;
  const [was, is] = ofBoth(pair, ({ chroma }) => [...chroma].join(':'));
  const effect = light
    ? 'the coarser one is interpolated.'
    : 'VMAF measures luma only, but chroma features compare repeated samples.';
  if (was !== is)
    yield finding('chroma-format', 'info', [was, is])`
      distorted has ${is} chroma and reference ${was}; ${effect}`;
}

type Range = 'limited' | 'full';

/** ffmpeg's options that label a range. */
const COLOR_RANGE = { limited: ['-color_range', 'tv'], full: ['-color_range', 'pc'] } as const;

/** How the ranges of the pictures relate: equal contrast, or that of a range conversion. */
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

/** True if pictures have nearly one brightness (titles on white), so that noise dominates the measured contrast. */
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

function* rangeFindings(pair: PairFacts): Generator<Finding> {
  const { reference, alignment, light } = pair;
  const values = ofBoth(pair, ({ colorRange }) => colorRange ?? null);
  // Players assume limited range by default.
  const [to, from] = ofBoth(pair, ({ colorRange }) => colorRange ?? 'limited');
  if (from === to) return;
  const [ref, dis] = values.map((range) => range ?? 'unspecified (limited assumed)');
  const differ = `distorted has colour range ${dis} but reference ${ref}, and sample values are compared as stored`;
  const converted = from === 'full' ? 'expanded' : 'reduced';
  const spread = alignment && !isEven(reference) ? spreadOf(alignment) : undefined;
  if (spread === 'alike') {
    // The score is right, and a missing label is not a wrong one.
    const severity = values.includes(null) ? 'info' : 'warning';
    yield finding('color-range', severity, values, relabelRange(pair, to))`
      ${differ}; both have the same contrast, so only a label differs: the score is right, but players show the distorted
      video with ${from === 'full' ? 'less' : 'more'} contrast.`;
    return;
  }
  if (light) return;
  const how =
    spread === converted
      ? `the samples were converted too: ${EFFECT[converted]}`
      : spread === undefined
        ? `if the samples were converted too, ${EFFECT[converted]}; if only a label differs, the score is right`
        : 'contrast differs, which the score weighs differently than viewers do';
  const fix = convertRange(pair, from, to, true);
  yield finding('color-range', 'warning', values, fix)`${differ}; ${how}.`;
}

/** @param stated true if labels state both ranges, so that an option can convert */
function convertRange(pair: Both, from: Range, to: Range, stated: boolean): PrepareHint {
  const filter = `scale=in_range=${from}:out_range=${to}`;
  const option = stated
    ? ({ purpose: 'fix', option: 'colorRange', value: to } as const)
    : vf('distorted', filter);
  return prepareFiles(pair, { distorted: ['-vf', filter, ...COLOR_RANGE[to]] }, [option]);
}

/** Relabels the range, without decoding if the stream stores the label. */
function relabelRange(pair: Both, to: Range): PrepareHint {
  const { codec } = pair.distorted;
  const distorted =
    codec === 'h264' || codec === 'hevc'
      ? ['-c', 'copy', '-bsf:v', `${codec}_metadata=video_full_range_flag=${to === 'full' ? 1 : 0}`]
      : ['-vf', `scale=in_range=full:out_range=full,setparams=range=${to}`, ...COLOR_RANGE[to]];
  return prepareFiles(pair, { distorted });
}

function* levelFindings(pair: PairFacts): Generator<Finding> {
  const { reference, distorted, alignment } = pair;
  if (!alignment || alignment.similarity < COMPARABLE || isEven(reference)) return;
  const { gain: contrast, bias } = alignment.levels;
  const shift = shiftOf(alignment.levels);
  const values = [`0..255`, `${rounded(bias, 0)}..${rounded(255 * contrast + bias, 0)}`] as const;
  const change = `distorted has ${rounded(contrast, 2)} times the contrast of reference,`;
  const spread = spreadOf(alignment);
  if (spread === 'expanded' || spread === 'reduced') {
    const [to, from] = ofBoth(pair, ({ colorRange }) => colorRange ?? 'limited');
    // The finding about labels covers this.
    if (from !== to && (from === 'full') === (spread === 'expanded')) return;
    const [was, is] = spread === 'expanded' ? (['limited', 'full'] as const) : (['full', 'limited'] as const);
    yield finding('levels', 'warning', values, convertRange(pair, is, was, false))`
      ${change} as if ${was} range was ${spread} to ${is}, which no label states; ${EFFECT[spread]}.`;
    return;
  }
  if (!isRegraded(alignment)) return;
  if (!sameName('transfer', reference.transfer, distorted.transfer) && someHdr(pair)) return;
  yield finding('levels', 'warning', values)`
    ${change} and mid-grey is ${rounded(Math.abs(shift), 1)} levels ${shift < 0 ? 'darker' : 'brighter'}; it was graded as
    well as encoded, and the score includes both.`;
}

function isRegraded({ levels }: AlignResult): boolean {
  return Math.abs(levels.gain - 1) > CONTRAST_CHANGE || Math.abs(shiftOf(levels)) > BRIGHTNESS_SHIFT;
}

function someHdr(pair: Both): boolean {
  return ofBoth(pair, isHdr).includes(true);
}

type Label = string | null | undefined;

/** True for equal or equivalent names. */
function sameName(part: keyof typeof SAME, a: Label, b: Label): boolean {
  return a === b || SAME[part].some((names) => names.includes(a ?? '') && names.includes(b ?? ''));
}

/** True if dynamic ranges differ by label, or by levels if one is untagged, as encoders may drop the label. */
function mixesRanges(pair: PairFacts): boolean {
  const { reference, distorted, alignment } = pair;
  if (!someHdr(pair)) return false;
  if (sameName('transfer', reference.transfer, distorted.transfer)) return false;
  if (reference.transfer !== undefined && distorted.transfer !== undefined) return true;
  if (!alignment || alignment.similarity < COMPARABLE || isEven(reference)) return false;
  return isRegraded(alignment);
}

/** @param mixed true if another finding covers the transfer functions */
function* colourFindings(pair: PairFacts, mixed: boolean): Generator<Finding> {
  const { reference, distorted, light } = pair;
  const rgb = reference.fromRgb || distorted.fromRgb;
  if (rgb) yield convertedRgb(pair);
  else if (!mixed && !(reference.matrix && distorted.matrix)) yield* silentMatrix(pair);
  for (const part of ['primaries', ...(mixed ? [] : (['transfer'] as const)), 'matrix'] as const) {
    const values = ofBoth(pair, (side) => side[part] ?? null);
    const [ref, dis] = values;
    if (sameName(part, ref, dis)) continue;
    if (part === 'matrix' && (rgb || ref === null || dis === null)) continue;
    if (part !== 'primaries' && light) continue;
    if (part === 'matrix' && [reference, distorted].some(isAlwaysBt601)) {
      yield* silentMatrix(pair);
      continue;
    }
    // A missing label is harmless, except next to HDR.
    const silent = ref === null || dis === null;
    if (silent && !(part === 'transfer' && someHdr(pair))) continue;
    const [was, is] = values.map((value) =>
      value ? `has the ${DESCRIPTION[part]} ${value}` : `does not state its ${DESCRIPTION[part]}`,
    );
    yield finding(part, 'warning', values, ref === null ? undefined : convertPart(pair, part, ref))`
      distorted ${is} but reference ${was}; sample values are compared as stored, but mean different light.`;
  }
}

function isAlwaysBt601({ codec }: SideFacts): boolean {
  return ALWAYS_BT601.includes(codec);
}

/** A label of one video contradicts the fixed matrix of the other video's codec. */
function* fixedMatrix({ codec }: SideFacts, pair: Both): Generator<Finding> {
  const labels = ofBoth(pair, (side) => (isAlwaysBt601(side) ? null : (side.matrix ?? null)));
  const label = labels.find((matrix) => matrix !== null);
  if (!label || SAME.matrix.some((names) => names.includes(label))) return;
  yield finding('matrix', 'info', labels)`
    one video is labelled ${label} and ${codec} has no label: it is BT.601 by definition, but encoders store samples
    unconverted; sample values are compared as stored.`;
}

function convertPart(pair: Both, part: keyof typeof ZSCALE, to: string): PrepareHint {
  const { reference, distorted } = pair;
  // Equal levels beside a label: only the label is missing.
  if (!distorted[part]) return filterFiles(pair, { distorted: `setparams=${SETPARAMS[part]}=${to}` });
  const matrix = part === 'matrix' ? scaleMatrix(to) : undefined;
  const instead = matrix && [{ purpose: 'fix', option: 'matrix', value: matrix } as const];
  // zscale converts light only if it knows everything about it. Untagged counts as equal.
  const known = (['transfer', 'matrix'] as const).flatMap((other) => {
    if (part === 'matrix' || other === part || distorted[other]) return [];
    const assumed =
      reference[other] ?? (other === 'matrix' && usualMatrix(distorted) === 'bt601' ? 'smpte170m' : 'bt709');
    return `${ZSCALE[other]}in=${assumed}:${ZSCALE[other]}=${assumed}:`;
  });
  return filterFiles(pair, { distorted: `zscale=${known.join('')}${ZSCALE[part]}=${to}` }, instead);
}

function matrices(pair: Both): Values {
  return ofBoth(pair, ({ matrix }) => matrix ?? null);
}

function convertedRgb(pair: Both): Finding {
  const who = pair.reference.fromRgb ? 'reference' : 'distorted';
  const { fromRgb = 'assumed', matrix } = pair[who];
  const other = otherRole(who);
  const why = {
    stated: `as ${other} states`,
    pictures: `which fits the colours of untagged ${other}`,
    assumed: `as most encoders do, since neither a label nor the colours of ${other} decide`,
  };
  return finding('matrix', 'info', matrices(pair))`
    ${who} is RGB and was converted to YCbCr with the matrix ${matrix}, ${why[fromRgb]}.`;
}

/**
 * A matrix is untagged, or fixed by a codec whose encoders ignore it. The colours show whether one video was
 * converted; if they cannot, a matrix other than the other video's default is suspicious.
 */
function* silentMatrix(pair: PairFacts): Generator<Finding> {
  const { reference, distorted, alignment, offset = 0 } = pair;
  const limited = [reference, distorted].every(({ colorRange }) => colorRange !== 'full');
  if (alignment && alignment.similarity >= COMPARABLE && alignment.offset === offset && limited) {
    yield* shownMatrix(pair);
    return;
  }
  const unlabelled = [reference, distorted].find(isAlwaysBt601);
  if (unlabelled) {
    yield* fixedMatrix(unlabelled, pair);
    return;
  }
  const known = reference.matrix ?? distorted.matrix;
  const who = reference.matrix ? 'reference' : 'distorted';
  const usual = usualMatrix(pair[otherRole(who)]) === 'bt601' ? 'smpte170m' : 'bt709';
  // Other matrices, such as RGB and BT.2020, come with other differences.
  if (sameName('matrix', known, usual) || !['bt709', 'smpte170m', 'bt470bg'].includes(known ?? '')) return;
  const fix = who === 'distorted' ? convertPart(pair, 'matrix', usual) : undefined;
  yield finding('matrix', 'warning', matrices(pair), fix)`
    ${who} has the matrix ${known}, but ${otherRole(who)} states none, and videos of its size usually have ${usual}; if that
    is true here, equal sample values mean different colours.`;
}

function* shownMatrix(pair: Both): Generator<Finding> {
  const [ref, dis] = ofBoth(pair, averagesOf);
  const fit = matrixFitOf(ref.flatMap((reference, i) => (dis[i] ? { reference, distorted: dis[i] } : [])));
  if (fit === undefined || fit === 'as stored') return;
  const [from, to] = fit === '601 to 709' ? ['601', '709'] : ['709', '601'];
  const [was, is] = ofBoth(pair, ({ matrix }) => matrix ?? 'none');
  const distorted = `scale=in_color_matrix=bt${to}:out_color_matrix=bt${from}:flags=${EXACT}`;
  yield finding('matrix', 'warning', matrices(pair), filterFiles(pair, { distorted }))`
    the colours show that distorted was converted from BT.${from} to BT.${to}, regardless of the labels (reference: ${was},
    distorted: ${is}); equal sample values mean different colours.`;
}

function averagesOf({ measured }: SideFacts): Colours[] {
  return (measured?.squares ?? []).flatMap((y, i) => {
    const chroma = measured?.chroma?.[i];
    return chroma ? { y, ...chroma } : [];
  });
}
