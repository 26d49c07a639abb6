/**
 * @module media/preflight/swap
 * Detects that reference and distorted are swapped.
 */
import { dimensions, finding, rounded } from './text.js';
import type { Finding, SideFacts } from './types.js';

/** Evidence for a swap, or against it if the weight is negative. */
interface Clue {
  readonly weight: number;
  readonly text: string;
}

/** Least weight of a likely swap: one strong clue or two weaker ones, and no equal clue against it. */
const LIKELY = 2;

/** Largest distance of frames that show about the same picture. */
const SAME_PLACE = 12;

/** An encode has less than this share of its master's bit rate. */
const MUCH_LESS = 0.75;

/** An encode of the distorted video has less than this sharpness relative to it. */
const AS_SHARP = 0.99;

/** Codecs of masters: lossless, or with little loss. */
const MEZZANINE = new Set([
  ...['rawvideo', 'v210', 'v308', 'v410', 'r210', 'ffv1', 'ffvhuff', 'huffyuv', 'utvideo', 'magicyuv'],
  ...['prores', 'dnxhd', 'cfhd', 'jpeg2000', 'mjpeg', 'vc2', 'dirac', 'hap', 'qtrle', 'png', 'lagarith'],
]);

/** Delivery codecs, and their rough efficiency relative to MPEG-2 at the same quality. */
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

/** A finding if the facts suggest a swap. */
export function* swapFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const clues = [
    sizeClue(reference, distorted),
    codecClue(reference, distorted),
    bitrateClue(reference, distorted),
    sharpnessClue(reference, distorted),
    depthClue(reference, distorted),
  ].filter((clue) => clue !== undefined);
  const weight = clues.reduce((sum, clue) => sum + clue.weight, 0);
  if (weight < LIKELY) return;
  const evidence = clues.filter((clue) => clue.weight > 0).map(({ text }) => text);
  yield finding(
    'swapped',
    'warning',
    `reference and distorted look swapped: ${evidence.join(', ')}; the reference should be the better of the two.`,
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
  const text = `the reference is only ${dimensions(reference)} against ${dimensions(distorted)}`;
  // Width and height must both be smaller: only one means a crop or added bars.
  if (Math.max(across, down) < 0.9) return { weight: 2, text };
  return Math.min(across, down) > 1.1 ? { weight: -2, text: '' } : undefined;
}

function codecClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const [ref, dis] = [isMaster(reference), isMaster(distorted)];
  if (ref === undefined || dis === undefined || ref === dis) return undefined;
  if (ref) return { weight: -3, text: '' };
  // A master's codec may hold a former encode, and a delivery codec may be lossless.
  const rates = (reference.bitrate ?? 0) / (distorted.bitrate || Number.POSITIVE_INFINITY);
  const softer = (sharpnessRatio(reference, distorted) ?? 0) < AS_SHARP;
  return {
    weight: rates < MUCH_LESS && softer ? 2 : 1,
    text: `the reference is ${reference.codec} but the distorted video is ${isLossless(distorted) ? 'lossless ' : ''}${distorted.codec}`,
  };
}

/** `undefined` if the kind of codec is unknown: Y4M and raw video may hold any decoded video. */
function isMaster(side: SideFacts): boolean | undefined {
  const { codec } = side;
  if (codec === undefined) return undefined;
  if (MEZZANINE.has(codec)) return true;
  if (isLossless(side)) return true;
  return EFFICIENCY.has(codec) ? false : undefined;
}

/** True for H.264 of a lossless profile that no other feature requires, as the chroma is not 4:4:4. */
function isLossless({ codec, profile, chroma }: SideFacts): boolean {
  return codec === 'h264' && /4:4:4 Predictive/.test(profile ?? '') && chroma !== '444';
}

function bitrateClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const [ref, dis] = [reference.bitrate ?? 0, distorted.bitrate ?? 0];
  if (ref <= 0 || dis <= 0 || isMaster(reference) || isMaster(distorted)) return undefined;
  const worth = ({ codec }: SideFacts, rate: number) => rate * (EFFICIENCY.get(codec ?? '') ?? 2);
  const part = worth(reference, ref) / worth(distorted, dis);
  const kilobits = (rate: number) => `${Math.round(rate / 1000)} kbit/s`;
  const text = `the reference has only ${kilobits(ref)} against ${kilobits(dis)}`;
  if (part < 0.4) return { weight: 1.5, text };
  if (part < 0.75) return { weight: 1, text };
  return part > 1.35 ? { weight: -1.5, text: '' } : undefined;
}

function sharpnessClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  const ratio = sharpnessRatio(reference, distorted);
  if (ratio === undefined) return undefined;
  const text = `the reference's frames have ${rounded(ratio, 2)} times the sharpness of the distorted video's`;
  if (ratio < 0.75) return { weight: 2, text };
  if (ratio < 0.95) return { weight: 1, text };
  return ratio > 1.05 ? { weight: -1.5, text: '' } : undefined;
}

/**
 * Geometric mean ratio of sharpness, reference over distorted, of frames of equal size measured at the same places;
 * `undefined` without such frames.
 */
function sharpnessRatio(reference: SideFacts, distorted: SideFacts): number | undefined {
  const [ref, dis] = [reference.measured?.sharpness ?? [], distorted.measured?.sharpness ?? []];
  if (ref.length !== dis.length || dimensions(reference) !== dimensions(distorted)) return undefined;
  const [refFrames, disFrames] = [reference.measured?.frames ?? [], distorted.measured?.frames ?? []];
  const logs = ref.flatMap((value, k) => {
    const other = dis[k];
    const apart = Math.abs((refFrames[k] ?? Number.NaN) - (disFrames[k] ?? Number.NaN));
    return value && other && apart <= SAME_PLACE ? [Math.log(value / other)] : [];
  });
  return logs.length > 0 ? Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length) : undefined;
}

function depthClue(reference: SideFacts, distorted: SideFacts): Clue | undefined {
  if (reference.bitDepth === distorted.bitDepth) return undefined;
  const text = `the reference has only ${reference.bitDepth} bits a sample against ${distorted.bitDepth}`;
  return { weight: reference.bitDepth < distorted.bitDepth ? 0.5 : -0.5, text };
}
