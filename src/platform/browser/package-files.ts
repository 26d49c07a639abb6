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
  const failed = (status?: number, cause?: unknown) => {
    const why = status === undefined ? '' : `, the server answered ${status}`;
    const remedy = `name it with configure({ ${asset} })`;
    return ioError(`The WebAssembly module ${wasm} cannot be fetched${why}; ${remedy}.`, { cause });
  };
  return compileCore(await fetched(wasm, (response) => response.arrayBuffer(), failed));
}

/** Fetches a body, which may break off too. @param failed makes the error of a status or a cause */
async function fetched<Body>(
  url: string | URL,
  read: (response: Response) => Promise<Body>,
  failed: (status?: number, cause?: unknown) => AnyvmafError,
): Promise<Body> {
  let response: Response;
  try {
    response = await fetch(url);
    if (response.ok) return await read(response);
  } catch (cause) {
    throw failed(undefined, cause);
  }
  throw failed(response.status);
}

/** @throws {AnyvmafError} `io` if the file cannot be fetched, `internal` if it does not ship */
export async function readShippedModel(fileName: string, folder: string | URL | undefined): Promise<string> {
  const url = shippedModel(fileName, folder);
  if (url) return readModel(url);
  throw internalError(`The model file ${fileName} does not ship with this package.`);
}

/** @throws {AnyvmafError} `io` if it cannot be fetched */
export function readModel({ href }: URL): Promise<string> {
  return fetched(
    href,
    (response) => response.text(),
    (status, cause) => {
      const why = status === undefined ? '' : `: the server answered ${status}`;
      return ioError(`The model ${href} cannot be fetched${why}.`, { cause });
    },
  );
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
