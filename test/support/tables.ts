/**
 * @module test/support/tables
 * Parquet files and models in memory, and the platform that serves them.
 */
import { parquetWriteBuffer } from 'hyparquet-writer';
import { FeatureTable } from '../../src/evaluate/table/read.js';
import { bytesReader } from '../../src/media/readers.js';
import { nodeTiny } from '../../src/platform/node/tiny/platform.js';
import type { TinyPlatform } from '../../src/tiny/types.js';

/** Columns of a table: lists of values, or one value for all rows. */
export type Columns = Readonly<Record<string, readonly unknown[]>>;

/** A table of these columns; numbers become doubles, whole ones included. */
export function parquet(columns: Columns): Uint8Array {
  const buffer = parquetWriteBuffer({
    columnData: Object.entries(columns).map(([name, data]) => {
      const sample = data.find((value) => value !== null && value !== undefined);
      const type = typeof sample === 'number' ? ({ type: 'DOUBLE' } as const) : {};
      return { name, data: [...data], ...type };
    }),
  });
  return new Uint8Array(buffer);
}

/** The table in a file. */
export function tableOf(file: Uint8Array, name = 'features.parquet'): Promise<FeatureTable> {
  return FeatureTable.open(bytesReader(file), name);
}

/** A platform whose models are these files; runtimes are Node's. */
export function platformOf(files: Readonly<Record<string, Uint8Array | string>>): TinyPlatform {
  const read = async (name: string) => {
    const file = files[name];
    if (file === undefined) return null;
    return typeof file === 'string' ? new TextEncoder().encode(file) : file;
  };
  const folder = { name: 'the test', read };
  const { runtimes, signatures } = nodeTiny(() => new URL('file:///nowhere/'));
  return {
    files: {
      builtIn: { name: 'nothing', read: async () => null },
      locate: async (path) => ({ folder, file: path }),
    },
    runtimes,
    signatures,
  };
}
