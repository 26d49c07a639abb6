/**
 * @module test/support/tiny
 * Folders of tiny models in memory, and runtimes that do as a test says.
 */
import { createHash } from 'node:crypto';
import { AnyvmafError } from '../../src/core/errors.js';
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
