/**
 * @module evaluate/split
 * Which part of a data set a row belongs to, by its key alone: the reference's train, val and test (a tenth, a tenth,
 * the rest), the same on every machine and for every table in which the key occurs.
 */
import { SPLITS, type Split } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { sha256 } from './sha256.js';

export type { Split } from '../core/choices.js';

/** What the reference hashes before every key. */
const SALT = 'vmaf-train-splits-v1:';

/**
 * Checks the name of a split.
 * @throws {AnyvmafError} `usage`
 */
export function parseSplit(name: string): Split {
  const found = SPLITS.find((split) => split === name);
  if (found !== undefined) return found;
  const near = nearest(name, SPLITS);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new AnyvmafError(
    'usage',
    `The split is ${quoted(name)}, but it must be one of ${SPLITS.join(', ')}${hint}`,
  );
}

/**
 * Where a key falls in [0, 1): the first eight bytes of SHA-256 over salt and key in UTF-8, as a big-endian number
 * divided by 2^64.
 */
export function keyPosition(key: string): number {
  const digest = new DataView(sha256(new TextEncoder().encode(SALT + key)).buffer);
  // One rounding, of the sum, as in the conversion of the whole number to a double.
  return (digest.getUint32(0) * 2 ** 32 + digest.getUint32(4)) / 2 ** 64;
}

/** The split of a key: below 0.1 `test`, below 0.2 `val`, else `train`. */
export function splitOf(key: string): Exclude<Split, 'all'> {
  const position = keyPosition(key);
  if (position < 0.1) return 'test';
  return position < 0.2 ? 'val' : 'train';
}

/**
 * A key of a table as the text that is hashed: what Python's `str` makes of it, which is what the reference hashes.
 * @param floating the column is one of floating-point numbers, whose whole values Python writes with `.0`
 * @returns `undefined` for a missing key
 */
export function keyText(key: unknown, floating = false): string | undefined {
  switch (typeof key) {
    case 'string':
      return key;
    case 'bigint':
      return key.toString();
    case 'boolean':
      return key ? 'True' : 'False';
    case 'number':
      if (Number.isNaN(key)) return undefined;
      return floating ? pythonFloat(key) : String(key);
    default:
      return undefined;
  }
}

/** Python's `repr` of a float: the same digits as JavaScript's, but exponents from 1e16 on and below 1e-4. */
function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}
