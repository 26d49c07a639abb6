/**
 * @module test/node/evaluate/table/write
 * Tables that are written: columns, types and values, in row groups.
 */
import { parquetMetadata } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { columnFor, columnOf } from '../../../../src/evaluate/table/names.js';
import { type DatasetRow, type DatasetShape, DatasetWriter } from '../../../../src/evaluate/table/write.js';
import { tableOf } from '../../../support/tables.js';

const LOG_NAMES = [
  'integer_motion2',
  'psnr_y',
  'integer_vif_scale3',
  'integer_vif_scale0',
  'integer_vif_scale2',
  'integer_adm2',
  'integer_vif_scale1',
];

const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

function write(shape: DatasetShape, rows: readonly DatasetRow[]): { file: Uint8Array; pieces: number } {
  const writer = new DatasetWriter(shape);
  const pieces = [...rows.flatMap((row) => writer.add(row) ?? []), writer.end()];
  return { file: Uint8Array.from(pieces.flatMap((piece) => [...piece])), pieces: pieces.length };
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
    expect(schema.slice(1).map(({ name }) => name)).toEqual([
      'key',
      'clip',
      'frame',
      'mos',
      ...SIX,
      'psnr_y',
      'teacher',
    ]);
    expect(
      Object.fromEntries(schema.slice(1).map(({ name, type, converted_type: as }) => [name, as ?? type])),
    ).toMatchObject({
      key: 'UTF8',
      clip: 'UTF8',
      frame: 'INT32',
      mos: 'DOUBLE',
      adm2: 'DOUBLE',
      psnr_y: 'DOUBLE',
      teacher: 'DOUBLE',
    });
    expect(by).toMatch(/^anyvmaf version \d/);
    const table = await tableOf(file);
    expect(await table.texts('clip')).toEqual(['encode_0', 'encode_1']);
    expect([...(await table.numbers('adm2'))]).toEqual([0.5, 1.5]);
    expect([...(await table.numbers('motion2'))]).toEqual([0, 1]);
    expect([...(await table.numbers('teacher'))]).toEqual([71.25, 72]);
  });

  it('holds doubles to the last bit, and nothing where there is none', async () => {
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

  it('leaves in pieces of a row group each, with codecs that every reader has', async () => {
    const rows = Array.from({ length: 40_000 }, (_, i) => row(i, { mos: i % 5 }));
    const { file, pieces } = write({ features: LOG_NAMES, target: true, teacher: false }, rows);
    expect(pieces).toBe(3);
    const { row_groups: groups } = parquetMetadata(file);
    expect(groups.map(({ num_rows: count }) => Number(count))).toEqual([16_384, 16_384, 7232]);
    const codecs = new Set(
      groups.flatMap(({ columns }) => columns.map(({ meta_data: facts }) => facts?.codec)),
    );
    expect([...codecs]).toEqual(['SNAPPY']);
    const table = await tableOf(file);
    expect([...(await table.numbers('frame'))]).toEqual(rows.map(({ frame }) => frame));
    expect([...(await table.numbers('adm2'))]).toEqual(rows.map(({ frame }) => frame + 0.5));
  });

  it('refuses features that would share a column', () => {
    const shape = { target: false, teacher: false };
    expect(() => new DatasetWriter({ ...shape, features: ['adm2', 'integer_adm2'] })).toThrow(
      /called "adm2"/,
    );
    expect(() => new DatasetWriter({ ...shape, features: ['key'] })).toThrow(/called "key"/);
  });
});

describe('names of columns', () => {
  it('are those of the reference for its six features, and of reports for others', () => {
    expect(['integer_adm2', 'adm2', 'integer_vif_scale2', 'integer_motion', 'psnr_y'].map(columnFor)).toEqual(
      ['adm2', 'adm2', 'vif_scale2', 'integer_motion', 'psnr_y'],
    );
  });

  it('are found under both spellings, the own first', () => {
    expect(columnOf('adm2', ['integer_adm2', 'adm2'])).toBe('adm2');
    expect(columnOf('adm2', ['integer_adm2'])).toBe('integer_adm2');
    expect(columnOf('integer_adm2', ['adm2'])).toBe('adm2');
    expect(columnOf('adm2', ['adm3'])).toBeUndefined();
  });
});
