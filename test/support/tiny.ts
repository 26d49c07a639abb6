/**
 * @module test/support/tiny
 * Tiny models in memory: their folders, tables in Parquet, and the platform that serves them.
 */
import { createHash } from 'node:crypto';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { AnyvmafError } from '../../src/core/errors.js';
import { FeatureTable } from '../../src/evaluate/table/read.js';
import { bytesReader } from '../../src/media/readers.js';
import { nodeTiny } from '../../src/platform/node/tiny/platform.js';
import type { TinyFolder, TinyPlatform } from '../../src/tiny/types.js';

/** SHA-256 in hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Files by name. */
export type Files = Readonly<Record<string, Uint8Array | string | object>>;

/** A folder in memory; objects are JSON. */
function folder(files: Files, name = 'memory'): TinyFolder {
  return {
    name,
    async read(file, limit) {
      const found = files[file];
      if (found === undefined) return null;
      const bytes =
        found instanceof Uint8Array
          ? found
          : new TextEncoder().encode(typeof found === 'string' ? found : JSON.stringify(found));
      if (bytes.length > limit) throw new AnyvmafError('model', `${file} has more than ${limit} bytes.`);
      return bytes;
    },
  };
}

/** Where models come from: built-in files, and others under `/models/`. */
export function tinyFiles(builtIn: Files, others: Files = {}): Pick<TinyPlatform, 'files' | 'signatures'> {
  return {
    files: {
      builtIn: folder(builtIn, 'model/tiny'),
      locate: async (path) => ({
        folder: folder(others, '/models'),
        file: path.slice(path.lastIndexOf('/') + 1),
      }),
    },
    signatures: {
      async verify(bytes, bundle, what) {
        if (bundle !== 'good' && bundle !== `of ${sha256(bytes)}`)
          throw new AnyvmafError('model', `${what} is not signed by ${bundle}.`);
      },
    },
  };
}

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
