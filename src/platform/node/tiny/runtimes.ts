/**
 * @module platform/node/tiny/runtimes
 * Runs tiny models in Node with onnxruntime-node if installed, else with the WebAssembly of onnxruntime-web; and with
 * OpenVINO. All are optional packages, loaded with a model; the WebAssembly is also a part, fetched on demand.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clause } from '../../../core/printable.js';
import { obtainPart } from '../../../parts/consent.js';
import { hasPackage, partFile } from '../../../parts/table.js';
import { type OpenVino, openVinoOffers } from '../../../tiny/openvino.js';
import { type OrtModule, type OrtTarget, openOrt } from '../../../tiny/ort.js';
import { type DeviceOffer, describeDevices, openOn } from '../../../tiny/session.js';
import type { TinyDevice, TinyRuntimes } from '../../../tiny/types.js';

/** Loads a package by its name; tests replace it. */
export type Load = (name: string) => Promise<unknown>;

/** Order of `auto`. WebGPU is missing: requesting it without a GPU writes to the terminal. */
const ORDER: readonly TinyDevice[] = ['cuda', 'openvino-gpu', 'rocm', 'coreml', 'directml', 'cpu'];
const ORDER_ON_MACOS: readonly TinyDevice[] = ['coreml', 'cpu'];

/** Flags of CoreML's provider: CPU only; only devices with a Neural Engine; no Neural Engine. */
const CPU_ONLY = 0x1;
const WITH_ENGINE = 0x4;
const CPU_AND_GPU = 0x20;

const BACKENDS: Readonly<Record<string, readonly Pick<OrtTarget, 'device' | 'provider'>[]>> = {
  cpu: [{ device: 'cpu', provider: 'cpu' }],
  cuda: [{ device: 'cuda', provider: 'cuda' }],
  tensorrt: [{ device: 'tensorrt', provider: 'tensorrt' }],
  webgpu: [{ device: 'webgpu', provider: 'webgpu' }],
  dml: [{ device: 'directml', provider: 'dml' }],
  coreml: [
    { device: 'coreml', provider: 'coreml' },
    { device: 'coreml-ane', provider: { name: 'coreml', coreMlFlags: WITH_ENGINE } },
    { device: 'coreml-gpu', provider: { name: 'coreml', coreMlFlags: CPU_AND_GPU } },
    { device: 'coreml-cpu', provider: { name: 'coreml', coreMlFlags: CPU_ONLY } },
  ],
};

/** @param tryDevice tests a device of onnxruntime-node in its own process */
export function nodeTinyRuntimes(
  load: Load = loadPackage,
  tryDevice: (provider: OrtTarget['provider']) => Promise<string | null> = tryProvider,
): TinyRuntimes {
  let found: Promise<readonly DeviceOffer[]> | undefined;
  const offers = () => {
    found ??= findOffers(load);
    return found;
  };
  let tried: Promise<ReadonlyMap<TinyDevice, string>> | undefined;
  return {
    devices: async () => {
      const available = await offers();
      tried ??= failuresOf(available, tryDevice);
      return describeDevices(available, await tried);
    },
    obtain: async (device, signal) => {
      const needed = device === 'auto' || device === 'cpu';
      if (!needed || RUNTIMES.some(hasPackage)) return;
      await obtainPart('tiny', signal);
      // Search again after installing it.
      found = undefined;
    },
    open: async (model, options) =>
      openOn(model, options, await offers(), process.platform === 'darwin' ? ORDER_ON_MACOS : ORDER),
  };
}

/** The WebAssembly in the part `tiny`. */
const WASM = 'onnxruntime-web/dist/ort.node.min.mjs';

/** Packages that run models on the CPU. */
const RUNTIMES = ['onnxruntime-node', 'onnxruntime-web', 'openvino-node'];

/** Imports the user's own package, else the part. */
async function loadPackage(name: string): Promise<unknown> {
  const part = name === 'onnxruntime-web' && !hasPackage(name) ? partFile('tiny', WASM) : undefined;
  return import(part === undefined ? name : pathToFileURL(part).href);
}

/** Tries each offer of onnxruntime-node except the CPU; returns the reasons of failures. */
async function failuresOf(
  offers: readonly DeviceOffer[],
  tryDevice: (provider: OrtTarget['provider']) => Promise<string | null>,
): Promise<ReadonlyMap<TinyDevice, string>> {
  const failures = new Map<TinyDevice, string>();
  const native = offers.filter(({ runtime, device }) => runtime === 'onnxruntime-node' && device !== 'cpu');
  for (const { device } of native) {
    const target = Object.values(BACKENDS)
      .flat()
      .find((candidate) => candidate.device === device);
    const failure = target && (await tryDevice(target.provider));
    if (failure) failures.set(device, failure);
  }
  return failures;
}

async function findOffers(load: Load): Promise<readonly DeviceOffer[]> {
  const native = await nativeOffers(load);
  return [...(native.length > 0 ? native : await wasmOffers(load)), ...(await openVino(load))];
}

async function nativeOffers(load: Load): Promise<readonly DeviceOffer[]> {
  const found = await tryLoad(load, 'onnxruntime-node');
  const ort = ortOf(found);
  if (!ort) return [];
  silence(found);
  return supported(found).flatMap((backend) =>
    (BACKENDS[backend] ?? []).map((target) => offer(ort, { runtime: 'onnxruntime-node', ...target })),
  );
}

