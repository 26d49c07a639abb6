/**
 * @module platform/browser/tiny/runtimes
 * What runs tiny models in a browser: onnxruntime-web on WebGPU, else on WebAssembly; loaded when a model is.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { type DeviceOffer, describeDevices, openOn } from '../../../tiny/devices.js';
import { type OrtModule, openOrt } from '../../../tiny/ort.js';
import type { TinyRuntimes } from '../../../tiny/types.js';

/** The package with the settings that matter. */
type OrtWeb = OrtModule & {
  readonly env: { logLevel?: string; readonly wasm: { numThreads?: number } };
};

/** @param place where onnxruntime-web is, when the host says so; otherwise it is imported by its name */
export function browserTinyRuntimes(place: () => string | URL | undefined): TinyRuntimes {
  let library: Promise<OrtWeb> | undefined;
  function load(): Promise<OrtWeb> {
    library ??= importLibrary(place());
    // A failure is not kept: the network may be back next time.
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

/** Drivers that compute on the processor, by what they call themselves. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i;

/** The GPU that this page or worker gets; none where it gets none. */
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
  // Where the flag stands has moved from the adapter to its info.
  const fallback = textOf('isFallbackAdapter') === true || Reflect.get(adapter, 'isFallbackAdapter') === true;
  return { name, software: fallback || SOFTWARE.test(name) };
}

/** Kept apart from the import: bundlers would put its 28 MB into every page, and some refuse to build without it. */
const LIBRARY = 'onnxruntime-web';

async function importLibrary(place: string | URL | undefined): Promise<OrtWeb> {
  // Without a place, an import map may know the name.
  const address = place === undefined ? LIBRARY : new URL(place, location.href).href;
  try {
    const library: OrtWeb = await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
    // Threads need headers that pages rarely have; frames are shared out among workers already.
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
