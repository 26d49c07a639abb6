/**
 * @module platform/node/models
 * Model files in Node: the package's own, and those of the user.
 */
import { closeSync, readFile as readDescriptor } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { AnyvmafError } from '../../core/errors.js';
import { BY_USER, type Origin } from '../../core/origin.js';
import { openChecked } from '../../files/checked-file.js';
import { fileError } from '../../files/file-errors.js';
import type { ModelStore } from '../../models/types.js';
import { nodeModelCache } from './model-cache.js';

/**
 * @param folder gives the folder of the built-in models, ending in `/`
 * @param origin of the names of other files
 */
export function nodeModels(folder: () => URL, origin = BY_USER): ModelStore {
  return {
    keep: nodeModelCache,
    async readBuiltIn(fileName) {
      const file = new URL(fileName, folder());
      try {
        return await readFile(file, 'utf8');
      } catch (cause) {
        throw new AnyvmafError(
          'io',
          `The package's own file ${file.pathname} cannot be read; install anyvmaf again.`,
          {
            cause,
          },
        );
      }
    },
    async readFile(path) {
      try {
        return await readChecked(path, origin);
      } catch (cause) {
        throw fileError(path, cause);
      }
    },
  };
}

async function readChecked(path: string, origin: Origin): Promise<string> {
  const fd = openChecked(path, origin);
  try {
    return await promisify(readDescriptor)(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
