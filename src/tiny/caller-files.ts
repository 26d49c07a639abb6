/**
 * @module tiny/caller-files
 * Models that a caller hands over as files, picked in a page perhaps: nothing beside them is read.
 */
import { AnyvmafError } from '../core/errors.js';
import type { TinyFiles } from './types.js';

/**
 * Files as the folder in which a model lies.
 * @param given by name; a model, its sidecar, weights, a registry
 */
export function givenFiles(given: Readonly<Record<string, Blob>>): TinyFiles {
  const folder = {
    name: 'the files given',
    async read(file: string, limit: number): Promise<Uint8Array | null> {
      const found = Object.hasOwn(given, file) ? given[file] : undefined;
      if (!found) return null;
      if (found.size > limit) {
        throw new AnyvmafError(
          'model',
          `${file} has ${found.size} bytes, but ${limit} are the most for a file of its kind.`,
        );
      }
      try {
        return new Uint8Array(await found.arrayBuffer());
      } catch (cause) {
        throw new AnyvmafError('io', `cannot read ${file}: it was moved or changed; choose it again.`, {
          cause,
        });
      }
    },
  };
  return { builtIn: folder, locate: async (file) => ({ folder, file }) };
}
