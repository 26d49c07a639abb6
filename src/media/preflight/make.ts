/**
 * @module media/preflight/make
 * Makes findings and their fixes, and derives the facts that findings name.
 */
import {
  type FfmpegCommand,
  type Hint,
  hintText,
  messageOf,
  type OptionHint,
  type PrepareHint,
} from '../../core/errors.js';
import { type Fraction, quotientOf } from '../../core/numbers.js';
import type { FilterOptions } from '../../core/options.js';
import { pixelFormatName } from '../delivery.js';
import { rateOf } from '../evidence/rate.js';
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

/** A finding whose fix keeps the user's crop and filters, since pictures were measured after them. */
export function afterOwnFilters(found: Finding, given: FilterOptions): Finding {
  if (!found.hint) return found;
  const hint = keptIn(found.hint, given);
  return { ...found, hint, fix: hintText(hint) };
}

function keptIn(hint: Hint, given: FilterOptions): Hint {
  if (hint.purpose !== 'prepare') return keptInOption(hint, given);
  const { commands, instead } = hint;
  return {
    ...hint,
    commands: commands.map((own) => keptInCommand(own, given)),
    ...(instead && { instead: instead.map((option) => keptInOption(option, given)) }),
  };
}

function keptInOption(hint: OptionHint, given: FilterOptions): OptionHint {
  switch (hint.option) {
    case 'vfReference':
    case 'vfDistorted':
      return { ...hint, value: joined(given[hint.option], hint.value) };
    case 'cropReference':
    case 'cropDistorted': {
      const side = hint.option === 'cropReference' ? 'reference' : 'distorted';
      const [crop, filters] = ownOf(side, given);
      if (crop === undefined && filters === undefined) return hint;
      const area = filters === undefined && areaIn(crop, hint.value);
      return area ? { ...hint, value: area } : vf(side, joined(filters, `crop=${hint.value}`));
    }
    default:
      return hint;
  }
}

function keptInCommand(command: FfmpegCommand, given: FilterOptions): FfmpegCommand {
  const { side, options } = command;
  const [crop, filters] = ownOf(side, given);
  const before = joined(crop && `crop=${crop}`, filters);
  const at = options.indexOf('-vf') + 1;
  return before === '' || at === 0
    ? command
    : { ...command, options: options.map((word, i) => (i === at ? joined(before, word) : word)) };
}

function ownOf(side: Role, { cropReference, cropDistorted, vfReference, vfDistorted }: FilterOptions) {
  return side === 'reference' ? [cropReference, vfReference] : [cropDistorted, vfDistorted];
}

function joined(...chains: readonly (string | undefined)[]): string {
  return chains.filter((chain) => chain !== undefined).join(',');
}

/** An area of a cropped picture as an area of the whole; `undefined` if one has no position. */
function areaIn(crop: string | undefined, area: string): string | undefined {
  const [, , left, top] = (crop ?? '').split(':').map(Number);
  const [width, height, x, y] = area.split(':').map(Number);
  if (left === undefined || top === undefined || x === undefined || y === undefined) return undefined;
  return [width, height, left + x, top + y].join(':');
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
  { name, container, width, height, bitDepth, chroma, colorRange }: SideFacts,
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
    options: copies
      ? options
      : [...(colorRange === 'full' ? keptFull(options) : options), '-an', '-c:v', 'ffv1'],
    output: preparedName(name, suffix, copies),
  };
}

/** By itself, ffmpeg makes 8-bit full range limited for FFV1. */
function keptFull(options: readonly string[]): readonly string[] {
  const at = options.indexOf('-vf') + 1;
  const chain = options[at] ?? '';
  // Filters that convert or state the range.
  if (at === 0 || /range=|\br=/.test(chain)) return options;
  return [...options.with(at, `${chain},scale=in_range=full:out_range=full`), '-color_range', 'pc'];
}

/** For example `encode-prepared.mkv`. */
function preparedName(name: string, suffix: string, copies: boolean): string {
  const [, stem = 'video', extension = ''] = /([^/\\?#]*?)(\.\w+)?(?:[?#].*)?$/.exec(name) ?? [];
  const plain = stem.replace(/^-+/, '') || 'video';
  return `${plain}${suffix}-prepared${copies && extension !== '' ? extension : '.mkv'}`;
}

export const ROLES = ['reference', 'distorted'] as const satisfies readonly Role[];

export function otherRole(role: Role): Role {
  return role === 'reference' ? 'distorted' : 'reference';
}

/** A value of each video, the reference's first. */
export function ofBoth<Value>({ reference, distorted }: Both, of: (side: SideFacts) => Value) {
  return [of(reference), of(distorted)] as const;
}

/** `both videos are`, `distorted is`, or the same with `has`. */
export function subject(roles: readonly Role[], verb: 'is' | 'has'): string {
  return roles.length === 2 ? `both videos ${verb === 'is' ? 'are' : 'have'}` : `${roles[0]} ${verb}`;
}

/** At most `digits` decimals. */
export function rounded(value: number, digits = 3): string {
  return String(Number(value.toFixed(digits)));
}

/** The nearest fraction with a denominator below 1000. */
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

/** From times if possible, since headers are less reliable. */
export function framesOf(side: SideFacts): number | null {
  return side.timestamps?.length ?? side.frameCount;
}

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
export function showSameMoment({ reference, distorted }: Both, k: number): boolean {
  const [ref, dis] = [reference.measured?.frames[k], distorted.measured?.frames[k]];
  if (ref === undefined || dis === undefined) return false;
  const [refRate, disRate] = [framesPerSecond(reference), framesPerSecond(distorted)];
  if (!reference.timestamps || !distorted.timestamps || !refRate || !disRate) return Math.abs(ref - dis) <= 1;
  return Math.abs(ref / refRate - dis / disRate) * Math.min(refRate, disRate) <= 1;
}