async function wasmOffers(load: Load): Promise<readonly DeviceOffer[]> {
  const found = await tryLoad(load, 'onnxruntime-web');
  const ort = ortOf(found);
  if (!ort) return [];
  silence(found);
  // Further threads would be workers that never end.
  const settings = member(member(unwrap(found), 'env'), 'wasm');
  if (isObject(settings)) Reflect.set(settings, 'numThreads', 1);
  return [offer(ort, { runtime: 'onnxruntime-web', device: 'cpu', provider: 'wasm' })];
}

async function openVino(load: Load): Promise<readonly DeviceOffer[]> {
  const found = await tryLoad(load, 'openvino-node');
  const library = [member(found, 'addon'), member(unwrap(found), 'addon')].find(isOpenVino);
  if (!library) return [];
  try {
    return openVinoOffers(library);
  } catch {
    // Treat a package for another machine or without its libraries as missing.
    return [];
  }
}

function offer(ort: OrtModule, target: OrtTarget): DeviceOffer {
  const { device, runtime } = target;
  return {
    device,
    runtime,
    open: (model, options, notes) => openOrt(ort, model, options, { ...target, notes }),
  };
}

/** Backends of onnxruntime-node whose libraries are installed. */
function supported(found: unknown): readonly string[] {
  const list = member(unwrap(found), 'listSupportedBackends');
  const backends: unknown = typeof list === 'function' ? list() : [{ name: 'cpu', bundled: true }];
  if (!Array.isArray(backends)) return ['cpu'];
  return backends.flatMap((backend: unknown) => {
    const name = member(backend, 'name');
    if (typeof name !== 'string') return [];
    return member(backend, 'bundled') === true || hasLibrary(name) ? [name] : [];
  });
}

/** Whether a provider's separate library is installed. */
function hasLibrary(provider: string): boolean {
  try {
    const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
    const folder = join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch);
    return ['so', 'dll', 'dylib'].some(
      (ending) =>
        existsSync(join(folder, `libonnxruntime_providers_${provider}.${ending}`)) ||
        existsSync(join(folder, `onnxruntime_providers_${provider}.${ending}`)),
    );
  } catch {
    return false;
  }
}

/** `undefined` if the package is missing or does not load. */
async function tryLoad(load: Load, name: string): Promise<unknown> {
  try {
    return await load(name);
  } catch {
    return undefined;
  }
}

/** A CommonJS module's exports, which `import` returns as its default. */
function unwrap(found: unknown): unknown {
  const inner = member(found, 'default');
  return isObject(inner) ? inner : found;
}

const ortOf = (found: unknown): OrtModule | undefined => [found, unwrap(found)].find(isOrt);

function isOrt(found: unknown): found is OrtModule {
  return typeof member(found, 'Tensor') === 'function' && member(found, 'InferenceSession') !== undefined;
}

function isOpenVino(found: unknown): found is OpenVino {
  return typeof member(found, 'Core') === 'function' && typeof member(found, 'Tensor') === 'function';
}

/** Suppresses messages on the terminal; important ones are also thrown. */
function silence(found: unknown): void {
  const env = member(unwrap(found), 'env');
  if (isObject(env)) Reflect.set(env, 'logLevel', 'fatal');
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function member(value: unknown, name: string): unknown {
  return isObject(value) || typeof value === 'function' ? Reflect.get(value, name) : undefined;
}

/** A graph of one Neg of one number: operators of version 13, file of version 7. */
const GRAPH = 'CAc6MgoLCgF4EgF5IgNOZWcSAWdaDwoBeBIKCggIARIECgIIAWIPCgF5EgoKCAgBEgQKAggBQgIQDQ==';

/** Milliseconds for a driver to start, and most bytes of its output. */
const LIMITS = { timeout: 20_000, maxBuffer: 1024 * 1024 } as const;

const SCRIPT = `
const [name, graph, provider] = process.argv.slice(1);
const found = await import(name);
const { InferenceSession, Tensor } = found.InferenceSession ? found : found.default;
try {
  const session = await InferenceSession.create(Buffer.from(graph, 'base64'), {
    executionProviders: [JSON.parse(provider)],
    logSeverityLevel: 4,
  });
  const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(2), [1]) });
  console.log(y.data[0] === -2 ? 'works' : 'it computes ' + y.data[0] + ' for -2');
} catch (error) {
  console.log(String(error?.message ?? error));
}
process.exit();
`;

/** Tests a device in its own process, which drivers may end. @returns why it fails, as a clause; `null` if it works */
export function tryProvider(provider: OrtTarget['provider']): Promise<string | null> {
  const args = ['--input-type=module', '--eval', SCRIPT, 'onnxruntime-node', GRAPH, JSON.stringify(provider)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { ...LIMITS, cwd: import.meta.dirname }, (error, stdout) => {
      const answer = stdout.trim().split('\n').at(-1) ?? '';
      if (answer === 'works') resolve(null);
      else resolve(oneLine(answer || error?.message || 'it says nothing'));
    });
  });
}

function oneLine(text: string): string {
  const line = text.slice(0, 4000).replaceAll(/\s+/g, ' ');
  // Drop the location in onnxruntime's code.
  const found = line.lastIndexOf(' was false. ');
  return clause(line.slice(found < 0 ? 0 : found + ' was false. '.length)).slice(0, 200);
}
