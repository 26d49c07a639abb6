/**
 * @module platform/browser/models
 * Model files in a browser: the package's own and others, by URL.
 */
import { AnyvmafError } from '../../errors.js';
import type { ModelStore } from '../../model/types.js';
import { browserModelKeep } from './model-keep.js';

/** @param folder gives the folder of the built-in models, ending in `/` */
export function browserModels(folder: () => string | URL): ModelStore {
  return {
    keep: browserModelKeep,
    readBuiltIn: (fileName) => fetchText(new URL(fileName, new URL(folder(), location.href))),
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
