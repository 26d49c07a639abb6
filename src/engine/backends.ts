/**
 * @module engine/backends
 * Lists backends and the programs that run them, probes their health, and diagnoses the installation.
 */
import { requireObject, wrongType } from '../core/arguments.js';
import type { BackendName, OwnGpuBackend } from '../core/choices.js';
import { BACKEND_CHOICES, GPU_BACKENDS, OWN_GPU_BACKENDS } from '../core/choices.js';
import { capital, messageOf } from '../core/errors.js';
import { among } from '../core/shapes.js';
import { version } from '../core/version.js';
import type { DecoderAvailability } from '../media/decoder.js';
import type { TinyDeviceStatus } from '../tiny/types.js';
import type { Survey } from './backends/native/survey.js';
import { GREY_FORMAT, greyFrame, NO_BACKENDS, probeNative, survey } from './backends/native/survey.js';
import {
  type BackendDetail,
  type BackendHealth,
  type BackendList,
  isOwnBackend,
  type NativeBackend,
  type NativeDescription,
  type NativeOptions,
  type ProbeOptions,
  programName,
} from './backends/native/types.js';
import type { Platform } from './contract/platform.js';
import { forget, howToGet, programFor } from './measure/choice.js';
import { scorePair } from './score.js';

const CORE_NAME = "this package's own core";
const OWN_GPU: Readonly<Record<OwnGpuBackend, string>> = {
  webgpu: 'a GPU through WebGPU; the core measures the rest',
  hybrid: 'a GPU through WebGPU, beside workers of the core',
};
const NOWHERE = 'Programs can run in Node only.';

const UNHEALTHY = { runtime_healthy: false, latency_ms: null, score: null } as const;

/** @throws the signal's reason */
export async function listBackends(platform: Platform, options: NativeOptions = {}): Promise<BackendList> {
  requireObject('options', options);
  const host = await platform.native?.();
  const found = host && (await survey(host, options));
  const program = (backend: NativeBackend) => found && programFor(found, backend);
  const names: readonly NativeBackend[] = ['native-cpu', ...GPU_BACKENDS];
  const details = names.map((backend): BackendDetail => {
    const runs = program(backend)?.path ?? null;
    const advice = runs !== null ? null : host ? howToGet(backend) : NOWHERE;
    return { backend, compiled_in: runs !== null, runs, advice };
  });
  const gpu = platform.gpu?.here === true;
  const own = OWN_GPU_BACKENDS.map(
    (backend): BackendDetail => ({
      backend,
      compiled_in: gpu,
      runs: gpu ? OWN_GPU[backend] : null,
      advice: gpu ? null : `${capital(platform.gpu?.advice ?? 'WebGPU is not available here')}.`,
    }),
  );
  const flags = GPU_BACKENDS.map((backend) => [backend, program(backend) !== undefined] as const);
  return {
    ...NO_BACKENDS,
    cpu: true,
    ...Object.fromEntries(flags),
    webgpu: gpu,
    native_cpu: program('native-cpu') !== undefined,
    details: [{ backend: 'cpu', compiled_in: true, runs: CORE_NAME, advice: null }, ...details, ...own],
    native: describe(found),
  };
}

/** @throws the signal's reason */
export async function describeNative(
  platform: Platform,
  options: NativeOptions = {},
): Promise<NativeDescription> {
  requireObject('options', options);
  const host = await platform.native?.();
  return describe(host && (await survey(host, options)));
}

function describe(found: Survey | undefined): NativeDescription {
  const [program] = found?.programs ?? [];
  if (program) {
    const { path, version, build_flags, flavour } = program;
    return { binary_path: path, version, build_flags, flavour, error: null };
  }
  const [rejected] = found?.rejected ?? [];
  const error = !found
    ? NOWHERE
    : rejected
      ? `${found.rejected.map(({ problem }) => problem).join('; ')}.`
      : `Neither vmaf nor ffmpeg is on PATH. ${howToGet('native-cpu')}`;
  const binary_path = rejected?.path ?? null;
  return { binary_path, version: null, build_flags: NO_BACKENDS, flavour: null, error };
}

