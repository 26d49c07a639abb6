/**
 * @module media/preflight/index
 * Checks a pair before scoring and suggests fixes. Here: findings about tracks, about which video is the reference, and
 * about models for another screen or viewing distance.
 */
import type { Hint } from '../../core/errors.js';
import { mean } from '../../core/numbers.js';
import { displayAspect, formatSize, screenSize } from '../../core/size.js';
import { isClearTrack, trackText } from '../decoder.js';
import { isCombed } from '../evidence/fields.js';
import type { Both, Finding, ModelInUse, PairFacts, PreflightContext, SideFacts } from './findings.js';
import { geometryFindings, zoomedPart } from './geometry.js';
import { judge } from './judge.js';
import { afterOwnFilters, finding, ofBoth, otherRole, ROLES, rounded } from './make.js';
import { sampleFindings } from './samples.js';
import { timingFindings } from './timing.js';

/** Compares two videos by their facts, without reading files; returns findings as {@link judge} orders them. */
export function preflight(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext = {},
): Finding[] {
  const pair = { ...context, reference, distorted };
  const framing = context.framing ?? zoomedPart(pair);
  // With a wrong framing, moments and levels are meaningless.
  const alignment = framing ? undefined : context.alignment;
  const known = { ...pair, framing, alignment };
  const found = [
    ...trackFindings(pair),
    ...swapFindings(pair),
    ...timingFindings(known),
    ...geometryFindings(known),
    ...sampleFindings(known),
    ...modelFindings(known),
  ];
  return judge(
    found.map((one) => afterOwnFilters(one, context)),
    { alignment },
  );
}

/** Least correlation that confirms the selected tracks. */
const SAME_PICTURES = 0.95;

function* trackFindings(pair: PairFacts): Generator<Finding> {
  const alike = pair.alignment !== undefined && pair.alignment.similarity >= SAME_PICTURES;
  for (const who of ROLES) {
    const side = pair[who];
    const { track } = side;
    if (!track) continue;
    const { index, tracks } = track;
    const others = tracks.flatMap((_, i) => (i === index ? [] : trackText(tracks, i))).join(', ');
    const read = `${who} has ${tracks.length} video tracks; ${trackText(tracks, index)} is used, not ${others}`;
    const size = formatSize(pair[otherRole(who)]);
    const clear = isClearTrack(track);
    const fitting =
      clear || formatSize(side) === size ? -1 : tracks.findIndex((other) => formatSize(other) === size);
    const value = `${index} of ${tracks.length}`;
    const values = who === 'reference' ? ([value, null] as const) : ([null, value] as const);
    const option = who === 'reference' ? 'trackReference' : 'trackDistorted';
    if (clear || (alike && fitting < 0)) yield finding('tracks', 'info', values)`${read}.`;
    else if (fitting < 0)
      yield finding('tracks', 'warning', values, { purpose: 'accept', option, value: index })`
        ${read}; select another one if this is wrong, or the score compares different content.`;
    else
      yield finding('tracks', 'warning', values, { purpose: 'fix', option, value: fitting })`
        ${read}; ${trackText(tracks, fitting)} has the size of the other video.`;
  }
}

/** Evidence for a swap; a negative weight is evidence against it. */
interface Clue {
  readonly kind: 'size' | 'streams' | 'pictures';
  readonly weight: number;
  /** What a positive weight means. */
  readonly text: string;
}

/** Least total weight: two clues without a clue of equal weight against them. */
const LIKELY = 2;
/** Fewest kinds of clues: labels may be wrong, and pictures may be sharpened. */
const KINDS = 2;
/** Largest distance between compared frames. */
const SAME_PLACE = 12;
/** Sharpness ratio below which the reference is softer; encodes by usual codecs reach 1.006 times their source. */
const SOFTER = 0.99;
/** The same if the frames are not exactly the same. */
const MUCH_SOFTER = 0.9;
/** The same if the distorted video is lossless; an encode would differ. */
const SOFTER_THAN_LOSSLESS = 0.994;
/** Master codecs with little loss. */
const MEZZANINE = new Set(['prores', 'dnxhd', 'cfhd', 'jpeg2000', 'mjpeg', 'vc2', 'dirac', 'hap']);

const LOSSLESS = new Set([
  ...['rawvideo', 'v210', 'v308', 'v410', 'r210', 'ffv1', 'ffvhuff', 'huffyuv', 'utvideo', 'magicyuv'],
  ...['qtrle', 'png', 'apng', 'bmp', 'tiff', 'lagarith', 'zmbv', 'tscc', 'flashsv', 'fraps', 'msrle'],
]);

/** In ascending order of quality. */
const Grade = { delivery: 0, mezzanine: 1, lossless: 2 } as const;
type Grade = (typeof Grade)[keyof typeof Grade];

const STORED: readonly string[] = ['y4m', 'yuv'];

/** Delivery codecs, with their rough efficiency relative to MPEG-2. */
const EFFICIENCY = new Map(
  Object.entries({
    ...{ mpeg1video: 0.8, mpeg2video: 1, mpeg4: 1.4, vp8: 1.8, h264: 2 },
    ...{ vp9: 3, hevc: 3.2, av1: 4, vvc: 5 },
  }),
);

