/**
 * @module engine/measure/choice
 * Chooses the backend of a run: this package's core, or an installed program that supports the request and works.
 */

import { AnyvmafError } from '../../core/errors.js';
import { capital, type Remedy } from '../../core/hint.js';
import { type NativeHost, oneLine, programName } from '../backends/native/host.js';
import { type ProbeRequest, probeNative } from '../backends/native/probe.js';
import { type Rejected, survey } from '../backends/native/survey.js';
import {
  type BackendHealth,
  type BackendName,
  GPU_BACKENDS,
  type GpuBackend,
  isOwnBackend,
  type NativeBackend,
  type NativeProgram,
} from '../backends/native/types.js';
import type { ProgramOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';

type ChoiceOptions = Pick<ProgramOptions, 'backend' | 'native'>;

export interface NativeChoice {
  readonly host: NativeHost;
  readonly program: NativeProgram;
  readonly backend: NativeBackend;
}

export interface BackendChosen {
  /** Absent for this package's core. */
  readonly native?: NativeChoice;
  /** Full sentences. */
  readonly notes: readonly string[];
}

const ADVICE: Readonly<Record<NativeBackend, string>> = {
  'native-cpu': "install libvmaf's vmaf tool, or an ffmpeg with the libvmaf filter",
  cuda: 'install a vmaf built with CUDA and a driver for an NVIDIA GPU',
  sycl: 'install a vmaf built with SYCL and the oneAPI run time',
  hip: 'install a vmaf built with HIP and the ROCm run time',
  metal: 'install a vmaf built with Metal, on a Mac',
};

const NAME_PROGRAM: Remedy = { purpose: 'name', option: 'vmafBin', aim: 'where it is not on PATH' };

export function howToGet(backend: NativeBackend): string {
  return `${capital(ADVICE[backend])}, and put it on PATH.`;
}

/**
 * Chooses by the option `backend`. A backend requested by name runs or is refused.
 * @throws {AnyvmafError} `backend` if the requested backend is missing or does not work, with alternatives and how to
 * install it; `usage` for an option that only this package's core supports; the signal's reason
 */
export async function chooseBackend(
  platform: Platform,
  checked: ChoiceOptions,
  signal: AbortSignal,
): Promise<BackendChosen> {
  const { backend, native } = checked;
  if (isOwnBackend(backend)) return { notes: [] };
  const host = await platform.native?.();
  if (backend === 'auto') return host ? chooseGpu(host, checked, signal) : { notes: [] };
  const [refused] = native.coreOnly;
  if (refused !== undefined) {
    throw new AnyvmafError(
      'usage',
      `the backend ${backend} does not support ${refused}, which only the core has; leave it out, or use the backend cpu.`,
    );
  }
  if (!host) {
    throw new AnyvmafError(
      'backend',
      `The backend ${backend} needs an installed program, which cannot run here; use the backend cpu.`,
    );
  }
  const { vmafBin } = native;
  const found = await survey(host, { vmafBin, signal }, backend === 'native-cpu' ? 'all' : 'vmaf');
  const program = found.programs.find((one) => backend === 'native-cpu' || one.build_flags[backend]);
  if (!program) {
    const why =
      found.programs.map((one) => `${programName(one)} was built without it`)[0] ??
      reasons(found.rejected) ??
      'no vmaf was found on PATH';
    const message = `The backend ${backend} is not available: ${why}. ${await available(host, checked, signal)}`;
    throw new AnyvmafError('backend', message, { hints: [ADVICE[backend], NAME_PROGRAM] });
  }
  const health = await healthOf(host, program, backend, { devices: native.devices, signal });
  if (!health.runtime_healthy) {
    throw new AnyvmafError(
      'backend',
      `The backend ${backend} does not work here: ${health.error} ${await available(host, checked, signal, backend)}`,
    );
  }
  const passed = found.rejected.filter(
    ({ from }) => from !== 'PATH' || found.programs[0]?.flavour !== 'vmaf',
  );
  const notes = passed.length > 0 ? [`Not used as a native backend: ${reasons(passed)}.`] : [];
  return { native: { host, program, backend }, notes };
}

async function chooseGpu(
  host: NativeHost,
  { native }: ChoiceOptions,
  signal: AbortSignal,
): Promise<BackendChosen> {
  const { vmafBin, devices, coreOnly } = native;
  const { programs, rejected } = await survey(host, { vmafBin, signal }, 'vmaf');
  const named = rejected.filter(({ from }) => from !== 'PATH');
  if (vmafBin !== undefined && named.length > 0) {
    throw new AnyvmafError('backend', `${reasons(named)}; correct it, or leave it out to use the core.`);
  }
  const notes = named.length > 0 ? [`Not used as a native backend: ${reasons(named)}.`] : [];
  for (const program of programs) {
    for (const backend of GPU_BACKENDS) {
      if (!program.build_flags[backend]) continue;
      if (coreOnly.length > 0) {
        notes.push(`The backend ${backend} was not used: it does not support ${coreOnly.join(' and ')}.`);
        return { notes };
      }
      const health = await healthOf(host, program, backend, { devices, signal });
      if (health.runtime_healthy) return { native: { host, program, backend }, notes };
      notes.push(`The backend ${backend} was not used: ${health.error}`);
    }
  }
  return { notes };
}

const healths = new WeakMap<NativeHost, Map<string, BackendHealth>>();

/** Probes each program, backend and request once, until {@link forget}. @throws the signal's reason */
export async function healthOf(
  host: NativeHost,
  program: NativeProgram,
  backend: NativeBackend,
  request: ProbeRequest,
): Promise<BackendHealth> {
  const known = healths.get(host) ?? new Map<string, BackendHealth>();
  healths.set(host, known);
  const { models, files, devices } = request;
  const key = JSON.stringify([program.key, backend, models, devices, files]);
  const health = known.get(key) ?? (await probeNative(host, program, backend, request));
  known.set(key, health);
  return health;
}

export function forget(host: NativeHost): void {
  healths.delete(host);
}

function reasons(rejected: readonly Rejected[]): string | undefined {
  return rejected.length > 0 ? rejected.map(({ problem }) => oneLine(problem)).join('; ') : undefined;
}

async function available(
  host: NativeHost,
  { native: { vmafBin } }: ChoiceOptions,
  signal: AbortSignal,
  except?: BackendName,
): Promise<string> {
  const { programs } = await survey(host, { vmafBin, signal });
  const gpus = programs.flatMap((program) =>
    GPU_BACKENDS.filter((backend): backend is GpuBackend => program.build_flags[backend]).map(
      (backend) => [backend, program] as const,
    ),
  );
  const [first] = programs;
  const there = [...(first ? [['native-cpu', first] as const] : []), ...gpus]
    .filter(([name]) => name !== except)
    .map(([name, program]) => `${name} (${programName(program)})`);
  return `Available: ${["cpu (this package's own core)", ...there].join(', ')}.`;
}
