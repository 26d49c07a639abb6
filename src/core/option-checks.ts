/**
 * @module core/option-checks
 * Checks the values of options by the rows of core/options.
 */
import { isReadable, oneOf, wrongType } from './arguments.js';
import { type AnyvmafError, usageError } from './errors.js';
import { type FrameRange, MAX_SIDE, MOST_FRAMES } from './frame.js';
import {
  MOST_SECONDS,
  OPTIONS,
  type OptionKind,
  type OptionRow,
  type OptionTaker,
  optionsOf,
} from './options.js';
import { quoted, showValue } from './printable.js';
import { fitting, flag, object, record, string, whole } from './shapes.js';

const ROWS: ReadonlyMap<string, OptionRow> = new Map(Object.entries(OPTIONS));

/** @returns the given options, with defaults for the others @throws {AnyvmafError} `usage`, naming option and value */
export function checkByTable<Completed extends object>(options: object, taker: OptionTaker): Completed {
  const checked: Record<string, unknown> = {};
  for (const [name, row] of ROWS) {
    if (name in options && !Object.hasOwn(options, name))
      throw usageError('is inherited by the options, which must be a plain object.', {
        about: name as 'models',
      });
    if (row.default !== undefined) checked[name] = row.default;
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const row = ROWS.get(name);
    if (!row?.by.includes(taker)) throw noOption(name, optionsOf(taker));
    checkOf(row)(name, value);
    checked[name] = value;
  }
  return checked as Completed;
}

/**
 * Checks options by a table of their own.
 * @param at their path; empty for the options of a call
 * @throws {AnyvmafError} `usage`, naming option and value
 */
export function checkMembers(options: object, checks: Readonly<Record<string, Check>>, at = ''): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(checks, name)) throw noOption(name, Object.keys(checks), at);
    checks[name]?.(at === '' ? name : `${at}.${name}`, value);
  }
}

function noOption(name: string, known: readonly string[], at = ''): AnyvmafError {
  const has = at === '' ? 'There is' : `${at} has`;
  return usageError(`${has} no option ${quoted(name)}; there are ${known.join(', ')}.`);
}

type Check = (name: string, value: unknown) => void;

function checkOf({ kind, least = 0, most = MOST_FRAMES, of = [] }: OptionRow): Check {
  if (kind === 'choice') return (name, value) => oneOf(name, value as string, of);
  return kind === 'count' || kind === 'mask' ? whole(least, most) : CHECKS[kind];
}

export const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

export const CHECKS = {
  checked: () => {},
  samples: () => {},
  flag,
  function: fitting('a function', (value) => typeof value === 'function'),
  text: string,
  area: string,
  version: fitting('a version such as v1.0', (value) => typeof value === 'string'),
  program: fitting(
    'the path of a program',
    (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  ),
  texts: fitting('an array of strings', isTexts),
  hosts: fitting('true, false or a list of hosts', (value) => typeof value === 'boolean' || isTexts(value)),
  signal: fitting('an AbortSignal', (value) => isReadable(value) && 'throwIfAborted' in value),
  crop: fitting(
    'auto; to keep a part of the picture, use cropReference and cropDistorted',
    (value) => value === 'auto',
  ),
  offset: fitting(
    'a whole number of frames or auto',
    (value) => value === 'auto' || (Number.isInteger(value) && Math.abs(Number(value)) <= MOST_FRAMES),
  ),
  rate: fitting('pictures per second: a number up to 1000, or a fraction such as 24000/1001', isRate),
  seconds: checkSeconds,
  size: checkSize,
  range: checkRange,
  names: record(string),
} satisfies Readonly<Record<Exclude<OptionKind, 'choice' | 'count' | 'mask'>, Check>>;

function checkSeconds(name: string, value: unknown): void {
  if (typeof value === 'number' && value > 0 && value <= MOST_SECONDS) return;
  const expected = `a number of seconds above 0 and up to ${MOST_SECONDS}`;
  throw usageError(`is ${showValue(value)}, but it must be ${expected}.`, { about: name as 'maxSeconds' });
}

function isRate(rate: unknown): boolean {
  const [, num = '', den = '1'] = /^(\d{1,7}(?:\.\d{1,6})?)(?:\/([1-9]\d{0,6}))?$/.exec(String(rate)) ?? [];
  const value = Number(num) / Number(den);
  return num !== '' && value > 0 && value <= 1000 && !(num.includes('.') && den !== '1');
}

function checkSize(name: string, size: unknown): void {
  const side = whole(1, MAX_SIDE);
  const sides = object({ width: side, height: side }, 'ref, dis or a width and height');
  if (size !== 'ref' && size !== 'dis') sides(name, size);
}

function checkRange(name: string, value: unknown): void {
  if (!isReadable(value)) throw wrongType(name, value, 'an object with unit, start and end');
  const { unit, start, end } = value as unknown as FrameRange;
  oneOf(`${name}.unit`, unit, ['frames', 'seconds']);
  if (unit === 'frames') {
    const frame = whole(0, MOST_FRAMES);
    frame(`${name}.start`, start);
    if (end !== undefined) frame(`${name}.end`, end);
  } else if (!(start >= 0 && start < MOST_FRAMES) || (end !== undefined && !(end >= 0))) {
    throw usageError(
      `${name} is ${start} s to ${end === undefined ? 'the end' : `${end} s`}, but its start must be 0 or more and below ${MOST_FRAMES}, ` +
        'and its end after it.',
    );
  }
  if (end !== undefined && end <= start)
    throw usageError(`${name} is ${start} to ${end} ${unit}, but its end must come after its start.`);
}