function* swapFindings(pair: Both): Generator<Finding> {
  const clues = [sizeClue, codecClue, bitrateClue, sharpnessClue, depthClue].flatMap((of) => of(pair) ?? []);
  const weight = clues.reduce((sum, clue) => sum + clue.weight, 0);
  const found = clues.filter((clue) => clue.weight > 0);
  if (weight < LIKELY || new Set(found.map(({ kind }) => kind)).size < KINDS) return;
  const evidence = found.map(({ text }) => text).join(', ');
  const [reference, distorted] = ofBoth(pair, ({ name }) => name);
  const value = { reference: distorted, distorted: reference };
  yield finding('swapped', 'warning', [reference, distorted], { purpose: 'fix', option: 'swap', value })`
    reference and distorted look swapped: ${evidence}; the reference should have the higher quality.`;
}

function sizeClue({ reference, distorted }: Both): Clue {
  const across = reference.width / distorted.width;
  const down = reference.height / distorted.height;
  // Both must be smaller: only one means a crop or added bars.
  const weight = Math.max(across, down) < 0.9 ? 1 : Math.min(across, down) > 1.1 ? -2 : 0;
  const text = `reference is only ${formatSize(reference)} but distorted ${formatSize(distorted)}`;
  return { kind: 'size', weight, text };
}

function codecClue(pair: Both): Clue | undefined {
  const [ref, dis] = ofBoth(pair, gradeOf);
  if (ref === undefined || dis === undefined || ref === dis) return undefined;
  // Among masters, the codec says little.
  const weight = ref < dis ? 1 : dis === Grade.delivery ? -3 : -1;
  const text = `reference is ${pair.reference.codec} but distorted ${nameOf(pair.distorted)}`;
  return { kind: 'streams', weight, text };
}

function nameOf(side: SideFacts): string {
  const { codec, container } = side;
  return codec === undefined ? `stored as ${container}` : `${isLossless(side) ? 'lossless ' : ''}${codec}`;
}

/** `undefined` for unknown codecs. Y4M and raw video may hold a decoded encode, which the pictures show. */
function gradeOf(side: SideFacts): Grade | undefined {
  const { codec, container = '' } = side;
  if (codec === undefined) return STORED.includes(container) ? Grade.lossless : undefined;
  if (LOSSLESS.has(codec) || isLossless(side)) return Grade.lossless;
  if (MEZZANINE.has(codec)) return Grade.mezzanine;
  return EFFICIENCY.has(codec) ? Grade.delivery : undefined;
}

/** True for H.264 in a lossless profile that nothing else requires, since chroma is not 4:4:4. */
function isLossless({ codec, profile, chroma }: SideFacts): boolean {
  return codec === 'h264' && /4:4:4 Predictive/.test(profile ?? '') && chroma !== '444';
}

function bitrateClue(pair: Both): Clue | undefined {
  const [ref, dis] = ofBoth(pair, ({ bitrate }) => bitrate ?? 0);
  // GIF loses colours at any rate, so it may be the source of an encode or made from one.
  const isOther = (side: SideFacts) =>
    side.codec === 'gif' || (gradeOf(side) ?? Grade.delivery) !== Grade.delivery;
  if (ref <= 0 || dis <= 0 || ofBoth(pair, isOther).includes(true)) return undefined;
  const [worth, other] = ofBoth(pair, ({ codec = '' }) => EFFICIENCY.get(codec) ?? 2);
  const part = (ref * worth) / (dis * other);
  const kilobits = (rate: number) => `${Math.round(rate / 1000)} kbit/s`;
  const text = `reference has only ${kilobits(ref)} but distorted ${kilobits(dis)}`;
  return { kind: 'streams', weight: part < 0.75 ? 1 : part > 1.35 ? -1.5 : 0, text };
}

function sharpnessClue(pair: Both): Clue | undefined {
  const measured = sharpnessRatio(pair);
  if (measured === undefined) return undefined;
  const { ratio, same } = measured;
  const lossless = gradeOf(pair.distorted) === Grade.lossless;
  const softer = !same ? MUCH_SOFTER : lossless ? SOFTER_THAN_LOSSLESS : SOFTER;
  const text = `reference has ${rounded(ratio, ratio > 0.97 ? 3 : 2)} times the sharpness of distorted`;
  return { kind: 'pictures', weight: ratio < softer ? 1 : ratio > 1 / softer ? -1.5 : 0, text };
}

/** Geometric mean of sharpness, reference over distorted, at about the same places; `same` if at exactly the same. */
function sharpnessRatio(pair: Both): { readonly ratio: number; readonly same: boolean } | undefined {
  const [ref, dis] = [pair.reference.measured, pair.distorted.measured];
  if (!ref || ref.sharpness.length !== dis?.sharpness.length) return undefined;
  if (formatSize(pair.reference) !== formatSize(pair.distorted)) return undefined;
  // Combing looks sharp.
  const [refFields, disFields] = [ref.fields ?? [], dis.fields ?? []];
  if (isCombed(refFields, disFields) || isCombed(disFields, refFields)) return undefined;
  const logs: number[] = [];
  let same = true;
  for (const [k, value] of ref.sharpness.entries()) {
    const other = dis.sharpness[k];
    const apart = Math.abs((ref.frames[k] ?? Number.NaN) - (dis.frames[k] ?? Number.NaN));
    if (!value || !other || !(apart <= SAME_PLACE)) continue;
    logs.push(Math.log(value / other));
    same &&= apart === 0;
  }
  if (logs.length === 0) return undefined;
  return { ratio: Math.exp(mean(logs)), same };
}

