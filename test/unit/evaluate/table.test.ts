/**
 * @module test/unit/evaluate/table
 * Tables of features: reading Parquet files, refusing them with a reason, and writing them.
 */
import { parquetMetadata } from 'hyparquet';
import { ByteWriter, ParquetWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { columnFor, columnOf } from '../../../src/evaluate/table/columns.js';
import { FeatureTable } from '../../../src/evaluate/table/read.js';
import { type DatasetRow, type DatasetShape, DatasetWriter } from '../../../src/evaluate/table/write.js';
import { bytesReader } from '../../../src/media/readers.js';
import { SIX } from '../../support/mcp-tools.js';
import { parquet, tableOf } from '../../support/tiny.js';

const DOUBLE = { type: 'DOUBLE', repetition_type: 'REQUIRED' } as const;
const open = (file: ArrayBuffer | Uint8Array) => tableOf(new Uint8Array(file));

/** A table with one column. @param rows number of rows in its metadata */
function oneColumn(
  element: ConstructorParameters<typeof ParquetWriter>[0]['schema'][number],
  data: unknown[],
  codec: 'GZIP' | 'UNCOMPRESSED' = 'UNCOMPRESSED',
  rows = data.length,
): Uint8Array {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: 1 }, element],
    codec,
    compressors: { GZIP: (bytes) => bytes },
  });
  file.write({ columnData: [{ name: element.name, data }] });
  file.num_rows = BigInt(rows);
  file.finish();
  return new Uint8Array(writer.getBuffer());
}

