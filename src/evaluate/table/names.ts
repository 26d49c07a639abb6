/**
 * @module evaluate/table/names
 * Column names of a table of features, and the two spellings of a feature's name.
 */
import { CANONICAL_FEATURES } from '../../tiny/features.js';

/** The key, which decides the split. */
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

/** The column of a feature under either spelling. */
export function columnOf(feature: string, columns: readonly string[]): string | undefined {
  return spellingsOf(feature).find((name) => columns.includes(name));
}

/** The column to write a feature to: the canonical six without their prefix, others unchanged. */
export function columnFor(logName: string): string {
  const [, other] = spellingsOf(logName);
  return CANONICAL_FEATURES.includes(other) ? other : logName;
}
