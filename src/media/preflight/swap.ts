/**
 * @module media/preflight/swap
 * Detects swapped reference and distorted videos.
 */
import { formatSize } from '../../core/size.js';
import { isCombed } from '../evidence/fields.js';
import { mean } from '../evidence/statistics.js';
import { finding, rounded } from './text.js';
import type { Finding, SideFacts } from './types.js';

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

export function* swapFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
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
