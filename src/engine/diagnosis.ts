/**
 * @module engine/diagnosis
 * Everything that is installed and whether it works: the own core, decoders and native backends.
 */
import { requireObject } from '../core/arguments.js';
import { version } from '../core/version.js';
import type { DecoderAvailability } from '../media/decoder.js';
import type { TinyDeviceStatus } from '../tiny/types.js';
import type { BackendHealth, BackendList, ProbeOptions } from './backends/native/types.js';
import { listBackends, probeBackend } from './backends.js';
import type { Platform } from './contract/platform.js';

/** What {@link diagnose} found. */
export interface Diagnosis {
  /** Of anyvmaf. */
  readonly version: string;
  /** Threads that can run at the same time. */
  readonly cores: number;
  /** What can decode video, the preferred first. */
  readonly decoders: readonly DecoderAvailability[];
  readonly backends: BackendList;
  /** Health of every backend that something here was built with, this package's own core first. */
  readonly health: readonly BackendHealth[];
  /** What can run tiny ONNX models. */
  readonly tiny: readonly TinyDeviceStatus[];
}

/** @throws the signal's reason */
export async function diagnose(platform: Platform, options: ProbeOptions): Promise<Diagnosis> {
  requireObject('options', options);
  const [decoders, backends] = await Promise.all([askDecoders(platform), listBackends(platform, options)]);
  const health: BackendHealth[] = [];
  // One after the other: each alone says how long it takes.
  for (const { backend, compiled_in } of backends.details) {
    // With a GPU that works, sharing the work with the core does too.
    if (compiled_in && backend !== 'hybrid') health.push(await probeBackend(platform, backend, options));
  }
  const tiny = await (await platform.tiny()).runtimes.devices();
  return { version, cores: platform.parallelism, decoders, backends, health, tiny };
}

async function askDecoders(platform: Platform): Promise<readonly DecoderAvailability[]> {
  const decoders = await platform.decoders({ allowUrl: false });
  return Promise.all(decoders.map((decoder) => decoder.availability()));
}
