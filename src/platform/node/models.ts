/**
 * @module platform/node/models
 * Model files in Node: the package's own, and those of the user.
 */
import { readFile } from 'node:fs/promises';
import { AnyvmafError } from '../../errors.js';
import type { ModelStore } from '../../model/types.js';
import { fileError } from './file-errors.js';
import { nodeModelKeep } from './model-keep.js';

/** @param folder gives the folder of the built-in models, ending in `/` */
export function nodeModels(folder: () => URL): ModelStore {
  return {
    keep: nodeModelKeep,
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
        return await readFile(path, 'utf8');
      } catch (cause) {
        throw fileError(path, cause);
      }
    },
  };
}
