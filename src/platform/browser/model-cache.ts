/**
 * @module platform/browser/model-cache
 * Pulled model files in the browser's storage for responses, which belongs to the page's origin.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { ModelCache } from '../../models/types.js';

const STORAGE = 'anyvmaf-models';

/** An address that the storage knows the file by; nothing is ever fetched from it. */
const placeOf = (fileName: string): string => new URL(`/.anyvmaf/models/${fileName}`, location.origin).href;

/** Model files in the storage named `anyvmaf-models`. */
export const browserModelCache: ModelCache = {
  placeOf,
  async read(fileName) {
    // Pages that came without encryption from another machine have no storage, and so nothing in it.
    if (!globalThis.caches) return undefined;
    try {
      const response = await (await caches.open(STORAGE)).match(placeOf(fileName));
      return await response?.text();
    } catch (cause) {
      throw storageError('read from', cause);
    }
  },
  async write(fileName, bytes) {
    try {
      const headers = { 'content-type': 'application/json' };
      await (await caches.open(STORAGE)).put(placeOf(fileName), new Response(bytes, { headers }));
    } catch (cause) {
      throw storageError('kept in', cause);
    }
  },
};

function storageError(what: string, cause: unknown): AnyvmafError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AnyvmafError(
    'io',
    `The model cannot be ${what} the browser's storage: ${why}; load the page over https, and allow it to store data.`,
    { cause },
  );
}
