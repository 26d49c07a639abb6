/**
 * @module evaluate/table/read
 * Reads number and key columns of flat Parquet files (uncompressed or Snappy), one column and row group at a time.
 */
import type { DecodedArray, FileMetaData, ParquetScan, SchemaTree } from 'hyparquet';
import { AnyvmafError, ioError, messageOf, usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { ByteReader } from '../../media/types.js';
import { keyText } from './columns.js';

/** Most rows of a table; eight columns of numbers then take 320 MB. */
const MAX_ROWS = 5_000_000;
/** Most bytes of one column in one row group, stored or unpacked. Writers usually keep to a few megabytes. */
const MAX_CHUNK = 512 << 20;
/** Most bytes of the metadata at the end of the file. */
const MAX_FOOTER = 64 << 20;
const MAGIC = 'PAR1';

type ColumnKind =
  /** Integers and decimals. */
  | { readonly kind: 'number' }
  /** Floating-point numbers. */
  | { readonly kind: 'floating' }
  | { readonly kind: 'text' }
  | { readonly kind: 'boolean' }
  /** Unsupported; `what` names the content with its article. */
  | { readonly kind: 'other'; readonly what: string };

export type TableColumns = Pick<FeatureTable, 'name' | 'rows' | 'columns' | 'has' | 'numbers' | 'texts'>;

/** A table in a Parquet file. Reading a malicious file may never end: use a thread that can be terminated. */
export class FeatureTable {
  readonly name: string;
  readonly rows: number;
  /** Names of all top-level columns, in the order of the file. */
  readonly columns: readonly string[];
  readonly #scan: ParquetScan;
  readonly #kinds: ReadonlyMap<string, ColumnKind>;

  private constructor(name: string, scan: ParquetScan, columns: readonly SchemaTree[]) {
    this.name = name;
    this.rows = Number(scan.metadata.num_rows);
    this.columns = columns.map(({ element }) => element.name);
    this.#scan = scan;
    this.#kinds = new Map(columns.map((column) => [column.element.name, kindOf(column)]));
  }

  /**
   * Reads a file's metadata. The caller still owns the reader.
   * @throws {AnyvmafError} `io` if the file cannot be read or is not Parquet, `usage` if the table is too large
   */
  static async open(reader: ByteReader, name: string): Promise<FeatureTable> {
    await checkEnds(reader, name);
    const { parquetMetadataAsync, parquetScan, parquetSchema, snappyUncompress } = await import('hyparquet');
    return readable(name, async () => {
      const file = {
        byteLength: reader.size,
        slice: (start: number, end = reader.size) => bytesOf(reader, start, end, name),
      };
      const metadata = await parquetMetadataAsync(file);
      checkMetadata(metadata, reader.size, name);
      const SNAPPY = (input: Uint8Array, length: number): Uint8Array => {
        // `length` comes from the page itself.
        if (length > MAX_CHUNK) throw new Error(`a page has ${length} bytes`);
        const output = new Uint8Array(length);
        snappyUncompress(input, output);
        return output;
      };
      const scan = await parquetScan({ file, metadata, useOffsetIndex: false, compressors: { SNAPPY } });
      const columns = parquetSchema(metadata).children;
      // Despite the types, a damaged file may lack names.
      if (columns.some(({ element }) => typeof element.name !== 'string'))
        throw new Error('a column has no name');
      return new FeatureTable(name, scan, columns);
    });
  }

  has(column: string): boolean {
    return this.#kinds.has(column);
  }

  /**
   * A column of numbers; NaN for missing values.
   * @throws {AnyvmafError} `usage` if the column does not exist or is not numeric; `io` if reading fails
   */
  async numbers(column: string): Promise<Float64Array> {
    const { kind } = this.#kindOf(column);
    if (kind !== 'number' && kind !== 'floating')
      throw usageError(
        `The column ${quoted(column)} of ${this.name} holds ${this.#contents(column)}, but numbers are needed.`,
      );
    const values = new Float64Array(this.rows);
    await this.#read(column, (chunk, start) => {
      for (let i = 0; i < chunk.length; i++) {
        const value: unknown = chunk[i];
        values[start + i] =
          typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN;
      }
    });
    return values;
  }

  /** Names, with numbers as Python's `str` writes them; `undefined` for missing values. Throws as {@link numbers}. */
  async texts(column: string): Promise<(string | undefined)[]> {
    const { kind } = this.#kindOf(column);
    if (kind === 'other')
      throw usageError(
        `The column ${quoted(column)} of ${this.name} holds ${this.#contents(column)}, but names or numbers are needed.`,
      );
    const values = new Array<string | undefined>(this.rows);
    await this.#read(column, (chunk, start) => {
      for (let i = 0; i < chunk.length; i++) values[start + i] = keyText(chunk[i], kind === 'floating');
    });
    return values;
  }

  #kindOf(column: string): ColumnKind {
    const kind = this.#kinds.get(column);
    if (kind) return kind;
    throw usageError(`${this.name} has no column ${quoted(column)}; it has ${listed(this.columns)}.`);
  }

  #contents(column: string): string {
    const kind = this.#kindOf(column);
    if (kind.kind === 'other') return kind.what;
    return { number: 'whole numbers', floating: 'numbers', text: 'text', boolean: 'true and false' }[
      kind.kind
    ];
  }

  /** Calls `take` with each row group's part of a column. */
  async #read(column: string, take: (chunk: DecodedArray, start: number) => void): Promise<void> {
    await readable(this.name, async () => {
      for (const group of this.#scan.metadata.row_groups) this.#checkChunk(group, column);
    });
    for (const { rowStart, rowEnd } of this.#scan.ranges) {
      await readable(this.name, async () => {
        const chunk = await this.#scan.readColumn({ column, rowStart, rowEnd });
        if (chunk.length !== rowEnd - rowStart)
          throw new Error(
            `column ${quoted(column)} has ${chunk.length} values for ${rowEnd - rowStart} rows`,
          );
        take(chunk, rowStart);
      });
    }
  }

  /** Refuses a chunk that needs too much memory or cannot be unpacked, before it is unpacked. */
  #checkChunk({ columns }: FileMetaData['row_groups'][number], column: string): void {
    const facts = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === column)?.meta_data;
    if (!facts) throw damaged(this.name, `a row group lacks the column ${quoted(column)}`);
    const { codec, total_compressed_size: stored, total_uncompressed_size: unpacked } = facts;
    if (codec !== 'UNCOMPRESSED' && codec !== 'SNAPPY')
      throw usageError(
        `The column ${quoted(column)} of ${this.name} is compressed with ${codec}, but only uncompressed and Snappy ` +
          "columns are read; write it again, in pandas with df.to_parquet(path, compression='snappy').",
      );
    if (stored > MAX_CHUNK || unpacked > MAX_CHUNK)
      throw usageError(
        `The column ${quoted(column)} of ${this.name} has ${unpacked} bytes in one row group, but at most ` +
          `${MAX_CHUNK} are read; write the table again with smaller row groups.`,
      );
  }
}