describe('a column', () => {
  it('of any numeric type is read as doubles, with NaN for nulls', async () => {
    const table = await open(
      parquetWriteBuffer({
        columnData: [
          { name: 'double', data: [1.5, null, -2], type: 'DOUBLE', nullable: true },
          { name: 'float', data: [0.5, 0.25, 8], type: 'FLOAT' },
          { name: 'int', data: [1, 2, 3], type: 'INT32' },
          { name: 'long', data: [1n, 2n, 2n ** 40n], type: 'INT64' },
          { name: 'half', data: [1, 0.5, 2], type: 'FLOAT16' },
        ],
      }),
    );
    expect(table.columns).toEqual(['double', 'float', 'int', 'long', 'half']);
    const read = await Promise.all(table.columns.map((name) => table.numbers(name)));
    expect(read.map((values) => [...values])).toEqual([
      [1.5, Number.NaN, -2],
      [0.5, 0.25, 8],
      [1, 2, 3],
      [1, 2, 2 ** 40],
      [1, 0.5, 2],
    ]);
  });

  it('is read across row groups and pages', async () => {
    const values = Array.from({ length: 7000 }, (_, i) => Math.sqrt(i));
    const names = values.map((_, i) => `clip_${i % 7}`);
    const columnData = [
      { name: 'x', data: values },
      { name: 'key', data: names },
    ];
    const table = await open(parquetWriteBuffer({ columnData, rowGroupSize: 2000, pageSize: 4096 }));
    expect([...(await table.numbers('x'))]).toEqual(values);
    expect(await table.texts('key')).toEqual(names);
  });

  it('that is missing, not numeric, nested or compressed by an unknown codec is refused by name', async () => {
    const table = await tableOf(
      parquet({ key: ['a', 'b'], flag: [true, false], at: [new Date(0), new Date(1)] }),
    );
    await expect(table.numbers('key')).rejects.toThrow(
      /"key" of features\.parquet holds text, but numbers are needed/,
    );
    await expect(table.numbers('flag')).rejects.toThrow(/holds true and false/);
    await expect(table.texts('at')).rejects.toThrow(/values of the type TIMESTAMP/);
    await expect(table.numbers('mos')).rejects.toThrow(/no column "mos"; it has "key", "flag", "at"/);
    const nested = await open(
      parquetWriteBuffer({
        schema: [
          { name: 'root', num_children: 1 },
          { name: 'adm2', num_children: 1, repetition_type: 'OPTIONAL', converted_type: 'LIST' },
          { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
          { name: 'element', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
        ],
        columnData: [{ name: 'adm2', data: [[1, 2], [3]] }],
      }),
    );
    await expect(nested.numbers('adm2')).rejects.toThrow(/holds nested values/);
    const gzip = await tableOf(oneColumn({ ...DOUBLE, name: 'adm2' }, [1, 2], 'GZIP'));
    await expect(gzip.numbers('adm2')).rejects.toThrow(
      /compressed with GZIP, but only uncompressed and Snappy.*compression='snappy'/,
    );
  });
});

describe('a file', () => {
  const good = parquet({ key: ['a', 'b'], mos: [1, 2] });

  it.each([
    ['empty', new Uint8Array(), /not a Parquet file: it is empty/],
    ['text', new TextEncoder().encode('key,mos\na,1\nb,2\n'), /does not begin with PAR1/],
    ['cut off', good.subarray(0, good.length - 9), /cut off: a Parquet file ends with PAR1/],
    ['the first bytes alone', good.subarray(0, 4), /cut off/],
    ['encrypted', Uint8Array.of(...good.subarray(0, -4), 80, 65, 82, 69), /is encrypted/],
    [
      'too short for its footer',
      withFooter(good, 0x7fffffff),
      /metadata has 2147483647 bytes, more than the file/,
    ],
  ])('that is %s is refused', async (_, bytes, message) => {
    const opened = tableOf(bytes);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toMatchObject({ code: 'io' });
  });

  it('with too many rows is refused before they are read', async () => {
    const file = oneColumn({ ...DOUBLE, name: 'mos' }, [1, 2], 'UNCOMPRESSED', 6_000_000);
    await expect(tableOf(file)).rejects.toThrow(/6000000 rows, but at most 5000000/);
  });

  it('is read in parts: only the requested columns', async () => {
    const values = Array.from({ length: 80_000 }, (_, i) => Math.sin(i));
    const file = parquet({ a: values, b: values, c: values });
    const whole = bytesReader(file);
    let read = 0;
    const counting = {
      ...whole,
      read: (position: number, parts: readonly Uint8Array[]) => {
        read += parts.reduce((sum, part) => sum + part.length, 0);
        return whole.read(position, parts);
      },
    };
    const table = await FeatureTable.open(counting, 'counted');
    await table.numbers('b');
    // A third of the file, and its last half megabyte with the metadata.
    expect(file.length).toBeGreaterThan(1_900_000);
    expect(read).toBeLessThan(file.length / 3 + 600_000);
  });
});

function withFooter(file: Uint8Array, length: number): Uint8Array {
  const changed = Uint8Array.from(file);
  new DataView(changed.buffer).setUint32(changed.length - 8, length, true);
  return changed;
}

const LOG_NAMES =
  'integer_motion2 psnr_y integer_vif_scale3 integer_vif_scale0 integer_vif_scale2 integer_adm2 integer_vif_scale1'.split(
    ' ',
  );

function write(shape: DatasetShape, rows: readonly DatasetRow[]): { file: Uint8Array; pieces: number } {
  const writer = new DatasetWriter(shape);
  const pieces = [...rows.flatMap((row) => writer.add(row) ?? []), writer.end()];
  return { file: Uint8Array.from(Buffer.concat(pieces)), pieces: pieces.length };
}

const row = (frame: number, changes: Partial<DatasetRow> = {}): DatasetRow => ({
  key: 'source',
  clip: `encode_${frame % 2}`,
  frame,
  metrics: Object.fromEntries(LOG_NAMES.map((name, i) => [name, frame + i / 10])),
  ...changes,
});

describe('a table of features', () => {
  it("has the reference's columns and types, whatever the order of the features", async () => {
    const { file } = write({ features: LOG_NAMES, target: true, teacher: true }, [
      row(0, { mos: 3.5, teacher: 71.25 }),
      row(1, { mos: 3.5, teacher: 72 }),
    ]);
    const { schema, created_by: by } = parquetMetadata(file);
    const types = schema.slice(1).map(({ name, type, converted_type: as }) => [name, as ?? type]);
    const texts = { key: 'UTF8', clip: 'UTF8', frame: 'INT32' };
    const doubles = ['mos', ...SIX, 'psnr_y', 'teacher'].map((name) => [name, 'DOUBLE']);
    expect(types).toEqual([...Object.entries(texts), ...doubles]);
    expect(by).toMatch(/^anyvmaf version \d/);
    const table = await tableOf(file);
    expect(await table.texts('clip')).toEqual(['encode_0', 'encode_1']);
    expect([...(await table.numbers('adm2'))]).toEqual([0.5, 1.5]);
    expect([...(await table.numbers('motion2'))]).toEqual([0, 1]);
    expect([...(await table.numbers('teacher'))]).toEqual([71.25, 72]);
  });

  it('holds doubles to the last bit, and nulls for missing values', async () => {
    const value = 0.1 + 0.2;
    const { file } = write({ features: ['integer_adm2', 'psnr_y'], target: false, teacher: false }, [
      row(0, { metrics: { integer_adm2: value, psnr_y: Number.POSITIVE_INFINITY } }),
      row(1, { metrics: { psnr_y: 1 } }),
    ]);
    const table = await tableOf(file);
    expect(table.has('mos')).toBe(false);
    expect([...(await table.numbers('adm2'))]).toEqual([value, Number.NaN]);
    expect([...(await table.numbers('psnr_y'))]).toEqual([Number.POSITIVE_INFINITY, 1]);
  });

  it('is written in pieces of a row group, with a codec that every reader has', async () => {
    const rows = Array.from({ length: 17_000 }, (_, i) => row(i, { mos: i % 5 }));
    const { file, pieces } = write({ features: LOG_NAMES, target: true, teacher: false }, rows);
    expect(pieces).toBe(2);
    const { row_groups: groups } = parquetMetadata(file);
    expect(groups.map(({ num_rows: count }) => Number(count))).toEqual([16_384, 616]);
    const columns = groups.flatMap((group) => group.columns);
    expect(new Set(columns.map(({ meta_data: facts }) => facts?.codec))).toEqual(new Set(['SNAPPY']));
    const table = await tableOf(file);
    expect([...(await table.numbers('frame'))]).toEqual(rows.map(({ frame }) => frame));
    expect([...(await table.numbers('adm2'))]).toEqual(rows.map(({ frame }) => frame + 0.5));
  });

  it('refuses features that would share a column', () => {
    const shape = { target: false, teacher: false };
    expect(() => new DatasetWriter({ ...shape, features: ['adm2', 'integer_adm2'] })).toThrow(/named "adm2"/);
    expect(() => new DatasetWriter({ ...shape, features: ['key'] })).toThrow(/named "key"/);
  });
});

it('columns have the reference names of its six features, log names of others, and are found by both', () => {
  const names = ['integer_adm2', 'adm2', 'integer_vif_scale2', 'integer_motion', 'psnr_y'];
  expect(names.map(columnFor)).toEqual(['adm2', 'adm2', 'vif_scale2', 'integer_motion', 'psnr_y']);
  expect(columnOf('adm2', ['integer_adm2', 'adm2'])).toBe('adm2');
  expect(columnOf('adm2', ['integer_adm2'])).toBe('integer_adm2');
  expect(columnOf('integer_adm2', ['adm2'])).toBe('adm2');
  expect(columnOf('adm2', ['adm3'])).toBeUndefined();
});
