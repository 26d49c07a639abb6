/**
 * @module evaluate/rows
 * The rows of a table that a model is evaluated on: those of a split, with their targets, keys and clips.
 */
import { SPLITS, type Split } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { splitOf } from './split.js';
import { CLIP_COLUMN, KEY_COLUMN } from './table/names.js';
import { listed, type TableColumns } from './table/read.js';

/** Rows that belong together. */
export interface Groups {
  /** Their names, in order of first appearance. */
  readonly names: readonly string[];
  /** For each row the number of its group. */
  readonly of: Uint32Array;
}

/** Rows that were not evaluated, by the reason. */
export interface LeftOut {
  /** They are of another split. */
  readonly other_split: number;
  /** They have no key, so that no split is theirs. */
  readonly no_key: number;
  /** Their target is missing or not finite. */
  readonly no_target: number;
  /** A feature of theirs is missing or not finite. */
  readonly no_feature: number;
}

/** Rows of one split, the same for every model. */
export interface SplitRows {
  /** The split that they are: `all` where the table could not be split. */
  readonly split: Split;
  /** Numbers of the rows in the table, ascending. */
  readonly rows: Uint32Array;
  readonly target: Float64Array;
  /** `null` where the table has no keys. */
  readonly keys: Groups | null;
  /** By key and clip, or by clip alone; `null` where the table has neither. */
  readonly clips: Groups | null;
  readonly leftOut: Omit<LeftOut, 'no_feature'>;
  /** What is to be said about it: full sentences. */
  readonly notes: readonly string[];
}

/**
 * Selects the rows of a split that have a target.
 * @param target name of the column to predict
 * @throws {AnyvmafError} `usage` when there is no such column, or fewer than two rows are left; `io` when reading fails
 */
export async function selectRows(table: TableColumns, wanted: Split, target: string): Promise<SplitRows> {
  if (!table.has(target)) {
    throw new AnyvmafError(
      'usage',
      `${table.name} has no column ${quoted(target)} to compare predictions with; it has ${listed(table.columns)}. ` +
        'Name another one as the target.',
    );
  }
  const targets = await table.numbers(target);
  const keys = table.has(KEY_COLUMN) ? await table.texts(KEY_COLUMN) : undefined;
  const clips = table.has(CLIP_COLUMN) ? await table.texts(CLIP_COLUMN) : undefined;
  const split = keys ? wanted : 'all';
  const notes: string[] = [];
  if (!keys && wanted !== 'all') {
    notes.push(
      `${table.name} has no column ${quoted(KEY_COLUMN)}, so it cannot be split: all of its rows were evaluated, not those ` +
        `of the split ${wanted}.`,
    );
  }

  const splits = new Map<string, Split>();
  const count = { other_split: 0, no_key: 0, no_target: 0 };
  const rowsOf: Record<Split, number> = { train: 0, val: 0, test: 0, all: table.rows };
  const kept = new Uint32Array(table.rows);
  let n = 0;
  for (let row = 0; row < table.rows; row++) {
    const key = keys?.[row];
    if (keys && key === undefined) count.no_key++;
    if (key !== undefined) {
      const own = splits.get(key) ?? splitOf(key);
      splits.set(key, own);
      rowsOf[own]++;
    }
    if (split !== 'all') {
      if (key === undefined) continue;
      if (splits.get(key) !== split) {
        count.other_split++;
        continue;
      }
    }
    if (!Number.isFinite(targets[row])) {
      count.no_target++;
      continue;
    }
    kept[n++] = row;
  }
  if (n < 2) throw tooFew(table, split, n, count, rowsOf, splits.size);
  if (count.no_key > 0) {
    notes.push(
      `${rowCount(count.no_key)} without a key: ${split === 'all' ? 'taken as one unnamed key' : 'of no split, and left out'}.`,
    );
  }
  if (count.no_target > 0) {
    notes.push(`${rowCount(count.no_target)} left out: ${quoted(target)} is missing or not finite there.`);
  }
  const rows = kept.subarray(0, n);
  return {
    split,
    rows,
    target: Float64Array.from(rows, (row) => targets[row] ?? 0),
    keys: keys ? groupsOf(rows, (row) => keys[row] ?? '') : null,
    clips: keys || clips ? groupsOf(rows, (row) => clipName(keys?.[row], clips?.[row])) : null,
    leftOut: count,
    notes,
  };
}

/** `1 row`, `2 rows`. */
export function rowCount(n: number): string {
  return `${n} ${n === 1 ? 'row' : 'rows'}`;
}

/** A clip of a key; without a column of clips, a key is one. */
function clipName(key: string | undefined, clip: string | undefined): string {
  if (clip === undefined) return key ?? '';
  return key === undefined ? clip : `${key}/${clip}`;
}

function groupsOf(rows: Uint32Array, nameOf: (row: number) => string): Groups {
  const numbers = new Map<string, number>();
  const of = new Uint32Array(rows.length);
  for (const [i, row] of rows.entries()) {
    const name = nameOf(row);
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    of[i] = number;
  }
  return { names: [...numbers.keys()], of };
}

/** The same groups for some of the rows only; groups without rows fall away. */
export function groupsAmong(groups: Groups, kept: Uint32Array): Groups {
  return groupsOf(kept, (i) => groups.names[groups.of[i] ?? 0] ?? '');
}

function tooFew(
  table: TableColumns,
  split: Split,
  n: number,
  count: Omit<LeftOut, 'no_feature'>,
  rowsOf: Readonly<Record<Split, number>>,
  keys: number,
): AnyvmafError {
  const rows = rowCount(n);
  const without = count.no_target > 0 ? ` with a target (${count.no_target} more have none)` : '';
  const others = SPLITS.filter((name) => name !== 'all' && rowsOf[name] > 0).map(
    (name) => `${rowsOf[name]} of ${name}`,
  );
  const found =
    split === 'all' || others.length === 0
      ? ''
      : ` By its ${keys === 1 ? 'key' : `${keys} keys`}, the rows are ${others.join(', ')}.`;
  return new AnyvmafError(
    'usage',
    `The split ${quoted(split)} of ${table.name} has ${rows}${without}, but at least 2 are needed to compute ` +
      `correlations.${found}${split === 'all' ? '' : ' Choose another split, or all.'}`,
  );
}