/** Ignores cached results. @throws {AnyvmafError} `usage` for an unknown backend; the signal's reason */
export async function probeBackend(
  platform: Platform,
  backend: BackendName,
  options: ProbeOptions = {},
): Promise<BackendHealth> {
  requireObject('options', options);
  const { timeout, signal } = options;
  among(BACKEND_CHOICES.filter((name) => name !== 'auto'))('backend', backend);
  if (timeout !== undefined && !(timeout > 0 && timeout <= 2 ** 31 - 1))
    throw wrongType('timeout', timeout, `a number of milliseconds from 1 to ${2 ** 31 - 1}`);
  if (isOwnBackend(backend)) return probeOwn(platform, backend === 'wasm' ? 'cpu' : backend, signal);
  const host = await platform.native?.();
  const found = host && (await survey(host, options));
  const program = found && programFor(found, backend);
  if (!host || !program) return absent(backend, found);
  forget(host);
  return probeNative(host, program, backend, { timeout, signal });
}

function absent(backend: NativeBackend, found: Survey | undefined): BackendHealth {
  const built = found?.programs[0];
  const why = built
    ? `${programName(built)} was built without ${backend}. ${howToGet(backend)}`
    : describe(found).error;
  return { ...UNHEALTHY, backend, compiled_in: false, error: why };
}

/** Scores the same grey frame in this thread, or on a worker for `hybrid`. */
async function probeOwn(platform: Platform, backend: 'cpu' | OwnGpuBackend, signal?: AbortSignal) {
  const start = performance.now();
  const frame = greyFrame();
  const health = { backend, compiled_in: backend === 'cpu' || platform.gpu?.here === true };
  try {
    const request = { reference: frame, distorted: frame, raw: GREY_FORMAT };
    const options = { backend, threads: backend === 'hybrid' ? 1 : 0, ...(signal && { signal }) };
    const report = await scorePair(platform, request, options);
    const score = report.frames[0]?.metrics.vmaf ?? Number.NaN;
    const latency_ms = performance.now() - start;
    const adapter = report.measurers?.find((measurer) => measurer.adapter)?.adapter;
    const measured = { ...health, latency_ms, ...(adapter && { adapter }) };
    if (Number.isFinite(score)) return { ...measured, runtime_healthy: true, score, error: null };
    const error = 'It returned no finite score for a grey frame.';
    return { ...measured, runtime_healthy: false, score: null, error };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...UNHEALTHY, ...health, error: messageOf(error) };
  }
}

/** Result of {@link diagnose}. */
export interface Diagnosis {
  /** Version of anyvmaf. */
  readonly version: string;
  /** Threads that can run at the same time. */
  readonly cores: number;
  /** Video decoders in order of preference. */
  readonly decoders: readonly DecoderAvailability[];
  readonly backends: BackendList;
  /** Health of every available backend, this package's core first; `hybrid` is not probed separately. */
  readonly health: readonly BackendHealth[];
  /** Runtimes and devices for tiny ONNX models. */
  readonly tiny: readonly TinyDeviceStatus[];
}

/** @throws the signal's reason */
export async function diagnose(platform: Platform, options: ProbeOptions = {}): Promise<Diagnosis> {
  requireObject('options', options);
  const [decoders, backends] = await Promise.all([askDecoders(platform), listBackends(platform, options)]);
  const health: BackendHealth[] = [];
  // One after another, so that probes do not affect each other's latency.
  for (const { backend, compiled_in } of backends.details) {
    // `hybrid` works if `webgpu` does.
    if (compiled_in && backend !== 'hybrid') health.push(await probeBackend(platform, backend, options));
  }
  const tiny = await (await platform.tiny()).runtimes.devices();
  return { version, cores: platform.parallelism, decoders, backends, health, tiny };
}

async function askDecoders(platform: Platform): Promise<readonly DecoderAvailability[]> {
  const decoders = await platform.decoders({ urls: false });
  return Promise.all(decoders.map((decoder) => decoder.availability()));
}
