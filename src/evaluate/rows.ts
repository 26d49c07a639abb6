/**
 * @module evaluate/rows
 * Selects from a table what a model is evaluated on: the rows of a split, with their targets, keys and clips, and the
 * model's inputs for them. Features have the order of the sidecar and are scaled unless the graph scales them. The codec
 * block comes from the caller or from columns, other inputs from columns of their names.
 */
import { SPLITS, type Split } from '../core/choices.js';
import { AnyvmafError, modelError, usageError } from '../core/errors.js';
import { counted, quoted } from '../core/printable.js';
import {
  bindColumns,
  CANONICAL_FEATURES,
  type CodecFacts,
  codecBlock,
  scalerBefore,
} from '../tiny/features.js';
import type { TinyModel, TinyPort } from '../tiny/types.js';
import { CLIP_COLUMN, columnOf, KEY_COLUMN, spellingsOf, splitOf } from './table/columns.js';
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
 * @throws {AnyvmafError} `usage` if the target column does not exist or fewer than two rows remain; `io` if reading
 * fails
 */
export async function selectRows(table: TableColumns, wanted: Split, target: string): Promise<SplitRows> {
  if (!table.has(target))
    throw usageError(
      `${table.name} has no column ${quoted(target)} to compare predictions with; it has ${listed(table.columns)}. ` +
        'Name another column as the target.',
    );
  const targets = await table.numbers(target);
  const keys = table.has(KEY_COLUMN) ? await table.texts(KEY_COLUMN) : undefined;
  const clips = table.has(CLIP_COLUMN) ? await table.texts(CLIP_COLUMN) : undefined;
  const split = keys ? wanted : 'all';
  const notes: string[] = [];
  if (!keys && wanted !== 'all')
    notes.push(
      `${table.name} has no column ${quoted(KEY_COLUMN)}, so it cannot be split: all rows were evaluated instead ` +
        `of the split ${wanted}.`,
    );

  const { rows, count, rowsOf, keyCount } = await rowsOfSplit(table.rows, split, targets, keys);
  if (rows.length < 2) throw tooFew(table, split, rows.length, count, rowsOf, keyCount);
  if (count.no_key > 0)
    notes.push(
      `${counted(count.no_key, 'row')} without a key: ${split === 'all' ? 'treated as one unnamed key' : 'in no split, so left out'}.`,
    );
  if (count.no_target > 0)
    notes.push(`${counted(count.no_target, 'row')} left out: ${quoted(target)} is missing or not finite.`);
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

/** The groups of a subset of rows, without empty groups. */
export function groupsAmong(groups: Groups, rows: Uint32Array): Groups {
  return groupsOf(rows, (i) => groups.names[groups.of[i]!]!);
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
  return usageError(
    `The split ${quoted(split)} of ${table.name} has ${rows}${without}, but at least 2 are needed to compute ` +
      `correlations.${found}${split === 'all' ? '' : ' Choose another split, or all.'}`,
  );
}

export interface InputOptions extends CodecFacts {
  /** The input for the features. Default: the sidecar's, else `features`, else the first. */
  readonly inputName?: string;
}

export interface BoundInput {
  readonly name: string;
  /** Numbers per row. */
  readonly width: number;
  /** Row-major, one row per selected row. */
  readonly data: Float32Array;
}

export interface BoundInputs {
  readonly inputs: readonly BoundInput[];
  readonly columns: readonly string[];
  /** Rows per run: 1, or `null` for any number. */
  readonly batch: 1 | null;
  /** 1 for each row whose inputs are all finite, else 0. */
  readonly usable: Uint8Array;
}

/**
 * @param rows row numbers in the table
 * @throws {AnyvmafError} `model` if the model does not read features; `usage` if a column or the encoder is missing;
 * `io` if reading fails
 */
export async function bindInputs(
  model: TinyModel,
  table: TableColumns,
  rows: Uint32Array,
  options: InputOptions,
): Promise<BoundInputs> {
  const port = featurePort(model, options.inputName);
  const columns = featureColumns(model, port, table);
  const usable = new Uint8Array(rows.length).fill(1);
  const scaler = scalerBefore(model.sidecar);
  const names = columns.map(({ column }) => column);
  const scaled = (value: number, i: number) => (scaler ? (value - scaler.mean[i]!) / scaler.std[i]! : value);
  const features = await fromColumns(table, rows, names, usable, scaled);
  const inputs: BoundInput[] = [{ name: port.name, width: columns.length, data: features }];
  const others = model.graph.inputs.filter((input) => input !== port);
  const codec = codecPort(model, others);
  for (const other of others)
    inputs.push(
      other === codec
        ? await codecInput(model, other, table, rows, options)
        : await columnInput(model, other, table, rows, usable),
    );
  const batches = model.graph.inputs.map(({ dims }) => dims?.[0] ?? null);
  const fixed = batches.find((size) => size !== null && size !== 1);
  if (fixed !== undefined)
    throw refused(
      model,
      `it takes ${fixed} rows at a time, but only one or any number is supported; export it again`,
    );
  const batch = batches.includes(1) ? 1 : null;
  return { inputs, columns: columns.map(({ feature }) => feature), batch, usable };
}

function featurePort(model: TinyModel, wanted: string | undefined): TinyPort {
  const { inputs } = model.graph;
  const byName = (name: string | undefined) => inputs.find((input) => input.name === name);
  const found = byName(wanted);
  if (wanted !== undefined && !found)
    throw usageError(
      `${titled(model)} has no input ${quoted(wanted)}; it has ${listed(inputs.map(({ name }) => name))}.`,
    );
  const port = found ?? byName(model.sidecar.inputName) ?? byName('features') ?? inputs[0];
  if (!port) throw refused(model, 'it has no input');
  if (port.dims && port.dims.length !== 2)
    throw refused(
      model,
      `its input ${quoted(port.name)} has the shape ${shape(port.dims)}, so it reads pictures, but a table has features; score ` +
        'videos with it instead',
    );
  return port;
}

function featureColumns(model: TinyModel, port: TinyPort, table: TableColumns) {
  const width = port.dims?.[1] ?? undefined;
  const stated = model.sidecar.features;
  const found = (stated ?? CANONICAL_FEATURES).map((feature, i) => {
    const reported = reportName(model, feature, i);
    const columns = [...(reported === undefined ? [] : [reported]), feature];
    const column = columns.map((name) => columnOf(name, table.columns)).find((name) => name);
    return { feature, other: reported ?? spellingsOf(feature)[1], column };
  });
  const lacking = found.filter(({ column }) => column === undefined);
  const missing = lacking.map(({ feature }) => feature);
  const present = found.flatMap(({ feature, column }) => (column === undefined ? [] : [{ feature, column }]));
  if (present.length === 0 || (stated && missing.length > 0))
    throw usageError(
      `${table.name} has ${present.length === 0 ? 'none' : 'not all'} of the features of ${quoted(model.source)}: ` +
        `${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} missing, under that name or as ` +
        `${quoted(lacking[0]?.other ?? '')}; it has ${listed(table.columns)}.`,
    );
  if (width !== undefined && width !== present.length) {
    const without = missing.length > 0 ? `, without ${listed(missing)}` : '';
    throw new AnyvmafError(
      stated ? 'model' : 'usage',
      `${titled(model)} takes ${width} features, but ` +
        (stated
          ? `its sidecar names ${present.length}.`
          : `${table.name} has ${present.length} of the six that a model without a sidecar may read${without}; write a ` +
            'sidecar with feature_order beside the model.'),
    );
  }
  return present;
}

/** The name of a feature in reports; `undefined` if no extractor provides it (the table may still have it). */
function reportName({ sidecar, source }: TinyModel, feature: string, i: number): string | undefined {
  const options = sidecar.featureOptions?.[i];
  try {
    const stated = { features: [feature], ...(options && { featureOptions: [options] }) };
    return bindColumns(stated, 1, source)[0]?.logName;
  } catch {
    return undefined;
  }
}

/** The input of the codec block: the sidecar's, else the only other input if the sidecar has a vocabulary. */
function codecPort(model: TinyModel, others: readonly TinyPort[]): TinyPort | undefined {
  const { codec, codecInput } = model.sidecar;
  if (!codec) return undefined;
  return others.find(({ name }) => name === codecInput) ?? (others.length === 1 ? others[0] : undefined);
}

const CODEC_COLUMNS = ['codec', 'encoder'];

async function codecInput(
  model: TinyModel,
  port: TinyPort,
  table: TableColumns,
  rows: Uint32Array,
  options: InputOptions,
): Promise<BoundInput> {
  const { codec: spec } = model.sidecar;
  if (!spec) throw refused(model, 'its sidecar has no encoder_vocab');
  const width = port.dims?.[1] ?? spec.vocabulary.length + 2;
  const codecColumn = CODEC_COLUMNS.find((name) => table.has(name));
  const textOf = async (option: string | undefined, column: string | undefined) =>
    option !== undefined || column === undefined || !table.has(column) ? undefined : table.texts(column);
  const codecs = await textOf(options.codec, codecColumn);
  const presets = await textOf(options.preset, 'preset');
  const rates = options.crf === undefined && table.has('crf') ? await table.numbers('crf') : undefined;
  if ((options.codec === undefined && !codecs) || (options.crf === undefined && !rates))
    throw usageError(
      `${titled(model)} needs the encoder settings of each row: the columns "codec" and "crf" ("preset" is optional) of ` +
        `${table.name}, or one codec and crf for all rows; it has ${listed(table.columns)}.`,
    );
  const data = new Float32Array(rows.length * width);
  const known = new Map<string, Float32Array>();
  for (const [i, row] of rows.entries()) {
    const codec = options.codec ?? codecs?.[row];
    const preset = options.preset ?? presets?.[row];
    const rate = options.crf ?? rates?.[row];
    const crf = rate !== undefined && Number.isNaN(rate) ? undefined : rate;
    const name = JSON.stringify([codec, preset, crf]);
    let block = known.get(name);
    if (!block) {
      block = codecBlock(spec, width, { codec, preset, crf }, model.source);
      known.set(name, block);
    }
    data.set(block, i * width);
  }
  return { name: port.name, width, data };
}

/** Any other input: the column of its name, or columns NAME_0, NAME_1, ... */
async function columnInput(
  model: TinyModel,
  port: TinyPort,
  table: TableColumns,
  rows: Uint32Array,
  usable: Uint8Array,
): Promise<BoundInput> {
  const { name, dims } = port;
  const width = dims?.length === 1 ? 1 : (dims?.[1] ?? 1);
  if (dims && dims.length > 2) throw refused(model, `its input ${quoted(name)} has the shape ${shape(dims)}`);
  const columns = Array.from({ length: width }, (_, i) => (width === 1 ? name : `${name}_${i}`));
  const missing = columns.filter((column) => !table.has(column));
  if (missing.length > 0)
    throw usageError(
      `${titled(model)} has another input ${quoted(name)} of ${width} numbers, but ${table.name} lacks the columns ` +
        `${listed(missing)}; for a codec block, the sidecar must have encoder_vocab.`,
    );
  return { name, width, data: await fromColumns(table, rows, columns, usable, (value) => value) };
}

/** Reads columns into a row-major matrix; clears `usable` for rows with values that are not finite. */
async function fromColumns(
  table: TableColumns,
  rows: Uint32Array,
  columns: readonly string[],
  usable: Uint8Array,
  scaled: (value: number, column: number) => number,
): Promise<Float32Array> {
  const width = columns.length;
  const data = new Float32Array(rows.length * width);
  for (const [at, column] of columns.entries()) {
    const values = await table.numbers(column);
    for (let i = 0; i < rows.length; i++) {
      const value = values[rows[i]!]!;
      if (!Number.isFinite(value)) usable[i] = 0;
      data[i * width + at] = scaled(value, at);
    }
  }
  return data;
}

function shape(dims: readonly (number | null)[]): string {
  return `[${dims.map((size) => size ?? 'N').join(', ')}]`;
}

function titled({ source }: TinyModel): string {
  return `The tiny model ${quoted(source)}`;
}

function refused(model: TinyModel, reason: string): AnyvmafError {
  return modelError(`${titled(model)} cannot be evaluated on a table: ${reason}.`);
}
