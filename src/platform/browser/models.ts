/**
 * @module platform/browser/models
 * Model files in a browser: the package's own and others, by URL. What reads them is loaded with the first one.
 */
import type { ModelStore } from '../../models/types.js';

/** An address that the storage knows a pulled file by; nothing is ever fetched from it. */
const placeOf = (fileName: string): string => new URL(`/.anyvmaf/models/${fileName}`, location.origin).href;

/** @param folder gives the folder of the built-in models, ending in `/`, when the host names one */
export function browserModels(folder: () => string | URL | undefined): ModelStore {
  const files = () => import('./package-files.js');
  const cache = () => import('./model-cache.js');
  return {
    keep: {
      placeOf,
      read: async (fileName) => (await cache()).readStored(placeOf(fileName)),
      write: async (fileName, bytes) => (await cache()).store(placeOf(fileName), bytes),
    },
    readBuiltIn: async (fileName) => (await files()).readShippedModel(fileName, folder()),
    readFile: async (path) => (await files()).readModel(new URL(path, location.href)),
  };
}
