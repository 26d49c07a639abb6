/**
 * @module platform/browser/tiny-platform
 * Tiny models in a browser, fetched by URL from the package's folder or another folder.
 */
import { ioError, modelError } from '../../core/errors.js';
import type { TinyFolder, TinyPlatform, TinySignatures } from '../../tiny/types.js';
import { shippedModel } from './shipped-models.js';
import { browserTinyRuntimes } from './tiny/runtimes.js';

/**
 * @param models returns the folder of the built-in models, ending in `/`, if the host names one
 * @param onnxruntime returns the address of onnxruntime-web, if the host names one
 * @param base returns the base of relative addresses: in a worker, that of the page
 */
export function browserTiny(
  models: () => string | URL | undefined,
  onnxruntime: () => string | URL | undefined,
  base: () => string = () => location.href,
): TinyPlatform {
  return {
    files: {
      get builtIn() {
        return builtInFolder(models(), base());
      },
      async locate(path) {
        const url = new URL(path, base());
        const at = url.pathname.lastIndexOf('/') + 1;
        return { folder: folderAt(new URL('./', url)), file: url.pathname.slice(at) + url.search };
      },
    },
    runtimes: browserTinyRuntimes(onnxruntime),
    signatures: NO_SIGNATURES,
  };
}

/** The shipped models, or the host's own folder of them. */
function builtInFolder(models: string | URL | undefined, base: string): TinyFolder {
  if (models !== undefined) return folderAt(new URL('tiny/', new URL(models, base)));
  return {
    name: 'the models that ship with anyvmaf',
    async read(file, limit) {
      const url = shippedModel(`tiny/${file}`, undefined);
      return url ? fetchWithin(url, limit) : null;
    },
  };
}

function folderAt(base: URL): TinyFolder {
  return {
    name: base.href,
    async read(file, limit) {
      const url = new URL(file, base);
      if (!url.href.startsWith(base.href))
        throw modelError(`${file} leads out of its folder ${base.href}, and is not fetched.`);
      return fetchWithin(url, limit);
    },
  };
}

/** `null` if the file does not exist. */
async function fetchWithin(url: URL, limit: number): Promise<Uint8Array | null> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw ioError(`The file ${url.href} of a tiny model cannot be fetched.`, { cause });
  }
  if (response.status === 404 || response.status === 410) return null;
  if (!response.ok) {
    throw ioError(
      `The file ${url.href} of a tiny model cannot be fetched: the server answered ${response.status}.`,
    );
  }
  return readWithin(response, limit, url.href);
}

/** Reads the body; cancels beyond the limit. */
async function readWithin(response: Response, limit: number, name: string): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || !value) break;
    length += value.length;
    if (length > limit) {
      await reader?.cancel();
      throw modelError(`${name} has more than ${limit} bytes, the limit for a file of its kind.`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const NO_SIGNATURES: TinySignatures = {
  async verify(_bytes, _bundle, what) {
    throw modelError(`The signature of ${what} cannot be checked in a browser; require none.`);
  },
};
