/**
 * @module platform/browser/platform
 * The engine's platform in a browser, page or worker.
 */
import { requireObject } from '../../core/arguments.js';
import type { Assets, Platform } from '../../engine/contract/platform.js';
import type { ModelStore } from '../../models/types.js';
import type { TinyPlatform } from '../../tiny/types.js';
import { browserFiles } from './files.js';
import { browserGpu } from './gpu.js';
import { startBrowserParser, startBrowserWorker } from './workers.js';

let assets: Assets = {};
const MODULES = {
  core: { asset: 'wasm', place: () => new URL('../../../wasm/anyvmaf.wasm', import.meta.url) },
  perceptual: {
    asset: 'perceptualWasm',
    place: () => new URL('../../../wasm/perceptual.wasm', import.meta.url),
  },
} as const;
const compiled: { -readonly [module in keyof typeof MODULES]?: Promise<WebAssembly.Module> } = {};

let tiny: TinyPlatform | undefined;

/** Sets the addresses of the package's own files, for programs whose bundler moved them. */
export function configureBrowser(changes: Assets): void {
  requireObject('assets', changes, 'an object of addresses');
  assets = { ...assets, ...changes };
  if (changes.wasm !== undefined) delete compiled.core;
  if (changes.perceptualWasm !== undefined) delete compiled.perceptual;
}

const files = () => import('./package-files.js');

/** Cache key of a pulled file; never fetched. */
const placeOf = (fileName: string): string => new URL(`/.anyvmaf/models/${fileName}`, location.origin).href;

/** Models by URL; loads its code with the first model. */
const models: ModelStore = {
  keep: {
    placeOf,
    read: async (fileName) => (await files()).readStored(placeOf(fileName)),
    write: async (fileName, bytes) => (await files()).store(placeOf(fileName), bytes),
  },
  readBuiltIn: async (fileName) => (await files()).readShippedModel(fileName, assets.models),
  readFile: async (path) => (await files()).readModel(new URL(path, location.href)),
};

export const browserPlatform: Platform = {
  files: browserFiles,
  models,
  async decoders({ track }) {
    const { browserDecoders } = await import('./decoders.js');
    return browserDecoders(() => assets, track);
  },
  async tiny() {
    const { browserTiny } = await import('./tiny-platform.js');
    tiny ??= browserTiny(
      () => assets.models,
      () => assets.onnxruntime,
    );
    return tiny;
  },
  get onnxruntime() {
    return assets.onnxruntime === undefined ? undefined : new URL(assets.onnxruntime, location.href).href;
  },
  // A getter, so that the module can be imported anywhere. Assume 4 if the browser hides the number.
  get parallelism() {
    return navigator.hardwareConcurrency || 4;
  },
  loadCore(module = 'core') {
    compiled[module] ??= files().then(({ loadCore }) => {
      const { asset, place } = MODULES[module];
      return loadCore(assets[asset] ?? place(), asset);
    });
    // Retry after a failure.
    compiled[module].catch(() => {
      delete compiled[module];
    });
    return compiled[module];
  },
  gpu: browserGpu,
  startParser: () => startBrowserParser(assets.parserWorker),
  evaluationTask() {
    const base = location.href;
    const models = assets.models === undefined ? undefined : new URL(assets.models, base).href;
    return {
      kind: 'evaluation',
      settings: { ...(models !== undefined && { models }), base, onnxruntime: browserPlatform.onnxruntime },
    };
  },
  startWorker: () => startBrowserWorker(assets.worker),
  breathe,
};

/** Posts itself a message, which background tabs do not throttle as they do timers. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
