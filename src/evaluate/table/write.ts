/**
 * @module evaluate/table/write
 * A table of features as a Parquet file: one row per frame, flat columns of text, whole numbers and doubles, Snappy. It
 * comes in pieces, a row group each, so that memory does not grow with the table.
 */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { AnyvmafError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { version } from '../../core/version.js';
import { CANONICAL_FEATURES } from '../../tiny/features.js';
import { CLIP_COLUMN, columnFor, KEY_COLUMN, TARGET_COLUMN } from './names.js';

/** Rows of a row group. */
const GROUP_ROWS = 16_384;

/** Columns that say which row it is; no feature may have their names. */
const IDENTITY = [KEY_COLUMN, CLIP_COLUMN, 'frame', TARGET_COLUMN, 'teacher'];

/** What a table has beside its features. */
export interface DatasetShape {
  /** Log names of the features, as in frames of a report; the canonical six come first whatever their order here. */
  readonly features: readonly string[];
  /** There is a column `mos`. */
  readonly target: boolean;
  /** There is a column `teacher`. */
  readonly teacher: boolean;
  /** Facts for whoever opens the file: key-value metadata. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** One frame. */
export interface DatasetRow {
  /** Of the source, which decides the split. */
  readonly key: string;
  /** Which of the key's encodes. */
  readonly clip: string;
  /** 0-based. */
  readonly frame: number;
  readonly mos?: number | undefined;
  readonly teacher?: number | undefined;
  /** By log name. A feature without a value is null in the table. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Makes the file. */
export class DatasetWriter {
  /** Names of the columns in the order of the file. */
  readonly columns: readonly string[];
  /** Rows so far. */
  rows = 0;
  readonly #features: readonly (readonly [column: string, logName: string])[];
  readonly #shape: DatasetShape;
  readonly #bytes = new ByteWriter(1 << 16);
  readonly #writer: ParquetWriter;
  #pending: DatasetRow[] = [];

  /** @throws {AnyvmafError} `usage` when two features have the same column, or one has that of something else */
  constructor(shape: DatasetShape) {
    const named = new Map<string, string>();
    for (const logName of shape.features) {
      const column = columnFor(logName);
      if (named.has(column) || IDENTITY.includes(column)) {
        throw new AnyvmafError(
          'usage',
          `Two columns of the table would be called ${quoted(column)}; leave out the feature ${logName}.`,
        );
      }
      named.set(column, logName);
    }
    const place = (column: string) => CANONICAL_FEATURES.indexOf(column) >>> 0;
    this.#features = [...named].sort(([a], [b]) => place(a) - place(b));
    this.#shape = shape;
    const schema = schemaOf(this.#features, shape);
    this.columns = schema.slice(1).map(({ name }) => name);
    const facts = Object.entries({ ...shape.facts, 'anyvmaf.version': version });
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema,
      statistics: false,
      createdBy: `anyvmaf version ${version}`,
      kvMetadata: facts.map(([key, value]) => ({ key, value })),
    });
  }

  /** Takes a row. @returns bytes that are ready, to be written next */
  add(row: DatasetRow): Uint8Array | undefined {
    this.#pending.push(row);
    this.rows++;
    return this.#pending.length < GROUP_ROWS ? undefined : this.#group();
  }

  /** Ends the file. @returns its last bytes */
  end(): Uint8Array {
    const last = this.#pending.length > 0 ? this.#group() : new Uint8Array();
    this.#writer.finish();
    const end = this.#take();
    const both = new Uint8Array(last.length + end.length);
    both.set(last);
    both.set(end, last.length);
    return both;
  }

  #group(): Uint8Array {
    const rows = this.#pending;
    this.#pending = [];
    const { target, teacher } = this.#shape;
    const columnData = [
      { name: KEY_COLUMN, data: rows.map(({ key }) => key) },
      { name: CLIP_COLUMN, data: rows.map(({ clip }) => clip) },
      { name: 'frame', data: Int32Array.from(rows, ({ frame }) => frame) },
      ...(target ? [{ name: TARGET_COLUMN, data: rows.map(({ mos }) => mos) }] : []),
      ...this.#features.map(([name, logName]) => ({
        name,
        data: rows.map(({ metrics }) => metrics[logName]),
      })),
      ...(teacher ? [{ name: 'teacher', data: rows.map((row) => row.teacher) }] : []),
    ];
    this.#writer.write({ columnData, rowGroupSize: GROUP_ROWS });
    return this.#take();
  }

  /** What was written since the last time. */
  #take(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return bytes;
  }
}

function schemaOf(
  features: readonly (readonly [string, string])[],
  { target, teacher }: DatasetShape,
): SchemaElement[] {
  const text = (name: string): SchemaElement => ({
    name,
    type: 'BYTE_ARRAY',
    repetition_type: 'REQUIRED',
    converted_type: 'UTF8',
  });
  const number = (name: string): SchemaElement => ({ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' });
  const columns = [
    text(KEY_COLUMN),
    text(CLIP_COLUMN),
    { name: 'frame', type: 'INT32', repetition_type: 'REQUIRED' } satisfies SchemaElement,
    ...(target ? [number(TARGET_COLUMN)] : []),
    ...features.map(([name]) => number(name)),
    ...(teacher ? [number('teacher')] : []),
  ];
  return [{ name: 'schema', num_children: columns.length }, ...columns];
}
