/**
 * @module test/node/evaluate/table/read
 * What is read of Parquet files, and what is refused with a reason.
 */
import { ByteWriter, ParquetWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../../src/core/errors.js';
import { bytesReader } from '../../../../src/media/readers.js';
import { seeded } from '../../../support/random.js';
import { parquet, tableOf } from '../../../support/tables.js';

/** A table with one column, described and compressed as said. */
function columnOf(
  element: ConstructorParameters<typeof ParquetWriter>[0]['schema'][number],
  data: unknown[],
  codec: 'GZIP' | 'UNCOMPRESSED' = 'UNCOMPRESSED',
): Uint8Array {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: 1 }, element],
    codec,
    compressors: { GZIP: (bytes) => bytes },
  });
  file.write({ columnData: [{ name: element.name, data }] });
  file.finish();
  return new Uint8Array(writer.getBuffer());
}

describe('a column', () => {
  it('of any numbers is read as doubles, with NaN where there is none', async () => {
    const table = await tableOf(
      new Uint8Array(
        parquetWriteBuffer({
          columnData: [
            { name: 'double', data: [1.5, null, -2], type: 'DOUBLE', nullable: true },
            { name: 'float', data: [0.5, 0.25, 8], type: 'FLOAT' },
            { name: 'int', data: [1, 2, 3], type: 'INT32' },
            { name: 'long', data: [1n, 2n, 2n ** 40n], type: 'INT64' },
            { name: 'half', data: [1, 0.5, 2], type: 'FLOAT16' },
          ],
        }),
      ),
    );
    expect(table.columns).toEqual(['double', 'float', 'int', 'long', 'half']);
    expect([...(await table.numbers('double'))]).toEqual([1.5, Number.NaN, -2]);
    expect([...(await table.numbers('float'))]).toEqual([0.5, 0.25, 8]);
    expect([...(await table.numbers('int'))]).toEqual([1, 2, 3]);
    expect([...(await table.numbers('long'))]).toEqual([1, 2, 2 ** 40]);
    expect([...(await table.numbers('half'))]).toEqual([1, 0.5, 2]);
  });

  it('is read across row groups and pages', async () => {
    const values = Array.from({ length: 25_000 }, (_, i) => Math.sqrt(i));
    const names = values.map((_, i) => `clip_${i % 7}`);
    const file = parquetWriteBuffer({
      columnData: [
        { name: 'x', data: values },
        { name: 'key', data: names },
      ],
      rowGroupSize: 6000,
      pageSize: 4096,
    });
    const table = await tableOf(new Uint8Array(file));
    expect([...(await table.numbers('x'))]).toEqual(values);
    expect(await table.texts('key')).toEqual(names);
  });

  it('that is no number, or not there, is refused by name', async () => {
    const table = await tableOf(
      parquet({ key: ['a', 'b'], flag: [true, false], at: [new Date(0), new Date(1)] }),
    );
    await expect(table.numbers('key')).rejects.toThrow(
      /"key" of features\.parquet holds text, but numbers are needed/,
    );
    await expect(table.numbers('flag')).rejects.toThrow(/holds true and false/);
    await expect(table.texts('at')).rejects.toThrow(/values of the type TIMESTAMP/);
    await expect(table.numbers('mos')).rejects.toThrow(/no column "mos"; it has "key", "flag", "at"/);
  });

  it('of nested values is refused', async () => {
    const nested = parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'adm2', num_children: 1, repetition_type: 'OPTIONAL', converted_type: 'LIST' },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
      ],
      columnData: [{ name: 'adm2', data: [[1, 2], [3]] }],
    });
    await expect((await tableOf(new Uint8Array(nested))).numbers('adm2')).rejects.toThrow(
      /holds nested values/,
    );
  });

  it('that is compressed in another way is refused with what to do', async () => {
    const file = columnOf({ name: 'adm2', type: 'DOUBLE', repetition_type: 'REQUIRED' }, [1, 2], 'GZIP');
    await expect((await tableOf(file)).numbers('adm2')).rejects.toThrow(
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
      'a footer beyond the start',
      withFooter(good, 0x7fffffff),
      /description has 2147483647 bytes, which is more/,
    ],
  ])('that is %s is refused', async (_, bytes, message) => {
    const opened = tableOf(bytes);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toMatchObject({ code: 'io' });
  });

  it('of too many rows is refused before they are read', async () => {
    const writer = new ByteWriter();
    const file = new ParquetWriter({
      writer,
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'mos', type: 'DOUBLE', repetition_type: 'REQUIRED' },
      ],
    });
    file.write({ columnData: [{ name: 'mos', data: [1, 2] }] });
    file.num_rows = 6_000_000n;
    file.finish();
    await expect(tableOf(new Uint8Array(writer.getBuffer()))).rejects.toThrow(
      /6000000 rows, but at most 5000000/,
    );
  });

  it('that is damaged anywhere gives an error of ours or a table, never anything else', async () => {
    const random = seeded(20260810);
    for (let round = 0; round < 300; round++) {
      const bytes = Uint8Array.from(good);
      for (let i = random.int(1, 4); i > 0; i--) bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
      try {
        const table = await tableOf(bytes);
        for (const name of table.columns)
          await (table.isText(name) ? table.texts(name) : table.numbers(name));
      } catch (error) {
        expect(error, `seed ${random.seed}, round ${round}`).toBeInstanceOf(AnyvmafError);
      }
    }
  });

  it('is read in parts: not more than the columns that are asked for', async () => {
    const values = Array.from({ length: 200_000 }, (_, i) => Math.sin(i));
    const file = parquet({ a: values, b: values, c: values });
    const whole = bytesReader(file);
    let read = 0;
    const { FeatureTable } = await import('../../../../src/evaluate/table/read.js');
    const counting = {
      ...whole,
      read: (position: number, parts: readonly Uint8Array[]) => {
        read += parts.reduce((sum, part) => sum + part.length, 0);
        return whole.read(position, parts);
      },
    };
    const table = await FeatureTable.open(counting, 'counted');
    await table.numbers('b');
    // A third of the file, and its last half megabyte, where its description is.
    expect(read).toBeLessThan(file.length / 3 + 600_000);
  });
});

function withFooter(file: Uint8Array, length: number): Uint8Array {
  const changed = Uint8Array.from(file);
  new DataView(changed.buffer).setUint32(changed.length - 8, length, true);
  return changed;
}
