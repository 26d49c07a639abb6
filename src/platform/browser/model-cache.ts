/**
 * @module platform/browser/model-cache
 * Pulled model files in the browser's Cache storage, which belongs to the page's origin; loaded on demand.
 */
import { AnyvmafError } from '../../core/errors.js';

const STORAGE = 'anyvmaf-models';

/** @throws {AnyvmafError} `io` */
export async function readStored(place: string): Promise<string | undefined> {
  // Pages from insecure origins have no storage.
  if (!globalThis.caches) return undefined;
  try {
    const response = await (await caches.open(STORAGE)).match(place);
    return await response?.text();
  } catch (cause) {
    throw storageError('read from', cause);
  }
}

/** @throws {AnyvmafError} `io` */
export async function store(place: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  try {
    const headers = { 'content-type': 'application/json' };
    await (await caches.open(STORAGE)).put(place, new Response(bytes, { headers }));
  } catch (cause) {
    throw storageError('kept in', cause);
  }
}

function storageError(what: string, cause: unknown): AnyvmafError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AnyvmafError(
    'io',
    `The model cannot be ${what} the browser's storage: ${why}; load the page over https, and allow it to store data.`,
    { cause },
  );
}
