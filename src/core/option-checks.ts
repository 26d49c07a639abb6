/**
 * @module core/option-checks
 * Checks the values of options by the rows of core/options.
 */
import { isObject, oneOf, requireObject, wrongType } from './arguments.js';
import { usageError } from './errors.js';
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

const ROWS: ReadonlyMap<string, OptionRow> = new Map(Object.entries(OPTIONS));

/** @returns the given options, with defaults for the others @throws {AnyvmafError} `usage`, naming option and value */
export function checkByTable<Completed extends object>(options: object, taker: OptionTaker): Completed {
  const checked: Record<string, unknown> = {};
  for (const [name, row] of ROWS) if (row.default !== undefined) checked[name] = row.default;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const row = ROWS.get(name);
    if (!row?.by.includes(taker))
      throw usageError(`There is no option ${quoted(name)}; there are ${optionsOf(taker).join(', ')}.`);
    CHECKS[row.kind](name, value, row);
    checked[name] = value;
  }
  return checked as Completed;
}

type Check = (name: string, value: unknown, row: OptionRow) => void;
type OwnCheck = (name: string, value: unknown) => void;

const typed =
  (type: 'boolean' | 'function' | 'string', expected: string): OwnCheck =>
  (name, value) => {
    if (typeof value !== type) throw wrongType(name, value, expected);
  };

export const fitting =
  (expected: string, fits: (value: unknown) => boolean): OwnCheck =>
  (name, value) => {
    if (!fits(value)) throw wrongType(name, value, expected);
  };

const countFits: Check = (name, value, { least, most }) => checkCount(name, value, least, most);

export const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

export const CHECKS = {
  checked: () => {},
  samples: () => {},
  flag: typed('boolean', 'true or false'),
  function: typed('function', 'a function'),
  text: typed('string', 'a string'),
  area: typed('string', 'a string'),
  version: typed('string', 'a version such as v1.0'),
  program: fitting(
    'the path of a program',
    (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  ),
  texts: fitting('an array of strings', isTexts),
  hosts: fitting('true, false or a list of hosts', (value) => typeof value === 'boolean' || isTexts(value)),
  signal: fitting('an AbortSignal', (value) => isObject(value) && 'throwIfAborted' in value),
  choice: (name, value, { of = [] }) => void oneOf(name, value as string, of),
  crop: fitting(
    'auto; to keep a part of the picture, use cropReference and cropDistorted',
    (value) => value === 'auto',
  ),
  offset: fitting(
    'a whole number of frames or auto',
    (value) => value === 'auto' || (Number.isInteger(value) && Math.abs(Number(value)) <= MOST_FRAMES),
  ),
  rate: fitting('pictures per second: a number up to 1000, or a fraction such as 24000/1001', isRate),
  count: countFits,
  mask: countFits,
  seconds: checkSeconds,
  size: checkSize,
  range: checkRange,
  names: checkNames,
} satisfies Readonly<Record<OptionKind, Check>>;

/** @throws {AnyvmafError} `usage` */
export function checkCount(name: string, value: unknown, min = 0, max = MOST_FRAMES): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
  throw wrongType(name, value, `a whole number from ${min} to ${max}`);
}

function checkSeconds(name: string, value: unknown): void {
  if (typeof value === 'number' && value > 0 && value <= MOST_SECONDS) return;
  const expected = `a number of seconds above 0 and up to ${MOST_SECONDS}`;
  throw usageError(`is ${showValue(value)}, but it must be ${expected}.`, { about: name as 'maxSeconds' });
}

function checkNames(name: string, value: unknown): void {
  requireObject(name, value);
  for (const [side, text] of Object.entries(value as object)) CHECKS.text(`${name}.${side}`, text);
}

function isRate(rate: unknown): boolean {
  const [, num = '', den = '1'] = /^(\d{1,7}(?:\.\d{1,6})?)(?:\/([1-9]\d{0,6}))?$/.exec(String(rate)) ?? [];
  const value = Number(num) / Number(den);
  return num !== '' && value > 0 && value <= 1000 && !(num.includes('.') && den !== '1');
}

function checkSize(name: string, size: unknown): void {
  if (size === 'ref' || size === 'dis') return;
  if (!isObject(size)) throw wrongType(name, size, 'ref, dis or a width and height');
  for (const side of ['width', 'height']) checkCount(`${name}.${side}`, size[side], 1, MAX_SIDE);
}

function checkRange(name: string, value: unknown): void {
  if (!isObject(value)) throw wrongType(name, value, 'an object with unit, start and end');
  const { unit, start, end } = value as unknown as FrameRange;
  oneOf(`${name}.unit`, unit, ['frames', 'seconds']);
  if (unit === 'frames') {
    checkCount(`${name}.start`, start);
    if (end !== undefined) checkCount(`${name}.end`, end);
  } else if (!(start >= 0 && start < MOST_FRAMES) || (end !== undefined && !(end >= 0))) {
    throw usageError(
      `${name} is ${start} s to ${end === undefined ? 'the end' : `${end} s`}, but its start must be 0 or more and below ${MOST_FRAMES}, ` +
        'and its end after it.',
    );
  }
  if (end !== undefined && end <= start)
    throw usageError(`${name} is ${start} to ${end} ${unit}, but its end must come after its start.`);
}
