/**
 * @module evaluate/rows
 * Selects the rows of a split, with their targets, keys and clips.
 */
import { SPLITS, type Split } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { counted, quoted } from '../core/printable.js';
import { CLIP_COLUMN, KEY_COLUMN, splitOf } from './table/columns.js';
import { listed, type TableColumns } from './table/read.js';

export interface Groups {
  /** In order of first appearance. */
  readonly names: readonly string[];
  readonly of: Uint32Array;
}

/** Number of rows that were not evaluated, by reason. */
export interface LeftOut {
  /** Rows of another split. */
  readonly other_split: number;
  /** Rows without a key, which have no split. */
  readonly no_key: number;
  /** Rows whose target is missing or not finite. */
  readonly no_target: number;
  /** Rows with a feature that is missing or not finite. */
  readonly no_feature: number;
}

/** Rows of one split, the same for every model. */
export interface SplitRows {
  /** `all` if the table could not be split. */
  readonly split: Split;
  /** Row numbers in the table, ascending. */
  readonly rows: Uint32Array;
  readonly target: Float64Array;
  /** `null` if the table has no keys. */
  readonly keys: Groups | null;
  /** By key and clip, or by clip only; `null` if the table has neither. */
  readonly clips: Groups | null;
  readonly leftOut: Omit<LeftOut, 'no_feature'>;
  /** Remarks on the selection, full sentences. */
  readonly notes: readonly string[];
}

/**
 * Selects the rows of a split that have a target.
 * @throws {AnyvmafError} `usage` if the target column does not exist or fewer than two rows are left; `io` if
 * reading fails
 */
export async function selectRows(table: TableColumns, wanted: Split, target: string): Promise<SplitRows> {
  if (!table.has(target)) {
    throw new AnyvmafError(
      'usage',
      `${table.name} has no column ${quoted(target)} to compare predictions with; it has ${listed(table.columns)}. ` +
        'Name another column as the target.',
    );
  }
  const targets = await table.numbers(target);
  const keys = table.has(KEY_COLUMN) ? await table.texts(KEY_COLUMN) : undefined;
  const clips = table.has(CLIP_COLUMN) ? await table.texts(CLIP_COLUMN) : undefined;
  const split = keys ? wanted : 'all';
  const notes: string[] = [];
  if (!keys && wanted !== 'all') {
    notes.push(
      `${table.name} has no column ${quoted(KEY_COLUMN)}, so it cannot be split: all rows were evaluated instead ` +
        `of the split ${wanted}.`,
    );
  }

  const { rows, count, rowsOf, keyCount } = await rowsOfSplit(table.rows, split, targets, keys);
  if (rows.length < 2) throw tooFew(table, split, rows.length, count, rowsOf, keyCount);
  if (count.no_key > 0) {
    notes.push(
      `${counted(count.no_key, 'row')} without a key: ${split === 'all' ? 'treated as one unnamed key' : 'in no split, so left out'}.`,
    );
  }
  if (count.no_target > 0) {
    notes.push(`${counted(count.no_target, 'row')} left out: ${quoted(target)} is missing or not finite.`);
  }
  return {
    split,
    rows,
    target: Float64Array.from(rows, (row) => targets[row]!),
    keys: keys ? groupsOf(rows, (row) => keys[row] ?? '') : null,
    clips: keys || clips ? groupsOf(rows, (row) => clipName(keys?.[row], clips?.[row])) : null,
    leftOut: count,
    notes,
  };
}

/** Rows of a split with a finite target, and counts of the others. */
async function rowsOfSplit(
  total: number,
  split: Split,
  targets: Float64Array,
  keys: readonly (string | undefined)[] | undefined,
) {
  const names = [...new Set(keys)].filter((key) => key !== undefined);
  const splits = new Map(await Promise.all(names.map(async (key) => [key, await splitOf(key)] as const)));
  const count = { other_split: 0, no_key: 0, no_target: 0 };
  const rowsOf: Record<Split, number> = { train: 0, val: 0, test: 0, all: total };
  const rows = new Uint32Array(total);
  let n = 0;
  for (let row = 0; row < total; row++) {
    const key = keys?.[row];
    if (keys && key === undefined) count.no_key++;
    const own = key === undefined ? undefined : splits.get(key);
    if (own) rowsOf[own]++;
    if (split !== 'all' && own !== split) {
      if (own) count.other_split++;
    } else if (Number.isFinite(targets[row])) rows[n++] = row;
    else count.no_target++;
  }
  return { rows: rows.subarray(0, n), count, rowsOf, keyCount: splits.size };
}

/** Name of a clip within its key; without a clip column, each key is one clip. */
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

/** The groups of a subset of rows; drops empty groups. */
export function groupsAmong(groups: Groups, kept: Uint32Array): Groups {
  return groupsOf(kept, (i) => groups.names[groups.of[i]!]!);
}

function tooFew(
  table: TableColumns,
  split: Split,
  n: number,
  count: Omit<LeftOut, 'no_feature'>,
  rowsOf: Readonly<Record<Split, number>>,
  keys: number,
): AnyvmafError {
  const rows = counted(n, 'row');
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