/** Quotes up to 24 names for a message. */
export function listed(names: readonly string[]): string {
  const shown = names
    .slice(0, 24)
    .map((name) => quoted(name))
    .join(', ');
  const more = names.length - 24;
  return more > 0 ? `${shown} and ${more} more` : shown || 'none';
}

function kindOf({ element, children }: SchemaTree): ColumnKind {
  if (children.length > 0) return { kind: 'other', what: 'nested values' };
  if (element.repetition_type === 'REPEATED') return { kind: 'other', what: 'lists' };
  const { type, converted_type: converted, logical_type: logical } = element;
  const meaning = logical?.type ?? converted;
  if (meaning === 'DECIMAL') return { kind: 'number' };
  switch (type) {
    case 'FLOAT':
    case 'DOUBLE':
      return { kind: 'floating' };
    case 'INT32':
    case 'INT64':
      return meaning === undefined || /^U?INT/.test(meaning) ? { kind: 'number' } : other(meaning);
    case 'BOOLEAN':
      return { kind: 'boolean' };
    case 'BYTE_ARRAY':
      return meaning === undefined || ['STRING', 'UTF8', 'ENUM'].includes(meaning)
        ? { kind: 'text' }
        : other(meaning);
    default:
      return meaning === 'FLOAT16' ? { kind: 'floating' } : other(meaning ?? type ?? 'unknown');
  }
}

