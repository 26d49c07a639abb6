/**
 * @module platform/node/platform
 * The engine's platform in Node, with model files of the package, of the user, and pulled ones in the user's cache.
 */
import { closeSync, readFile as readDescriptor } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { requireObject } from '../../core/arguments.js';
import { compileCore } from '../../core/compile.js';
import { codeOf, ioError } from '../../core/errors.js';
import { BY_USER, type Origin } from '../../core/origin.js';
import type { Assets } from '../../engine/contract/platform.js';
import { fileError, openChecked } from '../../files/checked-file.js';
import { cacheFolder, makeFolders, writeReason, writeWhole } from '../../files/folders.js';
import type { ModelCache, ModelStore } from '../../models/types.js';
import type { SearchPlatform } from '../../search/session.js';
import { nodeFilesOf } from './files.js';
import { nodeGpu } from './gpu.js';
import { startNodeParser, startNodeWorker } from './workers.js';

let assets: Assets = {};
const MODULES = {
  core: () => assets.wasm ?? new URL('../../../wasm/anyvmaf.wasm', import.meta.url),
  perceptual: () => assets.perceptualWasm ?? new URL('../../../wasm/perceptual.wasm', import.meta.url),
};
const compiled: { [module in keyof typeof MODULES]?: Promise<WebAssembly.Module> } = {};

/**
 * Sets the addresses of the package's own files, for programs whose bundler moved them. Call it before anything else.
 * A file that is not named stays where the package has it.
 */
export function configureNode(changes: Assets): void {
  requireObject('assets', changes, 'an object of addresses');
  assets = { ...assets, ...changes };
  if (changes.wasm !== undefined) delete compiled.core;
  if (changes.perceptualWasm !== undefined) delete compiled.perceptual;
}

const modelFolder = (): URL => locate(assets.models ?? new URL('../../../model/', import.meta.url));

/** @param folder returns the folder of the built-in models, ending in `/` @param origin of the names of other files */
function nodeModels(folder: () => URL, origin = BY_USER): ModelStore {
  return {
    keep: nodeModelCache,
    async readBuiltIn(fileName) {
      const file = new URL(fileName, folder());
      try {
        return await readFile(file, 'utf8');
      } catch (cause) {
        throw ioError(`The package's own file ${file.pathname} cannot be read; install anyvmaf again.`, {
          cause,
        });
      }
    },
    async readFile(path) {
      try {
        return await readChecked(path, origin);
      } catch (cause) {
        throw fileError(path, cause);
      }
    },
  };
}

async function readChecked(path: string, origin: Origin): Promise<string> {
  const fd = openChecked(path, origin);
  try {
    return await promisify(readDescriptor)(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

const placeOf = (fileName: string): string => join(cacheFolder(), 'models', fileName);

export const nodeModelCache: ModelCache = {
  placeOf,
  mirror: () => process.env.ANYVMAF_MODELS_FROM || undefined,
  async read(fileName) {
    const path = placeOf(fileName);
    try {
      return await readFile(path, 'utf8');
    } catch (cause) {
      if (/^ENO(?:ENT|TDIR)$/.test(codeOf(cause))) return undefined;
      throw fileError(path, cause);
    }
  },
  async write(fileName, bytes) {
    const path = placeOf(fileName);
    try {
      await makeFolders(dirname(resolve(path)));
      // Atomic for concurrent readers.
      await writeWhole(path, bytes);
    } catch (cause) {
      throw ioError(
        `The model cannot be saved as ${path}: ${writeReason(cause)}; make the folder writable, or name another ` +
          'with ANYVMAF_CACHE.',
        { cause },
      );
    }
  },
};

const decodeStream: SearchPlatform['files']['decodeStream'] = async (bytes, name) =>
  (await import('./stream-decoder.js')).decodeStream(bytes, name);

function openers(
  origin: Origin,
): Pick<SearchPlatform, 'files' | 'models' | 'decoders' | 'tiny' | 'evaluationTask' | 'encoding'> {
  return {
    files: { ...nodeFilesOf(origin), ...(origin.by === 'user' && { decodeStream }) },
    models: nodeModels(modelFolder, origin),
    async decoders({ urls, rate, track }) {
      const { nodeDecoders } = await import('./decoders.js');
      return nodeDecoders(
        { urls, origin, rate, track },
        {
          worker: () => locate(assets.ffmpegWorker ?? new URL('./node-ffmpeg-worker.js', import.meta.url)),
          parser: parserScript,
        },
      );
    },
    tiny: async () => (await import('./tiny/platform.js')).nodeTiny(modelFolder, origin),
    encoding: async () => (await import('./encoding/host.js')).nodeEncoding(origin),
    evaluationTask: () => ({ kind: 'evaluation', settings: { models: modelFolder().href, origin } }),
  };
}

export const nodePlatform: SearchPlatform = {
  ...openers(BY_USER),
  ofOrigin: (origin) => ({ ...nodePlatform, ...openers(origin) }),
  heatmaps: async () => (await import('./heatmaps.js')).nodeHeatmaps,
  gpu: nodeGpu,
  native: async () => (await import('./native/host.js')).nodeNative,
  parallelism: availableParallelism(),
  loadCore(module = 'core') {
    compiled[module] ??= loadCore(MODULES[module]());
    // Retry after a failure.
    compiled[module].catch(() => {
      delete compiled[module];
    });
    return compiled[module];
  },
  startParser: () => startNodeParser(parserScript()),
  startWorker: () => startNodeWorker(locate(assets.worker ?? new URL('./node-worker.js', import.meta.url))),
  breathe: () => new Promise((resolve) => setImmediate(resolve)),
};

async function loadCore(wasm: NonNullable<Assets['wasm']>): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (typeof wasm !== 'string' && !(wasm instanceof URL)) return compileCore(wasm);
  const file = locate(wasm);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw ioError(`The core ${file.pathname} cannot be read; install anyvmaf again.`, { cause });
  }
  return compileCore(bytes);
}

function parserScript(): URL {
  return locate(assets.parserWorker ?? new URL('./node-parser-worker.js', import.meta.url));
}

/** Text that is not a URL is a path. */
function locate(place: string | URL): URL {
  if (place instanceof URL) return place;
  return /^[a-z][a-z\d+.-]+:/i.test(place) ? new URL(place) : pathToFileURL(place);
}
