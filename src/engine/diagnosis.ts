/**
 * @module engine/diagnosis
 * Checks what is installed and whether it works: this package's core, decoders and native backends.
 */
import { requireObject } from '../core/arguments.js';
import { version } from '../core/version.js';
import type { DecoderAvailability } from '../media/decoder.js';
import type { TinyDeviceStatus } from '../tiny/types.js';
import type { BackendHealth, BackendList, ProbeOptions } from './backends/native/types.js';
import { listBackends, probeBackend } from './backends.js';
import type { Platform } from './contract/platform.js';

/** Result of {@link diagnose}. */
export interface Diagnosis {
  /** Version of anyvmaf. */
  readonly version: string;
  /** Threads that can run at the same time. */
  readonly cores: number;
  /** Video decoders, the preferred first. */
  readonly decoders: readonly DecoderAvailability[];
  readonly backends: BackendList;
  /** Health of every backend that is compiled in here, this package's core first. */
  readonly health: readonly BackendHealth[];
  /** Runtimes and devices for tiny ONNX models. */
  readonly tiny: readonly TinyDeviceStatus[];
}

/** @throws the signal's reason */
export async function diagnose(platform: Platform, options: ProbeOptions): Promise<Diagnosis> {
  requireObject('options', options);
  const [decoders, backends] = await Promise.all([askDecoders(platform), listBackends(platform, options)]);
  const health: BackendHealth[] = [];
  // Probe one after the other, so that each probe's time is its own.
  for (const { backend, compiled_in } of backends.details) {
    // If the GPU works, `hybrid` does too.
    if (compiled_in && backend !== 'hybrid') health.push(await probeBackend(platform, backend, options));
  }
  const tiny = await (await platform.tiny()).runtimes.devices();
  return { version, cores: platform.parallelism, decoders, backends, health, tiny };
}

async function askDecoders(platform: Platform): Promise<readonly DecoderAvailability[]> {
  const decoders = await platform.decoders({ urls: false });
  return Promise.all(decoders.map((decoder) => decoder.availability()));
}