function other(meaning: string): ColumnKind {
  return { kind: 'other', what: `values of the type ${meaning}` };
}

/** Refuses files that are not Parquet, are cut off, or have too much metadata. */
async function checkEnds(reader: ByteReader, name: string): Promise<void> {
  const { size } = reader;
  const head = size < 4 ? new Uint8Array() : new Uint8Array(await bytesOf(reader, 0, 4, name));
  if (String.fromCharCode(...head) !== MAGIC) {
    const begins = size === 0 ? 'it is empty' : `it does not begin with ${MAGIC}`;
    throw ioError(`${name} is not a Parquet file: ${begins}.`);
  }
  const tail = size < 12 ? new ArrayBuffer(8) : await bytesOf(reader, size - 8, size, name);
  const ending = String.fromCharCode(...new Uint8Array(tail, 4));
  if (ending === 'PARE') throw ioError(`${name} is encrypted; write it without encryption.`);
  if (ending !== MAGIC)
    throw ioError(`${name} is cut off: a Parquet file ends with ${MAGIC}, but this one does not.`);
  const footer = new DataView(tail).getUint32(0, true);
  if (footer > size - 12) throw damaged(name, `its metadata has ${footer} bytes, more than the file`);
  if (footer > MAX_FOOTER)
    throw usageError(
      `The metadata of ${name} has ${footer} bytes, but at most ${MAX_FOOTER} are read; write it with fewer columns or ` +
        'larger row groups.',
    );
}

function checkMetadata({ num_rows: rows, row_groups: groups }: FileMetaData, size: number, name: string) {
  if (rows > MAX_ROWS)
    throw usageError(
      `${name} has ${rows} rows, but at most ${MAX_ROWS} are read; write the rows that you need to a separate file.`,
    );
  let sum = 0n;
  for (const group of groups) {
    sum += group.num_rows;
    for (const { meta_data: column, file_path: elsewhere } of group.columns) {
      if (elsewhere !== undefined) throw damaged(name, 'it refers to another file');
      if (!column) continue;
      const start = column.dictionary_page_offset ?? column.data_page_offset;
      const end = start + column.total_compressed_size;
      if (start < 0n || column.total_compressed_size < 0n || end > BigInt(size))
        throw damaged(name, `the column ${quoted(column.path_in_schema.join('.'))} extends beyond its end`);
    }
  }
  if (sum !== rows || rows < 0n)
    throw damaged(name, `its row groups have ${sum} rows, but its metadata says ${rows}`);
}

/** Reads bytes `start` to `end`; fails if any is missing. */
async function bytesOf(reader: ByteReader, start: number, end: number, name: string): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(0, end - start));
  const got = await reader.read(start, [bytes]);
  if (got < bytes.length) throw damaged(name, `${bytes.length} bytes are missing at position ${start}`);
  return bytes.buffer;
}

/** Turns errors of the Parquet library into errors about the file. */
async function readable<T>(name: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (cause instanceof AnyvmafError) throw cause;
    const reason = messageOf(cause).replace('parquet ', '');
    throw damaged(name, JSON.stringify(reason.slice(0, 200)).slice(1, -1), cause);
  }
}

function damaged(name: string, reason: string, cause?: unknown): AnyvmafError {
  return ioError(`${name} cannot be read as Parquet: ${reason}.`, { cause });
}
