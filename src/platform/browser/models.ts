/**
 * @module platform/browser/models
 * Model files in a browser: the package's own and others, by URL.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { ModelStore } from '../../models/types.js';
import { browserModelCache } from './model-cache.js';

/** @param folder gives the folder of the built-in models, ending in `/`, when the host names one */
export function browserModels(folder: () => string | URL | undefined): ModelStore {
  return {
    keep: browserModelCache,
    async readBuiltIn(fileName) {
      const { shippedModel } = await import('./shipped-models.js');
      const url = shippedModel(fileName, folder());
      if (url) return fetchText(url);
      throw new AnyvmafError('internal', `The model file ${fileName} does not ship with this package.`);
    },
    readFile: (path) => fetchText(new URL(path, location.href)),
  };
}

async function fetchText(url: URL): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new AnyvmafError('io', `The model ${url.href} cannot be fetched.`, { cause });
  }
  if (response.ok) return response.text();
  throw new AnyvmafError(
    'io',
    `The model ${url.href} cannot be fetched: the server answered ${response.status}.`,
  );
}
