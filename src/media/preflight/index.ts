/**
 * @module media/preflight/index
 * Checks a pair before scoring: finds problems, with hints that solve them. Here also: findings about the caller's choices, of
 * tracks, of which video is the reference, and of models for another screen or viewing distance.
 */

import type { Hint } from '../../core/errors.js';
import { displayAspect, formatSize, screenSize } from '../../core/size.js';
import { isClearTrack, trackText } from '../decoder.js';
import { mean } from '../evidence/averages.js';
import { isCombed } from '../evidence/fields.js';
import {
  type Finding,
  finding,
  type ModelInUse,
  type PreflightContext,
  rounded,
  type SideFacts,
} from './findings.js';
import { geometryFindings, zoomedPart } from './geometry.js';
import { judge } from './judge.js';
import { sampleFindings } from './samples.js';
import { timingFindings } from './timing.js';

/**
 * Compares two videos by their facts, without reading files.
 * @returns findings as {@link judge} orders them; empty without problems
 */
export function preflight(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext = {},
): Finding[] {
  const framing = context.framing ?? zoomedPart(reference, distorted, context);
  // A wrong framing makes moments and levels meaningless.
  const alignment = framing ? undefined : context.alignment;
  const { alignment: _, ...others } = context;
  const known = { ...others, ...(framing && { framing }), ...(alignment && { alignment }) };
  const found = [
    ...trackFindings(reference, distorted, context),
    ...swapFindings(reference, distorted),
    ...timingFindings(reference, distorted, known),
    ...geometryFindings(reference, distorted, known),
    ...sampleFindings(reference, distorted, known),
    ...modelFindings(reference, distorted, known),
  ];
  return judge(found, { alignment });
}

/** Least correlation that confirms the selected tracks. */
const SAME_PICTURES = 0.95;

function* trackFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment }: PreflightContext,
): Generator<Finding> {
  const alike = alignment !== undefined && alignment.similarity >= SAME_PICTURES;
  for (const [who, side, other] of [
    ['reference', reference, distorted],
    ['distorted', distorted, reference],
  ] as const) {
    const { track } = side;
    if (!track) continue;
    const { index, tracks } = track;
    const others = tracks.flatMap((_, i) => (i === index ? [] : trackText(tracks, i))).join(', ');
    const read = `${who} has ${tracks.length} video tracks; ${trackText(tracks, index)} is used, not ${others}`;
    const option = who === 'reference' ? 'trackReference' : 'trackDistorted';
    const as = (size: Pick<SideFacts, 'width' | 'height'>) => formatSize(size) === formatSize(other);
    const fitting = isClearTrack(track) || as(side) ? -1 : tracks.findIndex(as);
    const clear = isClearTrack(track) || (alike && fitting < 0);
    const named =
      fitting < 0
        ? 'select another one if this is wrong, or the score compares different content'
        : `${trackText(tracks, fitting)} has the size of the other video`;
    const value = `${index} of ${tracks.length}`;
    const hint: Hint =
      fitting < 0 ? { purpose: 'accept', option, value: index } : { purpose: 'fix', option, value: fitting };
    yield finding(
      'tracks',
      clear ? 'info' : 'warning',
      clear ? `${read}.` : `${read}; ${named}.`,
      who === 'reference' ? [value, null] : [null, value],
      clear ? undefined : hint,
    );
  }
}

type Kind = 'size' | 'streams' | 'pictures';

/** Evidence for a swap; against it if the weight is negative. */
interface Clue {
  readonly kind: Kind;
  readonly weight: number;
  readonly text: string;
}

/** Least total weight: two clues, and no equal clue against them. */
const LIKELY = 2;

/** Fewest kinds of clues, since labels may lie and pictures may be sharpened. */
const KINDS = 2;

/** Largest distance between measured frames that are compared. */
const SAME_PLACE = 12;

/** Sharpness ratio below which the reference is softer; encodes by usual codecs reach 1.006 times their source. */
const SOFTER = 0.99;

/** The same for frames that are not exactly the same. */
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
const EFFICIENCY = new Map([
  ['mpeg1video', 0.8],
  ['mpeg2video', 1],
  ['mpeg4', 1.4],
  ['vp8', 1.8],
  ['h264', 2],
  ['vp9', 3],
  ['hevc', 3.2],
  ['av1', 4],
  ['vvc', 5],
]);

function* swapFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const clues = [
    sizeClue(reference, distorted),
    codecClue(reference, distorted),
    bitrateClue(reference, distorted),
    sharpnessClue(reference, distorted),
    depthClue(reference, distorted),
  ].filter((clue) => clue !== undefined);
  const weight = clues.reduce((sum, clue) => sum + clue.weight, 0);
  const found = clues.filter((clue) => clue.weight > 0);
  if (weight < LIKELY || new Set(found.map(({ kind }) => kind)).size < KINDS) return;
  const evidence = found.map(({ text }) => text);
  yield finding(
    'swapped',
    'warning',
    `reference and distorted look swapped: ${evidence.join(', ')}; the reference should have the higher quality.`,
    [reference.name, distorted.name],
    {
      purpose: 'fix',
      option: 'swap',
      value: { reference: distorted.name, distorted: reference.name },
    },
  );
}

function sizeClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const across = reference.width / distorted.width;
  const down = reference.height / distorted.height;
  const text = `reference is only ${formatSize(reference)} but distorted ${formatSize(distorted)}`;
  // Both must be smaller: only one means a crop or added bars.
  if (Math.max(across, down) < 0.9) return { kind: 'size', weight: 1, text };
  return Math.min(across, down) > 1.1 ? { kind: 'size', weight: -2, text: '' } : undefined;
}

function codecClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const [ref, dis] = [gradeOf(reference), gradeOf(distorted)];
  if (ref === undefined || dis === undefined || ref === dis) return undefined;
  // Among masters the codec says little.
  if (ref > dis) return { kind: 'streams', weight: dis === Grade.delivery ? -3 : -1, text: '' };
  return {
    kind: 'streams',
    weight: 1,
    text: `reference is ${reference.codec} but distorted ${nameOf(distorted)}`,
  };
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

/** True for H.264 in a lossless profile that nothing else requires, as chroma is not 4:4:4. */
function isLossless({ codec, profile, chroma }: SideFacts): boolean {
  return codec === 'h264' && /4:4:4 Predictive/.test(profile ?? '') && chroma !== '444';
}

function bitrateClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const [ref, dis] = [reference.bitrate ?? 0, distorted.bitrate ?? 0];
  if (
    ref <= 0 ||
    dis <= 0 ||
    // GIF loses colours at any rate: it may be the source of an encode or made of one.
    [reference, distorted].some(
      (side) => side.codec === 'gif' || (gradeOf(side) ?? Grade.delivery) !== Grade.delivery,
    )
  )
    return undefined;
  const worth = ({ codec }: SideFacts, rate: number) => rate * (EFFICIENCY.get(codec ?? '') ?? 2);
  const part = worth(reference, ref) / worth(distorted, dis);
  const kilobits = (rate: number) => `${Math.round(rate / 1000)} kbit/s`;
  const text = `reference has only ${kilobits(ref)} but distorted ${kilobits(dis)}`;
  if (part < 0.75) return { kind: 'streams', weight: 1, text };
  return part > 1.35 ? { kind: 'streams', weight: -1.5, text: '' } : undefined;
}

function sharpnessClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const measured = sharpnessRatio(reference, distorted);
  if (measured === undefined) return undefined;
  const { ratio, same } = measured;
  const text = `reference has ${rounded(ratio, ratio > 0.97 ? 3 : 2)} times the sharpness of distorted`;
  const softer = !same ? MUCH_SOFTER : gradeOf(distorted) === Grade.lossless ? SOFTER_THAN_LOSSLESS : SOFTER;
  if (ratio < softer) return { kind: 'pictures', weight: 1, text };
  return ratio > 1 / softer ? { kind: 'pictures', weight: -1.5, text: '' } : undefined;
}

/** Geometric mean of sharpness, reference over distorted, at about the same places; `same` if exactly the same. */
function sharpnessRatio(
  reference: SideFacts,
  distorted: SideFacts,
): { readonly ratio: number; readonly same: boolean } | undefined {
  const [ref, dis] = [reference.measured?.sharpness ?? [], distorted.measured?.sharpness ?? []];
  if (ref.length !== dis.length || formatSize(reference) !== formatSize(distorted)) return undefined;
  // Combing looks sharp.
  const { fields: refFields = [] } = reference.measured ?? {};
  const { fields: disFields = [] } = distorted.measured ?? {};
  if (isCombed(refFields, disFields) || isCombed(disFields, refFields)) return undefined;
  const [refFrames, disFrames] = [reference.measured?.frames ?? [], distorted.measured?.frames ?? []];
  const logs: number[] = [];
  let same = true;
  for (const [k, value] of ref.entries()) {
    const other = dis[k];
    const apart = Math.abs((refFrames[k] ?? Number.NaN) - (disFrames[k] ?? Number.NaN));
    if (!value || !other || !(apart <= SAME_PLACE)) continue;
    logs.push(Math.log(value / other));
    same &&= apart === 0;
  }
  if (logs.length === 0) return undefined;
  return { ratio: Math.exp(mean(logs)), same };
}

function depthClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  if (reference.bitDepth === distorted.bitDepth) return undefined;
  const text = `reference has only ${reference.bitDepth} bits per sample but distorted ${distorted.bitDepth}`;
  return { kind: 'streams', weight: reference.bitDepth < distorted.bitDepth ? 0.5 : -0.5, text };
}

/** Long sides in samples: from this on pictures are for 4k screens, below {@link HD_UP_TO} for others. */
const UHD_FROM = 3200;
const HD_UP_TO = 2560;

/** Players enlarge pictures with a shorter short side (in samples). */
const SMALL = 700;

/** Viewing distance in screen heights of models whose names do not state it. */
const HD_DISTANCE = 3;
const UHD_DISTANCE = 1.5;

/** Relative difference of distances to ignore. */
const SAME_DISTANCE = 0.1;

const AUTO: Hint = { purpose: 'fix', option: 'model', value: 'auto' };

function* modelFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  const { models = [{ name: 'vmaf_v0.6.1' }], comparedSize = reference, viewingDistance } = context;
  const known = models.filter(({ name }) => /vmaf_/i.test(name));
  const values = [formatSize(reference), formatSize(distorted)] as const;
  const long = Math.max(comparedSize.width, comparedSize.height);
  const short = Math.min(comparedSize.width, comparedSize.height);
  const compared = formatSize(comparedSize);
  const [uhd, hd] = [known.filter(isUhd), known.filter((model) => !isUhd(model))];
  // Models for both sizes may run.
  if (hd.length > 0 && uhd.length === 0 && long >= UHD_FROM) {
    yield finding(
      'model-size',
      'warning',
      `${names(hd)} is for 1080p, but ${compared} is compared; from three screen heights, its viewing distance, 4K details ` +
        'vanish, so the score is not that of a 4K viewer.',
      values,
      AUTO,
    );
  }
  if (uhd.length > 0 && hd.length === 0 && long < HD_UP_TO) {
    yield finding(
      'model-size',
      'warning',
      `${names(uhd)} is for 2160p seen from ${inWords(uhd)}, but only ${compared} is compared; the score is not that ` +
        'of its viewers.',
      values,
      AUTO,
    );
  }
  if (hd.length > 0 && short < SMALL) {
    yield finding(
      'viewing-distance',
      'info',
      `${names(hd)} scores ${compared} as seen from three times the height of so small a picture; players usually scale it ` +
        'up to the whole screen, where artifacts are more visible than the score says.',
      values,
      { purpose: 'fix', option: 'scaleTo', value: screenSize(displayAspect(reference)) },
    );
  }
  for (const model of known) {
    const made = distanceOf(model);
    const asked = model.viewingDistance ?? viewingDistance;
    if (asked === undefined || Math.abs(asked / made - 1) < SAME_DISTANCE) continue;
    yield finding(
      'viewing-distance',
      'warning',
      `${model.name} is for a viewing distance of ${made} screen heights, but ${rounded(asked, 2)} was requested.`,
      values,
      modelFor(asked),
    );
  }
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

function inWords(models: readonly ModelInUse[]): string {
  return models.every((model) => distanceOf(model) === HD_DISTANCE)
    ? 'three screen heights'
    : 'one and a half screen heights';
}

function names(models: readonly ModelInUse[]): string {
  return models.map(({ name }) => name).join(', ');
}

function modelFor(asked: number): Hint | undefined {
  const name = ['vmaf_4k_v0.6.1', 'vmaf_v0.6.1'].find(
    (version) => Math.abs(asked / distanceOf({ name: version }) - 1) < SAME_DISTANCE,
  );
  return name === undefined ? undefined : { purpose: 'fix', option: 'model', value: `version=${name}` };
}
