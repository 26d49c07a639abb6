/**
 * @module platform/browser/platform
 * A browser, page or worker, as a platform of the engine.
 */
import { requireObject } from '../../core/arguments.js';
import type { Assets, Platform } from '../../engine/contract/platform.js';
import type { ModelStore } from '../../models/types.js';
import type { TinyPlatform } from '../../tiny/types.js';
import { browserFiles } from './files.js';
import { browserGpu } from './gpu.js';
import { startBrowserParser, startBrowserWorker } from './workers.js';

let assets: Assets = {};
/** Where the modules are, each by the asset that replaces it; compiled on first use. */
const MODULES = {
  core: { asset: 'wasm', place: () => new URL('../../../wasm/anyvmaf.wasm', import.meta.url) },
  perceptual: {
    asset: 'perceptualWasm',
    place: () => new URL('../../../wasm/perceptual.wasm', import.meta.url),
  },
} as const;
const compiled: { -readonly [module in keyof typeof MODULES]?: Promise<WebAssembly.Module> } = {};

/** Made once. */
let tiny: TinyPlatform | undefined;

/** Sets where the package's own files are, for programs whose bundler moved them. */
export function configureBrowser(changes: Assets): void {
  requireObject('assets', changes, 'an object of addresses');
  assets = { ...assets, ...changes };
  if (changes.wasm !== undefined) delete compiled.core;
  if (changes.perceptualWasm !== undefined) delete compiled.perceptual;
}

const files = () => import('./package-files.js');
const cache = () => import('./model-cache.js');

/** An address that the storage knows a pulled file by; nothing is ever fetched from it. */
const placeOf = (fileName: string): string => new URL(`/.anyvmaf/models/${fileName}`, location.origin).href;

/** The package's own models and others, by URL. What reads them is loaded with the first one. */
const models: ModelStore = {
  keep: {
    placeOf,
    read: async (fileName) => (await cache()).readStored(placeOf(fileName)),
    write: async (fileName, bytes) => (await cache()).store(placeOf(fileName), bytes),
  },
  readBuiltIn: async (fileName) => (await files()).readShippedModel(fileName, assets.models),
  readFile: async (path) => (await files()).readModel(new URL(path, location.href)),
};

/** The engine's world in a browser. */
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
  // Asked for only when needed, so that the module can be imported anywhere. Browsers that do not tell have a few.
  get parallelism() {
    return navigator.hardwareConcurrency || 4;
  },
  loadCore(module = 'core') {
    compiled[module] ??= files().then(({ loadCore }) => {
      const { asset, place } = MODULES[module];
      return loadCore(assets[asset] ?? place(), asset);
    });
    // A failure is not kept: the network may be back next time.
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

/** A message to oneself: unlike timers it is neither delayed nor throttled in background tabs. */
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
