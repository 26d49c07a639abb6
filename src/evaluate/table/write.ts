/**
 * @module evaluate/table/write
 * Writes Parquet files with a row per frame, in flat Snappy columns of text, integers and doubles: the values of a
 * report; and feature tables, one row group at a time, so that memory does not grow with the table.
 */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { requireArray, requireObject, requireTexts } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { version } from '../../core/version.js';
import { CANONICAL_FEATURES } from '../../tiny/features.js';
import { CLIP_COLUMN, columnFor, KEY_COLUMN, TARGET_COLUMN } from './columns.js';

const GROUP_ROWS = 16_384;
/** Columns that identify a row, whose names no feature may have. */
const IDENTITY = [KEY_COLUMN, CLIP_COLUMN, 'frame', TARGET_COLUMN, 'teacher'];

export interface DatasetShape {
  /** Log names of the features, as in a report's frames. The canonical six always come first in the file. */
  readonly features: readonly string[];
  /** Add the column `mos`. */
  readonly target: boolean;
  /** Add the column `teacher`. */
  readonly teacher: boolean;
  /** Key-value metadata. */
  readonly facts?: Readonly<Record<string, string>>;
}

export interface DatasetRow {
  /** Name of the source; decides the split. */
  readonly key: string;
  /** Name of the encode within the key. */
  readonly clip: string;
  /** 0-based. */
  readonly frame: number;
  readonly mos?: number;
  readonly teacher?: number;
  /** By log name; a missing feature is null in the table. */
  readonly metrics: Readonly<Record<string, number>>;
}

export class DatasetWriter {
  /** Column names in the order of the file. */
  readonly columns: readonly string[];
  rows = 0;
  readonly #features: readonly (readonly [column: string, logName: string])[];
  readonly #shape: DatasetShape;
  readonly #bytes = new ByteWriter(1 << 16);
  readonly #writer: ParquetWriter;
  #pending: DatasetRow[] = [];

  /** @throws {AnyvmafError} `usage` if two columns would have the same name */
  constructor(shape: DatasetShape) {
    const named = new Map<string, string>();
    for (const logName of shape.features) {
      const column = columnFor(logName);
      if (named.has(column) || IDENTITY.includes(column))
        throw usageError(
          `Two columns of the table would be named ${quoted(column)}; leave out the feature ${logName}.`,
        );
      named.set(column, logName);
    }
    const place = (column: string) => CANONICAL_FEATURES.indexOf(column) >>> 0;
    this.#features = [...named].sort(([a], [b]) => place(a) - place(b));
    this.#shape = shape;
    const columns = columnsOf(this.#features, shape);
    this.columns = columns.map(({ name }) => name);
    this.#writer = writerOf(this.#bytes, columns, { ...shape.facts, 'anyvmaf.version': version });
  }

  /** Adds a row. @returns finished bytes to write next */
  add(row: DatasetRow): Uint8Array | undefined {
    this.#pending.push(row);
    this.rows++;
    return this.#pending.length < GROUP_ROWS ? undefined : this.#group();
  }

  /** Finishes the file. @returns its last bytes */
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

  /** Bytes written since the last call. */
  #take(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return bytes;
  }
}

const FRAME: SchemaElement = { name: 'frame', type: 'INT32', repetition_type: 'REQUIRED' };

const text = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  repetition_type: 'REQUIRED',
  converted_type: 'UTF8',
});

const number = (name: string): SchemaElement => ({ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' });

function columnsOf(features: readonly (readonly [string, string])[], { target, teacher }: DatasetShape) {
  return [
    ...[KEY_COLUMN, CLIP_COLUMN].map(text),
    FRAME,
    ...(target ? [number(TARGET_COLUMN)] : []),
    ...features.map(([name]) => number(name)),
    ...(teacher ? [number('teacher')] : []),
  ];
}

/** @param facts key-value metadata */
function writerOf(
  writer: ByteWriter,
  columns: readonly SchemaElement[],
  facts: Readonly<Record<string, string>>,
): ParquetWriter {
  return new ParquetWriter({
    writer,
    schema: [{ name: 'schema', num_children: columns.length }, ...columns],
    statistics: false,
    createdBy: `anyvmaf version ${version}`,
    kvMetadata: Object.entries(facts).map(([key, value]) => ({ key, value })),
  });
}

export interface FramesOfReport {
  readonly frames: readonly {
    readonly frameNum: number;
    readonly metrics: Readonly<Record<string, number>>;
  }[];
  readonly metrics: readonly string[];
  readonly reference: { readonly name: string };
  readonly distorted: { readonly name: string };
}

/**
 * Returns the whole file, with null for metrics without a value in a frame.
 * @throws {AnyvmafError} `usage` unless it is a report
 */
export function framesParquet(report: FramesOfReport): Uint8Array {
  requireObject('report', report);
  const { frames, metrics, reference, distorted } = report;
  requireArray('report.frames', frames);
  requireTexts('report.metrics', metrics);
  requireObject('report.reference', reference);
  requireObject('report.distorted', distorted);
  const bytes = new ByteWriter(1 << 16);
  const writer = writerOf(bytes, [FRAME, ...metrics.map(number)], {
    'anyvmaf.version': version,
    'anyvmaf.reference': reference.name,
    'anyvmaf.distorted': distorted.name,
  });
  for (let at = 0; at < frames.length; at += GROUP_ROWS) {
    const rows = frames.slice(at, at + GROUP_ROWS);
    const columnData = [
      { name: 'frame', data: Int32Array.from(rows, ({ frameNum }) => frameNum) },
      ...metrics.map((name) => ({ name, data: rows.map((row) => row.metrics[name]) })),
    ];
    writer.write({ columnData, rowGroupSize: GROUP_ROWS });
  }
  writer.finish();
  return bytes.getBytes();
}
