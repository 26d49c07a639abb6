/**
 * @module platform/node/models
 * Model files in Node: the package's own, those of the user, and pulled ones in the user's cache folder.
 */
import { closeSync, readFile as readDescriptor } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { AnyvmafError } from '../../core/errors.js';
import { BY_USER, type Origin } from '../../core/origin.js';
import { openChecked } from '../../files/checked-file.js';
import { fileError } from '../../files/file-errors.js';
import { cacheFolder, makeFolders, writeReason } from '../../files/folders.js';
import { writeWhole } from '../../files/scratch.js';
import type { ModelCache, ModelStore } from '../../models/types.js';

/**
 * @param folder returns the folder of the built-in models, ending in `/`
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

const placeOf = (fileName: string): string => join(cacheFolder(), 'models', fileName);

export const nodeModelCache: ModelCache = {
  placeOf,
  mirror: () => process.env.ANYVMAF_MODELS_FROM || undefined,
  async read(fileName) {
    const path = placeOf(fileName);
    try {
      return await readFile(path, 'utf8');
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
        return undefined;
      throw fileError(path, cause);
    }
  },
  async write(fileName, bytes) {
    const path = placeOf(fileName);
    try {
      await makeFolders(dirname(resolve(path)));
      // Concurrent readers find the old file or the new one.
      await writeWhole(path, bytes);
    } catch (cause) {
      throw new AnyvmafError(
        'io',
        `The model cannot be saved as ${path}: ${writeReason(cause)}; make the folder writable, or name another ` +
          'with ANYVMAF_CACHE.',
        { cause },
      );
    }
  },
};
