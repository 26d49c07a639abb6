/**
 * @module engine/contract/tiny-options
 * Checks the options of tiny models.
 */
import { TINY_DEVICE_CHOICES, TINY_PRECISIONS, TINY_RESIZES } from '../../core/choices.js';
import { type AnyvmafError, usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { TinyModelOptions } from '../../tiny/types.js';

const MAX_TINY_MODELS = 16;
const MAX_THREADS = 1024;
const MAX_CRF = 63;

const isText = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0');
const within = (max: number) => (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
const isFlag = (value: unknown) => typeof value === 'boolean';

/** An option's name, its check, and the allowed values in words. */
type Rule = readonly [name: string, holds: (value: unknown) => boolean, expected: string];

const choice = (name: string, allowed: readonly string[]): Rule => [
  name,
  (value) => allowed.some((one) => one === value),
  `one of ${allowed.join(', ')}`,
];

const RULES: readonly Rule[] = [
  ['model', isText, 'the id or the path of a tiny model'],
  ['files', isFiles, 'an object of files (Blobs) by their names, with the model among them'],
  [
    'name',
    (value) => isText(value) && /^[A-Za-z_][\w.-]{0,127}$/.test(String(value)),
    'a name of letters, digits, dots, dashes and underscores',
  ],
  choice('device', TINY_DEVICE_CHOICES),
  ['threads', within(MAX_THREADS), `a whole number from 0 to ${MAX_THREADS}`],
  ['fp16', isFlag, 'true or false'],
  choice('precision', TINY_PRECISIONS),
  ['verify', isFlag, 'true or false'],
  ['codec', isText, 'the name of an encoder'],
  ['preset', isText, "the name of an encoder's preset"],
  ['crf', within(MAX_CRF), `a whole number from 0 to ${MAX_CRF}`],
  choice('resize', TINY_RESIZES),
];
const KNOWN = RULES.map(([name]) => name);

/** @throws {AnyvmafError} `usage`, naming the option, its value and the allowed values */
export function checkTiny(value: readonly TinyModelOptions[] | undefined): readonly TinyModelOptions[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > MAX_TINY_MODELS) {
    throw wrong('tiny', value, `an array of at most ${MAX_TINY_MODELS} tiny models`);
  }
  value.forEach((options: unknown, i) => {
    const at = `tiny[${i}]`;
    if (typeof options !== 'object' || options === null) throw wrong(at, options, 'an object with a model');
    const given = new Map<string, unknown>(Object.entries(options));
    for (const [name, member] of given) {
      if (member !== undefined && !KNOWN.includes(name))
        throw usageError(`${at} has no option ${quoted(name)}; there are ${KNOWN.join(', ')}.`);
    }
    for (const [name, holds, expected] of RULES) {
      const member = given.get(name);
      if (member === undefined && name !== 'model') continue;
      if (!holds(member)) throw wrong(`${at}.${name}`, member, expected);
    }
  });
  return value;
}

function isFiles(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((file) => file instanceof Blob)
  );
}

function wrong(name: string, value: unknown, expected: string): AnyvmafError {
  const shown =
    typeof value === 'string'
      ? JSON.stringify(value)
      : Array.isArray(value)
        ? `an array of ${value.length}`
        : String(value);
  return usageError(`${name} is ${shown}, but it must be ${expected}.`);
}