function depthClue({ reference, distorted }: Both): Clue {
  const weight = Math.sign(distorted.bitDepth - reference.bitDepth) / 2;
  const text = `reference has only ${reference.bitDepth} bits per sample but distorted ${distorted.bitDepth}`;
  return { kind: 'streams', weight, text };
}

/** Long sides in samples: pictures from this size are for 4K screens, those below {@link HD_UP_TO} for others. */
const UHD_FROM = 3200;
const HD_UP_TO = 2560;
/** Players enlarge pictures with a shorter short side, in samples. */
const SMALL = 700;
/** Viewing distance in screen heights of models whose names do not state it. */
const HD_DISTANCE = 3;
const UHD_DISTANCE = 1.5;
/** Models that differ in screen and viewing distance only; `auto` would replace them by other models. */
const FAMILIES: readonly (readonly string[])[] = [
  ['vmaf_v0.6.1neg', 'vmaf_4k_v0.6.1neg'],
  ['vmaf_float_v0.6.1', 'vmaf_float_4k_v0.6.1'],
  ...['', 'hfr_'].map((rate) =>
    ['3d0h', '5d0h', '1d5h_2160', '3d0h_2160'].map((end) => `vmaf_v1.0.16_${rate}${end}`),
  ),
];

function* modelFindings(pair: PairFacts): Generator<Finding> {
  const { reference, comparedSize = reference } = pair;
  const known = (pair.models ?? [{ name: 'vmaf_v0.6.1' }]).filter(({ name }) => /vmaf_/i.test(name));
  const values = ofBoth(pair, formatSize);
  const long = Math.max(comparedSize.width, comparedSize.height);
  const short = Math.min(comparedSize.width, comparedSize.height);
  const compared = formatSize(comparedSize);
  const [uhd, hd] = [known.filter(isUhd), known.filter((model) => !isUhd(model))];
  // Models for both sizes may run together.
  if (hd.length > 0 && uhd.length === 0 && long >= UHD_FROM)
    yield finding('model-size', 'warning', values, forScreen(hd, isUhd))`
      ${names(hd)} is for 1080p, but ${compared} is compared; from ${heights(hd)} screen heights, its viewing distance, 4K
      details vanish, so the score is not that of a 4K viewer.`;
  if (uhd.length > 0 && hd.length === 0 && long < HD_UP_TO)
    yield finding(
      'model-size',
      'warning',
      values,
      forScreen(uhd, (model) => !isUhd(model)),
    )`
      ${names(uhd)} is for 2160p seen from ${heights(uhd)} screen heights, but only ${compared} is compared; the score is not that of its
      viewers.`;
  const whole = { purpose: 'fix', option: 'scaleTo', value: screenSize(displayAspect(reference)) } as const;
  if (hd.length > 0 && short < SMALL)
    yield finding('viewing-distance', 'info', values, whole)`
      ${names(hd)} scores ${compared} as seen from ${heights(hd)} times the height of so small a picture; players usually scale it up
      to the whole screen, where artifacts are more visible than the score says.`;
}

/** The model for the other screen, of the same kind as the only one in use. */
function forScreen([model, ...others]: readonly ModelInUse[], fits: (model: ModelInUse) => boolean): Hint {
  const family = others.length > 0 ? undefined : FAMILIES.find((names) => names.includes(model?.name ?? ''));
  const name = family?.find((other) => fits({ name: other }));
  return { purpose: 'fix', option: 'model', value: name === undefined ? 'auto' : `version=${name}` };
}

function isUhd({ name }: ModelInUse): boolean {
  return /4k|_2160/i.test(name);
}

/** Viewing distance in screen heights; VMAF v1 states it in the name: `1d5h` is 1.5. */
function distanceOf(model: ModelInUse): number {
  const [, whole, tenths] = /_(\d)d(\d)h/.exec(model.name) ?? [];
  if (whole !== undefined) return Number(`${whole}.${tenths}`);
  return isUhd(model) ? UHD_DISTANCE : HD_DISTANCE;
}

const IN_WORDS = new Map([
  [UHD_DISTANCE, 'one and a half'],
  [HD_DISTANCE, 'three'],
  [5, 'five'],
]);

/** Viewing distances in screen heights. */
function heights(models: readonly ModelInUse[]): string {
  const distances = models.map(distanceOf).map((distance) => IN_WORDS.get(distance) ?? String(distance));
  return [...new Set(distances)].join(' or ');
}

function names(models: readonly ModelInUse[]): string {
  return models.map(({ name }) => name).join(', ');
}
