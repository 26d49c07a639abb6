/**
 * @module test/support/tiny
 * Tiny models in memory: their folders, tables in Parquet, and a platform that serves them.
 */
import { createHash } from 'node:crypto';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { AnyvmafError } from '../../src/core/errors.js';
import { FeatureTable } from '../../src/evaluate/table/read.js';
import { bytesReader } from '../../src/media/readers.js';
import { nodeTiny } from '../../src/platform/node/tiny/platform.js';
import type { TinyFolder, TinyPlatform } from '../../src/tiny/types.js';

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

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

/** Built-in model files, and others under `/models/`. */
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

/** A Parquet file; all numbers become doubles. */
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

export function tableOf(file: Uint8Array, name = 'features.parquet'): Promise<FeatureTable> {
  return FeatureTable.open(bytesReader(file), name);
}

/** A platform with these model files and Node's runtimes. */
export function platformOf(files: Files): TinyPlatform {
  const { runtimes, signatures } = nodeTiny(() => new URL('file:///nowhere/'));
  return {
    files: {
      builtIn: folder({}, 'nothing'),
      locate: async (path) => ({ folder: folder(files, 'the test'), file: path }),
    },
    runtimes,
    signatures,
  };
}
