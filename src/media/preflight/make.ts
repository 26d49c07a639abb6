/**
 * @module media/preflight/make
 * Makes findings and their fixes.
 */
import {
  type FfmpegCommand,
  type Hint,
  hintText,
  messageOf,
  type OptionHint,
  type PrepareHint,
} from '../../core/errors.js';
import { pixelFormatName } from '../delivery.js';
import type {
  Both,
  Finding,
  FindingCode,
  FindingValue,
  Role,
  Severity,
  SideFacts,
  Values,
} from './findings.js';

/** Values of a finding that is about none. */
export const NEITHER: Values = [null, null];

/**
 * Makes a finding of the sentence after it: ``finding('size', 'warning', sizes, hint)`distorted is ...` ``. It may begin
 * in lower case, and line breaks in it become spaces.
 */
export function finding(code: FindingCode, severity: Severity, [reference, distorted]: Values, hint?: Hint) {
  return (parts: readonly string[], ...facts: readonly (FindingValue | undefined)[]): Finding => {
    const raw = parts.map((part, i) => part.replace(i === 0 ? /^\n\s*/ : '', '').replace(/\n\s*/g, ' '));
    // Names of models stay in lower case.
    const message = String.raw({ raw }, ...facts).replace(/^[a-z](?=[a-z]* )/, (a) => a.toUpperCase());
    return { code, severity, message, reference, distorted, ...(hint && { hint, fix: hintText(hint) }) };
  };
}

/** A warning with its fix; an info if an option of the user or another finding accounts for it. */
export function warningUnless(accepted: boolean, code: FindingCode, values: Values, hint?: Hint) {
  return accepted ? finding(code, 'info', values) : finding(code, 'warning', values, hint);
}

/** @param what was not checked */
export function uncheckedFinding(what: string, error: unknown): Finding {
  const sentence = `preflight could not check ${what}: ${messageOf(error)}`;
  return finding('unchecked', 'warning', NEITHER)`${sentence}${/[.!?]$/.test(sentence) ? '' : '.'}`;
}

export const FIND_OFFSET: Hint = { purpose: 'fix', option: 'offset', value: 'auto' };
export const BY_TIME = { purpose: 'accept', option: 'frameRatePolicy', value: 'nearest' } as const;

/** The option that filters a video while ffmpeg decodes it. */
export function vf(side: Role, value: string): OptionHint {
  return { purpose: 'fix', option: side === 'reference' ? 'vfReference' : 'vfDistorted', value };
}

/** A value for one file or both, in the order of the fix. */
export type OfSides<Value> = Partial<Readonly<Record<Role, Value>>>;

function entriesOf<Value>(sides: OfSides<Value>): [Role, Value][] {
  return Object.entries(sides) as [Role, Value][];
}

/** Crops files to areas `WIDTH:HEIGHT` or `WIDTH:HEIGHT:X:Y`. */
export function cropFiles(pair: Both, areas: OfSides<string>): PrepareHint {
  const filters = entriesOf(areas).map(([side, area]) => [side, `crop=${area}`]);
  const instead = entriesOf(areas).map(([side, value]): OptionHint => {
    return { purpose: 'fix', option: side === 'reference' ? 'cropReference' : 'cropDistorted', value };
  });
  return filterFiles(pair, Object.fromEntries(filters), instead);
}

/** @param instead options with the same effect without new files. Default: the same filters in ffmpeg while decoding */
export function filterFiles(
  pair: Both,
  filters: OfSides<string>,
  instead: readonly OptionHint[] = entriesOf(filters).map(([side, filter]) => vf(side, filter)),
): PrepareHint {
  const options = entriesOf(filters).map(([side, filter]) => [side, ['-vf', filter]]);
  return prepareFiles(pair, Object.fromEntries(options), instead);
}

/**
 * @param options of ffmpeg for each file: a filter, or a bit stream filter with `-c copy`
 * @param instead options with the same effect without new files
 */
export function prepareFiles(
  pair: Both,
  options: OfSides<readonly string[]>,
  instead?: readonly OptionHint[],
): PrepareHint {
  const sides = entriesOf(options);
  // Both files may have the same name in different folders.
  const suffix = (side: Role) => (sides.length > 1 ? `-${side}` : '');
  const commands = sides.map(([side, own]) => command(side, pair[side], own, suffix(side)));
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
  // ffmpeg's planar formats have even bit depths above 9.
  const format = pixelFormatName({ bitDepth: bitDepth > 9 ? bitDepth + (bitDepth % 2) : bitDepth, chroma });
  return {
    side,
    input: name,
    inputOptions: raw ? ['-f', 'rawvideo', '-pixel_format', format, '-video_size', `${width}x${height}`] : [],
    options: copies ? options : [...options, '-an', '-c:v', 'ffv1'],
    output: preparedName(name, suffix, copies),
  };
}

/** For example `encode-prepared.mkv`. */
function preparedName(name: string, suffix: string, copies: boolean): string {
  const [, stem = 'video', extension = ''] = /([^/\\?#]*?)(\.\w+)?(?:[?#].*)?$/.exec(name) ?? [];
  const plain = stem.replace(/^-+/, '') || 'video';
  return `${plain}${suffix}-prepared${copies && extension !== '' ? extension : '.mkv'}`;
}
