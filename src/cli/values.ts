/**
 * @module cli/values
 * Reads the values of options: whole numbers as C's strtoul reads them, decimal numbers, and choices from a list.
 */

import { type AnyvmafError, usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { MOST_SECONDS } from '../core/options.js';
import { quoted } from '../core/printable.js';
import { type OptionUse, orList } from './options.js';

const MAX_UNSIGNED = 0xffffffff;

/** The error about a value that an option does not take. */
export function refusedValue({ label, value }: OptionUse, expected: string): AnyvmafError {
  return usageError(`${label} is ${quoted(value)}, but it must be ${expected}`);
}

/**
 * A whole number 0..4294967295 written as for strtoul with base 0: decimal, `0x` hexadecimal or octal with a leading
 * zero. Unlike there (spec A.1), a sign or an overflow is an error and never wraps.
 * @param example a likely value, for the message
 * @param max largest value accepted
 * @throws {AnyvmafError} `usage`
 */
export function unsignedValue(use: OptionUse, example: number, max = MAX_UNSIGNED): number {
  const text = use.value.trimStart().replace(/^\+/, '');
  const number = unsigned(text);
  if (number !== undefined && number <= max) return number;
  // `-help` is what getopt reads as height "elp".
  const hint = use.label.startsWith('-h/') ? ' (for help type --help)' : '';
  if (/^-\d/.test(text)) {
    throw usageError(`${use.label} is ${quoted(use.value)}, but it cannot be negative${hint}`);
  }
  const expected = number === undefined ? `a whole number such as ${example}` : `at most ${max}`;
  throw refusedValue(use, `${expected}${hint}`);
}

/** The value of an unsigned literal of C, `undefined` when the whole text is not one. */
export function unsigned(text: string): number | undefined {
  if (/^0x[0-9a-f]+$/i.test(text)) return Number.parseInt(text, 16);
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8);
  if (/^[1-9][0-9]*$/.test(text)) return Number.parseInt(text, 10);
  return undefined;
}

/**
 * A bit mask as the `vmaf` tool takes it, where `-1` is the usual way to say "all bits".
 * @throws {AnyvmafError} `usage`
 */
export function maskValue(use: OptionUse): number {
  const negative = /^\s*-/.test(use.value);
  const magnitude = unsignedValue(negative ? { ...use, value: use.value.replace('-', '') } : use, 63);
  return (negative ? -magnitude : magnitude) >>> 0;
}

/**
 * A finite decimal number.
 * @throws {AnyvmafError} `usage`
 */
export function numberValue(use: OptionUse): number {
  const number = Number(use.value);
  if (!/^\s*[-+]?[0-9.]/.test(use.value) || /^\s*[-+]?0[xob]/i.test(use.value) || !Number.isFinite(number)) {
    throw refusedValue(use, 'a number such as 93.5');
  }
  return number;
}

/**
 * One of a few words.
 * @throws {AnyvmafError} `usage`
 */
export function choiceValue<Choice extends string>(use: OptionUse, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === use.value);
  if (found !== undefined) return found;
  const near = nearest(use.value, choices);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw refusedValue(use, `${orList(choices)}${hint}`);
}

/**
 * A limit of time in seconds, above 0.
 * @throws {AnyvmafError} `usage`
 */
export function secondsValue(use: OptionUse): number {
  const seconds = numberValue(use);
  if (seconds > 0 && seconds <= MOST_SECONDS) return seconds;
  throw refusedValue(use, `a number of seconds above 0 and up to ${MOST_SECONDS}`);
}
