/**
 * @module platform/browser/tiny/runtimes
 * Runs tiny models in a browser with onnxruntime-web, on WebGPU or else WebAssembly; loaded with the first model.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { type OrtModule, openOrt } from '../../../tiny/ort.js';
import { type DeviceOffer, describeDevices, openOn } from '../../../tiny/session.js';
import type { TinyRuntimes } from '../../../tiny/types.js';

type OrtWeb = OrtModule & {
  readonly env: { logLevel?: string; readonly wasm: { numThreads?: number } };
};

/** @param place address of onnxruntime-web, if the host names one; else it is imported by name */
export function browserTinyRuntimes(place: () => string | URL | undefined): TinyRuntimes {
  let library: Promise<OrtWeb> | undefined;
  function load(): Promise<OrtWeb> {
    library ??= importLibrary(place());
    // Do not keep a failure: the network may be back next time.
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

/** The GPU of this page or worker, if any. */
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
  // Browsers moved the flag from the adapter to its info.
  const fallback = textOf('isFallbackAdapter') === true || Reflect.get(adapter, 'isFallbackAdapter') === true;
  return { name, software: fallback || SOFTWARE.test(name) };
}

/** Not in the import itself: bundlers would put its 28 MB into every page, or fail to build without it. */
const LIBRARY = 'onnxruntime-web';

async function importLibrary(place: string | URL | undefined): Promise<OrtWeb> {
  // Without a place, an import map may resolve the name.
  const address = place === undefined ? LIBRARY : new URL(place, location.href).href;
  try {
    const library: OrtWeb = await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
    // Threads need headers that pages rarely have; workers share the frames already.
    library.env.wasm.numThreads = 1;
    library.env.logLevel = 'fatal';
    return library;
  } catch (cause) {
    throw new AnyvmafError(
      'backend',
      `the library onnxruntime-web cannot be loaded from ${address}; serve the folder onnxruntime-web/dist and name ` +
        'ort.webgpu.bundle.min.mjs in it with configure({ onnxruntime }).',
      { cause },
    );
  }
}
