/**
 * @module evaluate/table/columns
 * Columns of a feature table: names, the two spellings of a feature, and keys. As in the reference implementation, a
 * hash assigns keys to train, val (a tenth) or test (a tenth), equally on every machine and in every table.
 */
import { SPLITS, type Split } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import { CANONICAL_FEATURES } from '../../tiny/features.js';

export type { Split } from '../../core/choices.js';

/** Determines the split. */
export const KEY_COLUMN = 'key';
/** Distinguishes the encodes of one key; the reference implementation has no such column. */
export const CLIP_COLUMN = 'clip';
/** The value to predict. */
export const TARGET_COLUMN = 'mos';
const PREFIX = 'integer_';

/** Both spellings of a feature's column, its own first: `adm2`, `integer_adm2`. */
export function spellingsOf(feature: string): readonly [string, string] {
  return feature.startsWith(PREFIX)
    ? [feature, feature.slice(PREFIX.length)]
    : [feature, `${PREFIX}${feature}`];
}

export function columnOf(feature: string, columns: readonly string[]): string | undefined {
  return spellingsOf(feature).find((name) => columns.includes(name));
}

/** The column for writing a feature: the canonical six without their prefix, others unchanged. */
export function columnFor(logName: string): string {
  const [, other] = spellingsOf(logName);
  return CANONICAL_FEATURES.includes(other) ? other : logName;
}

// --- keys ---

/** Prefix of every key before hashing. */
const SALT = 'vmaf-train-splits-v1:';

/** @throws {AnyvmafError} `usage` if the split does not exist */
export function parseSplit(name: string): Split {
  const found = SPLITS.find((split) => split === name);
  if (found !== undefined) return found;
  const near = nearest(name, SPLITS);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw usageError(`The split is ${quoted(name)}, but it must be one of ${SPLITS.join(', ')}${hint}`);
}

/** Maps a key to [0, 1): the first 8 bytes of SHA-256 over salt and key (UTF-8), big-endian, divided by 2^64. */
export async function keyPosition(key: string): Promise<number> {
  const bytes = new TextEncoder().encode(SALT + key);
  const digest = new DataView(await crypto.subtle.digest('SHA-256', bytes));
  // Rounds once, like converting the 64-bit integer to a double.
  return (digest.getUint32(0) * 2 ** 32 + digest.getUint32(4)) / 2 ** 64;
}

/** The split of a key: below 0.1 `test`, below 0.2 `val`, else `train`. */
export async function splitOf(key: string): Promise<Exclude<Split, 'all'>> {
  const position = await keyPosition(key);
  if (position < 0.1) return 'test';
  return position < 0.2 ? 'val' : 'train';
}

/**
 * The text to hash for a key: Python's `str` of it, as in the reference implementation; `undefined` for a missing key.
 * @param floating true for a column of floating-point numbers, whose integers Python writes with `.0`
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

/** Python's `repr` of a float: JavaScript's digits, but an exponent from 1e16 on and below 1e-4. */
function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}
