/**
 * @module media/preflight/text
 * Builds findings and their texts, hints and numbers.
 */
import { hintText } from '../../core/hint.js';
import { type Fraction, quotientOf } from '../../core/rational.js';
import { pixelFormatName } from '../delivery.js';
import { rateOf } from '../evidence/rate.js';
import type {
  FfmpegCommand,
  Finding,
  FindingCode,
  FindingValue,
  Hint,
  OptionHint,
  PrepareHint,
  Severity,
  SideFacts,
} from './types.js';

export type Values = readonly [reference: FindingValue, distorted: FindingValue];

/** The message becomes a sentence. */
export function finding(
  code: FindingCode,
  severity: Severity,
  message: string,
  [reference, distorted]: Values,
  hint?: Hint,
): Finding {
  // Names of models stay lower case.
  const sentence = message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
  return {
    code,
    severity,
    message: sentence,
    reference,
    distorted,
    ...(hint && { hint, fix: hintText(hint) }),
  };
}

/** The option that filters a video while ffmpeg decodes it. */
export function vf(side: Role, value: string): OptionHint {
  const option = side === 'reference' ? 'vfReference' : 'vfDistorted';
  return { purpose: 'fix', option, value };
}

export type Role = FfmpegCommand['side'];

export function otherRole(role: Role): Role {
  return role === 'reference' ? 'distorted' : 'reference';
}

/** @param instead options that do the same without new files. Default: the same filters while ffmpeg decodes */
export function filterFiles(
  sides: readonly (readonly [side: Role, facts: SideFacts, filter: string])[],
  instead: readonly OptionHint[] = sides.map(([side, , filter]) => vf(side, filter)),
): PrepareHint {
  return prepareFiles(
    sides.map(([side, facts, filter]) => [side, facts, ['-vf', filter]] as const),
    instead,
  );
}

/**
 * @param sides each with ffmpeg options: a filter, or a bit stream filter with `-c copy`
 * @param instead options that do the same without new files
 */
export function prepareFiles(
  sides: readonly (readonly [side: Role, facts: SideFacts, options: readonly string[]])[],
  instead?: readonly OptionHint[],
): PrepareHint {
  // Both may have the same name in different folders.
  const suffix = (side: Role) => (sides.length > 1 ? `-${side}` : '');
  const commands = sides.map(([side, facts, options]) => command(side, facts, options, suffix(side)));
  return { purpose: 'prepare', commands, ...(instead && { instead }) };
}

function command(
  side: Role,
  { name, container, width, height, bitDepth, chroma }: SideFacts,
  options: readonly string[],
  suffix: string,
): FfmpegCommand {
  const copies = options.includes('copy');
  const raw = container === 'yuv';
  const format = pixelFormatName({ bitDepth: containerDepth(bitDepth), chroma });
  return {
    side,
    input: name,
    inputOptions: raw ? ['-f', 'rawvideo', '-pixel_format', format, '-video_size', `${width}x${height}`] : [],
    options: copies ? options : [...options, '-an', '-c:v', 'ffv1'],
    output: preparedName(name, suffix, copies),
  };
}

/** Rounds up to a bit depth of ffmpeg's planar formats. */
function containerDepth(bitDepth: number): number {
  return bitDepth === 11 ? 12 : bitDepth === 13 ? 14 : bitDepth === 15 ? 16 : bitDepth;
}

/** For example `encode-prepared.mkv`. */
function preparedName(name: string, suffix: string, copies: boolean): string {
  const [, stem = 'video', extension = ''] = /([^/\\?#]*?)(\.\w+)?(?:[?#].*)?$/.exec(name) ?? [];
  const plain = stem.replace(/^-+/, '') || 'video';
  return `${plain}${suffix}-prepared${copies && extension !== '' ? extension : '.mkv'}`;
}

/** @param what was not checked */
export function uncheckedFinding(what: string, error: unknown): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const sentence = `preflight could not check ${what}: ${reason}`;
  return finding('unchecked', 'warning', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, [null, null]);
}

/** At most `digits` decimals. */
export function rounded(value: number, digits = 3): string {
  return String(Number(value.toFixed(digits)));
}

/** The nearest fraction whose denominator stays below 1000. */
export function nearbyFraction(value: number): Fraction {
  let best: Fraction = { num: Math.round(value), den: 1 };
  const error = ({ num, den }: Fraction) => Math.abs(num / den - value);
  for (let den = 2; den < 1000; den++) {
    const next = { num: Math.round(value * den), den };
    if (error(next) < error(best) - 1e-9) best = next;
    if (error(best) < 1e-6 * value) break;
  }
  return best;
}

/** Counts times if possible, since headers are less reliable. */
export function framesOf(side: SideFacts): number | null {
  return side.timestamps?.length ?? side.frameCount;
}

/** Frames per second, if known. */
export function framesPerSecond(side: SideFacts): number | undefined {
  return quotientOf(rateOf(side));
}

/** Seconds, if known. */
export function durationOf(side: SideFacts): number | undefined {
  const frames = framesOf(side);
  const rate = framesPerSecond(side);
  if (side.timestamps && side.timestamps.length > 1 && rate) {
    const [first = Number.NaN] = side.timestamps;
    return (side.timestamps.at(-1) ?? Number.NaN) - first + 1 / rate;
  }
  return side.duration ?? (frames !== null && rate ? frames / rate : undefined);
}

/** True if the `k`-th measured frames are at most a frame apart: by time if both have times, else by number. */
export function showSameMoment(reference: SideFacts, distorted: SideFacts, k: number): boolean {
  const [ref, dis] = [reference.measured?.frames[k], distorted.measured?.frames[k]];
  if (ref === undefined || dis === undefined) return false;
  const [refRate, disRate] = [framesPerSecond(reference), framesPerSecond(distorted)];
  if (!reference.timestamps || !distorted.timestamps || !refRate || !disRate) return Math.abs(ref - dis) <= 1;
  return Math.abs(ref / refRate - dis / disRate) * Math.min(refRate, disRate) <= 1;
}
