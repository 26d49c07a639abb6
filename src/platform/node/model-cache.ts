/**
 * @module platform/node/model-cache
 * Pulled model files in the user's cache folder.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AnyvmafError } from '../../core/errors.js';
import { fileError } from '../../files/file-errors.js';
import { cacheFolder, makeFolders, writeReason } from '../../files/folders.js';
import { writeWhole } from '../../files/scratch.js';
import type { ModelCache } from '../../models/types.js';

const placeOf = (fileName: string): string => join(cacheFolder(), 'models', fileName);

/** Model files in the cache folder, below `models`. */
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
      // Who reads meanwhile finds the old file or the new one.
      await writeWhole(path, bytes);
    } catch (cause) {
      throw new AnyvmafError(
        'io',
        `The model cannot be kept as ${path}: ${writeReason(cause)}; make the folder writable, or name another with ANYVMAF_CACHE.`,
        { cause },
      );
    }
  },
};
