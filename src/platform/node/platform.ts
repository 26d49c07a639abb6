/**
 * @module platform/node/platform
 * The engine's platform in Node.
 */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { requireObject } from '../../core/arguments.js';
import { compileCore } from '../../core/compile.js';
import { AnyvmafError } from '../../core/errors.js';
import { BY_USER, type Origin } from '../../core/origin.js';
import type { Assets } from '../../engine/contract/platform.js';
import type { SearchPlatform } from '../../search/host.js';
import { nodeFilesOf } from './files.js';
import { nodeGpu } from './gpu.js';
import { nodeModels } from './models.js';
import { startNodeParser } from './parser-process.js';
import { startNodeWorker } from './pool.js';

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

function openers(
  origin: Origin,
): Pick<SearchPlatform, 'files' | 'models' | 'decoders' | 'tiny' | 'evaluationTask' | 'encoding'> {
  return {
    files: nodeFilesOf(origin),
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
    // Do not keep a failure: the file may be there next time.
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
    throw new AnyvmafError('io', `The core ${file.pathname} cannot be read; install anyvmaf again.`, {
      cause,
    });
  }
  return compileCore(bytes);
}

function parserScript(): URL {
  return locate(assets.parserWorker ?? new URL('./node-parser-worker.js', import.meta.url));
}

/** A place that is not a URL is a path. */
function locate(place: string | URL): URL {
  if (place instanceof URL) return place;
  return /^[a-z][a-z\d+.-]+:/i.test(place) ? new URL(place) : pathToFileURL(place);
}
