/**
 * @module evaluate/table/names
 * The columns of a table of features: what the reference calls them, and the other spelling of a feature's name.
 */
import { CANONICAL_FEATURES } from '../../tiny/features.js';

/** The column of the key, which decides the split. */
export const KEY_COLUMN = 'key';

/** Ours: what tells the encodes of one key apart. */
export const CLIP_COLUMN = 'clip';

/** The column of the figure to predict. */
export const TARGET_COLUMN = 'mos';

const PREFIX = 'integer_';

/** The spellings under which a feature may stand in a table, its own first: `adm2`, `integer_adm2`. */
export function spellingsOf(feature: string): readonly [string, string] {
  return feature.startsWith(PREFIX)
    ? [feature, feature.slice(PREFIX.length)]
    : [feature, `${PREFIX}${feature}`];
}

/** The column that holds a feature, under either spelling. */
export function columnOf(feature: string, columns: readonly string[]): string | undefined {
  return spellingsOf(feature).find((name) => columns.includes(name));
}

/** The column in which a feature of a report is written: the canonical six without their prefix, others as they are. */
export function columnFor(logName: string): string {
  const [, other] = spellingsOf(logName);
  return CANONICAL_FEATURES.includes(other) ? other : logName;
}
