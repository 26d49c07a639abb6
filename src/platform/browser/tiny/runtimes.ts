/**
 * @module platform/browser/tiny/runtimes
 * Runs tiny models in a browser with onnxruntime-web, on WebGPU or else WebAssembly; loaded with the first model.
 */
import { backendError } from '../../../core/errors.js';
import { type OrtModule, openOrt } from '../../../tiny/ort.js';
import { type DeviceOffer, describeDevices, openOn } from '../../../tiny/session.js';
import type { TinyRuntimes } from '../../../tiny/types.js';

type OrtWeb = OrtModule & {
  readonly env: { logLevel?: string; readonly wasm: { numThreads?: number } };
};

/** @param place returns the address of onnxruntime-web; default: imports it by name */
export function browserTinyRuntimes(place: () => string | URL | undefined): TinyRuntimes {
  let library: Promise<OrtWeb> | undefined;
  function load(): Promise<OrtWeb> {
    library ??= importLibrary(place());
    // Retry after a failure.
    library.catch(() => {
      library = undefined;
    });
    return library;
  }

  const offer = (
    device: 'webgpu' | 'cpu',
    provider: string,
    adapter?: DeviceOffer['adapter'],
  ): DeviceOffer => ({
    device,
    runtime: 'onnxruntime-web',
    ...(adapter && { adapter }),
    open: async (model, options, notes) =>
      openOrt(await load(), model, options, {
        runtime: 'onnxruntime-web',
        device,
        provider,
        notes,
        ...(adapter && { adapter: adapter.name }),
      }),
  });
  const offers = async () => {
    const adapter = await findAdapter();
    return [...(adapter ? [offer('webgpu', 'webgpu', adapter)] : []), offer('cpu', 'wasm')];
  };
  return {
    devices: async () => describeDevices(await offers()),
    open: async (model, options) => openOn(model, options, await offers(), ['webgpu', 'cpu']),
  };
}

/** Names of drivers that compute on the CPU. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i;

async function findAdapter(): Promise<DeviceOffer['adapter']> {
  const gpu: unknown = Reflect.get(navigator, 'gpu');
  if (typeof gpu !== 'object' || gpu === null || !('requestAdapter' in gpu)) return undefined;
  const { requestAdapter } = gpu;
  if (typeof requestAdapter !== 'function') return undefined;
  try {
    const adapter: unknown = await requestAdapter.call(gpu);
    return typeof adapter === 'object' && adapter !== null ? adapterFacts(adapter) : undefined;
  } catch {
    return undefined;
  }
}

function adapterFacts(adapter: object): NonNullable<DeviceOffer['adapter']> {
  const info: unknown = Reflect.get(adapter, 'info');
  const textOf = (name: string): unknown =>
    typeof info === 'object' && info !== null ? Reflect.get(info, name) : undefined;
  const words = ['vendor', 'architecture', 'device', 'description']
    .map(textOf)
    .filter((word): word is string => typeof word === 'string' && word !== '');
  const name = [...new Set(words)].join(' ') || 'of no name';
  // Newer browsers have the flag in the adapter's info.
  const fallback = textOf('isFallbackAdapter') === true || Reflect.get(adapter, 'isFallbackAdapter') === true;
  return { name, software: fallback || SOFTWARE.test(name) };
}

/** A constant outside the import: bundlers would add its 28 MB to every page, or fail without it. */
const LIBRARY = 'onnxruntime-web';

async function importLibrary(place: string | URL | undefined): Promise<OrtWeb> {
  // Without a place, an import map may resolve the name.
  const address = place === undefined ? LIBRARY : new URL(place, location.href).href;
  try {
    const library: OrtWeb = await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
    // Threads need response headers that pages rarely have; workers already run in parallel.
    library.env.wasm.numThreads = 1;
    library.env.logLevel = 'fatal';
    return library;
  } catch (cause) {
    throw backendError(
      `the library onnxruntime-web cannot be loaded from ${address}; serve the folder onnxruntime-web/dist and name ` +
        'ort.webgpu.bundle.min.mjs in it with configure({ onnxruntime }).',
      { cause },
    );
  }
}
