/**
 * @module platform/browser/package-files
 * Fetches WebAssembly modules and model files, and keeps pulled ones in the Cache storage of the page's origin. Loaded with
 * the first run.
 */
import { compileCore } from '../../core/compile.js';
import { type AnyvmafError, internalError, ioError, messageOf } from '../../core/errors.js';
import type { Assets } from '../../engine/contract/platform.js';
import { shippedModel } from './shipped-models.js';

/** @param asset name in `configure` @throws {AnyvmafError} `io` if fetching fails, `internal` if it does not compile */
export async function loadCore(
  wasm: NonNullable<Assets['wasm']>,
  asset: 'wasm' | 'perceptualWasm',
): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (typeof wasm !== 'string' && !(wasm instanceof URL)) return compileCore(wasm);
  const failed = (why: string, cause?: unknown) =>
    ioError(`The WebAssembly module ${wasm} cannot be fetched${why}; name it with configure({ ${asset} }).`, {
      cause,
    });
  const response = await fetch(wasm).catch((cause) => {
    throw failed('', cause);
  });
  if (!response.ok) throw failed(`, the server answered ${response.status}`);
  return compileCore(await response.arrayBuffer());
}

/** @throws {AnyvmafError} `io` if the file cannot be fetched, `internal` if it does not ship */
export async function readShippedModel(fileName: string, folder: string | URL | undefined): Promise<string> {
  const url = shippedModel(fileName, folder);
  if (url) return readModel(url);
  throw internalError(`The model file ${fileName} does not ship with this package.`);
}

/** @throws {AnyvmafError} `io` if it cannot be fetched */
export async function readModel({ href }: URL): Promise<string> {
  const failed = (why: string, cause?: unknown) =>
    ioError(`The model ${href} cannot be fetched${why}.`, { cause });
  const response = await fetch(href).catch((cause) => {
    throw failed('', cause);
  });
  if (!response.ok) throw failed(`: the server answered ${response.status}`);
  return response.text();
}

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
  return ioError(
    `The model cannot be ${what} the browser's storage: ${messageOf(cause)}; load the page over https, and allow it to store data.`,
    { cause },
  );
}
